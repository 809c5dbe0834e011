import type { Context } from '../ports/context.ts'
import type { HttpRequest } from '../ports/http-exchange.ts'
import type { ClientId } from '../protocol/client.ts'
import type { OperationId } from '../protocol/operations.ts'
import { parseQuery } from '../protocol/url.ts'

/** Which of the three servers answers. This decides the form of errors and the base of URLs. */
export type ServerRole = 'auth-server' | 'resource-server' | 'wallet-address-server'

/** Work that goes on after the response: the host keeps its process alive for it. */
export type WaitUntil = (work: Promise<unknown>) => void

/** A request that matched a route, with its bytes; made anew for each request, never changed. */
export interface Exchange {
  readonly context: Context
  /** When its bytes had come, in milliseconds since 1970. */
  readonly startedAt: number
  /** How many turns had ended by then (`InTurn`). */
  readonly endedTurns: number
  readonly operation: OperationId
  /** The server that answers. */
  readonly role: ServerRole
  /** Whether a quota limits how often a client may do this. @spec T-37 */
  readonly hasQuota: boolean
  /** The configured origin of the server that answers; the URLs that clients sign begin with it. @spec SIG-29 */
  readonly origin: string
  readonly request: HttpRequest
  readonly bytes: Uint8Array
  /** The path as it was sent, without the query. */
  readonly path: string
  /** Decoded path parameters. */
  readonly params: Readonly<Record<string, string>>
  readonly waitUntil: WaitUntil
  /** To be called with the proven sender of the request, and the grant that it acts under, for the request's event. */
  readonly noteCaller: (client: ClientId, grant?: string) => void
  /** The body as JSON, parsed on first use and once. Throws `invalid_request`. @spec EMB-3 */
  json(): unknown
}

/** The query of a request; empty if its target has no question mark. */
export function queryOf({ target }: HttpRequest): URLSearchParams {
  const queryStart = target.indexOf('?')
  return parseQuery(queryStart < 0 ? '' : target.slice(queryStart + 1))
}
