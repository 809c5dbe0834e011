import { describe, expect, it } from 'vitest'
import { listFiles, readText } from '../architecture/source-tree.ts'
import { anchorsOf, codeBlocksOf, PAGES, proseOf } from './markdown.ts'

const DOCUMENTS = listFiles().filter((path) => path.endsWith('.md') && !path.startsWith('docs/adr/'))

interface Link {
  readonly page: string
  readonly target: string
  readonly path: string
  readonly anchor: string
}

/** The links of a page that stay within the project, with the file that each means. */
function linksOf(page: string, text: string): readonly Link[] {
  return [...proseOf(text).matchAll(/\]\(([^)\s]+)\)/g)].flatMap(([, target = '']) => {
    if (/^[a-z]+:/.test(target)) return []
    const [file = '', anchor = ''] = target.split('#')
    const path = file === '' ? page : new URL(file, `file:///${page}`).pathname.slice(1)
    return [{ page, target, path, anchor }]
  })
}

/** Links to a heading that is not there. */
function deadAnchors(page: string, text: string, read: (path: string) => string): readonly string[] {
  return linksOf(page, text)
    .filter(({ path, anchor }) => anchor !== '' && path.endsWith('.md') && !anchorsOf(read(path)).includes(anchor))
    .map(({ target }) => `${page}: ${target}`)
}

describe('the pages', () => {
  it('link to headings that are there', () => {
    expect(DOCUMENTS.flatMap((page) => deadAnchors(page, readText(page), readText))).toEqual([])
    const read = (): string => '# One, two\n\n```sh\n# three\n```\n\n## What `four` is\n'
    expect(deadAnchors('docs/a.md', '[a](b.md#one-two) [b](#what-four-is) [c](b.md#three) [d](#two)', read)).toEqual([
      'docs/a.md: b.md#three',
      'docs/a.md: #two',
    ])
  })

  it('are all reached from the index, with one line each', () => {
    const index = linksOf('docs/README.md', readText('docs/README.md')).map(({ path }) => path)
    const pages = PAGES.filter((path) => path.startsWith('docs/') && path !== 'docs/README.md')
    expect(pages.filter((path) => !index.includes(path))).toEqual([])
    expect(new Set(index).size).toBe(index.length)
  })

  it('begin with one heading, and have no heading twice', () => {
    const wrong = PAGES.filter((path) => {
      const anchors = anchorsOf(readText(path))
      const firsts = proseOf(readText(path)).match(/^# .+$/gm) ?? []
      return firsts.length !== 1 || new Set(anchors).size !== anchors.length
    })
    expect(wrong).toEqual([])
  })
})

describe('the code of the pages, which `test/package` compiles,', () => {
  const blocks = PAGES.flatMap((page) => codeBlocksOf(page))
  const inLanguage = (language: string) => blocks.filter((block) => block.language === language)

  it('is JSON where it says so', () => {
    expect(inLanguage('json').length).toBeGreaterThan(0)
    for (const { page, line, code } of inLanguage('json'))
      expect(() => JSON.parse(code), `${page}:${line}`).not.toThrow()
  })

  it('is in a language that is checked, or is output', () => {
    const others = blocks.filter(({ language }) => !['ts', 'json', 'sql', 'sh', 'text'].includes(language))
    expect(others.map(({ page, line, language }) => `${page}:${line} ${language}`)).toEqual([])
  })

  it('runs scripts and files that are there', () => {
    const { scripts, bin } = JSON.parse(readText('package.json'))
    const commands = inLanguage('sh').flatMap(({ code }) => code.split('\n'))
    const named = commands.flatMap((command) => [...command.matchAll(/\bnpm (?:run )?(start|test|[\w:]+)/g)])
    const known = [...Object.keys(scripts), 'ci', 'init', 'install']
    expect(named.map(([, name = '']) => name).filter((name) => !known.includes(name))).toEqual([])
    const programs = commands.flatMap((command) =>
      [...command.matchAll(/\bnpx ([\w-]+)/g)].map(([, name = '']) => name),
    )
    expect(programs.filter((name) => !['vitest', ...Object.keys(bin)].includes(name))).toEqual([])
    const paths = commands.flatMap((command) => command.match(/\btest\/[\w./-]+/g) ?? [])
    for (const path of paths.filter((one) => one.endsWith('.ts'))) expect(readText(path)).not.toBe('')
  })
})

it.each([
  ['ledger.md', 'examples/my-ledger.test.ts'],
  ['ledger.md', 'docs/since-move.ts'],
  ['production.md', 'docs/end-on-signal.ts'],
  ['production.md', 'docs/log-to.ts'],
  ['production.md', 'docs/sodium-cryptography.ts'],
  ['operations.md', 'docs/refusing-key-resolver.ts'],
  ['consent.md', 'docs/express-sessions.ts'],
  ['consent.md', 'docs/fastify-sessions.ts'],
  ['consent.md', 'docs/told-consent.ts'],
  ['sandbox.md', 'docs/approve.ts'],
  ['storage.md', 'docs/copy-storage.ts'],
  ['storage.md', 'docs/take-up-at-once.ts'],
])('docs/%s has %s word by word, which the tests run', (page, file) => {
  expect(codeBlocksOf(`docs/${page}`).map(({ code }) => code)).toContain(readText(`test/${file}`))
})
