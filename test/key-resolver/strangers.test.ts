import type { HttpRequest } from 'open-payments-server'
import { alterRequest, createSigningKey } from 'open-payments-server/testing'
import { describe, expect, it } from 'vitest'
import { type AuthWallet, authWallet, CONSENT_REQUEST, PLAIN_REQUEST } from '../auth-server/auth-wallet.ts'
import { fakeClock } from '../support/fake-clock.ts'
import { gate } from '../support/gate.ts'
import { type Answer, type Client, cryptography } from '../support/test-wallet.ts'
import { type FakeNetwork, fakeNetwork, jsonReply, publishedKey } from './fake-network.ts'

const SHOP = 'https://shop.example/pay'
const SOURCE = '198.51.100.7'
const OTHER_SOURCE = '198.51.100.8'

interface Scene {
  readonly network: FakeNetwork
  readonly wallet: AuthWallet
  readonly shop: Client
  /** A grant request that names a client, signed with a key that only the shop has. */
  ask(client: string, source?: string, json?: object): Promise<Answer>
}

/** A wallet on a network where every host publishes somebody's key, and the shop its own. */
async function scene(): Promise<Scene> {
  const clock = fakeClock()
  const network = fakeNetwork({ clock })
  const wallet = await authWallet({ clock, keyResolver: network.resolver })
  const key = await createSigningKey(cryptography, 'shop-key')
  const shop = { key, client: SHOP }
  network.documents = ({ url }) => jsonReply({ keys: [url.host === 'shop.example' ? key.jwk : publishedKey('a')] })
  return {
    network,
    wallet,
    shop,
    ask: (client, source, json = PLAIN_REQUEST) =>
      wallet.ask(
        { ...json, client },
        { as: shop, created: Math.floor(clock.now() / 1000), alter: (request) => ({ ...request, source }) },
      ),
  }
}

/** More requests than there may be fetches. */
async function askOften(
  scene: Scene,
  clientOf: (index: number) => string,
  source?: string,
  times = 120,
): Promise<readonly Answer[]> {
  const answers: Answer[] = []
  for (let index = 0; index < times; index++) answers.push(await scene.ask(clientOf(index), source))
  return answers
}

const count = (answers: readonly Answer[], status: number): number =>
  answers.filter((answer) => answer.status === status).length

describe('grant requests that name a victim', () => {
  it('T-5 cause one fetch where a thousand of them name one wallet address', async () => {
    const { network, wallet, shop } = await scene()
    const sent: HttpRequest[] = []
    const request = { ...PLAIN_REQUEST, client: 'https://victim.example/alice' }
    const keep = (signed: HttpRequest): HttpRequest => {
      sent.push(signed)
      return signed
    }
    await wallet.ask(request, { as: shop, alter: keep })
    for (const signed of sent) {
      const answers = await Promise.all(Array.from({ length: 1000 }, () => wallet.openPayments.handle(signed)))
      expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([400]))
    }
    expect([sent.length, network.connections.length]).toEqual([1, 1])
  })

  it('T-5 cause 100 fetches where they name one host, and none where they are not signed', async () => {
    const here = await scene()
    const json = { ...PLAIN_REQUEST, client: 'https://victim.example/alice' }
    const unsigned = await here.wallet.ask(json, {
      as: here.shop,
      alter: (request) => alterRequest(request, { headers: { signature: [], 'signature-input': [] } }),
    })
    expect([unsigned.status, here.network.lookups]).toEqual([401, []])
    const answers = await askOften(here, (index) => `https://victim.example/${index}`)
    expect(count(answers, 400)).toBe(120)
    expect(here.network.connections).toHaveLength(100)
  })

  it('T-5 cause 20 fetches where one source names as many hosts as it likes, and it is told when to come again', async () => {
    const here = await scene()
    const answers = await askOften(here, (index) => `https://victim-${index}.example/alice`, SOURCE)
    expect([count(answers, 400), count(answers, 429)]).toEqual([20, 100])
    expect(here.network.connections).toHaveLength(20)
    expect(await here.wallet.records()).toEqual([])
    const [refused] = answers.slice(-1)
    expect(refused).toMatchObject({ headers: { 'retry-after': '1' }, body: { error: { code: 'request_denied' } } })
    expect(here.wallet.events.at(-1)).toMatchObject({ type: 'request', status: 429, condition: 'rate_limited' })
    here.network.clock.advance(1000)
    const later = await askOften(here, (index) => `https://other-victim-${index}.example/alice`, SOURCE, 12)
    expect([count(later, 400), count(later, 429)]).toEqual([2, 10])
    expect(here.network.connections).toHaveLength(22)
  })
})

describe('a key resolver', () => {
  it('T-5 fetches 20 of a thousand hosts that one source names, 2 more each second, and all where none is named', async () => {
    const network = fakeNetwork()
    network.documents = () => jsonReply({ keys: [publishedKey('a')] })
    const ask = (round: string, source?: string) =>
      Promise.all(
        Array.from({ length: 1000 }, (_, index) =>
          network.resolver.keySet(
            `https://${round}-${index}.example/a`,
            undefined,
            source === undefined ? {} : { source },
          ),
        ),
      )
    const answers = await ask('one', SOURCE)
    expect(answers.filter(({ ok }) => ok)).toHaveLength(20)
    expect(answers.at(-1)).toEqual({ ok: false, reason: 'rate_limited', retryAfterSeconds: 1 })
    expect(network.lookups).toHaveLength(20)
    network.clock.advance(1000)
    await ask('two', SOURCE)
    expect(network.lookups).toHaveLength(22)
    await ask('three')
    expect(network.lookups).toHaveLength(1022)
  })
})

describe('a key resolver whose clients all live at one address', () => {
  it('T-5 connects there 100 times for strangers, however many names it has, and still for who holds a grant', async () => {
    const network = fakeNetwork()
    network.documents = () => jsonReply({ keys: [publishedKey('a')] })
    const ask = (index: number) => network.resolver.keySet(`https://n${index}.evil.example/a`)
    const answers = await Promise.all(Array.from({ length: 1000 }, (_, index) => ask(index)))
    expect([answers.filter(({ ok }) => ok).length, network.connections.length]).toEqual([100, 100])
    expect(await network.resolver.keySet(SHOP, undefined, { isHolder: true })).toMatchObject({ ok: true })
    expect(await network.resolver.publicName(SHOP)).toBeUndefined()
    expect(network.connections).toHaveLength(101)
  })
})

/** Lets a source cause all the fetches that it may. */
async function exhaust({ network }: Scene, source: string): Promise<void> {
  const from = network.clock.now()
  const keySet = (index: number) =>
    network.resolver.keySet(`https://at-${from}-${index}.example/a`, undefined, { source })
  for (let index = 0; index < 20; index++) await keySet(index)
  expect(await keySet(20)).toMatchObject({ ok: false, reason: 'rate_limited' })
}

describe('a source that names too many clients', () => {
  it('T-5 shuts out no client of another source, and is not remembered as a failure of the client it names', async () => {
    const here = await scene()
    await exhaust(here, SOURCE)
    expect((await here.ask(SHOP, SOURCE)).status).toBe(429)
    expect((await here.ask(SHOP, OTHER_SOURCE)).status).toBe(200)
    expect((await here.ask(SHOP, SOURCE)).status).toBe(200)
  })

  it('T-5 is still asked for by a client that is known, whose keys are fetched once a minute', async () => {
    const here = await scene()
    expect((await here.ask(SHOP, SOURCE)).status).toBe(200)
    await exhaust(here, SOURCE)
    const before = here.network.connections.length
    here.network.clock.advance(59_999)
    expect((await here.ask(SHOP, SOURCE)).status).toBe(200)
    expect(here.network.connections).toHaveLength(before)
    await exhaust(here, SOURCE)
    here.network.clock.advance(1)
    expect((await here.ask(SHOP, SOURCE)).status).toBe(200)
    expect(here.network.connections).toHaveLength(before + 21)
    expect((await here.ask('https://stranger.example/alice', SOURCE)).status).toBe(429)
  })

  it('T-5 shuts out no client that holds a grant, also where this server has just started and remembers nobody', async () => {
    const here = await scene()
    const asker = { source: SOURCE, isHolder: true }
    for (let index = 0; index < 120; index++) await here.network.resolver.keySet(`https://shop.example/no${index}`)
    await exhaust(here, SOURCE)
    // Nor by naming that very client, for whom the budget of its host is used up.
    expect(await here.network.resolver.keySet(SHOP)).toMatchObject({ ok: false })
    expect(await here.network.resolver.keySet(SHOP, undefined, asker)).toMatchObject({ ok: true })
  })

  it('T-5 a client that holds a grant does not share the load of a stranger, who has no budget', async () => {
    const { network } = await scene()
    for (let index = 0; index < 100; index++)
      await network.resolver.keySet(`https://no${index}.example/pay`, undefined, { source: `${index}` })
    const { open, opened } = gate()
    network.addresses = opened.then(() => ['93.184.216.34'])
    const stranger = network.resolver.keySet(SHOP, undefined, { source: SOURCE })
    const holder = network.resolver.keySet(SHOP, undefined, { isHolder: true })
    open()
    expect(await stranger).toMatchObject({ ok: false })
    expect(await holder).toMatchObject({ ok: true })
  })

  it('T-5 T-4 a client that holds a grant and whose host fails is asked for once in 10 seconds', async () => {
    const here = await scene()
    here.network.documents = () => ({ ...jsonReply({}), status: 500 })
    const asker = { isHolder: true }
    for (let index = 0; index < 5; index++) await here.network.resolver.keySet(SHOP, undefined, asker)
    expect(here.network.connections).toHaveLength(1)
    here.network.clock.advance(10_000)
    await here.network.resolver.keySet(SHOP, undefined, asker)
    expect(here.network.connections).toHaveLength(2)
  })

  it('T-5 pays for the names of clients too, and a client without a name may ask all the same', async () => {
    const here = await scene()
    const asked: string[] = []
    here.network.documents = ({ url }) => {
      asked.push(url.href)
      if (url.pathname.endsWith('/jwks.json')) return jsonReply({ keys: [here.shop.key.jwk] })
      return jsonReply({ id: url.href, publicName: 'Shop' })
    }
    for (let index = 0; index < 11; index++) {
      const answer = await here.ask(`https://shop-${index}.example/pay`, SOURCE, CONSENT_REQUEST)
      expect(answer.status).toBe(index < 10 ? 200 : 429)
    }
    expect(asked).toHaveLength(20)
    expect(await here.network.resolver.publicName('https://shop-99.example/pay', { source: SOURCE })).toBeUndefined()
    expect(await here.network.resolver.publicName('https://shop-9.example/pay', { source: SOURCE })).toBe('Shop')
    expect(await here.network.resolver.publicName('https://shop-99.example/pay')).toBe('Shop')
  })
})
