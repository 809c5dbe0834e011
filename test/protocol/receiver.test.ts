import fc from 'fast-check'
import { describe, expect, it, vi } from 'vitest'
import { isLocalReceiver, localQuoteId, parseReceiver } from '../../src/protocol/receiver.ts'
import { noteParsed } from '../support/note-parsed.ts'
import vectors from '../vectors/receiver-pattern.json' with { type: 'json' }

const server = 'https://wallet.example/op'
const id = '0123456789abcdef0123456789abcdef'

describe('receivers', () => {
  it.each(vectors.accept)('accepts %s', (text) => {
    expect(text).toMatch(new RegExp(vectors.openapi))
    expect(parseReceiver(text)?.url).toBe(text)
  })
  it.each(vectors.reject)('refuses %s', (text) => expect(parseReceiver(text)).toBeUndefined())

  it('are taken apart', () => {
    expect(parseReceiver('http://wallet.example:8080/op/incoming-payments/17')).toEqual({
      url: 'http://wallet.example:8080/op/incoming-payments/17',
      id: '17',
      collection: 'http://wallet.example:8080/op/incoming-payments',
    })
  })

  it.each([
    'https://Wallet.Example/incoming-payments/1',
    'https://wallet.example:443/incoming-payments/1',
    'https://wallet.example/x/../incoming-payments/1',
    'https://wallet.example/./incoming-payments/1',
  ])('LIM-5 %s is one with its plain form', (text) =>
    expect(parseReceiver(text)?.url).toBe('https://wallet.example/incoming-payments/1'),
  )

  it('LIM-5 keep the case of the path', () => {
    expect(parseReceiver('https://wallet.example/incoming-payments/A')?.url).toBe(
      'https://wallet.example/incoming-payments/A',
    )
    expect(parseReceiver('https://wallet.example/@bob/incoming-payments/1')?.id).toBe('1')
  })

  it.each([
    '',
    'incoming-payments/1',
    '/incoming-payments/1',
    'https://wallet.example/incoming-payments',
    'https://wallet.example/incoming-payments/1/',
    'https://wallet.example/incoming-payments/1/complete',
    'https://wallet.example/incoming-payments/1?x=1',
    'https://wallet.example/incoming-payments/1?',
    'https://wallet.example/incoming-payments/1#x',
    'https://wallet.example/?/incoming-payments/1',
    'https://wallet.example/#/incoming-payments/1',
    'https://user@wallet.example/incoming-payments/1',
    'https://:secret@wallet.example/incoming-payments/1',
    'https:wallet.example/incoming-payments/1',
    'https://wallet.example\\incoming-payments\\1',
    ' https://wallet.example/incoming-payments/1',
    'https://wallet.example/incoming-payments/1\n',
    'https://wallet.example/incoming-payments/..',
    'https://wallet.example/Incoming-Payments/1',
    'https://wallet.example:x/incoming-payments/1',
    'javascript://x/incoming-payments/1',
  ])('refuses %j', (text) => expect(parseReceiver(text)).toBeUndefined())

  it('T-24 accepts nothing that the published pattern refuses', () => {
    const published = new RegExp(vectors.openapi)
    const part = fc.constantFrom(
      'http',
      's',
      ':',
      '//',
      '/',
      'x.example',
      'incoming-payments',
      '1',
      '..',
      '?',
      '#',
      '@',
    )
    const text = fc.array(part, { maxLength: 10 }).map((parts) => parts.join(''))
    const likely = text.map((tail) => `https://x.example/${tail}/incoming-payments/${tail}`)
    fc.assert(
      fc.property(fc.oneof(text, likely), (given) => {
        const receiver = parseReceiver(given)
        if (receiver === undefined) return
        expect(given).toMatch(published)
        expect(receiver.url).toBe(new URL(given).href)
        expect(`${receiver.collection}/${receiver.id}`).toBe(receiver.url)
      }),
      { seed: 1, numRuns: 500 },
    )
  })

  it('T-24 accepts 2048 characters and refuses more', () => {
    const text = (length: number): string => 'https://x/incoming-payments/'.padEnd(length, '1')
    expect(parseReceiver(text(2048))?.url).toBe(text(2048))
    expect(parseReceiver(text(2049))).toBeUndefined()
  })

  it('T-24 refuses what a URL parser writes in more than 2048 characters', () => {
    const text = (length: number): string => 'https://x/'.padEnd(length, 'é').concat('/incoming-payments/1')
    expect(parseReceiver(text(330))?.url).toHaveLength(10 + 320 * 6 + 20)
    expect(parseReceiver(text(400))).toBeUndefined()
  })

  it('T-24 refuses 1 MiB a thousand times, for which the published pattern would need hours', () => {
    const long = `https://${'/incoming-payments/'.repeat(1 << 16)}`.slice(0, 1 << 20)
    const started = process.cpuUsage()
    let refused = 0
    for (let call = 0; call < 1000; call++) {
      if (parseReceiver(long) === undefined && localQuoteId(long, server) === undefined) refused++
    }
    expect(refused).toBe(1000)
    // Processor time, which a busy machine does not stretch.
    expect(process.cpuUsage(started).user).toBeLessThan(1_000_000)
  })
})

describe('receivers at hosts beyond ASCII', () => {
  const ideographs = (length: number): string =>
    String.fromCodePoint(...Array.from({ length }, (_, index) => 0x4e00 + index))
  const path = '/incoming-payments/1'

  it('T-24 are read in any spelling, and refused before a parser if they are longer than a name can be', () => {
    const label = ideographs(10)
    const name = `${label}.`.repeat(10)
    const canonical = parseReceiver(`https://${label}.example${path}`)?.url
    expect(canonical).toMatch(/^https:\/\/xn--[\w-]+\.example\/incoming-payments\/1$/)
    expect(parseReceiver(`https://${encodeURI(label)}.example${path}`)?.url).toBe(canonical)
    expect(parseReceiver(`https:////${label}.example${path}`)?.url).toBe(canonical)
    expect(parseReceiver(`https://${name}example${path}`)?.url).toContain('xn--')
    expect(parseReceiver(`https://wallet.example${`/${ideographs(100)}`.repeat(2)}${path}`)).toBeDefined()
    expect(parseReceiver(`https://${'a.'.repeat(200)}example${path}`)).toBeDefined()
    const asked = noteParsed('URL')
    try {
      for (const host of [
        ideographs(261),
        `${ideographs(1900)}.example`,
        `${'a'.repeat(300)}${ideographs(1)}`,
        `user@${ideographs(1900)}`,
        `///${ideographs(1900)}`,
      ]) {
        expect(parseReceiver(`https://${host}${path}`)).toBeUndefined()
        expect(localQuoteId(`https://${host}/quotes/${id}`, server)).toBeUndefined()
      }
      expect(asked).toEqual([])
    } finally {
      vi.unstubAllGlobals()
    }
  })
})

describe('resources of this server', () => {
  it('RS-10 are known by their URL', () => {
    expect(localQuoteId(`${server}/quotes/${id}`, server)).toBe(id)
  })

  it.each([
    `https://WALLET.example/op/quotes/${id}`,
    `https://wallet.example:443/op/quotes/${id}`,
    `https://wallet.example/x/../op/quotes/${id}`,
  ])('RS-10 are compared as URLs: %s', (url) => expect(localQuoteId(url, server)).toBe(id))

  it.each([
    id,
    `/op/quotes/${id}`,
    `https://evil.example/op/quotes/${id}`,
    `https://evil.example/quotes/${id}`,
    `https://wallet.example.evil.example/op/quotes/${id}`,
    `https://wallet.example@evil.example/op/quotes/${id}`,
    `https://user@wallet.example/op/quotes/${id}`,
    `http://wallet.example/op/quotes/${id}`,
    `https://wallet.example:8443/op/quotes/${id}`,
    `https://wallet.example/quotes/${id}`,
    `https://wallet.example/other/quotes/${id}`,
    `${server}/incoming-payments/${id}`,
    `${server}/outgoing-payments/${id}`,
    `${server}/quotes/`,
    `${server}/quotes`,
    `${server}/quotes/${id}/`,
    `${server}/quotes/${id}/x`,
    `${server}/quotes/${id}?x`,
    `${server}/quotes/${id}#x`,
    `${server}/quotes/../quotes/..`,
    `${server}//quotes/${id}`,
  ])('RS-10 T-41 do not include %s', (url) => expect(localQuoteId(url, server)).toBeUndefined())

  it.each([
    [`${server}/incoming-payments/${id}`, true],
    [`https://WALLET.example:443/x/../op/incoming-payments/${id}`, true],
    [`https://other.example/incoming-payments/${id}`, false],
    [`http://wallet.example/op/incoming-payments/${id}`, false],
    [`https://wallet.example:8443/op/incoming-payments/${id}`, false],
    [`https://wallet.example/incoming-payments/${id}`, false],
    [`${server}/x/incoming-payments/${id}`, false],
    [`${server}//incoming-payments/${id}`, false],
  ])('RS-10 tell a local receiver from one elsewhere: %s', (url, isLocal) => {
    const receiver = parseReceiver(url)
    expect(receiver && isLocalReceiver(receiver, server)).toBe(isLocal)
  })
})
