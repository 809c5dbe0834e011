import fc from 'fast-check'
import { describe, expect, it, vi } from 'vitest'
import { canonicalWalletAddress, isLoopbackHost } from '../../src/protocol/wallet-address.ts'
import { noteParsed } from '../support/note-parsed.ts'

const strict = { loopbackHttp: false }
const lenient = { loopbackHttp: true }

describe('canonical wallet addresses', () => {
  it.each([
    ['https://wallet.example/alice', 'https://wallet.example/alice'],
    ['https://wallet.example/alice/', 'https://wallet.example/alice'],
    ['https://Wallet.EXAMPLE/alice', 'https://wallet.example/alice'],
    ['https://wallet.example/Alice', 'https://wallet.example/Alice'],
    ['https://ban\u212A.example/alice', 'https://bank.example/alice'],
    ['https://wallet.example', 'https://wallet.example/.well-known/pay'],
    ['https://wallet.example/', 'https://wallet.example/.well-known/pay'],
    ['https://wallet.example/.well-known/pay', 'https://wallet.example/.well-known/pay'],
    ['https://wallet.example/users/alice', 'https://wallet.example/users/alice'],
    ['https://wallet.example/@alice', 'https://wallet.example/@alice'],
    ["https://wallet.example/~a.b_c-d!$&'()*+,;=:@e", "https://wallet.example/~a.b_c-d!$&'()*+,;=:@e"],
    ['https://wallet.example/jos%C3%A9', 'https://wallet.example/jos%C3%A9'],
    ['https://xn--mnchen-3ya.example/alice', 'https://xn--mnchen-3ya.example/alice'],
    ['https://wallet.example/quotesque', 'https://wallet.example/quotesque'],
    ['https://wallet.example/...', 'https://wallet.example/...'],
  ])('WAS-2 T-40 %s is %s', (text, canonical) => {
    expect(canonicalWalletAddress(text, strict)).toBe(canonical)
    expect(canonicalWalletAddress(canonical, strict)).toBe(canonical)
  })

  it.each([
    '',
    'wallet.example/alice',
    '$wallet.example/alice',
    'http://wallet.example/alice',
    'ftp://wallet.example/alice',
    'HTTPS://wallet.example/alice',
    'https:/wallet.example/alice',
    'https:wallet.example/alice',
    'https:///wallet.example/alice',
    'https://user@wallet.example/alice',
    'https://user:secret@wallet.example/alice',
    'https://:secret@wallet.example/alice',
    'https://@wallet.example/alice',
    'https://wallet.example:8443/alice',
    'https://wallet.example:443/alice',
    'https://wallet.example:/alice',
    'https://wallet.example/alice?x=1',
    'https://wallet.example/alice?',
    'https://wallet.example/alice#x',
    'https://wallet.example/alice#',
    'https://wallet.example./alice',
    'https://wallet%2Eexample/alice',
    'https://münchen.example/alice',
    'https://wallet.example/./alice',
    'https://wallet.example/bob/../alice',
    'https://wallet.example/%2e/alice',
    'https://wallet.example/bob/%2E%2E/alice',
    'https://wallet.example//alice',
    'https://wallet.example/alice//',
    'https://wallet.example//',
    'https://wallet.example/alice\\bob',
    'https://wallet.example\\alice',
    'https://wallet.example/al ice',
    'https://wallet.example/al\tice',
    ' https://wallet.example/alice',
    'https://wallet.example/alice\n',
    'https://wallet.example/josé',
    'https://wallet.example/jos%c3%a9',
    'https://wallet.example/%61lice',
    'https://wallet.example/a%2Fb',
    'https://wallet.example/a%20b',
    'https://wallet.example/a%',
    'https://wallet.example/a%C',
    'https://wallet.example/a|b',
    'https://wallet.example/a^b',
    'https://',
    'https:///',
    'https://wallet.example:99999/alice',
    'https://wallet example/alice',
    'https://[::1/alice',
  ])('WAS-2 T-40 refuses %j', (text) => {
    expect(canonicalWalletAddress(text, strict)).toBeUndefined()
  })

  it.each([
    'incoming-payments',
    'outgoing-payments',
    'quotes',
    'jwks.json',
    'outgoing-payment-grant',
    'wallet-address',
    'continue',
    'token',
    'interact',
  ])('WAS-3 refuses the segment %s wherever it stands', (segment) => {
    for (const path of [segment, `${segment}/`, `alice/${segment}`, `${segment}/alice`]) {
      expect(canonicalWalletAddress(`https://wallet.example/${path}`, strict)).toBeUndefined()
    }
  })

  it('WAS-2 accepts 2048 characters and refuses more', () => {
    const text = (length: number): string => 'https://wallet.example/'.padEnd(length, 'a')
    expect(canonicalWalletAddress(text(2048), strict)).toBe(text(2048))
    expect(canonicalWalletAddress(text(2049), strict)).toBeUndefined()
    expect(canonicalWalletAddress(text(1 << 20), strict)).toBeUndefined()
  })
})

const HOST_PARTS = 'a Z 0 0x1 127 1 xn-- xn--a xn--mnchen-3ya - -- _ ä %41 @ : :443'.split(' ')
const PATH_PARTS = [
  'a',
  'Z',
  '0',
  '/',
  '//',
  '.',
  '..',
  '%2e',
  '%C3%A9',
  '%',
  '~',
  '-',
  '_',
  '@',
  '\\',
  '\t',
  '\n',
  '?',
  '#',
  'ä',
]

// By itself each of these may stand in a host or in a path; what is next to it decides.
const LABELS = 'a wallet my-wallet a1 1a example com net org 127 1 0x1 0x7f xn--a a--b Wallet'.split(' ')
const SEGMENTS = 'alice Bob 2 ~a - _ a.b a.. x~-_. .a ..a . ..'.split(' ')

/** One of four is odd. */
function mostly<T>(usual: fc.Arbitrary<T>, odd: fc.Arbitrary<T>): fc.Arbitrary<T> {
  return fc.oneof({ arbitrary: usual, weight: 3 }, odd)
}

describe('what is a wallet address', () => {
  it('T-24 no URL parser is asked about a host beyond ASCII: it would take time quadratic in its length', () => {
    const asked = noteParsed('URL')
    try {
      const host = String.fromCodePoint(...Array.from({ length: 2000 }, (_, index) => 0x4e00 + index))
      for (const text of [`https://${host}`, `https://${host}.example/alice`, `https://wallet.example@${host}/alice`])
        expect(canonicalWalletAddress(text, lenient)).toBeUndefined()
      expect(asked).toEqual([])
      expect(canonicalWalletAddress('https://xn--fsq.example', strict)).toBe('https://xn--fsq.example/.well-known/pay')
      expect(asked).toEqual(['https://xn--fsq.example'])
    } finally {
      vi.unstubAllGlobals()
    }
  })

  it('T-40 is written as a URL parser writes it, where it is not asked as well', () => {
    const labels = fc
      .array(fc.constantFrom(...HOST_PARTS), { minLength: 1, maxLength: 3 })
      .map((parts) => parts.join(''))
    const oddHost = fc.array(labels, { minLength: 1, maxLength: 4 }).map((parts) => parts.join('.'))
    const host = fc.array(fc.constantFrom(...LABELS), { minLength: 1, maxLength: 3 }).map((parts) => parts.join('.'))
    const oddPath = fc.array(fc.constantFrom(...PATH_PARTS), { maxLength: 8 }).map((parts) => parts.join(''))
    const path = fc.array(fc.constantFrom(...SEGMENTS), { minLength: 1, maxLength: 3 }).map((parts) => parts.join('/'))
    let asked = 0
    class CountedURL extends URL {
      constructor(text: string) {
        asked++
        super(text)
      }
    }
    const counts = { plain: 0, parsed: 0 }
    vi.stubGlobal('URL', CountedURL)
    try {
      fc.assert(
        fc.property(mostly(host, oddHost), mostly(path, oddPath), (name, rest) => {
          const text = `https://${name}/${rest}`
          asked = 0
          if (canonicalWalletAddress(text, strict) === undefined) return
          counts[asked === 0 ? 'plain' : 'parsed']++
          const { href, host, username } = new URL(text)
          expect([href, host, username]).toEqual([`https://${name.toLowerCase()}/${rest}`, name.toLowerCase(), ''])
        }),
        { numRuns: 6000 },
      )
    } finally {
      vi.unstubAllGlobals()
    }
    // Hundreds of each, whatever the seed.
    expect(counts.plain).toBeGreaterThan(100)
    expect(counts.parsed).toBeGreaterThan(100)
  })

  it.each([
    'https://127.1/a',
    'https://a.127/a',
    'https://a.0x7f/a',
    'https://0x7f.1/a',
    'https://a.xn--a/a',
    'https://xn--a.com/a',
    'https://wallet.xn--a.com/a',
  ])('T-40 is not %s, which no URL parser leaves as it is', (text) => {
    expect(canonicalWalletAddress(text, strict)).toBeUndefined()
  })
})

describe('a text that is no wallet address', () => {
  it('T-36 WAS-2 is refused in linear time', () => {
    const started = process.cpuUsage()
    for (const piece of ['a', 'a.', 'a-', '-', '%C3', '/a', '/', 'a/', '.', '@', ':']) {
      for (const end of ['?', '|', '%', ' ']) {
        const text = `https://${piece.repeat(2_030 / piece.length)}${end}`
        const found = Array.from({ length: 200 }, () => canonicalWalletAddress(text, strict))
        expect(found.filter((address) => address !== undefined)).toEqual([])
      }
    }
    // Processor time, which a busy machine does not stretch: a tenth of a second; a quadratic reader takes many.
    expect(process.cpuUsage(started).user).toBeLessThan(1_000_000)
  })
})

describe('loopbackHttp', () => {
  it.each([
    ['http://localhost:3000/alice', 'http://localhost:3000/alice'],
    ['http://LOCALHOST:3000/', 'http://localhost:3000/.well-known/pay'],
    ['http://127.0.0.1:3000/alice/', 'http://127.0.0.1:3000/alice'],
    ['http://[::1]:3000/alice', 'http://[::1]:3000/alice'],
    ['https://localhost:8443/alice', 'https://localhost:8443/alice'],
    ['http://cloud.localhost:3000/alice', 'http://cloud.localhost:3000/alice'],
    ['http://localhost/alice', 'http://localhost/alice'],
  ])('WAS-2 admits %s, and only when it is set', (text, canonical) => {
    expect(canonicalWalletAddress(text, lenient)).toBe(canonical)
    expect(canonicalWalletAddress(text, strict)).toBeUndefined()
  })

  it.each([
    'http://wallet.example/alice',
    'https://wallet.example:8443/alice',
    'http://localhost.wallet.example/alice',
    'http://notlocalhost/alice',
    'http://localhost./alice',
    'http://127.0.0.2/alice',
    'http://127.1/alice',
    'http://0x7f000001/alice',
    'http://2130706433/alice',
    'http://0.0.0.0/alice',
    'http://[::]/alice',
    'http://[::ffff:127.0.0.1]/alice',
    'http://[0:0:0:0:0:0:0:1]/alice',
    'http://10.0.0.1/alice',
    'http://169.254.169.254/alice',
    'http://user@localhost/alice',
    'http://localhost:80/alice',
    'http://localhost:3000/alice?x',
    'ftp://localhost/alice',
  ])('WAS-2 T-1 does not admit %s', (text) => expect(canonicalWalletAddress(text, lenient)).toBeUndefined())

  it.each(['localhost', 'a.localhost', '127.0.0.1', '[::1]'])('T-1 %s is this machine', (host) =>
    expect(isLoopbackHost(host)).toBe(true),
  )
  it.each(['', 'localhost.example', 'xlocalhost', '::1', '127.0.0.1.example', '128.0.0.1'])('T-1 %j is not', (host) =>
    expect(isLoopbackHost(host)).toBe(false),
  )
})
