import { describe, expect, it } from 'vitest'
import type { DialedReply, OutboundNetwork } from '../../src/ports/outbound-network.ts'
import { fetchKeyResolver } from '../../src/runtime/fetch-key-resolver.ts'
import { silence } from '../support/gate.ts'
import { turn } from '../support/turns.ts'
import { chunks, type FakeNetwork, fakeNetwork, jsonReply, publishedKey } from './fake-network.ts'

const ALICE = 'https://wallet.example/alice'
const BARE = 'https://shop.example/.well-known/pay'

function withReply(reply: (network: FakeNetwork) => DialedReply): FakeNetwork {
  const network = fakeNetwork()
  network.documents = () => reply(network)
  return network
}

const keySet = (count: number) => ({ keys: Array.from({ length: count }, (_, index) => publishedKey(`key-${index}`)) })

const NO_JSON = 'its body is no uncompressed application/json of at most 64 KiB'
const NO_KEY_SET = 'it is no key set, or has more than 20 keys'

describe('a fetched key set', () => {
  it('KEY-6 is the one at /jwks.json of the wallet address, with or without a trailing slash', async () => {
    const network = fakeNetwork()
    network.documents = { [`${ALICE}/jwks.json`]: { keys: [publishedKey('a'), publishedKey('b')] } }
    const found = await network.resolver.keySet(ALICE)
    expect(found.ok && found.keys.map((key) => key.kid)).toEqual(['a', 'b'])
    expect(await network.resolver.keySet(`${ALICE}/`)).toEqual(found)
    expect(network.connections).toHaveLength(1)
  })

  it('KEY-6 of an address without a path is also that of its host, asked for where it has none of its own', async () => {
    const network = fakeNetwork()
    const own = { keys: [publishedKey('own')] }
    network.documents = {
      [`${BARE}/jwks.json`]: own,
      'https://shop.example/jwks.json': { keys: [publishedKey('host')] },
    }
    expect(await network.resolver.keySet(BARE)).toMatchObject({ ok: true, keys: [{ kid: 'own' }] })
    expect(network.connections).toHaveLength(1)
    network.clock.advance(60_000)
    network.documents = { 'https://shop.example/jwks.json': { keys: [publishedKey('host')] } }
    expect(await network.resolver.keySet(BARE)).toMatchObject({ ok: true, keys: [{ kid: 'host' }] })
    expect(await network.resolver.keySet(BARE)).toMatchObject({ ok: true, keys: [{ kid: 'host' }] })
    expect(network.connections.map(({ url }) => url.href).slice(1)).toEqual([
      `${BARE}/jwks.json`,
      'https://shop.example/jwks.json',
    ])
    network.clock.advance(60_000)
    network.documents = {}
    expect(await network.resolver.keySet(BARE)).toEqual({ ok: false, reason: 'unreachable', detail: 'status 404' })
    expect(network.connections).toHaveLength(5)
  })

  it.each([`${BARE}/pay`, 'https://shop.example/alice/.well-known/pay', 'https://shop.example/.well-known/pay2'])(
    'KEY-6 of %s is not that of its host',
    async (walletAddress) => {
      const network = fakeNetwork()
      network.documents = { 'https://shop.example/jwks.json': keySet(1) }
      expect(await network.resolver.keySet(walletAddress)).toEqual({
        ok: false,
        reason: 'unreachable',
        detail: 'status 404',
      })
      expect(network.connections).toHaveLength(1)
    },
  )

  it.each([{ status: 410 }, { status: 500 }, { status: 301 }, { contentType: 'text/html' }, { body: chunks(['{}']) }])(
    'KEY-6 is not that of its host after an answer with %j',
    async (overrides) => {
      const network = fakeNetwork()
      network.documents = ({ url }) => jsonReply(keySet(1), url.pathname === '/jwks.json' ? {} : overrides)
      expect(await network.resolver.keySet(BARE)).toMatchObject({ ok: false })
      expect(network.connections).toHaveLength(1)
    },
  )

  it('KEY-6 T-4 of its host is there within the same 3 seconds', async () => {
    const network = fakeNetwork()
    const { called, call } = silence()
    network.documents = async ({ url }) => {
      if (url.pathname === '/jwks.json') return call()
      await network.clock.sleep(2_000)
      return jsonReply({}, { status: 404 })
    }
    const found = network.resolver.keySet(BARE)
    await turn()
    network.clock.advance(2_000)
    await called
    network.clock.advance(1_000)
    expect(await found).toEqual({ ok: false, reason: 'unreachable', detail: 'no answer in time' })
  })

  it('KEY-6 T-5 of its host is paid for by the same budget', async () => {
    const network = fakeNetwork()
    for (let index = 0; index < 99; index++) await network.resolver.keySet(`https://shop.example/${index}`)
    network.documents = { 'https://shop.example/jwks.json': keySet(1) }
    expect(await network.resolver.keySet(BARE)).toEqual({
      ok: false,
      reason: 'unreachable',
      detail: 'the budget for its host is spent for now',
    })
    expect(network.connections).toHaveLength(100)
    expect(await network.resolver.keySet(BARE, undefined, { isHolder: true })).toMatchObject({ ok: true })
  })

  it('comes over a network that may be an object of a class', async () => {
    class Network implements OutboundNetwork {
      readonly #reply = jsonReply(keySet(1))
      async resolveHost(): Promise<readonly string[]> {
        return ['93.184.216.34']
      }
      async dial(): Promise<DialedReply> {
        return this.#reply
      }
    }
    const resolver = fetchKeyResolver({ network: new Network() })
    expect(await resolver.keySet(ALICE)).toMatchObject({ ok: true, keys: [{ kid: 'key-0' }] })
  })

  it.each(['application/json', 'application/jwk-set+json', 'Application/JSON;charset=utf-8'])(
    'may be typed %s',
    async (contentType) => {
      const network = withReply(() => jsonReply(keySet(1), { contentType }))
      expect(await network.resolver.keySet(ALICE)).toMatchObject({ ok: true })
    },
  )

  it.each(['text/html', '', 'text/plain; note=application/json', 'application/jsonp'])(
    'T-4 may not be typed %j',
    async (contentType) => {
      const network = withReply(() => jsonReply(keySet(1), { contentType }))
      expect(await network.resolver.keySet(ALICE)).toEqual({ ok: false, reason: 'invalid', detail: NO_JSON })
    },
  )

  it.each(['gzip', 'br', 'identity, gzip'])('T-4 may not be encoded %s', async (contentEncoding) => {
    const network = withReply(() => jsonReply(keySet(1), { contentEncoding }))
    expect(await network.resolver.keySet(ALICE)).toEqual({ ok: false, reason: 'invalid', detail: NO_JSON })
  })

  it.each([301, 302, 303, 307, 308, 204, 206, 404, 500])('T-3 may not come with status %i', async (status) => {
    const network = withReply(() => jsonReply(keySet(1), { status }))
    expect(await network.resolver.keySet(ALICE)).toEqual({
      ok: false,
      reason: 'unreachable',
      detail: `status ${status}`,
    })
    expect(network.connections).toHaveLength(1)
  })

  it('T-4 has at most 20 keys', async () => {
    expect(await withReply(() => jsonReply(keySet(20))).resolver.keySet(ALICE)).toMatchObject({ ok: true })
    const network = withReply(() => jsonReply(keySet(21)))
    expect(await network.resolver.keySet(ALICE)).toEqual({ ok: false, reason: 'invalid', detail: NO_KEY_SET })
  })

  it('T-4 is not read to its end where it holds 5000 keys', async () => {
    const key = JSON.stringify(publishedKey('a'))
    const texts = ['{"keys":[', ...Array.from({ length: 5000 }, () => `${key},`), ']}']
    let pulled = 0
    const counted = (function* () {
      for (const text of texts) {
        pulled += 1
        yield text
      }
    })()
    const network = withReply(() => jsonReply(undefined, { body: chunks(counted) }))
    expect(await network.resolver.keySet(ALICE)).toEqual({ ok: false, reason: 'invalid', detail: NO_JSON })
    expect(pulled).toBeLessThan(1000)
  })

  it('T-4 has at most 64 KiB', async () => {
    const padded = (length: number) => {
      const text = JSON.stringify(keySet(1))
      return jsonReply(undefined, { body: chunks([text, ' '.repeat(length - text.length)]) })
    }
    expect(await withReply(() => padded(65_536)).resolver.keySet(ALICE)).toMatchObject({ ok: true })
    expect(await withReply(() => padded(65_537)).resolver.keySet(ALICE)).toEqual({
      ok: false,
      reason: 'invalid',
      detail: NO_JSON,
    })
  })

  it.each([
    ['broken JSON', '{"keys":[', NO_JSON],
    ['a list', '[]', NO_KEY_SET],
    ['no keys', '{}', NO_KEY_SET],
    ['keys that are no list', '{"keys":{"length":1}}', NO_KEY_SET],
    ['null', 'null', NO_KEY_SET],
  ])('may not be %s', async (_, text, detail) => {
    const network = withReply(() => jsonReply(undefined, { body: chunks([text]) }))
    expect(await network.resolver.keySet(ALICE)).toEqual({ ok: false, reason: 'invalid', detail })
  })

  it('may not be other than UTF-8', async () => {
    const text = new TextEncoder().encode(JSON.stringify({ ...keySet(1), note: '?' }))
    const broken = text.map((byte) => (byte === 63 ? 0xff : byte))
    const network = withReply(() =>
      jsonReply(undefined, {
        body: (async function* () {
          yield broken
        })(),
      }),
    )
    expect(await network.resolver.keySet(ALICE)).toEqual({ ok: false, reason: 'invalid', detail: NO_JSON })
  })

  it('KEY-7 lacks a kid that occurs twice: it is fetched again', async () => {
    const network = fakeNetwork()
    network.documents = { [`${ALICE}/jwks.json`]: { keys: [publishedKey('a'), publishedKey('a'), publishedKey('b')] } }
    await network.resolver.keySet(ALICE)
    network.clock.advance(10_000)
    await network.resolver.keySet(ALICE, 'b')
    expect(network.connections).toHaveLength(1)
    await network.resolver.keySet(ALICE, 'a')
    expect(network.connections).toHaveLength(2)
  })

  it.each([
    ['the name server', (network: FakeNetwork) => Object.assign(network, { addresses: new Promise(() => undefined) })],
    [
      'the connection',
      (network: FakeNetwork) => Object.assign(network, { documents: () => new Promise(() => undefined) }),
    ],
    [
      'the body',
      (network: FakeNetwork) =>
        Object.assign(network, {
          documents: () =>
            jsonReply(undefined, {
              body: (async function* () {
                yield new Uint8Array([123])
                await new Promise(() => undefined)
              })(),
            }),
        }),
    ],
  ])('T-4 takes 3 seconds at most, when %s hangs', async (_, hang) => {
    const network = fakeNetwork()
    hang(network)
    const answer = network.resolver.keySet(ALICE)
    const settled = answer.then(() => 'settled')
    network.clock.advance(2999)
    expect(await Promise.race([settled, new Promise((resolve) => setImmediate(resolve, 'waiting'))])).toBe('waiting')
    network.clock.advance(1)
    expect(await answer).toEqual({ ok: false, reason: 'unreachable', detail: 'no answer in time' })
    for (const connection of network.connections) expect(connection.signal.aborted).toBe(true)
  })
})

describe('a fetched name', () => {
  const named = (publicName: unknown, id: unknown = ALICE) =>
    withReply(() => jsonReply({ id, publicName, assetCode: 'EUR', assetScale: 2 }))

  it('is the publicName of the wallet address document', async () => {
    const network = fakeNetwork()
    network.documents = { [ALICE]: { id: ALICE, publicName: 'Alice’s Shop' } }
    expect(await network.resolver.publicName(ALICE)).toBe('Alice’s Shop')
    expect(await network.resolver.publicName(`${ALICE}/`)).toBe('Alice’s Shop')
    expect(await named('Alice’s Shop', `${ALICE}/`).resolver.publicName(ALICE)).toBe('Alice’s Shop')
    expect(network.connections).toHaveLength(1)
  })

  it.each(['https://wallet.example/bob', 'https://other.example/alice', undefined, 7])(
    'T-35 is not taken from a document whose id is %s',
    async (id) => {
      const network = named('Alice', id === undefined ? null : id)
      expect(await network.resolver.publicName(ALICE)).toBeUndefined()
    },
  )

  it('is never more than 100 characters', async () => {
    expect(await named('😀'.repeat(200)).resolver.publicName(ALICE)).toBe('😀'.repeat(100))
  })

  it.each([
    ['a right-to-left override', 'Ali\u202ece', 'Ali ce'],
    ['isolates', '\u2066Alice\u2069', 'Alice'],
    ['line breaks', 'Alice\r\nBank of\u2028Trust', 'Alice Bank of Trust'],
    ['controls', 'Ali\u0000\u001b[31mce', 'Ali [31mce'],
    ['characters without width', 'A\u200bl\ufeffice', 'A l ice'],
    ['a lone surrogate', 'Alice\ud800', 'Alice'],
  ])('has no %s', async (_, publicName, plain) => {
    expect(await named(publicName).resolver.publicName(ALICE)).toBe(plain)
  })

  it.each([undefined, null, 7, '', ' \u200b '])('is absent where the document says %j', async (publicName) => {
    expect(await named(publicName).resolver.publicName(ALICE)).toBeUndefined()
  })
})
