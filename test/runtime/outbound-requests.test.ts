import { once } from 'node:events'
import type { RequestListener } from 'node:http'
import { afterEach, describe, expect, it } from 'vitest'
import type { PinnedConnection } from '../../src/ports/outbound-network.ts'
import type { OutboundOptions, SendOutbound } from '../../src/ports/outbound-requests.ts'
import { outboundRequests } from '../../src/runtime/outbound-requests.ts'
import { hostNetwork } from '../../src/runtime/pinned-connection.ts'
import { heldClock, jsonReply } from '../key-resolver/fake-network.ts'
import { testServers } from '../support/test-servers.ts'

const URL_THERE = 'https://wallet.example/a'
const KNOWN: OutboundOptions = { standing: 'known' }
const ORDERED: OutboundOptions = { standing: 'ordered' }
const STRANGER: OutboundOptions = { standing: 'stranger' }

describe('an outbound request', () => {
  const clock = heldClock()
  const connections: PinnedConnection[] = []
  let reply = (): ReturnType<typeof jsonReply> | Promise<never> => jsonReply({ a: 1 })
  const network = {
    resolveHost: async (hostname: string) => [hostname === 'other.example' ? '93.184.216.35' : '93.184.216.34'],
    dial: async (connection: PinnedConnection) => {
      connections.push(connection)
      return reply()
    },
  }
  const sending = (): SendOutbound => outboundRequests({ clock, loopbackHttp: false, network })
  const get = { method: 'GET', url: URL_THERE, headers: {} }

  afterEach(() => {
    connections.length = 0
    reply = () => jsonReply({ a: 1 })
  })

  it('goes out with its method, headers and body, once', async () => {
    const body = new TextEncoder().encode('{}')
    const headers = { 'content-type': 'application/json' }
    const answer = await sending()({ method: 'POST', url: URL_THERE, headers, body }, STRANGER)
    expect(answer).toEqual({ ok: true, status: 200, document: { a: 1 } })
    expect(connections).toMatchObject([{ method: 'POST', headers, body, addresses: ['93.184.216.34'] }])
  })

  it('T-4 answers the document of status 200, and of every other the status alone, whose body is not read', async () => {
    for (const status of [201, 204, 301, 401, 404, 500]) {
      let isRead = false
      const body = (async function* () {
        isRead = true
        yield new TextEncoder().encode('{}')
      })()
      reply = () => jsonReply({}, { status, body })
      expect(await sending()(get, STRANGER)).toEqual({ ok: true, status, document: undefined })
      expect(isRead).toBe(false)
    }
  })

  it('T-5 is one of 100 to a host on strangers’ word in 10 seconds, and of 2000 to one that is known, counted apart', async () => {
    const send = sending()
    const count = async (options: OutboundOptions, times: number): Promise<number> => {
      const answers = await Promise.all(Array.from({ length: times }, () => send(get, options)))
      return answers.filter(({ ok }) => ok).length
    }
    expect([await count(STRANGER, 150), await count(KNOWN, 2100), await count(STRANGER, 50)]).toEqual([100, 2000, 0])
    expect(connections).toHaveLength(2100)
    expect(await send({ ...get, url: 'https://other.example/' }, STRANGER)).toMatchObject({ ok: true })
    expect(await count(ORDERED, 100)).toBe(100)
    clock.advance(1000)
    expect([await count(STRANGER, 50), await count(KNOWN, 300)]).toEqual([10, 200])
  })

  describe('whose host is named by another name each time', () => {
    const names = (count: number): string[] => Array.from({ length: count }, (_, at) => `https://n${at}.evil.example/`)
    const arriving = async (send: SendOutbound, urls: readonly string[], options = STRANGER): Promise<number> => {
      const answers = await Promise.all(urls.map((url) => send({ ...get, url }, options)))
      return answers.filter(({ ok }) => ok).length
    }
    const resolving = (resolveHost: (hostname: string) => readonly string[]): SendOutbound =>
      outboundRequests({
        clock,
        loopbackHttp: true,
        network: { ...network, resolveHost: async (hostname) => resolveHost(hostname) },
      })

    it('T-5 is one of 100 to an address on strangers’ word in 10 seconds, which keeps out nobody who is known', async () => {
      const send = resolving(() => ['93.184.216.34'])
      expect(await arriving(send, names(5000))).toBe(100)
      expect(connections).toHaveLength(100)
      expect(await arriving(send, names(300), KNOWN)).toBe(300)
      clock.advance(1000)
      expect(await arriving(send, names(50))).toBe(10)
    })

    it('T-5 is one of 2000 to an address where it was known and is answered well no more, which keeps out no payment', async () => {
      const send = resolving(() => ['93.184.216.34'])
      for (const _ of [1, 2]) expect(await arriving(send, names(1500), KNOWN)).toBe(1500)
      reply = () => jsonReply({}, { status: 404 })
      connections.length = 0
      expect(await arriving(send, names(2100), KNOWN)).toBe(2000)
      expect(connections).toHaveLength(2000)
      // Those that were answered, but not well, do not get back what they took.
      expect(await arriving(send, names(10), KNOWN)).toBe(0)
      expect(await arriving(send, names(10), ORDERED)).toBe(10)
    })

    it('T-5 counts at every address that its name means, and an address of IPv6 with its whole network', async () => {
      const send = resolving((hostname) =>
        hostname.startsWith('n')
          ? ['93.184.216.1', '2a00:1450:4001:82a::200e']
          : [`2a00:1450:4001:82a::${hostname.length}`],
      )
      expect(await arriving(send, names(150))).toBe(100)
      expect(await arriving(send, ['https://other.example/', 'https://another.example/'])).toBe(0)
      const elsewhere = resolving((hostname) => [`2a00:1450:4001:${hostname.slice(1, -13)}::1`])
      expect(await arriving(elsewhere, names(150))).toBe(150)
    })

    it('T-5 is not sent where its name means more than 16 addresses: none pushes out of memory what was spent', async () => {
      const sixteen = Array.from({ length: 16 }, (_, at) => `93.185.0.${at}`)
      const send = resolving((hostname) => {
        const [, number] = /^m(\d+)\./.exec(hostname) ?? []
        if (number !== undefined) return Array.from({ length: 4000 }, (_, at) => `93.1${number}.${at >> 8}.${at & 255}`)
        if (hostname === 'sixteen.example') return sixteen
        return hostname === 'seventeen.example' ? [...sixteen, '93.185.0.16'] : ['93.184.216.34']
      })
      expect(await arriving(send, names(150))).toBe(100)
      const many = Array.from({ length: 20 }, (_, at) => `https://m${at}.evil.example/`)
      expect(await arriving(send, [...many, 'https://seventeen.example/'])).toBe(0)
      expect(await arriving(send, names(150))).toBe(0)
      expect(await arriving(send, ['https://sixteen.example/'])).toBe(1)
      expect(connections.at(-1)?.addresses).toEqual(sixteen)
    })

    it('WAS-2 counts at no address of this machine, where that is admitted', async () => {
      const send = resolving(() => [])
      const ports = Array.from({ length: 150 }, (_, at) => `http://127.0.0.1:${4000 + at}/`)
      expect(await arriving(send, ports)).toBe(150)
    })
  })

  it('T-4 ends early where whoever waits for it has gone, and is not sent where they had gone before', async () => {
    const stop = new AbortController()
    reply = () => new Promise(() => undefined)
    const answer = sending()(get, { ...STRANGER, signal: stop.signal })
    await new Promise(setImmediate)
    stop.abort()
    expect(await answer).toEqual({ ok: false, reason: 'unreachable', detail: 'no answer in time' })
    expect(connections.map(({ signal }) => signal.aborted)).toEqual([true])
    expect(await sending()(get, { ...STRANGER, signal: stop.signal })).toEqual({
      ok: false,
      reason: 'unreachable',
      detail: 'no answer in time',
    })
    expect(connections).toHaveLength(1)
  })
})

describe('on the network of this host, an outbound request', () => {
  const { listen } = testServers()
  const tokenAt = async (listener: RequestListener) => `http://127.0.0.1:${await listen(listener)}/token/1`

  function send(request: Parameters<SendOutbound>[0]) {
    const network = hostNetwork()
    if (network === undefined) throw new Error('this host has built-in modules')
    return outboundRequests({ clock: heldClock(), loopbackHttp: true, network })(request, STRANGER)
  }

  it('arrives as it was given, and names the one host that it goes to', async () => {
    const seen: unknown[] = []
    const url = await tokenAt(async (request, response) => {
      const chunks: Buffer[] = []
      for await (const chunk of request) chunks.push(chunk)
      const { host, 'content-length': length, 'transfer-encoding': coding, authorization } = request.headers
      seen.push([request.method, request.url, host, length, coding, authorization, Buffer.concat(chunks).toString()])
      response.setHeader('content-type', 'application/json').end('{"isDone":true}')
    })
    const { host } = new URL(url)
    const body = new TextEncoder().encode('{"é":1}')
    const headers = { authorization: 'GNAP t', 'content-length': '8', host: 'elsewhere.example' }
    expect(await send({ method: 'POST', url, headers, body })).toEqual({
      ok: true,
      status: 200,
      document: { isDone: true },
    })
    expect(await send({ method: 'POST', url, headers: {} })).toMatchObject({ ok: true })
    expect(await send({ method: 'DELETE', url, headers: {} })).toMatchObject({ ok: true })
    expect(seen).toEqual([
      ['POST', '/token/1', host, '8', undefined, 'GNAP t', '{"é":1}'],
      ['POST', '/token/1', host, '0', undefined, undefined, ''],
      ['DELETE', '/token/1', host, undefined, undefined, undefined, ''],
    ])
  })

  it('is never sent twice, where the other side hangs up after it has read it', async () => {
    let requests = 0
    const url = await tokenAt((request) => {
      requests++
      request.resume().on('end', () => request.socket.destroy())
    })
    const body = new TextEncoder().encode('{}')
    expect(await send({ method: 'POST', url, headers: {}, body })).toEqual({
      ok: false,
      reason: 'unreachable',
      detail: 'socket hang up',
    })
    expect(requests).toBe(1)
  })

  it('leaves no connection behind', async () => {
    const closed: Promise<unknown>[] = []
    const url = await tokenAt((request, response) => {
      closed.push(once(request.socket, 'close'))
      response.writeHead(401, { 'content-type': 'application/json' }).write('{')
    })
    expect(await send({ method: 'GET', url, headers: {} })).toEqual({ ok: true, status: 401, document: undefined })
    await Promise.all(closed)
    expect(closed).toHaveLength(1)
  })
})
