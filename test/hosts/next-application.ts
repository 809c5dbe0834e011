import { cpSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import manifest from '../../package.json' with { type: 'json' }
import { type ExampleCommand, ROOT, runToEnd } from './example-process.ts'

/** An application of Next.js in a folder of its own. */
export interface NextApplication {
  /** Builds it; rejects with what Next says where that fails. */
  build(): Promise<void>
  readonly start: ExampleCommand
  remove(): void
}

/** Makes an application of files, and of the package as it was built. */
export function createNextApplication(files: Readonly<Record<string, string>>): NextApplication {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'next-')))
  const modules = join(folder, 'node_modules')
  const installed = join(modules, 'open-payments-server')
  mkdirSync(installed, { recursive: true })
  cpSync(`${ROOT}dist`, join(installed, 'dist'), { recursive: true })
  cpSync(`${ROOT}package.json`, join(installed, 'package.json'))
  for (const name of ['next', 'react', 'react-dom', ...Object.keys(manifest.dependencies)]) {
    mkdirSync(dirname(join(modules, name)), { recursive: true })
    symlinkSync(`${ROOT}node_modules/${name}`, join(modules, name))
  }
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), text)
  }
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }')
  const command = (name: string): ExampleCommand => ({
    command: [process.execPath, `${ROOT}node_modules/next/dist/bin/next`, name],
    folder,
    ready: /Ready in/,
    path: '/op/alice',
  })
  return {
    build: () => runToEnd(command('build')),
    start: command('start'),
    remove: () => rmSync(folder, { recursive: true, force: true }),
  }
}
