import * as v from 'valibot'
import { invalidRequest, rateLimited } from '../errors/conditions.ts'
import type { ClientId } from '../protocol/client.ts'
import type { OperationId } from '../protocol/operations.ts'
import type { Exchange, ServerRole } from './exchange.ts'
import type { Result } from './respond.ts'

/**
 * An endpoint as data: who may call, what is read, what is done. Steps have the numbers of ARCHITECTURE.md; their order
 * is written once, in `defineEndpoint`.
 */
export interface Endpoint<Caller, Body> {
  readonly operation: OperationId
  readonly method: 'GET' | 'POST' | 'DELETE' | 'OPTIONS'
  /** It may contain `:name` segments. */
  readonly path: string
  readonly role: ServerRole
  /** Whether a request may have a body. At any other endpoint, one with a body is refused. @spec DIG-8 */
  readonly takesBody?: boolean
  /** Whether it is a GET that anyone may make: then HEAD is answered too. */
  readonly isPublic?: boolean
  /** Steps 3 and 4: who calls, proved by token and signature. Throws the 401, or the 400. */
  identify(exchange: Exchange): Promise<Caller>
  /** Step 5: whether this caller has the right at all. Throws the 403. */
  authorize?(caller: Caller): void
  /** Step 6: the body. */
  readonly schema?: v.GenericSchema<unknown, Body>
  /** Step 7: whose quota is charged, with a 429 if it is used up; absent if nothing is created. @spec T-37 */
  quotaOf?(caller: Caller): ClientId
  /** Also step 7: what the endpoint does. */
  run(input: Input<Caller, Body>): Promise<Result>
}

/** What an endpoint's own code receives. */
export interface Input<Caller, Body> {
  readonly exchange: Exchange
  readonly caller: Caller
  readonly body: Body
}

/** An endpoint without its type parameters, so that one table can hold all of them. */
export interface Route extends Pick<Endpoint<unknown, unknown>, 'operation' | 'method' | 'path' | 'role'> {
  readonly takesBody: boolean
  readonly isPublic: boolean
  readonly hasQuota: boolean
  answer(exchange: Exchange): Promise<Result>
}

/** Puts the steps of an endpoint in their one order: identify, authorize, schema, quota, run. */
export function defineEndpoint<Caller, Body>(
  endpoint: Endpoint<Caller, Body> & { readonly schema: v.GenericSchema<unknown, Body> },
): Route
export function defineEndpoint<Caller>(endpoint: Endpoint<Caller, undefined>): Route
export function defineEndpoint<Caller, Body>(endpoint: Endpoint<Caller, Body | undefined>): Route {
  const { operation, method, path, role, takesBody = false, isPublic = false } = endpoint
  return {
    operation,
    method,
    path,
    role,
    takesBody,
    isPublic,
    hasQuota: endpoint.quotaOf !== undefined,
    answer: async (exchange) => {
      const caller = await endpoint.identify(exchange)
      endpoint.authorize?.(caller)
      const parsed = endpoint.schema && parseBody(endpoint.schema, exchange.json())
      if (endpoint.quotaOf) requireQuota(exchange, endpoint.quotaOf(caller))
      return endpoint.run({ exchange, caller, body: parsed })
    },
  }
}

function requireQuota({ context }: Exchange, client: ClientId): void {
  const { source } = context
  const wait = context.chargeCreation(client, source)
  if (wait > 0) throw rateLimited(wait, `the quota of ${[client, source].filter(Boolean).join(' or of ')} is used up`)
}

/**
 * Reads a body by its schema; throws `invalid_request` with the first thing that is wrong and its path. The value
 * itself is not repeated: it may be a misplaced secret, and refusals are logged.
 * @spec T-34
 */
export function parseBody<Body>(schema: v.GenericSchema<unknown, Body>, value: unknown): Body {
  const message = ({ expected, input }: v.BaseIssue<unknown>): string =>
    input === undefined ? 'missing' : `expected ${expected}`
  // Valibot takes a list for an object without members.
  if (Array.isArray(value)) throw invalidRequest('expected Object')
  const parsed = v.safeParse(schema, value, { abortEarly: true, message })
  if (parsed.success) return parsed.output
  const [issue] = parsed.issues
  const path = pathOf(issue)
  if (issue.expected === 'never') throw invalidRequest(`${path ?? 'something'} is not a member of this body`)
  throw invalidRequest(path === undefined ? issue.message : `${path}: ${issue.message}`)
}

/** The path of an issue. A name that is not a short word was made up by the client, and is left out. */
function pathOf(issue: v.BaseIssue<unknown>): string | undefined {
  const names = issue.path?.map(({ key }) => String(key))
  return names?.map((name) => (/^\w{1,24}$/.test(name) ? name : '…')).join('.')
}

/** For endpoints that anyone may call: nothing in the request identifies the caller. */
export async function anyone(): Promise<undefined> {
  return undefined
}
