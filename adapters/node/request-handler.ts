import type { IncomingMessage, ServerResponse } from 'node:http'
import { ConfigurationError, type HttpResponse, type OpenPayments } from '../../src/index.ts'
import type { MaybePromise } from '../../src/ports/maybe-promise.ts'
import { createConnectionTurns, isQueued } from './connection-turns.ts'

/** Answers one request; `source`: where it came from, for the limits per source. */
export type NodeRequestHandler = (
  request: IncomingMessage,
  response: ServerResponse,
  target: string,
  source: string | undefined,
) => Promise<void>

/**
 * Makes what answers a request, whether or not it is for Open Payments. It resolves when the response is handed to Node;
 * never, if one before it on the same connection ends that. `target`: the raw target, even if a framework has changed
 * `request.url`. A body that a parser has read is taken from `rawBody`, if the host keeps it. One whose connection ends
 * early counts as too large.
 */
export function createNodeRequestHandler(openPayments: Pick<OpenPayments, 'handle'>): NodeRequestHandler {
  const untilItsTurn = createConnectionTurns()
  return async (request, response, target, source) => {
    if (request.rawHeaders.length >= 2 * TOO_MANY_LINES) {
      return sendAnswer(request, response, { status: 431, headers: { connection: 'close' } }, false)
    }
    if (request.httpVersionMajor === 1 && !SAFE_METHODS.includes(request.method ?? '')) {
      if (isQueued(request, response)) await untilItsTurn(request.socket, response)
      if (response.writableEnded || request.socket.destroyed || request.socket.writableEnded) return
    }
    // Whether every byte has come, of which Node says so only later.
    let isWhole = false
    const read = async (limit: number): Promise<Uint8Array | undefined> => {
      const bytes = await readBytes(request, limit)
      isWhole = bytes !== undefined
      return bytes
    }
    const answer = await openPayments.handle({
      method: request.method ?? 'GET',
      target,
      headerLines: (name) => linesOf(request, name),
      bytes: (limit) => (hasBody(request) ? read(limit) : new Uint8Array()),
      source,
    })
    sendAnswer(request, response, answer, isWhole)
  }
}

/** With so many lines or more, Node 20 and Deno drop some without a word: also the one that says how long a body is. */
const TOO_MANY_LINES = 1000

/**
 * What changes nothing is answered out of turn: a client that sends several requests at once waits only for the slowest.
 * What changes something waits for the answers before it (RFC 9112, 9.3.2): if one of them says that it is the last, the
 * client takes the rest for not carried out (9.6).
 */
const SAFE_METHODS: readonly string[] = ['GET', 'HEAD', 'OPTIONS']

/** The lines of a field, of which `name` is given in lower case: `request.headers` drops those that matter most. */
function linesOf({ rawHeaders, httpVersionMajor }: IncomingMessage, name: string): readonly string[] {
  const lines: string[] = []
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
    const raw = rawHeaders[at]
    // Most names are told apart by their length.
    if (raw?.length === name.length && raw.toLowerCase() === name) lines.push(rawHeaders[at + 1] ?? '')
  }
  // HTTP/2 may send one line in parts (RFC 9113, 8.2.3).
  if (name === 'cookie' && httpVersionMajor > 1 && lines.length > 1) return [lines.join('; ')]
  return lines
}

/** The whole body; `undefined` if it is larger than the limit or does not come. */
function readBytes(request: IncomingMessage, limit: number): MaybePromise<Uint8Array | undefined> {
  // Not before the end: who collects bytes on the way has only some of them by now.
  if (request.readableEnded && 'rawBody' in request && request.rawBody instanceof Uint8Array) {
    return request.rawBody.length > limit ? undefined : request.rawBody
  }
  // What is decoded as text does not come as bytes any more, either.
  if (request.readableDidRead || request.readableEncoding !== null) {
    throw new ConfigurationError(
      'a body parser read this request: mount open-payments-server before it, or let every parser ' +
        '(express.urlencoded too) keep the bytes: ' +
        'app.use(express.json({ verify: (req, _res, bytes) => Object.assign(req, { rawBody: bytes }) }))',
    )
  }
  if (request.readableEnded) return new Uint8Array()
  const isTooLarge = Number(request.headers['content-length'] ?? 0) > limit
  return isTooLarge || request.destroyed ? undefined : collectBytes(request, limit)
}

/** How many bytes are the whole body, if the head says so for certain: HTTP/2 says by a flag where a body ends, and chunks say it themselves. */
function lengthOf({ headers, httpVersionMajor }: IncomingMessage): number {
  const isSaid = httpVersionMajor === 1 && headers['transfer-encoding'] === undefined
  return isSaid ? Number(headers['content-length']) : Number.NaN
}

/** Whether a body comes: HTTP/2 has some without any header that says so. */
export function hasBody({ headers, httpVersionMajor }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? httpVersionMajor - 1) > 0
}

function collectBytes(request: IncomingMessage, limit: number): Promise<Uint8Array | undefined> {
  return new Promise((resolve) => {
    const announced = lengthOf(request)
    const chunks: Uint8Array[] = []
    let length = 0
    const collect = (chunk: Uint8Array): void => {
      length += chunk.length
      chunks.push(chunk)
      if (length > limit) {
        request.off('data', collect).pause()
        resolve(undefined)
      } else if (length === announced) {
        // Most bodies come together with their head: what does not wait for `end` needs no deadline.
        resolve(Buffer.concat(chunks))
      }
    }
    request.on('data', collect)
    request.on('end', () => resolve(Buffer.concat(chunks)))
    request.on('error', () => resolve(undefined))
    request.on('close', () => resolve(undefined))
    // Something may have paused it until it knew more of the request.
    request.resume()
  })
}

function sendAnswer(
  request: IncomingMessage,
  response: ServerResponse,
  { status, headers, body }: HttpResponse,
  isWhole: boolean,
): void {
  if (response.destroyed || response.headersSent) return
  const { 'set-cookie': cookie, ...others } = headers
  const sent: Record<string, string | number> = others
  // The host may have set one of its own for its session.
  if (cookie !== undefined) response.appendHeader('set-cookie', cookie)
  // Of one connection with HTTP/1, and unknown to HTTP/2: Node warns of it.
  if (request.httpVersionMajor > 1) delete sent['connection']
  if (status !== 204 && status !== 304) sent['content-length'] = Buffer.byteLength(body ?? '')
  const isUnread = !request.complete && !request.readableEnded && !isWhole && hasBody(request)
  // The rest of a body that nobody reads would have to be waited for before the next request.
  if (isUnread && request.httpVersionMajor === 1) sent['connection'] = 'close'
  response.writeHead(status, sent)
  if (isUnread && request.httpVersionMajor === 1) {
    endAfterBody(request, response, body)
    return
  }
  response.end(body)
  if (isUnread) response.on('finish', () => request.destroy())
}

/** A proxy sends what it has of a body within this time, and takes less than this itself. */
const LINGER_MILLISECONDS = 1000
const LINGER_BYTES = 4 * 1024 * 1024

/**
 * Sends the whole answer at once, and ends the connection when the rest of the body has come too: a second later or after four
 * megabytes at the latest. A client that still sends would be reset before it has read the answer (RFC 9112, 9.6): a proxy
 * then answers 502 and takes this server for one that is down, so that a few such requests would close it to everybody.
 */
function endAfterBody(request: IncomingMessage, response: ServerResponse, body: HttpResponse['body']): void {
  response.flushHeaders()
  if (body !== undefined) response.write(body)
  const end = (): void => void response.end()
  const timer = setTimeout(end, LINGER_MILLISECONDS)
  response.on('close', () => clearTimeout(timer))
  let taken = 0
  request.on('data', (chunk: Uint8Array) => {
    taken += chunk.length
    if (taken <= LINGER_BYTES) return
    request.pause()
    end()
  })
  request.on('end', end).resume()
}
