import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { build } from 'tsup'

/** What an entry costs, in bytes after gzip. */
export interface EntrySize {
  /** As in the exports of package.json: `.`, `./node`. */
  readonly entry: string
  /** The files as they are shipped, with every chunk that they reach, and without the dependencies. */
  readonly shipped: number
  /** Minified by a bundler, with the dependencies, but for those that few hosts load: `@peculiar/webcrypto` and `libsql`. */
  readonly bundled: number
}

const BUNDLED = /^(?!node:|libsql$|@peculiar\/)/

/** A built file and all that it imports from the package, as the bundler writes it: an import ends a line. */
function reachedFiles(file: string): ReadonlySet<string> {
  const reached = new Set([file])
  for (const path of reached) {
    for (const [, target = ''] of readFileSync(path, 'utf8').matchAll(/^(?:import|export|\}).*"(\.\.?\/.+\.js)";$/gm)) {
      reached.add(join(dirname(path), target))
    }
  }
  return reached
}

function gzipFiles(files: Iterable<string>): number {
  return gzipSync(Buffer.concat([...files].map((file) => readFileSync(file)))).length
}

/** Bundles each of the given sources by itself; resolves with their sizes in the same order. */
async function bundleAll(sources: readonly string[]): Promise<readonly number[]> {
  const folder = mkdtempSync(join(tmpdir(), 'sizes-'))
  try {
    const inputs = sources.map((_, index) => join(folder, `bundle-${index}.js`))
    for (const [index, input] of inputs.entries()) writeFileSync(input, sources[index] ?? '')
    const outDir = join(folder, 'out')
    await build({
      config: false,
      entry: inputs,
      outDir,
      format: 'esm',
      target: 'es2022',
      platform: 'neutral',
      noExternal: [BUNDLED],
      external: [/^/],
      splitting: false,
      minify: true,
      silent: true,
    })
    return inputs.map((_, index) => gzipFiles([join(outDir, `bundle-${index}.js`)]))
  } finally {
    rmSync(folder, { recursive: true })
  }
}

/**
 * Measures the entries of the built package in a folder. The index is whole; every other entry is what it adds to the
 * index, which a server has loaded anyway.
 */
export async function measureEntries(root: string): Promise<readonly EntrySize[]> {
  const { exports } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  const entries = Object.keys(exports).filter((entry) => entry !== '.' && !entry.endsWith('.json'))
  const index = join(root, 'dist/index.js')
  const fileOf = (entry: string): string => join(root, 'dist', `${entry}.js`)
  const indexFiles = reachedFiles(index)
  const [bundledIndex = 0, ...bundled] = await bundleAll([
    `export * from ${JSON.stringify(index)}\n`,
    ...entries.map(
      (entry) => `export * from ${JSON.stringify(index)}\nexport * as entry from ${JSON.stringify(fileOf(entry))}\n`,
    ),
  ])
  return [
    { entry: '.', shipped: gzipFiles(indexFiles), bundled: bundledIndex },
    ...entries.map((entry, position) => ({
      entry,
      shipped: gzipFiles([...reachedFiles(fileOf(entry))].filter((file) => !indexFiles.has(file))),
      bundled: (bundled[position] ?? 0) - bundledIndex,
    })),
  ]
}

/** A table for people, in kB; what is added to the index has a plus. */
export function tabulateSizes(sizes: readonly EntrySize[]): string {
  const inKilobytes = (bytes: number, { entry }: EntrySize): string =>
    `${entry === '.' ? '' : '+'}${(bytes / 1000).toFixed(1)}`
  const rows = sizes.map((size) => [size.entry, inKilobytes(size.shipped, size), inKilobytes(size.bundled, size)])
  return [['gzip, kB', 'as shipped', 'minified, with dependencies'], ...rows]
    .map(
      ([entry = '', shipped = '', bundled = '']) => `${entry.padEnd(20)}${shipped.padStart(10)}${bundled.padStart(30)}`,
    )
    .join('\n')
}
