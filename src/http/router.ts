import { IttyRouter } from 'itty-router'
import { methodNotAllowed, notFound } from '../errors/conditions.ts'
import type { OpenPaymentsError } from '../errors/open-payments-error.ts'
import { parseUrl } from '../protocol/url.ts'
import type { Route } from './endpoint.ts'
import type { ServerRole } from './exchange.ts'

/** The path of an endpoint that answers for every path no other endpoint has. */
export const ANY_PATH = '*'

/** The path under which each server is: empty, or without a trailing slash. */
export type BasePaths = Readonly<Record<ServerRole, string>>

/** The matched route, the raw path and its decoded parameters; or the refusal, and which server answers with it. */
export type Match =
  | {
      readonly ok: true
      readonly route: Route
      readonly path: string
      readonly params: Readonly<Record<string, string>>
    }
  | { readonly ok: false; readonly role: ServerRole; readonly refusal: OpenPaymentsError }

/**
 * Routes by method and raw target. Each role has a base path; a target is matched under the longest base that contains
 * it. Trailing slashes are ignored, also one behind the resource server's base URL, to which deployed clients add another.
 * A target that a URL parser would rewrite matches nothing, because clients sign the raw one.
 * @spec SIG-30 @spec D16
 */
export function createRouter(routes: readonly Route[], bases: BasePaths): (method: string, target: string) => Match {
  // IttyRouter only makes the patterns. Matching them here saves its parsing of the URL and a turn of the event loop.
  const table = [...groupByPath(routes, bases)].flatMap(([path, group]) =>
    IttyRouter()
      .all(path)
      .routes.map(([, pattern]) => ({ beginning: fixedBeginning(path), pattern, group })),
  )
  const anywhere = routes.filter(({ path }) => path === ANY_PATH)
  const find = (path: string): PathMatch | undefined => {
    for (const { beginning, pattern, group } of table) {
      // Most paths differ in their first segment, and matching a pattern is expensive.
      const match = path.startsWith(beginning) ? pattern.exec(path) : null
      if (match === null) continue
      const params = match.groups ?? {}
      return { group, params: path.includes('%') ? decodeParams(params) : params }
    }
    return undefined
  }
  const twoSlashes = `${bases['resource-server']}//`
  const findBehindTwoSlashes = (path: string): PathMatch | undefined => {
    const found = path.startsWith(twoSlashes)
      ? find(bases['resource-server'] + path.slice(twoSlashes.length - 1))
      : undefined
    return found?.group[0]?.role === 'resource-server' ? found : undefined
  }
  return (method, target) => {
    const path = originFormPath(target)
    const found = path === undefined ? undefined : (findBehindTwoSlashes(path) ?? find(path))
    if (path === undefined || found?.params === undefined)
      return { ok: false, role: roleOf(target, bases), refusal: notFound() }
    const { group, params } = found
    // The base URL of a server is not one of its resources and may be a wallet address, and so may the root of a host.
    // @spec WAS-2
    const route = routeFor(group, method) ?? (group[0]?.path === '/' ? routeFor(anywhere, method) : undefined)
    if (route !== undefined) return { ok: true, route, path, params }
    const role = roleOf(target, bases)
    // Only reading a path shows whether it is a wallet address, so this is a 404, not a 405 that promises a GET.
    if (group.every((candidate) => candidate.path === ANY_PATH)) return { ok: false, role, refusal: notFound() }
    const allow = group.flatMap((one) => (one.isPublic ? [one.method, 'HEAD'] : [one.method])).join(', ')
    return { ok: false, role: group[0]?.role ?? role, refusal: methodNotAllowed(allow) }
  }
}

// The longest base first, so that the more specific server is asked before the one around it.
function groupByPath(routes: readonly Route[], bases: BasePaths): ReadonlyMap<string, readonly Route[]> {
  const groups = new Map<string, readonly Route[]>()
  for (const route of [...routes].sort((a, b) => bases[b.role].length - bases[a.role].length)) {
    const path = `${bases[route.role]}${route.path}`
    groups.set(path, [...(groups.get(path) ?? []), route])
  }
  return groups
}

/** The part of a path before its first parameter, without trailing slashes. */
function fixedBeginning(path: string): string {
  return path.replace(/[:*].*$/, '').replace(/\/+$/, '')
}

interface PathMatch {
  readonly group: readonly Route[]
  /** `undefined` if a parameter is not valid UTF-8. */
  readonly params: Readonly<Record<string, string>> | undefined
}

function decodeParams(params: Readonly<Record<string, string>>): Readonly<Record<string, string>> | undefined {
  const decoded: Record<string, string> = {}
  try {
    for (const [name, value] of Object.entries(params)) decoded[name] = decodeURIComponent(value)
    return decoded
  } catch {
    return undefined
  }
}

/** Paths that every URL parser leaves unchanged: no escapes, and no segment that begins with a dot. */
const PLAIN_PATH = /^(?:\/[\w~-][\w.~-]*)+\/?$/

/** The path of an origin-form target, if a URL parser leaves it as it is. */
export function originFormPath(target: string): string | undefined {
  if (!target.startsWith('/') || target.length > 4096 || target.includes('#')) return undefined
  const queryStart = target.indexOf('?')
  const path = queryStart < 0 ? target : target.slice(0, queryStart)
  return PLAIN_PATH.test(path) || parseUrl(`http://host${path}`)?.pathname === path ? path : undefined
}

function routeFor(group: readonly Route[], method: string): Route | undefined {
  return group.find((one) => one.method === method || (method === 'HEAD' && one.isPublic))
}

/** The role of the server with the longest base that contains a target. */
function roleOf(target: string, bases: BasePaths): ServerRole {
  const { 'auth-server': auth, 'resource-server': resource } = bases
  const isUnder = (base: string): boolean => target.startsWith(base) && /^(?:$|[/?])/.test(target.slice(base.length))
  return isUnder(auth) && (auth.length > resource.length || !isUnder(resource)) ? 'auth-server' : 'resource-server'
}
