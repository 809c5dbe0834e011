import { describe, expect, it } from 'vitest'
import { createRemoteReceivers } from '../../src/client/remote-receivers.ts'
import { derivedServerKeys } from '../../src/http-signatures/server-keys.ts'
import { derivedSecrets } from '../../src/runtime/derived-secrets.ts'
import { outboundRequests } from '../../src/runtime/outbound-requests.ts'
import { chunks, heldClock, jsonReply, UNFETCHABLE } from '../key-resolver/fake-network.ts'
import { cryptography } from '../support/test-wallet.ts'
import { type Host, lines, PUBLIC_ADDRESS } from './internet.ts'
import { OUR_SECRETS } from './scene.ts'
import {
  AUTH_SERVER,
  COLLECTION,
  MANAGE,
  paymentDocument,
  RECEIVER,
  SHARED_SECRET,
  type StandIn,
  standIn,
  TOKEN,
  tokenDocument,
} from './stand-in.ts'

const STEPS = ['view', 'grant', 'payment'] as const
const PRIVATE = ['127.0.0.1', '10.0.0.1', '169.254.169.254', '::1', 'fd00::1', '::ffff:127.0.0.1']

/** Lets everything that does not wait for the clock happen. */
async function settle(): Promise<void> {
  for (let round = 0; round < 50; round++) await new Promise(setImmediate)
}

describe('the receiver’s host', () => {
  it.each([
    RECEIVER.replace('https', 'http'),
    RECEIVER.replace('pay.example', 'pay.example:8443'),
    RECEIVER.replace('pay.example', '127.0.0.1'),
    RECEIVER.replace('pay.example', '[::1]'),
    RECEIVER.replace('pay.example', '0x7f000001'),
    RECEIVER.replace('pay.example', 'localhost'),
    RECEIVER.replace('pay.example', 'metadata'),
    RECEIVER.replace('pay.example', '93.184.216.34'),
  ])('T-1 is not connected to, nor its name resolved: %s', async (url) => {
    const { world, receivers } = standIn()
    expect(await receivers.find(url)).toEqual({ ok: false, reason: 'invalid', detail: `public view: ${UNFETCHABLE}` })
    expect([world.lookups, world.connections]).toEqual([[], []])
  })

  it('WAS-2 may be this machine, over http, where that is admitted', async () => {
    const { world, receivers, answers } = standIn({ loopbackHttp: true })
    const url = 'http://localhost:4000/incoming-payments/1'
    answers.view = () => jsonReply({ authServer: 'http://127.0.0.1:4001' })
    const host: Host = (connection) =>
      'authorization' in connection.headers ? answers.payment(connection) : answers.view(connection)
    world.hosts.set('localhost:4000', host).set('127.0.0.1:4001', () => jsonReply(tokenDocument()))
    expect(await receivers.find(url)).toMatchObject({ ok: true })
    expect(lines(world)).toEqual([`GET ${url}`, 'signed POST http://127.0.0.1:4001/', `signed GET ${url}`])
    expect(world.lookups).toEqual([])
  })
})

describe('a name that means a private address', () => {
  it.each(PRIVATE)('T-1 is not connected to where it is that of the receiver: %s', async (address) => {
    const { world, receivers } = standIn()
    world.addresses.set('pay.example', [[PUBLIC_ADDRESS, address]])
    expect(await receivers.find(RECEIVER)).toMatchObject({
      ok: false,
      reason: 'unreachable',
      detail: `public view: its host has the address ${address}, which is not public`,
    })
    expect(world.connections).toEqual([])
  })

  it.each(PRIVATE)('T-1 is not connected to where it is that of the authorization server: %s', async (address) => {
    const { world, receivers } = standIn()
    world.addresses.set('auth.example', [[address]])
    expect(await receivers.find(RECEIVER)).toMatchObject({
      ok: false,
      reason: 'unreachable',
      detail: `grant at ${AUTH_SERVER}: its host has the address ${address}, which is not public`,
    })
    expect(lines(world)).toEqual([`GET ${RECEIVER}`])
  })

  it.each(PRIVATE)('T-1 is not connected to where a token is rotated there: %s', async (address) => {
    const { world, clock, receivers } = standIn()
    await receivers.find(RECEIVER)
    clock.advance(600_000)
    world.connections.length = 0
    world.addresses.set('auth.example', [[address]])
    expect(await receivers.find(RECEIVER)).toMatchObject({ ok: false, reason: 'unreachable' })
    expect(world.connections).toEqual([])
  })

  it.each([0, 1])('T-2 is not connected to when it means that from request %i on', async (after) => {
    const { world, receivers } = standIn()
    world.addresses.set('pay.example', [...Array.from({ length: after }, () => [PUBLIC_ADDRESS]), ['127.0.0.1']])
    expect(await receivers.find(RECEIVER)).toMatchObject({ ok: false, reason: 'unreachable' })
    expect(world.connections.filter(({ url }) => url.host === 'pay.example')).toHaveLength(after)
    for (const { addresses } of world.connections) expect(addresses).toEqual([PUBLIC_ADDRESS])
  })

  it('T-2 is resolved once for each connection, which goes to what was resolved', async () => {
    const { world, receivers } = standIn()
    const said = [['93.184.216.1'], ['93.184.216.2'], ['93.184.216.3']]
    world.addresses.set('pay.example', said.slice())
    expect(await receivers.find(RECEIVER)).toMatchObject({ ok: true })
    expect(world.lookups).toEqual(['pay.example', 'auth.example', 'pay.example'])
    expect(world.connections.map(({ addresses }) => addresses)).toEqual([said[0], [PUBLIC_ADDRESS], said[1]])
  })
})

describe('an answer that is not fit to be read', () => {
  const replies: readonly (readonly [string, Partial<ReturnType<typeof jsonReply>>])[] = [
    ['compressed', { contentEncoding: 'gzip' }],
    ['HTML', { contentType: 'text/html' }],
    ['without a type', { contentType: '' }],
  ]
  it.each(STEPS.flatMap((step) => replies.map(([name, change]) => [step, name, change] as const)))(
    'T-4 as %s is %s',
    async (step, _, change) => {
      const { answers, receivers } = standIn()
      const good = answers[step]
      answers[step] = async (connection) => ({ ...(await good(connection)), ...change })
      expect(await receivers.find(RECEIVER)).toMatchObject({ ok: false, reason: 'invalid' })
    },
  )

  it.each(STEPS)('T-4 as %s is larger than 64 KiB', async (step) => {
    for (const [size, ok] of [
      [65_536, true],
      [65_537, false],
    ] as const) {
      const { answers, receivers } = standIn()
      const document = {
        view: { authServer: AUTH_SERVER },
        grant: tokenDocument(),
        payment: paymentDocument(),
      }[step]
      const text = JSON.stringify(document).padEnd(size)
      answers[step] = () => jsonReply(undefined, { body: chunks([text.slice(0, 1000), text.slice(1000)]) })
      expect(await receivers.find(RECEIVER)).toMatchObject(ok ? { ok } : { ok, reason: 'invalid' })
    }
  })

  it.each(STEPS)('T-3 as %s is a redirect to one that would do', async (step) => {
    const { world, answers, receivers } = standIn()
    const good = answers[step]
    answers[step] = async (connection) => ({ ...(await good(connection)), status: 302 })
    expect(await receivers.find(RECEIVER)).toMatchObject({ ok: false, reason: 'unreachable' })
    expect(world.connections).toHaveLength(STEPS.indexOf(step) + 1)
  })
})

describe('a server that takes its time', () => {
  it.each(STEPS)('T-4 is waited for 3 seconds, where its %s never comes', async (step) => {
    const { world, clock, answers, receivers } = standIn()
    answers[step] = () => new Promise(() => undefined)
    const found = receivers.find(RECEIVER)
    await settle()
    clock.advance(2999)
    expect(await Promise.race([found, settle()])).toBeUndefined()
    clock.advance(1)
    expect(await found).toEqual({
      ok: false,
      reason: 'unreachable',
      detail: expect.stringMatching(/unreachable|3 seconds/),
    })
    expect(world.connections.at(-1)?.signal.aborted).toBe(true)
  })

  it('T-4 is waited for 3 seconds in all, however many requests it takes; what it grants too late is not lost', async () => {
    const { world, clock, answers, receivers } = standIn()
    let grant = (): void => undefined
    const { view } = answers
    answers.view = async (connection) => {
      await clock.sleep(2000, connection.signal)
      return view(connection)
    }
    answers.grant = () =>
      new Promise((resolve) => {
        grant = () => resolve(jsonReply(tokenDocument()))
      })
    const found = receivers.find(RECEIVER)
    await settle()
    clock.advance(2000)
    await settle()
    expect(lines(world)).toEqual([`GET ${RECEIVER}`, `signed POST ${AUTH_SERVER}`])
    clock.advance(1000)
    expect(await found).toEqual({ ok: false, reason: 'unreachable', detail: 'no answer within 3 seconds' })
    grant()
    await settle()
    expect(lines(world)).toHaveLength(2)
    answers.view = view
    expect(await receivers.find(RECEIVER)).toMatchObject({ ok: true })
    expect(lines(world).slice(2)).toEqual([`GET ${RECEIVER}`, `signed GET ${RECEIVER}`])
  })

  it('T-4 is heard where its last answer arrives in the turn in which the deadline passes', async () => {
    const clock = heldClock()
    const { answers, receivers } = standIn({ clock })
    const { payment } = answers
    answers.payment = (connection) => {
      clock.advance(3000)
      return new Promise((resolve) => setImmediate(resolve, payment(connection)))
    }
    expect(await receivers.find(RECEIVER)).toMatchObject({ ok: true })
  })

  it('T-4 holds nobody up who asks for another payment', async () => {
    const { answers, receivers, clock } = standIn()
    const { payment } = answers
    answers.payment = (connection) =>
      connection.url.href === RECEIVER ? new Promise(() => undefined) : payment(connection)
    const slow = receivers.find(RECEIVER)
    expect(await receivers.find(`${COLLECTION}/2`)).toMatchObject({ ok: true })
    await settle()
    clock.advance(3000)
    expect(await slow).toMatchObject({ ok: false, reason: 'unreachable' })
  })
})

describe('a token', () => {
  it('T-46 T-1 is told nobody but the server for whose payments it was given', async () => {
    const { world, clock, answers, receivers } = standIn()
    let granted = 0
    answers.grant = () => jsonReply(tokenDocument(`token-${granted++}`))
    answers.rotation = answers.grant
    // A server that is none of auth.example's names it all the same; so does another user of the host of a good one.
    const evil: Host = ({ url, headers }) =>
      'authorization' in headers ? jsonReply(paymentDocument(url.href)) : jsonReply({ authServer: AUTH_SERVER })
    world.hosts.set('evil.example', evil)
    const urls = [
      RECEIVER,
      'https://evil.example/incoming-payments/1',
      'https://pay.example/mallory/incoming-payments/1',
      `${COLLECTION}/2`,
    ]
    for (let round = 0; round < 3; round++) {
      for (const url of urls) expect(await receivers.find(url)).toMatchObject({ ok: true })
      clock.advance(600_000)
    }
    const seen = new Map<string, Set<string>>()
    for (const { url, headers } of world.connections) {
      const token = headers['authorization']
      if (token === undefined || url.host === 'auth.example') continue
      const collection = url.href.slice(0, url.href.lastIndexOf('/'))
      seen.set(token, (seen.get(token) ?? new Set()).add(collection))
    }
    expect(seen.size).toBe(9)
    for (const collections of seen.values()) expect(collections.size).toBe(1)
  })
})

describe('requests on strangers’ word', () => {
  const victim = 'https://victim.example/gnap'

  it('T-5 to a host that is named as authorization server are 100, and 10 more each second', async () => {
    const { world, clock, answers, receivers } = standIn()
    answers.view = () => jsonReply({ authServer: victim })
    world.hosts.set('victim.example', () => jsonReply({}, { status: 404 }))
    for (let at = 0; at < 120; at++) {
      world.hosts.set(`evil-${at}.example`, answers.view)
      world.addresses.set(`evil-${at}.example`, [[`93.184.217.${at}`]])
    }
    const ask = async (from: number, to: number) => {
      for (let at = from; at < to; at++) await receivers.find(`https://evil-${at}.example/incoming-payments/1`)
      return world.connections.filter(({ url }) => url.host === 'victim.example').length
    }
    expect(await ask(0, 105)).toBe(100)
    clock.advance(1000)
    expect(await ask(105, 120)).toBe(110)
  })

  it('T-5 to an address are 100, whatever is said to live there, and nobody who is known there is shut out', async () => {
    const { world, clock, answers, receivers } = standIn()
    expect(await receivers.find(RECEIVER)).toMatchObject({ ok: true })
    world.connections.length = 0
    const ask = async (from: number, to: number) => {
      for (let at = from; at < to; at++) await receivers.find(`https://n${at}.evil.example/incoming-payments/1`)
      return world.connections.length
    }
    expect(await ask(0, 1000)).toBe(97)
    clock.advance(1000)
    expect(await ask(1000, 1050)).toBe(107)
    const { payment } = answers
    answers.payment = (connection) =>
      connection.headers['authorization'] === `GNAP ${TOKEN}` ? jsonReply({}, { status: 401 }) : payment(connection)
    answers.grant = () => jsonReply(tokenDocument('another'))
    expect(await receivers.find(RECEIVER)).toMatchObject({ ok: true })
  })

  it('T-5 to the host of receivers that it does not know are 100, and nobody who is known there is shut out', async () => {
    const { world, answers, receivers } = standIn()
    world.addresses.set('auth.example', [['93.184.217.1']])
    expect(await receivers.find(RECEIVER)).toMatchObject({ ok: true })
    const { view } = answers
    answers.view = ({ url }) => jsonReply({}, { status: url.pathname.startsWith('/no') ? 404 : 500 })
    world.connections.length = 0
    for (let at = 0; at < 105; at++) await receivers.find(`https://pay.example/no${at}/incoming-payments/1`)
    expect(world.connections).toHaveLength(98)
    expect(await receivers.find('https://pay.example/no200/incoming-payments/1')).toEqual({
      ok: false,
      reason: 'unreachable',
      detail: 'public view: the budget for its host is spent for now',
    })
    answers.view = view
    expect(await receivers.find(RECEIVER)).toMatchObject({ ok: true })
    expect(await receivers.find(`${COLLECTION}/2`)).toMatchObject({ ok: true })
    // Nor where the token is to be asked for again.
    answers.grant = () => jsonReply(tokenDocument('another'))
    answers.payment = ({ headers, url }) =>
      jsonReply(paymentDocument(url.href), { status: headers['authorization'] === 'GNAP another' ? 200 : 401 })
    expect(await receivers.find(RECEIVER)).toMatchObject({ ok: true })
  })

  it('T-5 do not stop the rotation of a token that is held', async () => {
    const { world, clock, answers, receivers } = standIn()
    await receivers.find(RECEIVER)
    clock.advance(600_000)
    const { grant } = answers
    answers.grant = () => jsonReply({}, { status: 400 })
    for (let at = 0; at < 105; at++) {
      const host = `evil-${at}.example`
      world.hosts.set(host, answers.view)
      await receivers.find(`https://${host}/incoming-payments/1`)
    }
    answers.grant = grant
    world.connections.length = 0
    expect(await receivers.find(RECEIVER)).toMatchObject({ ok: true })
    expect(lines(world)).toEqual([`signed POST ${MANAGE}`, `signed GET ${RECEIVER}`])
  })
})

describe('a grant of an authorization server', () => {
  /** Has strangers use up all that they may ask of it. */
  async function exhaust({ world, answers, receivers }: StandIn): Promise<void> {
    const { grant } = answers
    answers.grant = () => jsonReply({}, { status: 400 })
    for (let at = 0; at < 105; at++) {
      const host = `evil-${at}.example`
      world.hosts.set(host, answers.view)
      world.addresses.set(host, [[`93.184.217.${at}`]])
      await receivers.find(`https://${host}/incoming-payments/1`)
    }
    answers.grant = grant
    world.connections.length = 0
  }

  it('T-5 is not starved by strangers where it was given before, and its token can be rotated no more', async () => {
    const here = standIn()
    const { world, clock, answers, receivers } = here
    expect(await receivers.find(RECEIVER)).toMatchObject({ ok: true })
    clock.advance(600_000)
    answers.rotation = () => jsonReply({}, { status: 404 })
    await exhaust(here)
    expect(await receivers.find(RECEIVER)).toMatchObject({ ok: true })
    expect(lines(world)).toEqual([`signed POST ${MANAGE}`, `signed POST ${AUTH_SERVER}`, `signed GET ${RECEIVER}`])
  })

  it('T-5 is not starved by strangers where its token was revoked', async () => {
    const here = standIn()
    const { answers, receivers } = here
    expect(await receivers.find(RECEIVER)).toMatchObject({ ok: true })
    await exhaust(here)
    answers.grant = () => jsonReply(tokenDocument('another'))
    const { payment } = answers
    answers.payment = (connection) =>
      connection.headers['authorization'] === 'GNAP another' ? payment(connection) : jsonReply({}, { status: 401 })
    expect(await receivers.find(RECEIVER)).toMatchObject({ ok: true })
  })

  it('T-5 is a stranger’s where the receiver’s server names an authorization server that it did not name before', async () => {
    const here = standIn()
    const { world, answers, receivers } = here
    const evil = 'https://evil.example/incoming-payments/1'
    world.hosts.set('evil.example', ({ url, method, headers }) => {
      if (method === 'POST') return jsonReply(tokenDocument())
      return jsonReply('authorization' in headers ? paymentDocument(url.href) : { authServer: 'https://evil.example/' })
    })
    expect(await receivers.find(evil)).toMatchObject({ ok: true })
    await exhaust(here)
    world.hosts.set('evil.example', (connection) =>
      'authorization' in connection.headers ? jsonReply({}, { status: 401 }) : answers.view(connection),
    )
    expect(await receivers.find(evil)).toMatchObject({ ok: false, reason: 'unreachable' })
    expect(lines(world)).not.toContain(`signed POST ${AUTH_SERVER}`)
  })
})

describe('a fault of this server', () => {
  it('is told to the host, and is no rejection', async () => {
    const there = standIn()
    const events: unknown[] = []
    const secrets = derivedSecrets(OUR_SECRETS, cryptography)
    const receivers = createRemoteReceivers({
      clock: there.clock,
      cryptography: {
        ...cryptography,
        signEd25519: async () => {
          throw new Error('the module is gone')
        },
      },
      secrets,
      serverKeys: derivedServerKeys(secrets, cryptography),
      send: outboundRequests({ clock: there.clock, loopbackHttp: false, network: there.world.network }),
      charge: () => 0,
      loopbackHttp: false,
      emit: (event) => void events.push(event),
    })
    const found = await receivers.find(RECEIVER)
    expect(found).toEqual({ ok: false, reason: 'unreachable', detail: 'a fault of this server' })
    expect(events).toEqual([
      {
        type: 'fault',
        at: there.clock.now(),
        operation: undefined,
        message: 'a receiver on another server could not be asked for',
        cause: new Error('the module is gone'),
      },
    ])
    expect(JSON.stringify([found, events])).not.toContain(SHARED_SECRET)
    expect(JSON.stringify([found, events])).not.toContain(TOKEN)
  })
})
