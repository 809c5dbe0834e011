import { describe, expect, it } from 'vitest'
import { cacheDocuments, type Loaded } from '../../src/runtime/document-cache.ts'
import { fakeClock } from '../support/fake-clock.ts'
import { fakeNetwork, jsonReply, publishedKey } from './fake-network.ts'

const ALICE = 'https://wallet.example/alice'
const KEYS = `${ALICE}/jwks.json`

describe('held key sets', () => {
  it('T-4 T-5 a thousand requests for one wallet address cause one fetch', async () => {
    const network = fakeNetwork()
    network.documents = { [KEYS]: { keys: [publishedKey('a')] } }
    const answers = await Promise.all(Array.from({ length: 1000 }, () => network.resolver.keySet(ALICE)))
    expect(answers.every((answer) => answer.ok)).toBe(true)
    expect(network.connections).toHaveLength(1)
  })

  it('T-5 a thousand wallet addresses of one host cause 100 fetches in 10 seconds, another host its own', async () => {
    const network = fakeNetwork()
    network.documents = () => jsonReply({ keys: [publishedKey('a')] })
    const ask = (from: number) =>
      Promise.all(Array.from({ length: 1000 }, (_, index) => network.resolver.keySet(`${ALICE}/${from + index}`)))
    const answers = await ask(0)
    expect(answers.filter((answer) => answer.ok)).toHaveLength(100)
    expect(network.connections).toHaveLength(100)
    const { addresses } = network
    network.addresses = ['93.184.216.35']
    expect(await network.resolver.keySet('https://other.example/bob')).toMatchObject({ ok: true })
    network.addresses = addresses
    network.clock.advance(1000)
    await ask(1000)
    expect(network.connections).toHaveLength(111)
    network.clock.advance(60_000)
    await ask(2000)
    expect(network.connections).toHaveLength(211)
  })

  it('KEY-12 a removed key is gone after 60 seconds', async () => {
    const network = fakeNetwork()
    network.documents = { [KEYS]: { keys: [publishedKey('a')] } }
    const before = await network.resolver.keySet(ALICE)
    network.documents = { [KEYS]: { keys: [] } }
    network.clock.advance(59_999)
    expect(await network.resolver.keySet(ALICE)).toEqual(before)
    network.clock.advance(1)
    expect(await network.resolver.keySet(ALICE)).not.toEqual(before)
    expect(network.connections).toHaveLength(2)
  })

  it('KEY-12 counts the 60 seconds from the beginning of a fetch', async () => {
    const network = fakeNetwork()
    network.documents = () => {
      network.clock.advance(2000)
      return jsonReply({ keys: [publishedKey('a')] })
    }
    await network.resolver.keySet(ALICE)
    network.clock.advance(58_000)
    await network.resolver.keySet(ALICE)
    expect(network.connections).toHaveLength(2)
  })

  it('KEY-12 a clock that steps back does not make a removed key live longer', async () => {
    const network = fakeNetwork()
    network.documents = { [KEYS]: { keys: [publishedKey('a')] } }
    await network.resolver.keySet(ALICE)
    network.documents = { [KEYS]: { keys: [] } }
    network.clock.advance(-3_600_000)
    await network.resolver.keySet(ALICE)
    network.clock.advance(60_000)
    expect(await network.resolver.keySet(ALICE)).toEqual({ ok: true, keys: [] })
  })

  it('KEY-12 a clock that steps back does not keep the keys of a wallet that does not answer any more', async () => {
    const network = fakeNetwork()
    network.documents = { [KEYS]: { keys: [publishedKey('a')] } }
    await network.resolver.keySet(ALICE)
    network.clock.advance(-3_600_000)
    network.documents = {}
    expect(await network.resolver.keySet(ALICE)).toMatchObject({ ok: false })
    expect(await network.resolver.keySet(ALICE)).toMatchObject({ ok: false })
    expect(network.connections).toHaveLength(2)
  })

  it('KEY-12 an unknown kid causes a fetch, at most once per 10 seconds', async () => {
    const network = fakeNetwork()
    network.documents = { [KEYS]: { keys: [publishedKey('a')] } }
    await network.resolver.keySet(ALICE)
    const ask = () =>
      Promise.all(Array.from({ length: 100 }, (_, index) => network.resolver.keySet(ALICE, `b-${index}`)))
    await ask()
    network.clock.advance(9999)
    await ask()
    expect(network.connections).toHaveLength(1)
    network.clock.advance(1)
    await ask()
    await ask()
    network.clock.advance(9999)
    await ask()
    expect(network.connections).toHaveLength(2)
  })

  it('KEY-12 a kid that was added is found 10 seconds after the last fetch', async () => {
    const network = fakeNetwork()
    network.documents = { [KEYS]: { keys: [publishedKey('a')] } }
    await network.resolver.keySet(ALICE)
    network.documents = { [KEYS]: { keys: [publishedKey('a'), publishedKey('b')] } }
    network.clock.advance(10_000)
    expect(await network.resolver.keySet(ALICE, 'a')).toMatchObject({ ok: true, keys: [{ kid: 'a' }] })
    expect(await network.resolver.keySet(ALICE, 'b')).toMatchObject({ ok: true, keys: [{ kid: 'a' }, { kid: 'b' }] })
  })

  it('KEY-12 counts those 10 seconds from the beginning of a fetch', async () => {
    const network = fakeNetwork()
    const keys = [publishedKey('a')]
    network.documents = () => {
      network.clock.advance(2000)
      return jsonReply({ keys })
    }
    await network.resolver.keySet(ALICE)
    keys.push(publishedKey('b'))
    network.clock.advance(8000)
    expect(await network.resolver.keySet(ALICE, 'b')).toMatchObject({ ok: true, keys: [{ kid: 'a' }, { kid: 'b' }] })
  })

  it('KEY-12 a fetch for an unknown kid that fails leaves the held set, for its 60 seconds', async () => {
    const network = fakeNetwork()
    network.documents = { [KEYS]: { keys: [publishedKey('a')] } }
    const before = await network.resolver.keySet(ALICE)
    network.documents = {}
    network.clock.advance(30_000)
    expect(await network.resolver.keySet(ALICE, 'b')).toEqual(before)
    expect(await network.resolver.keySet(ALICE)).toEqual(before)
    network.clock.advance(9999)
    expect(await network.resolver.keySet(ALICE, 'b')).toEqual(before)
    expect(network.connections).toHaveLength(2)
    network.clock.advance(20_001)
    expect(await network.resolver.keySet(ALICE)).toEqual({ ok: false, reason: 'unreachable', detail: 'status 404' })
  })

  it('T-4 a failure is held for 10 seconds', async () => {
    const network = fakeNetwork()
    expect(await network.resolver.keySet(ALICE)).toEqual({ ok: false, reason: 'unreachable', detail: 'status 404' })
    network.documents = { [KEYS]: { keys: [publishedKey('a')] } }
    network.clock.advance(9999)
    expect(await network.resolver.keySet(ALICE, 'a')).toEqual({
      ok: false,
      reason: 'unreachable',
      detail: 'status 404',
    })
    network.clock.advance(1)
    expect(await network.resolver.keySet(ALICE)).toMatchObject({ ok: true })
    expect(network.connections).toHaveLength(2)
  })

  it('T-5 at most 1000 are held: the one unused for longest is fetched again', async () => {
    const network = fakeNetwork()
    network.documents = () => jsonReply({ keys: [publishedKey('a')] })
    const ask = (index: number) => {
      network.addresses = [`93.184.${index >> 8}.${index & 255}`]
      return network.resolver.keySet(`https://wallet-${index}.example/alice`)
    }
    for (let index = 0; index < 1000; index++) await ask(index)
    await ask(0)
    await ask(1000)
    expect(network.connections).toHaveLength(1001)
    await ask(0)
    expect(network.connections).toHaveLength(1001)
    await ask(1)
    expect(network.connections).toHaveLength(1002)
  })

  it('T-5 strangers push no known client out, and cannot shut it out at its own host', async () => {
    const network = fakeNetwork()
    network.documents = { [KEYS]: { keys: [publishedKey('a')] } }
    expect(await network.resolver.keySet(ALICE)).toMatchObject({ ok: true })
    for (let index = 0; index < 1001; index++) await network.resolver.keySet(`https://stranger-${index}.example/a`)
    for (let index = 0; index < 101; index++) await network.resolver.keySet(`${ALICE}/${index}`)
    const before = network.connections.length
    expect(await network.resolver.keySet(ALICE)).toMatchObject({ ok: true })
    expect(network.connections).toHaveLength(before)
    network.clock.advance(60_000)
    for (let index = 0; index < 101; index++) await network.resolver.keySet(`${ALICE}/new-${index}`)
    expect(await network.resolver.keySet(ALICE)).toMatchObject({ ok: true })
  })

  it('T-35 a name and a key set of one wallet address are held apart', async () => {
    const network = fakeNetwork()
    network.documents = { [ALICE]: { id: ALICE, publicName: 'Alice' }, [KEYS]: { keys: [publishedKey('a')] } }
    expect(await network.resolver.publicName(ALICE)).toBe('Alice')
    expect(await network.resolver.keySet(ALICE)).toMatchObject({ ok: true })
    expect(network.connections.map((connection) => connection.url.href)).toEqual([ALICE, KEYS])
  })
})

describe("a stranger's load that ends after one of a known client", () => {
  function scene() {
    const clock = fakeClock()
    const ends: ((loaded: Loaded<string>) => void)[] = []
    const ask = cacheDocuments<string>(clock, () => new Promise((resolve) => ends.push(resolve)))
    return { clock, ends, ask }
  }

  it.each([
    ['fails', { isGood: false, value: 'no keys' }],
    ['has an older answer', { isGood: true, value: 'old keys' }],
  ])('KEY-12 T-5 displaces nothing if it %s', async (_what, late) => {
    const { clock, ends, ask } = scene()
    const stranger = ask(ALICE, { isKnown: false })
    const holder = ask(ALICE, { isKnown: true })
    ends[1]?.({ isGood: true, value: 'new keys' })
    expect(await holder).toBe('new keys')
    ends[0]?.(late)
    expect(await stranger).toBe('new keys')
    expect(await ask(ALICE)).toBe('new keys')
    clock.advance(60_000)
    // It still counts as known: nobody asks whether a stranger may load it.
    const again = ask(ALICE, { refuse: () => ({ value: 'refused' }) })
    ends[2]?.({ isGood: true, value: 'newer keys' })
    expect(await again).toBe('newer keys')
  })

  it('KEY-12 T-5 counts if it is good and the other one was not', async () => {
    const { ends, ask } = scene()
    const stranger = ask(ALICE, { isKnown: false })
    const holder = ask(ALICE, { isKnown: true })
    ends[1]?.({ isGood: false, value: 'no keys' })
    expect(await holder).toBe('no keys')
    ends[0]?.({ isGood: true, value: 'keys' })
    expect(await stranger).toBe('keys')
    expect(await ask(ALICE, { isKnown: true })).toBe('keys')
  })
})
