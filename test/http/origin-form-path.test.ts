import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { originFormPath } from '../../src/http/router.ts'

/** What the URL parser says of every target, also of those that are known at sight. */
function parsedPath(target: string): string | undefined {
  const [path] = target.split('?', 1)
  if (!target.startsWith('/') || target.length > 4096 || target.includes('#')) return undefined
  const { pathname, host } = new URL(`http://host${target}`)
  return pathname === path && host === 'host' ? pathname : undefined
}

const part = fc.constantFrom(
  ...['/', '//', '.', '..', '...', '%2e', '%2E', '%2f', '%', '\\', '\t', '\n', '\r', ' ', '\0', '?', '#', '@', ':'],
  ...[
    ';',
    '~',
    '-',
    '_',
    '*',
    '+',
    '|',
    '^',
    '`',
    '{',
    '"',
    '<',
    'ä',
    '\u212a',
    '\ud800',
    '😀',
    'a',
    'Z',
    '0',
    'jwks.json',
  ],
)
const target = fc.array(part, { maxLength: 12 }).map((parts) => `/${parts.join('')}`)

describe('the path of an origin-form target', () => {
  it('SIG-30 is what a URL parser leaves as it is, whether or not one is asked', () => {
    fc.assert(
      fc.property(target, (text) => originFormPath(text) === parsedPath(text)),
      { numRuns: 2000 },
    )
  })

  it.each([
    ['/', '/'],
    ['/a/b.json/', '/a/b.json/'],
    ['/a?b#c', undefined],
    ['/a/../b', undefined],
    ['/a/.%2e/b', undefined],
    ['/.well-known/pay', '/.well-known/pay'],
    ['/a?/../b', '/a'],
    ['/a\n', undefined],
    ['a', undefined],
    [`/${'a'.repeat(4095)}`, `/${'a'.repeat(4095)}`],
    [`/${'a'.repeat(4096)}`, undefined],
  ])('of %j is %j', (text, path) => {
    expect(originFormPath(text)).toBe(path)
  })
})
