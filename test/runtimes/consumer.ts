import { cpSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'tsup'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))

/** What the programs import beside the package, and what its adapters need to find. */
const BESIDE = ['express', 'express4', 'libsql', 'pg', 'postgres', '@interledger/open-payments']

/** A folder that looks to a program like a project which has installed the package as it was built. */
export interface Consumer {
  readonly folder: string
  /** Bundles a program into the folder, since Node 20 reads no TypeScript; resolves with its file. */
  bundle(path: string): Promise<string>
  remove(): void
}

/** Makes the folder; its copy of the package stays as it is while the package is built anew. */
export function createConsumer(): Consumer {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'consumer-')))
  const modules = join(folder, 'node_modules')
  const installed = join(modules, 'open-payments-server')
  mkdirSync(installed, { recursive: true })
  const manifest = readFileSync(join(ROOT, 'package.json'), 'utf8')
  const { dependencies }: { readonly dependencies: Readonly<Record<string, string>> } = JSON.parse(manifest)
  cpSync(join(ROOT, 'dist'), join(installed, 'dist'), { recursive: true })
  writeFileSync(join(installed, 'package.json'), manifest)
  for (const name of [...Object.keys(dependencies), ...BESIDE]) {
    mkdirSync(dirname(join(modules, name)), { recursive: true })
    symlinkSync(join(ROOT, 'node_modules', name), join(modules, name))
  }
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ type: 'module' }))
  return {
    folder,
    async bundle(path) {
      const name = basename(dirname(path))
      await build({
        config: false,
        entry: { [name]: join(ROOT, path) },
        outDir: folder,
        outExtension: () => ({ js: '.mjs' }),
        format: 'esm',
        target: 'node20',
        tsconfig: join(ROOT, 'tsconfig.base.json'),
        external: [/^open-payments-server/, ...BESIDE],
        removeNodeProtocol: false,
        clean: false,
        silent: true,
      })
      return join(folder, `${name}.mjs`)
    },
    remove: () => rmSync(folder, { recursive: true, force: true }),
  }
}
