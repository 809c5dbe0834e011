import { answerWithin } from '../deadline/answer-within.ts'
import { bodyTooSlow, invalidRequest, payloadTooLarge, unsupportedMediaType } from '../errors/conditions.ts'
import type { Context } from '../ports/context.ts'
import type { HttpRequest } from '../ports/http-exchange.ts'
import type { MaybePromise } from '../ports/maybe-promise.ts'

/**
 * Reads the bytes of a body under the size limit and the deadline. Refuses a body with a content encoding, or one that
 * the endpoint does not take. Nothing is parsed here: the digest is over these bytes. A body that is available at once
 * is returned synchronously.
 * @spec EMB-1 @spec EMB-2 @spec DIG-6 @spec DIG-8
 */
export function readBody(context: Context, request: HttpRequest, takesBody: boolean): MaybePromise<Uint8Array> {
  for (const line of request.headerLines('content-encoding')) {
    if (line.trim().toLowerCase() !== 'identity') throw unsupportedMediaType('a content encoding is not accepted')
  }
  const reading = request.bytes(context.limits.bodyBytes)
  return reading === undefined || reading instanceof Uint8Array
    ? checkBody(context, request, takesBody, reading)
    : readInTime(context, reading).then((bytes) => checkBody(context, request, takesBody, bytes))
}

function checkBody(
  { limits }: Context,
  request: HttpRequest,
  takesBody: boolean,
  bytes: Uint8Array | undefined,
): Uint8Array {
  if (bytes === undefined) throw payloadTooLarge(limits.bodyBytes)
  if (!takesBody && (bytes.length > 0 || announcesBody(request))) throw invalidRequest('this request takes no body')
  return bytes
}

/**
 * Whether a request announces a body. A Fetch host hides the body of a GET, but not its `content-length`. A chunked
 * body goes unnoticed there: `transfer-encoding` proves nothing, since a proxy may announce chunks although there is no
 * body.
 */
function announcesBody(request: HttpRequest): boolean {
  // Several lines may have been joined into one, which is then not a number and counts as announcing a body.
  return request.headerLines('content-length').some((line) => !/^0*$/.test(line.trim()))
}

async function readInTime(
  { clock, limits }: Context,
  reading: Promise<Uint8Array | undefined>,
): Promise<Uint8Array | undefined> {
  const bytes = await answerWithin(clock, limits.bodySeconds * 1000, () => reading)
  if (bytes === 'late') throw bodyTooSlow()
  return bytes
}

/** Parses the body of a request. Throws a 400 or a 415. @spec GRT-1 */
export function readJson(request: HttpRequest, bytes: Uint8Array): unknown {
  if (bytes.length === 0) throw invalidRequest('a JSON body is required')
  checkMediaType(request)
  return parseJson(bytes)
}

/** Throws a 415 if the body is not declared as JSON. @spec GRT-1 */
export function checkMediaType(request: HttpRequest): void {
  // Only the first is looked at: repeated or joined lines are refused when the signature is checked. @spec SIG-32
  const type = request.headerLines('content-type')[0]?.split(';')[0]?.trim().toLowerCase()
  if (type !== 'application/json') throw unsupportedMediaType('the body must be application/json')
}

const MAX_DEPTH = 32

/**
 * Parses a body: JSON in UTF-8, not nested deeper than 32 levels, in which no object names a member twice: readers differ
 * in which of the two counts, so a client that signed both could later choose. Throws `invalid_request`.
 * @spec EMB-3 @spec T-42
 */
export function parseJson(bytes: Uint8Array): unknown {
  const text = decodeUtf8(bytes)
  if (text === undefined) throw invalidRequest('the body is not UTF-8')
  const written = countWritten(text)
  if (written === undefined) throw invalidRequest('the body is nested too deeply')
  const value = parse(text)
  // The parser keeps one of two members with the same name.
  if (countMembers(value) !== written) throw invalidRequest('the body names a member twice')
  return value
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw invalidRequest('the body is not JSON')
  }
}

/** How many members a value has, with those of what it holds. */
function countMembers(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0
  const held = Object.values(value)
  const own = Array.isArray(value) ? 0 : held.length
  return held.reduce<number>((sum, one) => sum + countMembers(one), own)
}

const UTF8 = new TextDecoder('utf-8', { fatal: true })

function decodeUtf8(bytes: Uint8Array): string | undefined {
  try {
    return UTF8.decode(bytes)
  } catch {
    return undefined
  }
}

const BACKSLASH = 0x5c
const QUOTE = 0x22
const BRACKET = 0x5b
const END_BRACKET = 0x5d
const BRACE = 0x7b
const END_BRACE = 0x7d
const COLON = 0x3a

/**
 * How many members a JSON text writes, each with a colon outside of strings; `undefined` if it is nested too deeply.
 * Counted before a parser recurses into it. Comparing codes takes a third of the time of comparing characters.
 */
function countWritten(text: string): number | undefined {
  let depth = 0
  let members = 0
  let isInString = false
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index)
    if (isInString) {
      if (code === BACKSLASH) index++
      else if (code === QUOTE) isInString = false
    } else if (code === QUOTE) isInString = true
    else if (code === BRACE || code === BRACKET) {
      if (++depth > MAX_DEPTH) return undefined
    } else if (code === END_BRACE || code === END_BRACKET) depth--
    else if (code === COLON) members++
  }
  return members
}
