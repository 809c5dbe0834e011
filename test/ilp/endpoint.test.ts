import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { HttpRequest, HttpResponse } from 'open-payments-server'
import { toNodeListener } from 'open-payments-server/node'
import { describe, expect, it } from 'vitest'
import { encodeIlpPacket, MAX_PREPARE_OCTETS } from '../../adapters/ilp/packet.ts'
import { turn, turns } from '../support/turns.ts'
import {
  ACCOUNT,
  EUR_ACCOUNT,
  EUR_TOKEN,
  PEER,
  peerRequest,
  type ReceiverWorld,
  receiverWorld,
  TOKEN,
} from './receiver-world.ts'

const OCTETS = 'application/octet-stream'

async function ask(world: ReceiverWorld, request: HttpRequest): Promise<HttpResponse> {
  const response = await world.rail.endpoint?.handle(request)
  if (response === undefined) throw new Error('the rail has no endpoint')
  return response
}

const packetIn = async (world: ReceiverWorld): Promise<Uint8Array> => encodeIlpPacket(await world.prepare())
const conditions = ({ events }: ReceiverWorld) =>
  events.flatMap((event) => (event.type === 'request' ? [[event.status, event.condition]] : []))

describe('a peer that brings a packet over HTTP', () => {
  it('is answered at once with a packet', async () => {
    const world = receiverWorld()
    const response = await ask(world, peerRequest(await packetIn(world)))
    expect(response).toMatchObject({ status: 200, headers: { 'content-type': OCTETS, 'cache-control': 'no-store' } })
    expect(response.body).toBeInstanceOf(Uint8Array)
    expect(world.events).toEqual([{ type: 'request', at: world.clock.now(), operation: undefined, status: 200 }])
  })

  it.each<[string, Readonly<Record<string, string | readonly string[]>>]>([
    ['a media type with parameters', { 'content-type': 'Application/Octet-Stream; charset=binary' }],
    ['the scheme of its token in another case', { authorization: `bearer  ${TOKEN}` }],
    ['an encoding that is none', { 'content-encoding': 'identity' }],
    ['the fields of the draft of ILP over HTTP', { 'request-id': '1', 'idempotency-key': '2', accept: OCTETS }],
  ])('may show %s', async (_what, headers) => {
    const world = receiverWorld()
    expect(await ask(world, peerRequest(await packetIn(world), headers))).toMatchObject({ status: 200 })
  })

  it('is known by each of its tokens, and by no other', async () => {
    const tokens = ['first-of-two-tokens', 'second-of-two-tokens']
    const world = receiverWorld({}, { incomingTokens: tokens })
    world.exchange = async (_amount, to) => ({ value: 100n, ...to })
    const prepare = await world.prepare()
    for (const token of [...tokens, EUR_TOKEN]) await world.send(prepare, token)
    expect(world.transfers.map(({ account }) => account)).toEqual([ACCOUNT, ACCOUNT, EUR_ACCOUNT])
  })

  it.each<[number, string, Readonly<Record<string, string | readonly string[]>>]>([
    [401, 'no token', { authorization: [] }],
    [401, 'another token', { authorization: `Bearer ${TOKEN}x` }],
    [401, 'the beginning of a token', { authorization: `Bearer ${TOKEN.slice(0, -1)}` }],
    [401, 'nothing as its token', { authorization: 'Bearer ' }],
    [401, 'another scheme', { authorization: `GNAP ${TOKEN}` }],
    [401, 'its token without a scheme', { authorization: TOKEN }],
    [401, 'what this server shows it', { authorization: `Bearer ${PEER.outgoingToken}` }],
    [401, 'two tokens', { authorization: [`Bearer ${TOKEN}`, `Bearer ${TOKEN}`] }],
    [415, 'no media type', { 'content-type': [] }],
    [415, 'another media type', { 'content-type': 'application/json' }],
    [415, 'two media types', { 'content-type': [OCTETS, OCTETS] }],
    [415, 'an encoding', { 'content-encoding': 'gzip' }],
    [415, 'an encoding that is not known', { 'content-encoding': 'br' }],
    [415, 'an encoding besides one that is none', { 'content-encoding': ['identity', 'gzip'] }],
  ])('gets %i where it shows %s', async (status, _what, headers) => {
    const world = receiverWorld()
    const response = await ask(world, peerRequest(await packetIn(world), headers))
    expect(response).toMatchObject({ status, body: '' })
    expect(response.headers['www-authenticate']).toBe(status === 401 ? 'Bearer' : undefined)
    expect(world.transfers).toEqual([])
    expect(conditions(world)).toEqual([[status, status === 401 ? 'unknown_peer' : 'unsupported_media_type']])
  })

  it.each<[string, Uint8Array]>([
    ['nothing', new Uint8Array()],
    ['no packet', new TextEncoder().encode('{}')],
    ['a reply', encodeIlpPacket({ type: 'fulfill', fulfillment: new Uint8Array(32), data: new Uint8Array() })],
  ])('gets 400 where it brings %s', async (_what, body) => {
    const world = receiverWorld()
    expect(await ask(world, peerRequest(body))).toMatchObject({ status: 400, body: '' })
    expect(conditions(world)).toEqual([[400, 'no_ilp_prepare']])
  })

  it('EMB-1 gets 413 where it brings more than any packet has, and not before', async () => {
    const world = receiverWorld()
    expect(await ask(world, peerRequest(new Uint8Array(MAX_PREPARE_OCTETS)))).toMatchObject({ status: 400 })
    const response = await ask(world, peerRequest(new Uint8Array(MAX_PREPARE_OCTETS + 1)))
    expect(response).toMatchObject({ status: 413, headers: { connection: 'close' } })
  })

  it('EMB-2 gets 408 where its packet takes longer than ten seconds', async () => {
    const world = receiverWorld()
    const asked = ask(world, { ...peerRequest(new Uint8Array()), bytes: () => new Promise(() => undefined) })
    await turn()
    world.clock.advance(10_000)
    expect(await asked).toMatchObject({ status: 408, headers: { connection: 'close' } })
  })

  it('EMB-2 leaves no timer behind', async () => {
    const world = receiverWorld()
    const signals: (AbortSignal | undefined)[] = []
    Object.assign(world.clock, {
      sleep: (_milliseconds: number, signal?: AbortSignal) => {
        signals.push(signal)
        return new Promise<void>((resolve) => signal?.addEventListener('abort', () => resolve()))
      },
    })
    const packet = await packetIn(world)
    // What is there at once needs none.
    const bytes = () => new Promise<Uint8Array>((resolve) => setImmediate(() => resolve(packet)))
    expect(await ask(world, { ...peerRequest(packet), bytes })).toMatchObject({ status: 200 })
    expect(signals.map((signal) => signal?.aborted)).toEqual([true])
  })

  it('EMB-1 is not read before it is known', async () => {
    const world = receiverWorld()
    const bytes = () => Promise.reject(new Error('read'))
    const stranger = { ...peerRequest(new Uint8Array(), { authorization: 'Bearer unknown' }), bytes }
    expect(await ask(world, stranger)).toMatchObject({ status: 401 })
  })

  it.each<[string, string, (world: ReceiverWorld) => void]>([
    ['what takes money fails', TOKEN, (world) => (world.take = () => Promise.reject(new Error('a secret detail')))],
    [
      'the price cannot be found',
      EUR_TOKEN,
      (world) => (world.exchange = () => Promise.reject(new Error('a secret detail'))),
    ],
  ])('gets 500 and no reply where %s: what became of the packet is not known', async (_what, token, fail) => {
    const world = receiverWorld()
    fail(world)
    const { response, reply } = await world.pay({}, token)
    expect([response.status, response.body, reply]).toEqual([500, '', undefined])
    expect(JSON.stringify(response)).not.toContain('secret')
    expect(world.events).toMatchObject([
      { type: 'fault', message: 'a secret detail', operation: undefined },
      { type: 'request', status: 500, condition: 'unexpected' },
    ])
  })

  it('gets 500 where the books fail, or the host has read the packet, or throws what is no error', async () => {
    const world = receiverWorld({}, { limits: { receiving: 1n }, settled: () => Promise.reject(new Error('books')) })
    expect((await world.pay()).response).toMatchObject({ status: 500, body: '' })
    const thrown = { ...peerRequest(new Uint8Array()), bytes: () => Promise.reject('text') }
    expect(await ask(world, thrown)).toMatchObject({ status: 500, body: '' })
    const faults = world.events.flatMap((event) => (event.type === 'fault' ? [event.message] : []))
    expect(faults).toEqual(['books', 'a value that is not an Error was thrown'])
  })

  it('gets 500 where the books do not answer within three seconds, and nothing is taken', async () => {
    let isAsked = false
    const settled = (): Promise<bigint> => {
      isAsked = true
      return new Promise(() => undefined)
    }
    const world = receiverWorld({}, { limits: { receiving: 1n }, settled })
    const paying = world.pay()
    while (!isAsked) await turns(1)
    world.clock.advance(3_000)
    expect((await paying).response).toMatchObject({ status: 500, body: '' })
    expect(world.transfers).toEqual([])
    const message = '`settled` of a peer did not answer in time'
    expect(world.events).toContainEqual(expect.objectContaining({ type: 'fault', message }))
  })

  it('is served by a host, byte for byte', async () => {
    const world = receiverWorld()
    const owns = async () => true
    const server = createServer(toNodeListener({ owns, handle: (request) => ask(world, request) }))
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    try {
      const { port } = server.address() as AddressInfo
      const response = await fetch(`http://127.0.0.1:${port}/ilp`, {
        method: 'POST',
        headers: { authorization: `Bearer ${TOKEN}`, 'content-type': OCTETS },
        body: new Uint8Array(await packetIn(world)),
      })
      expect([response.status, response.headers.get('content-type')]).toEqual([200, OCTETS])
      const bytes = new Uint8Array(await response.arrayBuffer())
      expect([bytes[0], bytes.length]).toEqual([13, Number(response.headers.get('content-length'))])
    } finally {
      server.closeAllConnections()
      server.close()
    }
  })
})
