import { bodyTooSlow, invalidRequest, payloadTooLarge, unsupportedMediaType } from '../errors/conditions.ts'
import type { Context } from '../ports/context.ts'
import type { HttpRequest } from '../ports/http-exchange.ts'
import type { MaybePromise } from '../ports/maybe-promise.ts'
import { answerBefore } from '../records/deadline.ts'

/** What a body may be: `none` refuses bytes, `optional` admits none, `json` needs a JSON document, `form` is the browser's. */
export type BodyRule = 'none' | 'optional' | 'json' | 'form'

/**
 * Reads the bytes of a body under the size limit and the deadline, and refuses what its rule does not allow. Nothing
 * is parsed here: the digest is over these bytes. What is there at once is answered at once.
 * @spec EMB-1 @spec EMB-2 @spec DIG-6 @spec DIG-8
 */
export function readBody(context: Context, request: HttpRequest, rule: BodyRule): MaybePromise<Uint8Array> {
  for (const line of request.headerLines('content-encoding')) {
    if (line.trim().toLowerCase() !== 'identity') throw unsupportedMediaType('a content encoding is not accepted')
  }
  const reading = request.bytes(context.limits.bodyBytes)
  return reading === undefined || reading instanceof Uint8Array
    ? checkBody(context, request, rule, reading)
    : readInTime(context, reading).then((bytes) => checkBody(context, request, rule, bytes))
}

function checkBody(
  { limits }: Context,
  request: HttpRequest,
  rule: BodyRule,
  bytes: Uint8Array | undefined,
): Uint8Array {
  if (bytes === undefined) throw payloadTooLarge(limits.bodyBytes)
  if (rule === 'none' && (bytes.length > 0 || announcesBody(request)))
    throw invalidRequest('this request takes no body')
  if (bytes.length > 0 && rule !== 'form') checkMediaType(request)
  if (rule === 'json' && bytes.length === 0) throw invalidRequest('a JSON body is required')
  return bytes
}

/**
 * A Fetch host keeps the body of a GET to itself, but not the field that gives its length. One that comes in chunks stays
 * unseen there: a proxy may announce chunks where there is no body at all.
 */
function announcesBody(request: HttpRequest): boolean {
  return request.headerLines('content-length').some((line) => Number(line) > 0)
}

async function readInTime<T>({ clock, limits }: Context, reading: Promise<T>): Promise<T> {
  const bytes = await answerBefore(clock, limits.bodySeconds * 1000, () => reading)
  if (bytes === 'late') throw bodyTooSlow()
  return bytes
}

/** @spec GRT-1 */
function checkMediaType(request: HttpRequest): void {
  const lines = request.headerLines('content-type')
  const type = lines[0]?.split(';')[0]?.trim().toLowerCase()
  if (lines.length !== 1 || type !== 'application/json') throw unsupportedMediaType('the body must be application/json')
}
