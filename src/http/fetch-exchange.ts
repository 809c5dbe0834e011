import { invalidRequest } from '../errors/conditions.ts'
import { ConfigurationError } from '../errors/configuration-error.ts'
import type { HttpRequest, HttpResponse } from '../ports/http-exchange.ts'
import { toUtf8 } from '../protocol/bytes.ts'
import { growBytes } from '../protocol/growing-bytes.ts'
import { targetOfUrl } from '../protocol/request-target.ts'

/**
 * A Fetch request as the core reads it. A Fetch host has already normalised the URL and joined repeated header lines;
 * the library neither undoes nor repeats that. A body whose connection ends early counts as too large.
 */
export function fromFetchRequest(request: Request, source?: string): HttpRequest {
  return {
    method: request.method.toUpperCase(),
    target: targetOfUrl(request),
    headerLines(name) {
      const line = request.headers.get(name)
      return line === null ? [] : [line]
    },
    bytes(limit) {
      const body = bodyOf(request)
      return body === null ? new Uint8Array() : readBytes(request, body, limit)
    },
    source,
  }
}

/** Hono on Node finds out only here that the URL which it built from `Host` is invalid. */
function bodyOf(request: Request): Request['body'] {
  try {
    return request.body
  } catch {
    throw invalidRequest('this request has no valid URL')
  }
}

/** With these statuses a `Response` takes no body, not even an empty one. */
const NO_BODY: readonly number[] = [204, 205, 304]

/** A response of the core for a Fetch host, with the length of the body that HEAD does not get. */
export function toFetchResponse({ status, headers, body }: HttpResponse, method: string): Response {
  // A copy: these bytes may be a part of a larger buffer, or memory that others write to.
  const sent = body instanceof Uint8Array ? new Uint8Array(body) : body
  if (method.toUpperCase() === 'HEAD' && sent !== undefined) {
    const length = (typeof sent === 'string' ? toUtf8(sent) : sent).length
    return new Response(null, { status, headers: { ...headers, 'content-length': String(length) } })
  }
  return new Response(NO_BODY.includes(status) ? null : sent, { status, headers })
}

async function readBytes(
  { bodyUsed, headers }: Request,
  body: ReadableStream<Uint8Array>,
  limit: number,
): Promise<Uint8Array | undefined> {
  if (bodyUsed) {
    throw new ConfigurationError(
      'the request body was read before openPayments.fetch(request): call it first, or keep a copy with request.clone()',
    )
  }
  // An unread rest stays locked and is not cancelled: on cancel, Deno would read all of it, however long it is.
  const reader = body.getReader()
  if (Number(headers.get('content-length')) > limit) return undefined
  let bytes: Uint8Array = new Uint8Array()
  let length = 0
  try {
    for (let part = await reader.read(); !part.done; part = await reader.read()) {
      const { value } = part
      if (length + value.length > limit) return undefined
      bytes = growBytes(bytes, length, value)
      length += value.length
    }
  } catch {
    return undefined
  }
  return bytes.subarray(0, length)
}
