import { isOpenPaymentsError } from '../errors/open-payments-error.ts'
import { thrownMessage } from '../errors/thrown-message.ts'
import type { Context } from '../ports/context.ts'
import type { HttpRequest, HttpResponse } from '../ports/http-exchange.ts'
import type { ClientId } from '../protocol/client.ts'
import { readBody, readJson } from './body.ts'
import type { Route } from './endpoint.ts'
import type { Exchange, ServerRole, WaitUntil } from './exchange.ts'
import { renderError } from './render-error.ts'
import { respond } from './respond.ts'
import type { Match } from './router.ts'
import { sourceNetwork } from './source-network.ts'

/** Answers a request; never rejects. */
export type Pipeline = (request: HttpRequest, waitUntil: WaitUntil) => Promise<HttpResponse>

/** Takes every request through the eight steps that ARCHITECTURE.md lists; steps 3 to 7 are in `defineEndpoint`. */
export function createPipeline(context: Context, match: (method: string, target: string) => Match): Pipeline {
  const origins: Readonly<Record<ServerRole, string>> = {
    'auth-server': new URL(context.authServer).origin,
    'resource-server': new URL(context.resourceServer).origin,
    'wallet-address-server': context.walletAddressServer,
  }
  return async (request, waitUntil) => {
    const known: Known = { operation: undefined }
    const noteCaller = (client: ClientId, grant?: string): void => {
      known.client = client
      if (grant !== undefined) known.grant = grant
    }
    let role: ServerRole = 'resource-server'
    try {
      const found = match(request.method, request.target)
      role = found.ok ? found.route.role : found.role
      if (!found.ok) throw found.refusal
      known.operation = found.route.operation
      const body = readBody(context, request, found.route.takesBody)
      const bytes = body instanceof Uint8Array ? body : await body
      const exchange = createExchange(context, found, { origin: origins[role], request, bytes, waitUntil, noteCaller })
      const result = await found.route.answer(exchange)
      const response = respond(result)
      if ('failure' in result) reportFailure(context, known, response.status, result.failure)
      else context.emit({ type: 'request', at: timeNow(context), ...known, status: response.status })
      return response
    } catch (error) {
      const response = renderError(context, role, error)
      reportFailure(context, known, response.status, error)
      return response
    }
  }
}

/** What is known about a request by the time its event is sent. */
interface Known {
  operation: Route['operation'] | undefined
  client?: ClientId
  grant?: string
}

/** A request that has an endpoint. */
type Found = Extract<Match, { readonly ok: true }>

function createExchange(
  context: Context,
  { route, path, params }: Found,
  given: Pick<Exchange, 'origin' | 'request' | 'bytes' | 'waitUntil' | 'noteCaller'>,
): Exchange {
  const { request, bytes } = given
  let parsed: { readonly value: unknown } | undefined
  const source = request.source ? sourceNetwork(request.source) : undefined
  return {
    ...given,
    context: source === undefined ? context : { ...context, source },
    startedAt: context.clock.now(),
    endedTurns: context.inTurn.endedTurns(),
    operation: route.operation,
    role: route.role,
    hasQuota: route.hasQuota,
    path,
    params,
    json: () => {
      parsed ??= { value: readJson(request, bytes) }
      return parsed.value
    },
  }
}

/** For events: 0 if the clock is what fails, since a request must still be answered, and its fault reported. */
function timeNow({ clock }: Context): number {
  try {
    return clock.now()
  } catch {
    return 0
  }
}

function reportFailure(context: Context, known: Known, status: number, error: unknown): void {
  const at = timeNow(context)
  const refusal = isOpenPaymentsError(error) ? error : undefined
  if (refusal === undefined)
    context.emit({ type: 'fault', at, operation: known.operation, message: thrownMessage(error), cause: error })
  context.emit({
    type: 'request',
    at,
    ...known,
    status,
    condition: refusal?.condition.name ?? 'unexpected',
    ...(refusal && { detail: refusal.message }),
  })
}
