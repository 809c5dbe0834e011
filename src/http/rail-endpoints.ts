import { ConfigurationError } from '../errors/configuration-error.ts'
import type { Context } from '../ports/context.ts'
import type { HttpRequest, HttpResponse } from '../ports/http-exchange.ts'
import type { PaymentMethod } from '../ports/payment-method.ts'
import { tellFault } from '../records/tell-fault.ts'
import type { Route } from './endpoint.ts'
import { ANY_PATH, type BasePaths } from './router.ts'

/** Where others reach a rail. */
export type RailEndpoint = NonNullable<PaymentMethod['endpoint']>

const PATH = /^(?:\/[\w.~-]+)+$/

/**
 * Finds the rail that a request is for. Throws a `ConfigurationError` if a rail's path is invalid, or belongs to an
 * endpoint of this server or to another rail.
 */
export function railEndpoints(
  methods: readonly PaymentMethod[],
  routes: readonly Route[],
  bases: BasePaths,
): (method: string, target: string) => RailEndpoint | undefined {
  const own = routes
    .filter(({ path }) => path !== ANY_PATH)
    .map(({ role, path }) => `${bases[role]}${path}`.replace(/\/(?::.*)?$/, ''))
    .filter((path) => path !== '')
  const byPath = new Map<string, RailEndpoint>()
  for (const endpoint of methods.flatMap((method) => method.endpoint ?? [])) {
    const { path } = endpoint
    if (!PATH.test(path)) throw new ConfigurationError(`invalid endpoint path of a payment method: ${path}`)
    if (byPath.has(path) || own.some((taken) => `${path}/`.startsWith(`${taken}/`)))
      throw new ConfigurationError(`endpoint path already in use: ${path}`)
    byPath.set(path, endpoint)
  }
  // In plain JavaScript a host may pass a target that is not a string: the pipeline will refuse that.
  return (method, target) => (method === 'POST' ? byPath.get(String(target).split('?', 1)[0] ?? '') : undefined)
}

/** Lets a rail answer. If it throws, the peer gets a bare 500 and learns nothing more. */
export async function answerByRail(context: Context, rail: RailEndpoint, request: HttpRequest): Promise<HttpResponse> {
  try {
    return await rail.handle(request)
  } catch (cause) {
    tellFault(context, 'a payment method failed', cause)
    return { status: 500, headers: { 'cache-control': 'no-store' } }
  }
}
