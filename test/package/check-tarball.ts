import { readFile } from 'node:fs/promises'
import { posix } from 'node:path'
import { fileURLToPath } from 'node:url'
import ts from 'typescript'
import { expect, it } from 'vitest'
import { measureEntries, tabulateSizes } from './entry-sizes.ts'
import { listFolder, type PackedPackage, runCommand } from './pack-package.ts'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))

/** The package, packed and installed. */
export interface PackageUnderTest {
  readonly packed: PackedPackage
  /** The same sources, built and packed once more elsewhere. */
  readonly repeated: PackedPackage
  /** The folder of the package where it is installed. */
  readonly installed: string
}

/** Without the marks of chunks, and with one line for all sources, which are shipped as they are in the repository. */
function nameForReview(path: string): string {
  if (/^(?:src|adapters)\//.test(path)) return path.replace(/\/.*/, '/**')
  return path
    .replace(/^dist\/chunk-[A-Z0-9]{8}\./, 'dist/chunk-*.')
    .replace(/^dist\/[a-z-]+-[\w-]{8}\.d\.ts$/, 'dist/*-*.d.ts')
}

/** Links of a document to files that are not there. */
function findDeadLinks(path: string, text: string, paths: readonly string[]): readonly string[] {
  return [...text.matchAll(/\]\(([^)\s#]+)(?:#[^)\s]*)?\)/g)]
    .map(([, target = '']) => target)
    .filter((target) => !/^[a-z]+:/.test(target))
    .filter((target) => {
      const file = posix.join(posix.dirname(path), target).replace(/\/$/, '')
      return !paths.some((other) => other === file || other.startsWith(`${file}/`))
    })
    .map((target) => `${path}: ${target}`)
}

const PACKAGES =
  /^(?:node:[a-z/]+|@peculiar\/webcrypto|itty-router|libsql|open-payments-server(?:\/[a-z/]+)?|structured-headers|valibot)$/

/** What the README says of sizes, before "at most … kB", and the entries that it says it of. */
const STATED_SIZES = [
  ['the core is', /^\.$/],
  ['a host adapter adds', /^\.\/(?:node|express|bun|deno)$/],
  ['a storage', /^\.\/storage\//],
  ['the consent page', /^\.\/consent$/],
  ['Interledger \\(`./ilp`\\)', /^\.\/ilp$/],
] as const

/** What is in the tarball, and what others who look at packages say of it. */
export function describeTarball(get: () => PackageUnderTest): void {
  const textOf = (path: string): Promise<string> => readFile(`${get().installed}/${path}`, 'utf8')

  it('holds the files of the list, and no other', async () => {
    const names = (await listFolder(get().installed)).map(nameForReview)
    // A change on purpose: vitest with -u.
    await expect(`${[...new Set(names)].sort().join('\n')}\n`).toMatchFileSnapshot('files.txt')
  })

  it('holds every source as it is here, so that maps and documents lead somewhere', async () => {
    const { installed, packed } = get()
    for (const folder of ['src', 'adapters']) {
      const paths = await listFolder(`${packed.sources}/${folder}`)
      expect(await listFolder(`${installed}/${folder}`)).toEqual(paths)
      for (const path of paths) {
        expect(await textOf(`${folder}/${path}`)).toBe(await readFile(`${packed.sources}/${folder}/${path}`, 'utf8'))
      }
    }
  })

  it('has code that is all reached, and built-in modules by their full names', async () => {
    const paths = await listFolder(get().installed)
    const { bin, exports } = JSON.parse(await textOf('package.json'))
    const targets: readonly string[] = Object.values<{ default?: string }>(exports).flatMap(
      (entry) => entry.default ?? [],
    )
    const reached = new Set([...targets, bin['open-payments-server']].map((path) => posix.normalize(path)))
    for (const path of reached) {
      for (const { fileName } of ts.preProcessFile(await textOf(path)).importedFiles) {
        if (fileName.startsWith('.')) reached.add(posix.join(posix.dirname(path), fileName))
        else expect(fileName, path).toMatch(PACKAGES)
      }
    }
    expect([...reached].sort()).toEqual(paths.filter((path) => /^dist\/.*\.js$/.test(path)))
  })

  it('is not minified, and has a map to its sources for every file of code', async () => {
    const paths = await listFolder(get().installed)
    const code = paths.filter((path) => /^dist\/.*\.js$/.test(path))
    expect(paths.filter((path) => path.endsWith('.map'))).toEqual(code.map((path) => `${path}.map`))
    for (const path of code) {
      const { sources, sourcesContent } = JSON.parse(await textOf(`${path}.map`))
      expect(sourcesContent).toBeUndefined()
      for (const source of sources) expect(paths).toContain(posix.join(posix.dirname(path), source))
      expect(Math.max(...(await textOf(path)).split('\n').map((line) => line.length))).toBeLessThan(5000)
    }
  })

  it('names its sources where it fails, for whoever asks Node to', async () => {
    const program = `import('open-payments-server').then((it) => it.createOpenPayments({})).catch((e) => console.log(e.stack))`
    const stack = await runCommand([process.execPath, '--enable-source-maps', '--eval', program], get().installed)
    const [, path = '', line = ''] = /\(.*\/open-payments-server\/(src\/.+\.ts):(\d+):\d+\)/.exec(stack) ?? []
    expect((await textOf(path)).split('\n')[Number(line) - 1]).toContain('throw new ConfigurationError(')
  })

  it('is built to the same bytes again, in another folder', async () => {
    const { packed, repeated } = get()
    const paths = await listFolder(`${packed.sources}/dist`)
    expect(await listFolder(`${repeated.sources}/dist`)).toEqual(paths)
    for (const path of paths) {
      const bytes = await readFile(`${packed.sources}/dist/${path}`)
      expect(bytes.equals(await readFile(`${repeated.sources}/dist/${path}`)), path).toBe(true)
    }
    expect((await readFile(packed.tarball)).equals(await readFile(repeated.tarball))).toBe(true)
  })

  it('has no dead link in its documents', async () => {
    const paths = await listFolder(get().installed)
    const documents = paths.filter((path) => path.endsWith('.md'))
    expect(documents).toContain('README.md')
    const dead = documents.map(async (path) => findDeadLinks(path, await textOf(path), paths))
    expect((await Promise.all(dead)).flat()).toEqual([])
    expect(
      findDeadLinks('docs/a.md', '[a](b.md) [b](../README.md) [c](gone.md) [d](#d)', ['docs/b.md', 'README.md']),
    ).toEqual(['docs/a.md: gone.md'])
  })

  it('names every entry by itself, with its types first', async () => {
    const { exports, sideEffects, type } = JSON.parse(await textOf('package.json'))
    expect({ sideEffects, type }).toEqual({ sideEffects: false, type: 'module' })
    for (const [entry, target] of Object.entries(exports)) {
      expect(entry).not.toContain('*')
      if (entry === './package.json') continue
      const file = `./dist/${entry === '.' ? 'index' : entry.slice(2)}`
      expect(JSON.stringify(target)).toBe(JSON.stringify({ types: `${file}.d.ts`, default: `${file}.js` }))
    }
  })

  it('is clean to publint', async () => {
    const printed = await runCommand([`${ROOT}node_modules/.bin/publint`, '--strict', get().packed.tarball], ROOT)
    expect(printed).toContain('All good!')
  })

  it('has types that node16 and bundlers resolve, as attw sees it', async () => {
    const attw = [`${ROOT}node_modules/.bin/attw`, '--profile', 'esm-only', '--no-emoji', '--format', 'ascii']
    const printed = await runCommand([...attw, get().packed.tarball], get().packed.sources)
    const { exports } = JSON.parse(await textOf('package.json'))
    for (const entry of Object.keys(exports)) {
      const kind = entry.endsWith('.json') ? 'JSON' : 'ESM'
      const [, lines] = printed.split(`"${posix.join('open-payments-server', entry)}"\n`)
      expect(lines, entry).toMatch(new RegExp(`^\nnode16 \\(from ESM\\): OK \\(${kind}\\)\nbundler: OK`))
    }
  })

  it('tells the size of every entry when it is built, and is as small as the README says', async () => {
    const { packed } = get()
    const sizes = await measureEntries(packed.sources)
    expect(packed.printed).toContain(tabulateSizes(sizes))
    const readme = await textOf('README.md')
    for (const [words, entries] of STATED_SIZES) {
      const [, stated] = new RegExp(`${words} at most (\\d+) kB`).exec(readme) ?? []
      const bundled = sizes.filter(({ entry }) => entries.test(entry)).map((size) => size.bundled)
      expect(bundled, words).not.toEqual([])
      expect(Math.max(...bundled), words).toBeLessThanOrEqual(Number(stated) * 1000)
    }
    expect(readme.match(/\bkB\b/g), 'every size is held against its entries').toHaveLength(STATED_SIZES.length)
  })
}
