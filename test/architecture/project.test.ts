import { describe, expect, it } from 'vitest'
import { listFiles, readText, type Source } from './source-tree.ts'

// Each pattern is written so that it does not match its own source.
const FOREIGN: readonly RegExp[] = [
  /\.\.\/share[d]\b/,
  /(?:^|[\s'"`(=])\/(?:wor[k]|hom[e]|roo[t]|User[s])\//m,
  /\/tm[p]\/[a-z]/,
  /\bregistr[y]\.[a-z]+\.(?:org|com|dev|net|io)\b/,
  /\b(?:require[m]ents|fact[s]|mode[l]s|client[s]|servic[e])\.md\b/,
  /\b(?:claud[e]|anthropi[c]|chatgp[t]|opena[i]|copilo[t])\b/i,
  /\b(?:sub-?agen[t]|helper sessio[n]|language mode[l])\b/i,
]

/** Files that speak of something outside the project. */
function findForeignWords(sources: readonly Source[]): readonly string[] {
  return sources.flatMap(({ path, text }) =>
    FOREIGN.flatMap((pattern) => {
      const match = pattern.exec(text)
      return match === null
        ? []
        : [`${path}:${text.slice(0, match.index + 1).split('\n').length} ${JSON.stringify(match[0].trim())}`]
    }),
  )
}

/** Links of a Markdown file to files that are not there. */
function findDeadLinks(source: Source, paths: readonly string[]): readonly string[] {
  const folder = source.path.split('/').slice(0, -1).join('/')
  return [...source.text.matchAll(/\]\(([^)\s#]+)(?:#[^)\s]*)?\)/g)].flatMap(([, target = '']) => {
    if (/^[a-z]+:/.test(target)) return []
    const path = new URL(target, `file:///${folder === '' ? '' : `${folder}/`}`).pathname.slice(1)
    return paths.includes(path) || paths.some((other) => other.startsWith(`${path.replace(/\/$/, '')}/`))
      ? []
      : [`${source.path}: ${target}`]
  })
}

/** Entries of a lock file that say where a package was downloaded from. */
function findResolvedUrls(lockFile: string): readonly string[] {
  return lockFile.split('\n').filter((line) => /^\s*"resolved":/.test(line))
}

const paths = listFiles()
const texts = paths.map((path) => ({ path, text: readText(path) }))

describe('the project', () => {
  it('speaks of itself alone', () => {
    expect(findForeignWords(texts)).toEqual([])
  })

  it.each([
    ['a', 'see ../share', 'd/notes'],
    ['a', '/wor', 'k/main/src'],
    ['a', `readFileSync('/hom`, `e/someone/file')`],
    ['a', 'https://registr', 'y.example.org/pkg'],
    ['a', 'as require', 'ments.md says'],
  ])('would be found to speak of other places (%s)', (path, ...parts) => {
    expect(findForeignWords([{ path, text: parts.join('') }])).toHaveLength(1)
  })

  it('may speak of its own', () => {
    const text =
      'src/protocol/amount.ts, https://wallet.example/alice, CONTRIBUTING.md, a registry of clients, ../src/index.ts'
    expect(findForeignWords([{ path: 'a', text }])).toEqual([])
  })

  it('has no dead link in its documents', () => {
    expect(texts.filter(({ path }) => path.endsWith('.md')).flatMap((source) => findDeadLinks(source, paths))).toEqual(
      [],
    )
    const text = '[a](a.md) [b](./adr/b.md#c) [d](https://d.example) [e](../src) [f](gone.md) [g](#g)'
    expect(findDeadLinks({ path: 'docs/index.md', text }, ['docs/a.md', 'docs/adr/b.md', 'src/index.ts'])).toEqual([
      'docs/index.md: gone.md',
    ])
  })

  it('has a lock file that names versions and digests, and no place to download from', () => {
    expect(findResolvedUrls(readText('package-lock.json'))).toEqual([])
    expect(findResolvedUrls('{\n  "resolved": "https://packages.example/a.tgz"\n}')).toHaveLength(1)
  })
})
