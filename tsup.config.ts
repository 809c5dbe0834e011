import { defineConfig } from 'tsup'

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
  'ledger/sql': 'adapters/ledger/sql.ts',
  consent: 'adapters/consent/index.ts',
  testing: 'src/testing/index.ts',
}

// One shared build so that every subpath shares its chunks: two copies of a module would be two brands.
export default defineConfig({
  entry: {
    ...library,
    'sandbox/main': 'examples/sandbox/main.ts',
    'sandbox/demo': 'examples/sandbox/demo.ts',
  },
  format: 'esm',
  target: 'es2022',
  platform: 'neutral',
  external: [/^node:/, 'libsql', 'better-sqlite3', '@interledger/open-payments', /^open-payments-server/],
  dts: { entry: library },
  clean: true,
  treeshake: true,
})
