import type { HttpResponse } from '../ports/http-exchange.ts'

/** What an endpoint answers: a JSON body, ready-made text or bytes, or nothing. */
export interface Result {
  readonly status: number
  readonly body?: unknown
  /** Sent as it is, instead of `body`; the content type is in `headers`. */
  readonly raw?: string | Uint8Array
  readonly headers?: Readonly<Record<string, string>>
  /** What went wrong, if the answer is a page that says so: it is reported as if it had been thrown. */
  readonly failure?: unknown
}

/** Nobody may cache secrets and amounts. @spec GRT-9 @spec RS-11 */
const NO_STORE = { 'cache-control': 'no-store' }

/** Writes a result; not cacheable unless it says otherwise. */
export function respond(result: Result): HttpResponse {
  if (result.body === undefined)
    return { status: result.status, headers: { ...NO_STORE, ...result.headers }, body: result.raw }
  return {
    status: result.status,
    headers: { ...NO_STORE, 'content-type': 'application/json', ...result.headers },
    body: JSON.stringify(result.body),
  }
}
