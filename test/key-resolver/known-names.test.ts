import { describe, expect, it } from 'vitest'
import { type FakeNetwork, fakeNetwork, jsonReply, publishedKey } from './fake-network.ts'

const EVIL = 'https://evil.example'
const SHOP = 'https://shop.example/pay'
const HOLDER = { isHolder: true }
const VICTIM = '93.184.215.14'
const GOOD = jsonReply.bind(undefined, { keys: [publishedKey('a')] })

const namesOf = (count: number, host = EVIL): readonly string[] =>
  Array.from({ length: count }, (_, index) => `${host}/${index}`)

/** A network on which every name has good keys at an address of its own, until it is pointed elsewhere. */
function scene(): FakeNetwork {
  const network = fakeNetwork()
  network.documents = () => GOOD()
  return network
}

/** From here on all names mean one address, whose server cannot answer for any of them. */
function pointAtVictim(network: FakeNetwork): void {
  network.addresses = [VICTIM]
  network.documents = () => {
    throw new Error('the certificate is for another name')
  }
}

async function askAll(network: FakeNetwork, names: readonly string[], kid?: string, asker = {}): Promise<number> {
  const before = network.connections.length
  for (const name of names) await network.resolver.keySet(name, kid, asker)
  return network.connections.length - before
}

/** Makes so many names known, at the pace that strangers are given. */
async function makeKnown(network: FakeNetwork, names: readonly string[]): Promise<void> {
  for (let from = 0; from < names.length; from += 100) {
    expect(await askAll(network, names.slice(from, from + 100))).toBe(100)
    network.clock.advance(10_000)
  }
}

describe('names that were good once, and are pointed at a victim', () => {
  it('T-5 reach it once each, and then 100 times in 10 seconds', async () => {
    const network = scene()
    const names = namesOf(200)
    await makeKnown(network, names)
    network.clock.advance(60_000)
    pointAtVictim(network)
    expect(await askAll(network, names)).toBe(200)
    for (let round = 0; round < 2; round++) {
      network.clock.advance(10_000)
      expect(await askAll(network, names)).toBe(100)
    }
  })

  it('T-5 reach it 100 times under as many hosts', async () => {
    const network = scene()
    const names = Array.from({ length: 200 }, (_, index) => `https://n${index}.evil.example/a`)
    await makeKnown(network, names)
    network.clock.advance(60_000)
    pointAtVictim(network)
    await askAll(network, names)
    network.clock.advance(10_000)
    expect(await askAll(network, names)).toBe(100)
  })

  it('T-5 reach it 100 times in 10 seconds while their keys are held, which are held on', async () => {
    const network = scene()
    const names = namesOf(200)
    await makeKnown(network, names)
    pointAtVictim(network)
    expect(await askAll(network, names, 'another')).toBe(100)
    expect(await network.resolver.keySet(`${EVIL}/199`, 'another')).toMatchObject({ ok: true })
  })

  it('T-5 reach it 100 times once their keys are over, if they failed while these were held', async () => {
    const network = scene()
    const names = namesOf(200)
    await makeKnown(network, names)
    pointAtVictim(network)
    expect(await askAll(network, names.slice(0, 100), 'another')).toBe(100)
    network.clock.advance(10_000)
    expect(await askAll(network, names.slice(100), 'another')).toBe(100)
    network.clock.advance(60_000)
    expect(await askAll(network, names)).toBe(100)
  })

  it('T-5 T-4 reach it 100 times in 10 seconds where they hold grants, more than are remembered', async () => {
    const network = scene()
    const names = namesOf(1001)
    expect(await askAll(network, names, undefined, HOLDER)).toBe(1001)
    pointAtVictim(network)
    expect(await askAll(network, names, undefined, HOLDER)).toBe(100)
    expect(await askAll(network, names, undefined, HOLDER)).toBe(0)
    network.clock.advance(10_000)
    expect(await askAll(network, names.slice(0, 150), undefined, HOLDER)).toBe(100)
  })

  it('T-5 are not even looked up more often where they mean nothing', async () => {
    const network = scene()
    network.addresses = []
    await askAll(network, namesOf(1001), undefined, HOLDER)
    expect(network.lookups).toHaveLength(100)
  })
})

describe('clients of one wallet that are known', () => {
  const names = namesOf(200, 'https://wallet.example')

  it('T-5 are all asked for, however many, as long as it answers', async () => {
    const network = scene()
    expect(await askAll(network, names, undefined, HOLDER)).toBe(200)
    network.clock.advance(60_000)
    expect(await askAll(network, names)).toBe(200)
    network.clock.advance(10_000)
    expect(await askAll(network, names, 'another')).toBe(200)
  })

  it('T-5 are asked for 100 at a time, and the others as soon as these are answered', async () => {
    const network = scene()
    const askAtOnce = () => Promise.all(names.map((name) => network.resolver.keySet(name, undefined, HOLDER)))
    expect((await askAtOnce()).filter(({ ok }) => ok)).toHaveLength(100)
    expect((await askAtOnce()).filter(({ ok }) => ok)).toHaveLength(200)
  })

  it('T-5 are asked for 10 seconds after its outage, whatever strangers ask of it', async () => {
    const network = scene()
    await askAll(network, names, undefined, HOLDER)
    network.clock.advance(60_000)
    network.documents = () => jsonReply({}, { status: 500 })
    for (let round = 0; round < 3; round++) {
      await askAll(network, names)
      network.clock.advance(10_000)
    }
    network.documents = () => GOOD()
    await askAll(network, namesOf(110, 'https://wallet.example/no'))
    for (const name of names) expect(await network.resolver.keySet(name)).toMatchObject({ ok: true })
  })

  it('T-5 are not shut out by names that fail at its address', async () => {
    const network = scene()
    await network.resolver.keySet(SHOP)
    network.clock.advance(60_000)
    pointAtVictim(network)
    await askAll(network, namesOf(110), undefined, HOLDER)
    await askAll(network, namesOf(110, 'https://stranger.example'))
    network.documents = () => GOOD()
    expect(await network.resolver.keySet('https://shop.example/other', undefined, HOLDER)).toMatchObject({ ok: false })
    expect(await network.resolver.keySet(SHOP)).toMatchObject({ ok: true })
  })

  it('T-5 keep the budget of their host for when it is elsewhere, where names fail at its address', async () => {
    const network = scene()
    pointAtVictim(network)
    await askAll(network, namesOf(100), undefined, HOLDER)
    expect(await askAll(network, names, undefined, HOLDER)).toBe(0)
    network.addresses = ['93.184.216.34']
    expect(await askAll(network, names, undefined, HOLDER)).toBe(100)
  })

  it('T-5 stay so where a new key could not be asked for, since names fail at its address', async () => {
    const network = scene()
    await network.resolver.keySet(SHOP)
    for (let round = 0; round < 6; round++) {
      network.clock.advance(10_000)
      pointAtVictim(network)
      await askAll(network, namesOf(110), undefined, HOLDER)
      network.documents = () => GOOD()
      expect(await askAll(network, [SHOP], 'another')).toBe(round < 5 ? 0 : 1)
    }
  })

  it('T-5 are pushed out by no other host that has more than 100', async () => {
    const network = scene()
    const few = namesOf(100, 'https://small.example')
    await askAll(network, few, undefined, HOLDER)
    await askAll(network, namesOf(1000), undefined, HOLDER)
    expect(await askAll(network, few)).toBe(0)
    // A host with few makes room like everybody: those of the others that were unused for longest go.
    await askAll(network, namesOf(50, 'https://third.example'), undefined, HOLDER)
    expect(await askAll(network, [...few, ...namesOf(50, 'https://third.example')])).toBe(0)
  })
})
