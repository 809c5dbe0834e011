/**
 * For servers of `node:http`.
 *
 * @module open-payments-server/node
 */

import type { IncomingMessage, ServerResponse } from 'node:http'
import { ConfigurationError, type HttpRequest, type HttpResponse, type OpenPayments } from '../src/index.ts'
import { requireOpenPayments } from './require-open-payments.ts'
import { createTurns } from './turns.ts'

/** What a server of `node:http` does with the requests that are not for Open Payments. */
export interface NodeListenerOptions {
  /** The wallet's own routes. Default: everything is answered here, unknown paths with 404. */
  readonly next?: (request: IncomingMessage, response: ServerResponse) => void
  /**
   * The address that a request came from, for the limits per source: `(request) => request.socket.remoteAddress` where
   * clients connect straight to this server; behind a proxy, what the proxy says. Default: none, and no such limits,
   * because all that comes through one proxy would be one source.
   */
  readonly source?: (request: IncomingMessage) => string | undefined
}

/**
 * A listener for `http.createServer` and `https.createServer`. With `next` it answers what `owns` says is its own and
 * hands on the rest; a request of which that cannot be told, because the wallet's directory fails, is answered here.
 * Where `source` throws, the connection is closed with that error. Servers of `http2` may call it, though not by type.
 * Throws a `ConfigurationError` where `openPayments` is missing, or a promise that was not awaited.
 */
export function toNodeListener(
  openPayments: Pick<OpenPayments, 'handle' | 'owns'>,
  { next, source }: NodeListenerOptions = {},
): (request: IncomingMessage, response: ServerResponse) => void {
  requireOpenPayments(openPayments)
  const nextTurn = createTurns()
  const handle = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    // What says where it came from may be gone by the next turn.
    const from = source?.(request)
    if (!hasBody(request)) await nextTurn()
    return handleNodeRequest(openPayments, request, response, request.url, from)
  }
  const answer = (request: IncomingMessage, response: ServerResponse): void => {
    handle(request, response).catch((error: Error) => response.destroy(error))
  }
  if (next === undefined) return answer
  return async (request, response) => {
    const isOwned = await openPayments.owns(request.method ?? 'GET', request.url ?? '/').catch(() => true)
    return (isOwned ? answer : next)(request, response)
  }
}

/**
 * Answers one request, whether or not it is for Open Payments. Resolves when the response is handed to Node. `target`:
 * the raw target, where a framework has changed `request.url`. `source`: where it came from, for the limits per source.
 */
export async function handleNodeRequest(
  openPayments: Pick<OpenPayments, 'handle'>,
  request: IncomingMessage,
  response: ServerResponse,
  target?: string,
  source?: string,
): Promise<void> {
  const { asked, isWhole } = readRequest(request, target, source)
  const answer = await openPayments.handle(asked)
  sendAnswer(request, response, answer, isWhole())
}

/**
 * A request of Node as the core reads it: raw header lines, the raw target and the raw bytes. A body that a parser has
 * read is taken from `rawBody`, where the host keeps it. One whose connection ends early counts as too large. `target`
 * and `source` are those of `handleNodeRequest`.
 */
export function toHttpRequest(request: IncomingMessage, target?: string, source?: string): HttpRequest {
  return readRequest(request, target, source).asked
}

/** A request, and whether every byte of it has come, of which Node says so only later. */
function readRequest(
  request: IncomingMessage,
  target: string = request.url ?? '/',
  source?: string,
): { readonly asked: HttpRequest; isWhole(): boolean } {
  let isWhole = false
  const onWhole = (): void => {
    isWhole = true
  }
  const asked: HttpRequest = {
    method: request.method ?? 'GET',
    target,
    headerLines: (name) => linesOf(request, name),
    bytes: (limit) => (hasBody(request) ? readBytes(request, limit, onWhole) : new Uint8Array()),
    source,
  }
  return { asked, isWhole: () => isWhole }
}

/** The lines of a field, of which `name` is given in lower case: `request.headers` drops those that matter most. */
function linesOf({ rawHeaders }: IncomingMessage, name: string): readonly string[] {
  const lines: string[] = []
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
    const raw = rawHeaders[at]
    // Most names are told apart by their length.
    if (raw?.length === name.length && raw.toLowerCase() === name) lines.push(rawHeaders[at + 1] ?? '')
  }
  return lines
}

async function readBytes(
  request: IncomingMessage,
  limit: number,
  onWhole: () => void,
): Promise<Uint8Array | undefined> {
  // Not before the end: who collects bytes on the way has only some of them by now.
  if (request.readableEnded && 'rawBody' in request && request.rawBody instanceof Uint8Array) {
    return request.rawBody.length > limit ? undefined : request.rawBody
  }
  // What is decoded as text does not come as bytes any more, either.
  if (request.readableDidRead || request.readableEncoding !== null) {
    throw new ConfigurationError(
      'a body parser read this request: mount open-payments-server before it, or let every parser ' +
        '(express.urlencoded too) keep the bytes: ' +
        'app.use(express.json({ verify: (req, _res, bytes) => { req.rawBody = bytes } }))',
    )
  }
  if (request.readableEnded) return new Uint8Array()
  const isTooLarge = Number(request.headers['content-length'] ?? 0) > limit
  return isTooLarge || request.destroyed ? undefined : collectBytes(request, limit, onWhole)
}

/** How many bytes are the whole body, where the head says so for certain: HTTP/2 says by a flag where a body ends, and chunks say it themselves. */
function lengthOf({ headers, httpVersionMajor }: IncomingMessage): number {
  const isSaid = httpVersionMajor === 1 && headers['transfer-encoding'] === undefined
  return isSaid ? Number(headers['content-length']) : Number.NaN
}

/** HTTP/2 has bodies without any header that says so. */
function hasBody({ headers, httpVersionMajor }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? httpVersionMajor - 1) > 0
}

function collectBytes(request: IncomingMessage, limit: number, onWhole: () => void): Promise<Uint8Array | undefined> {
  return new Promise((resolve) => {
    const announced = lengthOf(request)
    const chunks: Uint8Array[] = []
    let length = 0
    request.on('data', (chunk: Uint8Array) => {
      length += chunk.length
      chunks.push(chunk)
      if (length > limit) {
        request.pause()
        resolve(undefined)
      } else if (length === announced) {
        // Most bodies come together with their head: what does not wait for `end` needs no deadline.
        onWhole()
        resolve(Buffer.concat(chunks))
      }
    })
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
  if (status !== 204 && status !== 304) sent['content-length'] = Buffer.byteLength(body ?? '')
  const isUnread = !request.complete && !request.readableEnded && !isWhole && hasBody(request)
  // The rest of a body that nobody reads would have to be waited for before the next request.
  if (isUnread && request.httpVersionMajor === 1) sent['connection'] = 'close'
  response.writeHead(status, sent)
  response.end(body)
  if (isUnread && request.httpVersionMajor > 1) response.on('finish', () => request.destroy())
}
