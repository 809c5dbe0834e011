import { describe, expect, it } from 'vitest'
import type { FoundReceiver, ReceiverAsker } from '../../src/ports/remote-receivers.ts'
import { jsonReply } from '../key-resolver/fake-network.ts'
import { gate } from '../support/gate.ts'
import { lines } from './internet.ts'
import { readerOn } from './scene.ts'
import { COLLECTION, paymentDocument, RECEIVER, type StandIn, standIn, tokenDocument } from './stand-in.ts'

const MALLORY = { client: 'https://mallory.example/client', source: '198.51.100.7' }
const HONEST = { client: 'https://shop.example/client', source: '198.51.100.8' }
const OK = { ok: true }
const LIMITED = { ok: false, reason: 'rate_limited', retryAfterSeconds: 1 }

/** A server that answers ids which begin with `bad` with a status of its choice. */
function victim(status = 404): StandIn {
  const there = standIn()
  const { view } = there.answers
  const isBad = ({ pathname }: URL): boolean => /\/bad[^/]*$/.test(pathname)
  const bad = () => jsonReply({}, { status })
  there.answers.view = (connection) => (isBad(connection.url) ? bad() : view(connection))
  there.answers.payment = ({ url }) => (isBad(url) ? bad() : jsonReply(paymentDocument(url.href)))
  // Its authorization server lives elsewhere.
  there.world.addresses.set('auth.example', [['93.184.217.1']])
  return there
}

/** So many receivers in collections of the victim that nobody has read, and what came of it. */
async function nameUnknown({ receivers }: StandIn, times: number, asker?: ReceiverAsker): Promise<FoundReceiver[]> {
  const found: FoundReceiver[] = []
  for (let at = 0; at < times; at++)
    found.push(await receivers.find(`https://pay.example/${at}/incoming-payments/bad`, asker))
  return found
}

const countLimited = (found: readonly FoundReceiver[]): number =>
  found.filter((one) => !one.ok && one.reason === 'rate_limited').length

describe('an incoming payment that cannot be read', () => {
  it.each([400, 401, 403, 404, 429, 500])(
    'T-5 makes no stranger of the server that answers it with %i',
    async (status) => {
      const there = victim(status)
      const { receivers } = there
      expect(await receivers.find(RECEIVER)).toMatchObject(OK)
      await nameUnknown(there, 105)
      for (let at = 0; at < 3; at++) {
        expect(await receivers.find(`${COLLECTION}/bad${at}`)).toMatchObject({ ok: false })
        expect(await receivers.find(RECEIVER)).toMatchObject(OK)
        expect(await receivers.find(`${COLLECTION}/other${at}`)).toMatchObject(OK)
      }
    },
  )

  it('T-5 has the others there read by one request again once one of them was', async () => {
    const there = victim(500)
    await there.receivers.find(RECEIVER)
    await there.receivers.find(`${COLLECTION}/bad`)
    await there.receivers.find(RECEIVER)
    there.world.connections.length = 0
    await there.receivers.find(RECEIVER)
    expect(lines(there.world)).toEqual([`signed GET ${RECEIVER}`])
  })
})

describe('who names receivers at servers that are not known', () => {
  it('T-5 has 20 of them read in 10 seconds, then one in each half second', async () => {
    const there = victim()
    expect(countLimited(await nameUnknown(there, 30, MALLORY))).toBe(10)
    expect(there.world.connections).toHaveLength(20)
    expect(await there.receivers.find(RECEIVER, MALLORY)).toEqual(LIMITED)
    there.clock.advance(1000)
    expect(countLimited(await nameUnknown(there, 30, MALLORY))).toBe(28)
  })

  it('T-5 shuts out neither another client, nor whoever reads what is known', async () => {
    const there = victim()
    await nameUnknown(there, 200, MALLORY)
    expect(await there.receivers.find(RECEIVER, HONEST)).toMatchObject(OK)
    expect(await there.receivers.find(`${COLLECTION}/2`, MALLORY)).toMatchObject(OK)
  })

  it.each<[string, (at: number) => ReceiverAsker]>([
    ['one client from many sources', (at) => ({ ...MALLORY, source: `198.51.100.${at}` })],
    ['many clients from one source', (at) => ({ ...MALLORY, client: `https://m${at}.example/client` })],
    ['many keys from one source', (at) => ({ ...MALLORY, client: `jwk:${at}` })],
    ['one client whose sources the host does not name', () => ({ client: MALLORY.client })],
    ['one key whose sources the host does not name', () => ({ client: 'jwk:1' })],
  ])('T-5 is charged as one: %s', async (_, askerOf) => {
    const there = victim()
    const found: FoundReceiver[] = []
    for (let at = 0; at < 30; at++) found.push(...(await nameUnknown(there, 1, askerOf(at))))
    expect(countLimited(found)).toBe(10)
  })

  it('T-5 is not charged for a read that is under way', async () => {
    const { receivers, world } = victim()
    const found = await Promise.all(Array.from({ length: 100 }, () => receivers.find(RECEIVER, MALLORY)))
    expect(found.filter(({ ok }) => ok)).toHaveLength(100)
    expect(lines(world)).toHaveLength(3)
  })
})

describe('who names receivers at a server that is known', () => {
  it('T-5 has 500 of them read in 10 seconds, and others have theirs read', async () => {
    const there = victim()
    await there.receivers.find(RECEIVER)
    const found: FoundReceiver[] = []
    for (let at = 0; at < 520; at++) found.push(await there.receivers.find(`${COLLECTION}/${at}`, MALLORY))
    expect(countLimited(found)).toBe(20)
    expect(await there.receivers.find(RECEIVER, HONEST)).toMatchObject(OK)
  })

  it('T-5 is limited alone where another asks for the same one at once', async () => {
    const there = victim()
    const { receivers, answers } = there
    await receivers.find(RECEIVER, HONEST)
    await nameUnknown(there, 30, MALLORY)
    // The token has been revoked, and asking for another one is a lookup of what was never read.
    const { payment } = answers
    let refusals = 1
    answers.payment = (connection) => (refusals-- > 0 ? jsonReply({}, { status: 401 }) : payment(connection))
    const found = [receivers.find(RECEIVER, MALLORY), receivers.find(RECEIVER, HONEST)]
    expect(await Promise.all(found)).toMatchObject([LIMITED, OK])
  })

  it('T-5 is followed by one read for all who had joined the one that was limited', async () => {
    const there = victim()
    const { receivers, answers, world } = there
    await receivers.find(RECEIVER, HONEST)
    await nameUnknown(there, 30, MALLORY)
    const { payment } = answers
    let refusals = 1
    answers.payment = (connection) => (refusals-- > 0 ? jsonReply({}, { status: 401 }) : payment(connection))
    world.connections.length = 0
    const found = [MALLORY, HONEST, HONEST, HONEST].map((asker) => receivers.find(RECEIVER, asker))
    expect(await Promise.all(found)).toMatchObject([LIMITED, OK, OK, OK])
    expect(lines(world)).toEqual([`signed GET ${RECEIVER}`, `signed GET ${RECEIVER}`])
  })

  it('T-5 has it read whatever strangers ask of it, also where it names another authorization server now', async () => {
    const there = victim()
    const { receivers, answers, world } = there
    await receivers.find(RECEIVER)
    await nameUnknown(there, 105)
    world.hosts.set('auth2.example', () => jsonReply(tokenDocument('moved')))
    world.addresses.set('auth2.example', [['93.184.217.2']])
    answers.view = () => jsonReply({ authServer: 'https://auth2.example' })
    answers.payment = ({ headers, url }) =>
      headers['authorization'] === 'GNAP moved' ? jsonReply(paymentDocument(url.href)) : jsonReply({}, { status: 401 })
    expect(await receivers.find(RECEIVER)).toMatchObject(OK)
  })

  it('T-5 has 20 that are refused asked for by another token', async () => {
    const there = victim()
    const { payment } = there.answers
    there.answers.payment = (connection) =>
      connection.url.pathname.includes('secret') ? jsonReply({}, { status: 403 }) : payment(connection)
    await there.receivers.find(RECEIVER)
    there.world.connections.length = 0
    for (let at = 0; at < 40; at++) {
      await there.receivers.find(`${COLLECTION}/secret${at}`, MALLORY)
      expect(await there.receivers.find(`${COLLECTION}/${at}`, HONEST)).toMatchObject(OK)
    }
    expect(lines(there.world).filter((line) => line.includes('POST'))).toHaveLength(20)
  })
})

describe('who names receivers whose server refuses every token', () => {
  it('T-5 has 10 of them read in 10 seconds, since each is asked for by a second token', async () => {
    const there = victim()
    there.answers.payment = () => jsonReply({}, { status: 401 })
    await there.receivers.find(RECEIVER)
    there.world.connections.length = 0
    for (let at = 0; at < 30; at++) await there.receivers.find(`${COLLECTION}/${at}`, MALLORY)
    expect(lines(there.world).filter((line) => line.includes('POST'))).toHaveLength(10)
  })
})

describe('an answer that is no incoming payment', () => {
  it('T-5 is asked for once: another token would bring nothing else', async () => {
    const { receivers, answers, world } = standIn()
    await receivers.find(RECEIVER)
    answers.payment = () => jsonReply({})
    for (const expected of [[`signed GET ${RECEIVER}`], [`GET ${RECEIVER}`, `signed GET ${RECEIVER}`]]) {
      world.connections.length = 0
      expect(await receivers.find(RECEIVER)).toMatchObject({ ok: false, reason: 'invalid' })
      expect(lines(world)).toEqual(expected)
    }
  })
})

describe('the receiver of a payment that is ordered', () => {
  const ORDER = { isOrdered: true, source: MALLORY.source }

  it('T-5 is read whatever strangers ask of its server, also where this one has just started', async () => {
    const there = victim()
    await nameUnknown(there, 105)
    // Nor do they keep it from the token: its authorization server has been asked for all that they may ask of it.
    const { grant } = there.answers
    there.answers.grant = () => jsonReply({}, { status: 400 })
    for (let at = 0; at < 105; at++) {
      there.world.hosts.set(`evil-${at}.example`, there.answers.view)
      there.world.addresses.set(`evil-${at}.example`, [[`93.184.218.${at}`]])
      await there.receivers.find(`https://evil-${at}.example/incoming-payments/1`)
    }
    there.answers.grant = grant
    expect(await there.receivers.find(RECEIVER)).toMatchObject({ ok: false, reason: 'unreachable' })
    expect(await there.receivers.find(RECEIVER, ORDER)).toMatchObject(OK)
    expect(await there.receivers.find(`${COLLECTION}/2`, HONEST)).toMatchObject(OK)
  })

  it('T-5 is read whatever its source has asked for', async () => {
    const there = victim()
    await nameUnknown(there, 30, MALLORY)
    for (let at = 0; at < 30; at++)
      expect(await there.receivers.find(`https://pay.example/${at}/incoming-payments/1`, ORDER)).toMatchObject(OK)
  })

  it('T-5 makes its server known for good: no thousand others that are only looked at push it out', async () => {
    const { receivers, answers, world, clock } = standIn()
    expect(await receivers.find(RECEIVER, ORDER)).toMatchObject(OK)
    for (let at = 0; at < 1000; at++) {
      const host = `n${at}.example`
      world.hosts.set(host, (connection) =>
        'authorization' in connection.headers ? answers.payment(connection) : answers.view(connection),
      )
      clock.advance(1000)
      expect(await receivers.find(`https://${host}/incoming-payments/1`)).toMatchObject(OK)
    }
    world.connections.length = 0
    expect(await receivers.find(RECEIVER)).toMatchObject(OK)
    expect(lines(world)).not.toContain(`GET ${RECEIVER}`)
  })

  it('T-5 is not given the answer of a stranger who asks for it at once', async () => {
    const there = victim()
    await nameUnknown(there, 105)
    const [asStranger, ordered] = await Promise.all([
      there.receivers.find(RECEIVER, HONEST),
      there.receivers.find(RECEIVER, ORDER),
    ])
    expect(asStranger).toMatchObject({ ok: false, reason: 'unreachable' })
    expect(ordered).toMatchObject(OK)
  })

  it('T-5 is not given the answer of a lookup that may ask its authorization server no more', async () => {
    const there = victim()
    let isSpent = false
    const receivers = readerOn(there.world, there.clock, {
      refuses: ({ method }, { standing }) => isSpent && method === 'POST' && standing === 'known',
    })
    await receivers.find(RECEIVER)
    there.clock.advance(600_000)
    isSpent = true
    const [looked, ordered] = await Promise.all([receivers.find(RECEIVER), receivers.find(RECEIVER, ORDER)])
    expect(looked).toMatchObject({ ok: false, reason: 'unreachable' })
    expect(ordered).toMatchObject(OK)
  })

  it('T-5 keeps the token that its order has got where such a lookup fails later', async () => {
    const there = victim()
    let isSpent = false
    let ordersAsked = 0
    const { open: fail, opened: later } = gate()
    const receivers = readerOn(there.world, there.clock, {
      refuses: async ({ method }, { standing }) => {
        if (!isSpent || method !== 'POST') return false
        if (standing === 'known') await later
        else ordersAsked++
        return standing === 'known'
      },
    })
    await receivers.find(RECEIVER)
    there.clock.advance(600_000)
    isSpent = true
    const looking = receivers.find(RECEIVER)
    expect(await receivers.find(RECEIVER, ORDER)).toMatchObject(OK)
    const asked = ordersAsked
    expect(asked).toBeGreaterThan(0)
    fail()
    await looking
    expect(await receivers.find(RECEIVER, ORDER)).toMatchObject(OK)
    expect(ordersAsked).toBe(asked)
  })
})
