import { describe, expect, it } from 'vitest'
import { targetOfUrl } from '../../src/protocol/request-target.ts'

const target = (url: string, host?: string): string =>
  targetOfUrl({ url, headers: new Headers(host === undefined ? {} : { host }) })

describe('the target of a Fetch request', () => {
  it.each([
    ['http://wallet.example/op/alice?x=%7e', '/op/alice?x=%7e'],
    ['http://wallet.example', '/'],
    ['http://wallet.example/op/alice#x', '/op/alice#x'],
  ])('SIG-29 of %s is %s', (url, expected) => expect(target(url, 'wallet.example')).toBe(expected))

  it.each([undefined, '', 'a b'])('SIG-29 is all of a URL that names no host, with a Host of %j', (host) => {
    expect(target('/op/alice/alice', host)).toBe('/op/alice/alice')
  })

  it.each(['x/y', 'x?y', 'x#', 'a@b', 'x\\y'])('SIG-29 is nobody’s where Host has %j', (host) => {
    expect(target('http://x/y/op/alice', host)).toBe('')
    expect(target('/op/alice', host)).toBe('')
  })
})
