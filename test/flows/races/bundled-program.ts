import { type ChildProcess, fork } from 'node:child_process'
import { mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import process from 'node:process'
import { fileURLToPath } from 'node:url'
import { build } from 'tsup'

const ROOT = fileURLToPath(new URL('../../../', import.meta.url))

/** A program for processes of their own. */
export interface BundledProgram {
  /** A folder for what its processes leave; it goes with the program. */
  readonly folder: string
  start(parameter: unknown): ChildProcess
  remove(): void
}

/** Node 20 does not read TypeScript, so a program of the tests is bundled, with the sources that it imports. */
export async function bundleProgram(path: string): Promise<BundledProgram> {
  const folder = mkdtempSync(join(tmpdir(), 'program-'))
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'))
  await build({
    config: false,
    entry: [join(ROOT, path)],
    outDir: folder,
    outExtension: () => ({ js: '.mjs' }),
    format: 'esm',
    target: 'node20',
    tsconfig: join(ROOT, 'tsconfig.base.json'),
    external: ['libsql', 'pg', 'postgres'],
    clean: false,
    silent: true,
  })
  const file = join(folder, basename(path).replace(/\.ts$/, '.mjs'))
  return {
    folder,
    // Structured clones, which bigints and bytes survive.
    start: (parameter) =>
      fork(file, [JSON.stringify(parameter)], {
        execArgv: [],
        serialization: 'advanced',
        env: { PATH: process.env['PATH'] },
      }),
    remove: () => rmSync(folder, { recursive: true, force: true }),
  }
}
