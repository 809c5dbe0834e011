import { connect, type Socket } from 'node:net'
import type { HttpRequest, HttpResponse } from '../../src/index.ts'

/** The most bytes of a body that the echo reads. */
export const ECHO_LIMIT = 1000

/** A body that no text survives: every octet once. */
export const EVERY_BYTE: Uint8Array = Uint8Array.from({ length: 256 }, (_, octet) => octet)

/** What the echo saw of a request. */
export interface Echo {
  readonly method: string
  readonly target: string
  readonly authorization: readonly string[]
  readonly host: readonly string[]
  readonly source?: string | undefined
  readonly body: string | 'too large'
}

/** A server that owns `/op` and all below it, and answers with what it saw. */
export function createEcho() {
  const faults: unknown[] = []
  const echo = {
    /** What its `bytes` rejected with. */
    faults,
    async owns(_method: string, target: string): Promise<boolean> {
      return target.startsWith('/op')
    },
    async handle(request: HttpRequest): Promise<HttpResponse> {
      try {
        const bytes = await request.bytes(ECHO_LIMIT)
        const seen: Echo = {
          method: request.method,
          target: request.target,
          authorization: request.headerLines('authorization'),
          host: request.headerLines('host'),
          source: request.source,
          body: bytes === undefined ? 'too large' : Buffer.from(bytes).toString('latin1'),
        }
        return jsonResponse(bytes === undefined ? 413 : 200, seen)
      } catch (error) {
        faults.push(error)
        return jsonResponse(500, 'fault')
      }
    },
  }
  return echo
}

function jsonResponse(status: number, value: unknown): HttpResponse {
  return { status, headers: { 'content-type': 'application/json' }, body: JSON.stringify(value) }
}

/** A connection on which `text` was sent. */
export function send(port: number, text: string): Socket {
  const socket = connect(port, '127.0.0.1')
  socket.setEncoding('latin1')
  socket.on('error', () => undefined)
  socket.write(text, 'latin1')
  return socket
}

/** When a connection has closed, in whatever way. */
export function closing(socket: Socket): Promise<void> {
  return new Promise((resolve) => socket.on('close', () => resolve()))
}

/** All that arrives on a connection until the server closes it. */
export async function receive(socket: Socket): Promise<string> {
  let text = ''
  socket.on('data', (part) => {
    text += part
  })
  await closing(socket)
  return text
}

/** Sends one request, as raw text, on a connection of its own, and reads what the echo saw. */
export async function ask(port: number, head: string, body = ''): Promise<Echo> {
  const text = await receive(send(port, `${head}\r\nHost: test\r\nConnection: close\r\n\r\n${body}`))
  return JSON.parse(Buffer.from(text.slice(text.indexOf('\r\n\r\n') + 4), 'latin1').toString())
}
