import { describe, expect, it } from 'vitest'
import { listFiles, readSources, type Source } from './source-tree.ts'

const KEBAB_CASE = /^[a-z0-9]+(?:-[a-z0-9]+)*(?:\.[a-z0-9]+)*$/
const DRAWERS: ReadonlySet<string> = new Set([
  'util',
  'utils',
  'helper',
  'helpers',
  'common',
  'shared',
  'lib',
  'misc',
  'types',
  'constants',
])
const MAX_LINES = 300

/** Paths with a folder or file that is not in kebab-case. */
function findOtherCases(paths: readonly string[]): readonly string[] {
  return paths.filter(
    (path) => !path.split('/').every((segment) => segment === 'README.md' || KEBAB_CASE.test(segment)),
  )
}

/** Paths with a folder or file that says nothing of what is in it. */
function findDrawers(paths: readonly string[]): readonly string[] {
  return paths.filter((path) => path.split('/').some((segment) => DRAWERS.has(segment.split('.')[0] ?? '')))
}

/** Files that no longer fit into one head. */
function findLongFiles(sources: readonly Source[]): readonly string[] {
  return sources.flatMap(({ path, text }) => {
    const lines = text.trimEnd().split('\n').length
    return lines > MAX_LINES ? [`${path} has ${lines} lines`] : []
  })
}

const paths = ['src', 'adapters', 'examples', 'test', 'bench', 'docs'].flatMap((folder) => listFiles(folder))

describe('names', () => {
  it('are in kebab-case', () => {
    expect(paths.length).toBeGreaterThan(30)
    expect(findOtherCases(paths)).toEqual([])
    expect(
      findOtherCases(['src/protocol/Amount.ts', 'src/authServer/a.ts', 'src/a_b.ts', 'src/a-b.test.ts']),
    ).toHaveLength(3)
  })

  it('say what is inside', () => {
    expect(findDrawers(paths)).toEqual([])
    expect(
      findDrawers([
        'src/utils/a.ts',
        'src/http/types.ts',
        'test/helpers.ts',
        'src/payments/lib/a.ts',
        'src/library.ts',
      ]),
    ).toHaveLength(4)
  })
})

describe('files', () => {
  it(`have at most ${MAX_LINES} lines`, () => {
    expect(findLongFiles(readSources('src', 'adapters'))).toEqual([])
    expect(findLongFiles([{ path: 'src/a.ts', text: 'a\n'.repeat(MAX_LINES) }])).toEqual([])
    expect(findLongFiles([{ path: 'src/a.ts', text: 'a\n'.repeat(MAX_LINES + 1) }])).toHaveLength(1)
  })
})
