import { execFile } from 'node:child_process'
import { cp, mkdir, readdir, readFile, symlink, writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))

/** What the package is made of, and what the build measures it with. */
const SOURCES = ['adapters', 'docs', 'examples', 'src', 'test/package', 'LICENSE', 'package.json', 'tsup.config.ts']
const NOT_SOURCES = /^(?:node_modules|dist)$/

/** What a command printed; rejects with all that it said where it fails. */
export async function runCommand(command: readonly string[], cwd: string): Promise<string> {
  const [file = '', ...words] = command
  const env = { ...process.env, NO_COLOR: '1', FORCE_COLOR: undefined }
  return promisify(execFile)(file, words, { cwd, env, timeout: 120_000, maxBuffer: 2 ** 26 }).then(
    ({ stdout }) => stdout,
    (error) => Promise.reject(new Error(`${command.join(' ')}: ${error.message}\n${error.stdout}\n${error.stderr}`)),
  )
}

/** The package as npm packs it. */
export interface PackedPackage {
  readonly tarball: string
  /** The sources that it was made of, and their `dist`. */
  readonly sources: string
  /** What npm and the build printed. */
  readonly printed: string
}

/** Builds and packs a copy of the sources in a folder that must not exist yet: the project's own `dist` stays as it is. */
export async function packPackage(sources: string): Promise<PackedPackage> {
  const documents = (await readdir(ROOT)).filter((name) => /\.md$|^tsconfig.*\.json$/.test(name))
  await mkdir(sources, { recursive: true })
  for (const path of [...SOURCES, ...documents]) {
    const filter = (from: string): boolean => !NOT_SOURCES.test(basename(from))
    await cp(join(ROOT, path), join(sources, path), { recursive: true, filter })
  }
  await symlink(join(ROOT, 'node_modules'), join(sources, 'node_modules'))
  const printed = await runCommand(['npm', 'pack'], sources)
  const { version } = JSON.parse(await readFile(join(sources, 'package.json'), 'utf8'))
  return { sources, printed, tarball: join(sources, `open-payments-server-${version}.tgz`) }
}

/** Installs a tarball as a user does, in a folder that is empty; resolves with the folder of the package. */
export async function installPackage(tarball: string, folder: string): Promise<string> {
  await mkdir(folder, { recursive: true })
  await writeFile(join(folder, 'package.json'), '{ "private": true, "type": "module" }\n')
  await runCommand(['npm', 'install', '--omit=dev', '--prefer-offline', '--no-audit', '--no-fund', tarball], folder)
  return join(folder, 'node_modules', 'open-payments-server')
}

/** Every file below a folder, with `/`, sorted. */
export async function listFolder(folder: string): Promise<readonly string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) =>
      join(entry.parentPath, entry.name)
        .slice(folder.length + 1)
        .replaceAll('\\', '/'),
    )
    .sort()
}
