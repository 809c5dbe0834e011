import { defineConfig } from 'tsup'
import { measureEntries, tabulateSizes } from './test/package/entry-sizes.ts'

/** What the package exports, by subpath. The sandbox is run, not imported: it needs no types. */
const library = {
  index: 'src/index.ts',
  node: 'adapters/node.ts',
  express: 'adapters/express.ts',
  bun: 'adapters/bun.ts',
  deno: 'adapters/deno.ts',
  'storage/memory': 'adapters/storage/memory.ts',
  'storage/sqlite': 'adapters/storage/sqlite.ts',
  'storage/postgres': 'adapters/storage/postgres.ts',
  'ledger/memory': 'adapters/ledger/memory.ts',
  'ledger/sqlite': 'adapters/ledger/sqlite.ts',
  consent: 'adapters/consent/index.ts',
  ilp: 'adapters/ilp/index.ts',
  reconciliation: 'adapters/reconciliation.ts',
  testing: 'src/testing/index.ts',
}

async function printSizes(): Promise<void> {
  process.stdout.write(`${tabulateSizes(await measureEntries(process.cwd()))}\n`)
}

// One shared build so that every subpath shares its chunks: two copies of a module would be two brands.
export default defineConfig(({ dts }) => ({
  entry: {
    ...library,
    'sandbox/main': 'examples/sandbox/main.ts',
    'sandbox/demo': 'examples/sandbox/demo.ts',
  },
  format: 'esm',
  target: 'es2022',
  platform: 'neutral',
  external: [/^node:/, 'libsql', 'better-sqlite3', '@interledger/open-payments', /^open-payments-server/],
  // Without its `node:` a built-in module could be a package of the same name.
  removeNodeProtocol: false,
  // Not minified, and with maps to the sources, which are shipped: whoever trusts it with money can read and debug it.
  sourcemap: true,
  esbuildOptions(options) {
    options.sourcesContent = false
  },
  // Schemas that share the name of a type are no values for others: a dependency's types would be public with them.
  dts: { entry: library, compilerOptions: { stripInternal: true } },
  clean: true,
  // Not for the quick builds that tests and the sandbox begin with.
  ...(dts !== false && { onSuccess: printSizes }),
}))
