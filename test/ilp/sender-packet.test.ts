import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { createServer as createTcpServer, type Socket } from 'node:net'
import { systemClock } from 'open-payments-server'
import { afterEach, describe, expect, it } from 'vitest'
import { encodeIlpPacket } from '../../adapters/ilp/packet.ts'
import { askOverHttp, type SendToPeer, sendOverFetch } from '../../adapters/ilp/send-packet.ts'
import { heldClock } from '../key-resolver/fake-network.ts'
import { fakeClock } from '../support/fake-clock.ts'
import { holdUp } from '../support/hold-up.ts'
import { reject } from './sender-receiver.ts'

const TOKEN = 'token-of-the-test'
const REPLY = reject('T00')
const PACKET = Uint8Array.of(12, 1, 0)

const closing: (() => void)[] = []
afterEach(() => {
  for (const close of closing.splice(0)) close()
})

type Listener = (request: IncomingMessage, response: ServerResponse, body: Buffer) => void

/** A peer that answers as it is told. */
async function peer(listener: Listener) {
  const server = createServer((request, response) => {
    const parts: Buffer[] = []
    request.on('data', (part: Buffer) => parts.push(part))
    request.on('end', () => listener(request, response, Buffer.concat(parts)))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  if (typeof address !== 'object' || address === null) throw new Error('the peer does not listen')
  const close = (): void => {
    server.closeAllConnections()
    server.close()
  }
  closing.push(close)
  const url = `http://127.0.0.1:${address.port}/ilp`
  const ask = askOverHttp(sendOverFetch, { url, outgoingToken: TOKEN }, systemClock())
  return { url, close, ask: () => ask(PACKET, 10_000) }
}

const answer = (status: number, body: string | Uint8Array = '', headers = {}): Listener => {
  return (_, response) => {
    response.writeHead(status, headers)
    response.end(body)
  }
}

describe('a packet over HTTP', () => {
  it('goes to the URL of the peer with its token, as it is, over connections that stay', async () => {
    const seen: unknown[] = []
    const sockets = new Set<unknown>()
    const { ask } = await peer(({ method, url, headers, socket }, response, body) => {
      const { authorization, 'content-type': type, 'content-length': length } = headers
      sockets.add(socket)
      seen.push({ method, url, authorization, type, length, body: [...body] })
      response.end(encodeIlpPacket(REPLY))
    })
    for (let count = 0; count < 6; count++) expect(await ask()).toEqual({ outcome: 'replied', reply: REPLY })
    const request = { method: 'POST', url: '/ilp', authorization: `Bearer ${TOKEN}`, type: 'application/octet-stream' }
    expect(seen).toEqual(Array.from({ length: 6 }, () => ({ ...request, length: '3', body: [...PACKET] })))
    // Some runtimes open a second one before they have seen that the first is free.
    expect(sockets.size).toBeLessThanOrEqual(2)
  })

  it.each([
    [401, 'unauthorized'],
    [403, 'unauthorized'],
    [400, 'unreachable'],
    [404, 'unreachable'],
    [413, 'unreachable'],
    [429, 'unreachable'],
  ])('was not taken where the peer says %d', async (status, reason) => {
    const { ask } = await peer(answer(status))
    expect(await ask()).toEqual({ outcome: 'not_taken', reason, detail: `HTTP ${status}` })
  })

  it.each([301, 302, 307, 308])(
    'is taken nowhere else where the peer says %d, and may have been taken',
    async (status) => {
      let count = 0
      const { ask, url } = await peer((request, response, body) => {
        count += 1
        answer(status, '', { location: `${url}/other` })(request, response, body)
      })
      expect(await ask()).toEqual({ outcome: 'unknown', detail: `HTTP ${status}` })
      expect(count).toBe(1)
    },
  )

  it('is sent once, even where a runtime would send a request again by itself', async () => {
    let count = 0
    const { ask } = await peer((request, response, body) => {
      count += 1
      answer(421)(request, response, body)
    })
    expect(await ask()).toEqual({ outcome: 'unknown', detail: 'HTTP 421' })
    expect(count).toBe(1)
  })

  it.each([500, 502, 503, 504, 204, 202, 408, 499])('may have been taken where the peer says %d', async (status) => {
    const { ask } = await peer(answer(status))
    expect(await ask()).toEqual({ outcome: 'unknown', detail: `HTTP ${status}` })
  })

  it.each([
    ['nothing', ''],
    ['text', 'fine'],
    ['a part of one', encodeIlpPacket(REPLY).slice(0, -1)],
    ['an offer', offer()],
    ['more than any packet', Buffer.alloc(70_000)],
  ])('may have been taken where the answer is %s', async (_, body) => {
    const { ask } = await peer(answer(200, body))
    expect(await ask()).toMatchObject({ outcome: 'unknown' })
  })

  it('was not taken where the peer says so on a long page', async () => {
    const { ask } = await peer(answer(404, 'Not found. '.repeat(20_000)))
    expect(await ask()).toMatchObject({ outcome: 'not_taken', detail: 'HTTP 404' })
  })

  it.each([202, 302, 400, 404, 429, 500, 503])(
    'is answered by a fulfillment also where the peer says %d',
    async (status) => {
      const reply = { type: 'fulfill', fulfillment: new Uint8Array(32).fill(7), data: Uint8Array.of(1, 2) } as const
      const { ask } = await peer(answer(status, encodeIlpPacket(reply)))
      expect(await ask()).toEqual({ outcome: 'replied', reply })
      // A refusal proves nothing by itself.
      const { ask: askOther } = await peer(answer(status, encodeIlpPacket(REPLY)))
      expect(await askOther()).toMatchObject({ detail: `HTTP ${status}` })
    },
  )

  it('is not answered with more than is read', async () => {
    let written = 0
    const { ask } = await peer((_, response) => {
      const part = Buffer.alloc(65_536)
      const write = (): void => {
        if (response.destroyed) return
        written += part.length
        response.write(part, write)
      }
      write()
    })
    expect(await ask()).toEqual({ outcome: 'unknown', detail: 'the answer is not an ILP reply' })
    expect(written).toBeLessThan(20_000_000)
  })

  it('is answered by what arrived in time, although the deadline passed while nothing could be heard', async () => {
    const clock = heldClock()
    const { url } = await peer((_, response) => {
      response.end(encodeIlpPacket(REPLY))
      // The next turn begins with the timers that are due, and only then looks for what has arrived.
      setImmediate(() => {
        setTimeout(() => clock.advance(10_000))
        holdUp(5)
      })
    })
    const ask = askOverHttp(sendOverFetch, { url, outgoingToken: TOKEN }, clock)
    expect(await ask(PACKET, 10_000)).toEqual({ outcome: 'replied', reply: REPLY })
  })

  it('was not taken where nobody listens', async () => {
    const { ask, close } = await peer(answer(200))
    close()
    expect(await ask()).toEqual({ outcome: 'not_taken', reason: 'unreachable', detail: 'no connection' })
  })

  it('was not taken where there is no such host', async () => {
    const ask = askOverHttp(sendOverFetch, { url: 'http://nobody.invalid/', outgoingToken: TOKEN }, systemClock())
    expect(await ask(PACKET, 10_000)).toMatchObject({ outcome: 'not_taken', reason: 'unreachable' })
  })

  it('was not taken where no way leads to the host', async () => {
    // No network has a way to this address, and the system says so at once.
    const ask = askOverHttp(sendOverFetch, { url: 'http://255.255.255.255/', outgoingToken: TOKEN }, systemClock())
    expect(await ask(PACKET, 10_000)).toMatchObject({ outcome: 'not_taken', reason: 'unreachable' })
  })

  it.each([
    ['before it is answered', ''],
    ['in the middle of the answer', 'HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nabc'],
  ])('may have been taken where the connection breaks %s', async (_, said) => {
    const server = createTcpServer((socket: Socket) => {
      socket.on('error', () => undefined)
      socket.once('data', () => (said === '' ? socket.destroy() : socket.end(said)))
    }).listen(0, '127.0.0.1')
    closing.push(() => server.close())
    await once(server, 'listening')
    const address = server.address()
    if (typeof address !== 'object' || address === null) throw new Error('nobody listens')
    const url = `http://127.0.0.1:${address.port}/`
    const ask = askOverHttp(sendOverFetch, { url, outgoingToken: TOKEN }, systemClock())
    expect(await ask(PACKET, 10_000)).toEqual({ outcome: 'unknown', detail: 'the connection broke' })
  })
})

describe('waiting for a peer', () => {
  const url = 'https://peer.example/'
  const waiting = (send: SendToPeer) => {
    const clock = fakeClock()
    return { clock, asked: askOverHttp(send, { url, outgoingToken: TOKEN }, clock)(PACKET, 5_000) }
  }

  it('is over at the deadline, and the request is given up', async () => {
    let isGivenUp = false
    const { clock, asked } = waiting(
      ({ signal }) =>
        new Promise((_, refuse) => {
          signal.addEventListener('abort', () => {
            isGivenUp = true
            refuse(new Error('aborted'))
          })
        }),
    )
    clock.advance(5_000)
    expect(await asked).toEqual({ outcome: 'unknown', detail: 'no answer in time' })
    expect(isGivenUp).toBe(true)
  })

  it('is over at the deadline whatever the wallet’s own `send` does', async () => {
    const { clock, asked } = waiting(() => new Promise(() => {}))
    clock.advance(5_000)
    expect(await asked).toMatchObject({ outcome: 'unknown' })
  })

  it.each([
    [new Error('anything'), 'unknown'],
    ['no error at all', 'unknown'],
    [undefined, 'unknown'],
    [
      Object.assign(new Error('outer'), { cause: Object.assign(new Error('inner'), { code: 'ECONNRESET' }) }),
      'unknown',
    ],
    [
      Object.assign(new Error('outer'), { cause: Object.assign(new Error('inner'), { code: 'ECONNREFUSED' }) }),
      'not_taken',
    ],
    [failed('connect', 'EHOSTUNREACH'), 'not_taken'],
    // No file, or no port, is left for another connection.
    [failed('connect', 'EMFILE'), 'not_taken'],
    [failed('connect', 'EADDRNOTAVAIL'), 'not_taken'],
    [failed('getaddrinfo', 'EAI_FAIL'), 'not_taken'],
    // The host of an open connection may be out of reach as well.
    [failed('read', 'EHOSTUNREACH'), 'unknown'],
    [failed('write', 'ETIMEDOUT'), 'unknown'],
    [new AggregateError([failed('connect', 'ENETUNREACH'), failed('connect', 'ETIMEDOUT')]), 'not_taken'],
    [new AggregateError([failed('connect', 'ENETUNREACH'), failed('read', 'ETIMEDOUT')]), 'unknown'],
    [new AggregateError([]), 'unknown'],
    // The clock of this server is behind, or the certificate was put in place too early.
    [Object.assign(new Error('not yet'), { code: 'CERT_NOT_YET_VALID' }), 'not_taken'],
    [Object.assign(new Error('bun'), { code: 'ECONNREFUSED' }), 'not_taken'],
    [failedOnBun('EMFILE: Was there a typo in the url or port?'), 'not_taken'],
    [failedOnBun('EHOSTUNREACH: Unable to connect. Is the computer able to access the url?'), 'not_taken'],
    [failedOnBun('ECONNRESET: The socket connection was closed unexpectedly.'), 'unknown'],
    [new TypeError('deno', { cause: new Error('x: client error (Connect): tcp connect error') }), 'not_taken'],
    [new TypeError('deno', { cause: new Error('x: client error (SendRequest): connection closed') }), 'unknown'],
  ])('never rejects: %s', async (cause, outcome) => {
    const { asked } = waiting(() => Promise.reject(cause))
    expect(await asked).toMatchObject({ outcome })
    const thrown = waiting(() => {
      throw cause
    })
    expect(await thrown.asked).toMatchObject({ outcome })
  })

  it('says nothing of the token and the URL', async () => {
    const { asked } = waiting(() => Promise.reject(new Error(`${url} ${TOKEN}`)))
    expect(JSON.stringify(await asked)).not.toMatch(/token|peer\.example/)
  })
})

/** An error of Node, which says what it was doing. */
function failed(syscall: string, code: string): Error {
  return Object.assign(new Error(`${syscall} ${code}`), { code, syscall })
}

/** An error of Bun, which says only by its words what it was doing. */
function failedOnBun(message: string): Error {
  return Object.assign(new TypeError(message), { code: message.slice(0, message.indexOf(':')) })
}

function offer(): Uint8Array {
  const [expiresAt, data] = [Date.UTC(2026, 0), new Uint8Array()]
  const executionCondition = new Uint8Array(32)
  return encodeIlpPacket({ type: 'prepare', amount: 1n, expiresAt, executionCondition, destination: 'test.a', data })
}
