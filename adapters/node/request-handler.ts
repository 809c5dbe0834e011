import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Http2ServerRequest } from 'node:http2'
import { ConfigurationError, type HttpRequest, type HttpResponse, type OpenPayments } from '../../src/index.ts'
import { growBytes } from '../../src/protocol/growing-bytes.ts'
import { createConnectionOrder } from './connection-order.ts'

/** Answers one request. `source`: the address that it came from, for the limits per source. */
export type NodeRequestHandler = (
  request: IncomingMessage,
  response: ServerResponse,
  target: string,
  source: string | undefined,
) => Promise<void>

/**
 * Makes the function that answers a request, whether or not it is for Open Payments. It resolves when the response is
 * handed to Node, or never if an earlier response ends the connection. `target`: the raw target, even if a framework
 * has changed `request.url`. A body that a parser has read is taken from `rawBody`, if the host keeps it. A body whose
 * connection ends early counts as too large.
 */
export function createNodeRequestHandler(openPayments: Pick<OpenPayments, 'handle'>): NodeRequestHandler {
  const untilEarlierAreAnswered = createConnectionOrder()
  return async (request, response, target, source) => {
    if (request.rawHeaders.length >= 2 * TOO_MANY_LINES) {
      const headers = { 'cache-control': 'no-store', connection: 'close' }
      return sendAnswer(request, response, { status: 431, headers }, false)
    }
    if (request.httpVersionMajor === 1) {
      const isRead = isSafe(request)
      const turn = untilEarlierAreAnswered(request.socket, response, isRead)
      // Without a pause if there is nothing to wait for: the body may come at once.
      if (turn) await turn
      if (!isRead && (response.writableEnded || request.socket.destroyed || request.socket.writableEnded)) return
    }
    // Whether every byte of the body has come, which Node reports only later.
    let isWhole = false
    const read = async (limit: number): Promise<Uint8Array | undefined> => {
      const bytes = await readBytes(request, limit)
      isWhole = bytes !== undefined
      return bytes
    }
    const answer = await openPayments.handle({
      method: request.method ?? 'GET',
      target,
      headerLines: readLines(request),
      bytes: (limit) => (hasBody(request) ? read(limit) : new Uint8Array()),
      source,
    })
    sendAnswer(request, response, answer, isWhole)
  }
}

/** From this many lines on, Node 20 and Deno silently drop some, possibly the one that gives the length of the body. */
const TOO_MANY_LINES = 1000

/**
 * Requests that change nothing are carried out at once, a few of each connection: a client that pipelines several waits only
 * for the slowest. Others wait for the answers before them, and what follows them for theirs (RFC 9112, 9.3.2): a read tells of
 * the change before it; and if an answer closes the connection, the client may assume that the later requests were not
 * carried out (9.6).
 */
export function isSafe({ method = '' }: IncomingMessage): boolean {
  return /^(GET|HEAD|OPTIONS)$/.test(method)
}

/** More than clients and proxies send. */
const MANY_LINES = 100

/**
 * Reads the lines of a field. If there are many, they are sorted by name once: a signature may cover many fields, and all
 * lines would be compared with each of their names.
 * @spec T-36
 */
function readLines({ rawHeaders, headers, httpVersionMajor }: IncomingMessage): HttpRequest['headerLines'] {
  let byName: ReadonlyMap<string, readonly string[]> | undefined
  const linesNamed = (name: string): readonly string[] => {
    if (rawHeaders.length === 0) return joinedLines(headers, name)
    if (rawHeaders.length <= 2 * MANY_LINES) return linesOf(rawHeaders, name)
    byName ??= sortByName(rawHeaders)
    return byName.get(name) ?? []
  }
  return (name) => {
    const lines = linesNamed(name)
    // HTTP/2 may send one line in parts (RFC 9113, 8.2.3).
    return name === 'cookie' && httpVersionMajor > 1 && lines.length > 1 ? [lines.join('; ')] : lines
  }
}

/**
 * The lines of a field; `name` is in lower case. Not from `request.headers`, which drops repeated lines of the fields
 * that matter most.
 */
function linesOf(rawHeaders: readonly string[], name: string): readonly string[] {
  const lines: string[] = []
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
    const raw = rawHeaders[at]
    // Comparing lengths first rules out most names.
    if (raw?.length === name.length && raw.toLowerCase() === name) lines.push(rawHeaders[at + 1] ?? '')
  }
  return lines
}

/**
 * The lines of a field in a request that was made without a connection, as by `serverless-http`: such a one has no raw lines,
 * and what came as several is one, as on a Fetch host.
 */
function joinedLines(headers: IncomingMessage['headers'], name: string): readonly string[] {
  const value = Object.hasOwn(headers, name) ? headers[name] : undefined
  return value === undefined ? [] : [value].flat().map(String)
}

function sortByName(rawHeaders: readonly string[]): ReadonlyMap<string, readonly string[]> {
  const byName = new Map<string, string[]>()
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
    const name = (rawHeaders[at] ?? '').toLowerCase()
    const lines = byName.get(name) ?? []
    lines.push(rawHeaders[at + 1] ?? '')
    byName.set(name, lines)
  }
  return byName
}

/** Whether a body will come. In HTTP/2 one may come although no header announces it. */
export function hasBody({ headers, httpVersionMajor }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? httpVersionMajor - 1) > 0
}

/** The whole body; `undefined` if it is larger than the limit or does not arrive completely. */
async function readBytes(request: IncomingMessage, limit: number): Promise<Uint8Array | undefined> {
  // Only after the end: before that, whoever collects the bytes has only some of them.
  if (request.readableEnded && 'rawBody' in request && request.rawBody instanceof Uint8Array)
    return request.rawBody.length > limit ? undefined : request.rawBody
  // If the stream is decoded as text, the bytes are lost too.
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

function collectBytes(request: IncomingMessage, limit: number): Promise<Uint8Array | undefined> {
  return new Promise((resolve) => {
    const announced = lengthOf(request)
    let whole: Uint8Array = new Uint8Array()
    let length = 0
    // Only the first call counts.
    const settle = (isWhole: boolean): void => {
      request.off('data', collect)
      resolve(isWhole ? whole.subarray(0, length) : undefined)
    }
    const collect = (chunk: Uint8Array): void => {
      if (length + chunk.length <= limit) whole = growBytes(whole, length, chunk)
      length += chunk.length
      // Most bodies come together with their head; settling without waiting for `end` then needs no deadline.
      if (length > limit || length === announced) settle(length <= limit)
    }
    request.on('data', collect)
    request.on('end', () => settle(true))
    request.on('error', () => settle(false))
    request.on('close', () => settle(false))
    // Some other code may have paused the request.
    request.resume()
  })
}

/**
 * The length of the body, if the head gives it for certain: in HTTP/2 a flag marks the end of a body, and chunks mark
 * it themselves.
 */
function lengthOf({ headers, httpVersionMajor }: IncomingMessage): number {
  const isSaid = httpVersionMajor === 1 && headers['transfer-encoding'] === undefined
  return isSaid ? Number(headers['content-length']) : Number.NaN
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
  // The host may already have set a cookie of its own.
  if (cookie !== undefined) response.appendHeader('set-cookie', cookie)
  const isUnread = !request.complete && !request.readableEnded && !isWhole && hasBody(request)
  // `connection` exists only in HTTP/1; in HTTP/2 Node warns about it.
  if (isOfHttp2(request)) delete sent['connection']
  // The unread rest of a body would have to arrive before the next request.
  else if (isUnread) sent['connection'] = 'close'
  const isEmpty = status === 204 || status === 304
  if (!isEmpty) sent['content-length'] = Buffer.byteLength(body ?? '')
  // Node drops a body that must not be sent, but a server with `rejectNonStandardBodyWrites` throws.
  const written = isEmpty || request.method === 'HEAD' ? undefined : body
  response.writeHead(status, sent)
  if (!isUnread) response.end(written)
  else if (isOfHttp2(request)) endWithoutBody(request, response, written)
  else endAfterBody(request, response, written)
}

/** A request of `node:http2`, to which its compatibility API gives the type of `node:http`. */
type Http2Request = IncomingMessage & Pick<Http2ServerRequest, 'stream'>

function isOfHttp2(request: IncomingMessage): request is Http2Request {
  return request.httpVersionMajor > 1
}

/**
 * Sends the whole answer, and closes the stream of a request if the client leaves it open for a second after that: Node itself
 * does so only if nothing was read of it. Closed at once, it would be reset before the answer has ended.
 */
function endWithoutBody({ stream }: Http2Request, response: ServerResponse, body: HttpResponse['body']): void {
  response.end(body)
  const timer = setTimeout(() => stream.close(), LINGER_MILLISECONDS)
  response.on('close', () => clearTimeout(timer))
}

/** A proxy sends the rest of a body within this time. */
const LINGER_MILLISECONDS = 1000
const LINGER_BYTES = 4 * 1024 * 1024

/**
 * Sends the whole answer at once, but ends the connection only when the rest of the body has arrived, at the latest
 * after a second or four megabytes. Otherwise a client that is still sending would be reset before it has read the
 * answer (RFC 9112, 9.6): a proxy would then answer 502 and consider this server down, so a few such requests could
 * shut everybody out.
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
