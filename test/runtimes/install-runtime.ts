import { execFile } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

const CACHE = fileURLToPath(new URL('../../node_modules/.cache/runtimes/', import.meta.url))
const OPTIONS = [
  '--no-save',
  '--no-package-lock',
  '--no-audit',
  '--no-fund',
  '--loglevel=error',
  '--ignore-scripts=false',
]

/**
 * Installs a runtime, or a compiler, from npm, once for all runs, and resolves with its executable. Its package fetches the
 * binary for this machine. It is installed aside and then moved: what is there is whole, however many runs install at once.
 */
export async function installRuntime(
  name: 'node' | 'bun' | 'deno' | 'typescript',
  version: string,
  executable: string = name,
): Promise<string> {
  const folder = join(CACHE, `${name}-${version}`)
  if (!existsSync(folder)) {
    mkdirSync(CACHE, { recursive: true })
    const aside = mkdtempSync(join(CACHE, 'installing-'))
    try {
      await promisify(execFile)('npm', ['install', '--prefix', aside, ...OPTIONS, `${name}@${version}`])
      if (!existsSync(folder)) renameSync(aside, folder)
    } catch (error) {
      // Another run was quicker.
      if (!existsSync(folder)) throw error
    } finally {
      rmSync(aside, { recursive: true, force: true })
    }
  }
  return join(folder, 'node_modules/.bin', executable)
}
