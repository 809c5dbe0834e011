import { type IRequest, IttyRouter } from 'itty-router'
import { methodNotAllowed, notFound } from '../errors/conditions.ts'
import type { OpenPaymentsError } from '../errors/open-payments-error.ts'
import { parseUrl } from '../protocol/url.ts'
import type { ServerRole } from './exchange.ts'

/** The path of an endpoint that answers for every path no other endpoint has. */
export const ANY_PATH = '*'

/** What the router needs to know of an endpoint. `path` may hold `:name` segments. */
export interface Row {
  readonly method: string
  readonly path: string
  readonly role: ServerRole
}

/** A matched row and its decoded path parameters; or why there is none, and which server says so. */
export type Match<R extends Row> =
  | { readonly ok: true; readonly row: R; readonly params: Readonly<Record<string, string>> }
  | { readonly ok: false; readonly role: ServerRole; readonly refusal: OpenPaymentsError }

/**
 * Routes by method and raw target. Each role has a base path; a target matches under the longest base that holds it.
 * Trailing slashes are ignored. A target that a URL parser would rewrite is no route: what was signed is the raw one.
 * @spec SIG-30 @spec D16
 */
export function createRouter<R extends Row>(
  rows: readonly R[],
  bases: Readonly<Record<ServerRole, string>>,
): (method: string, target: string) => Promise<Match<R>> {
  const router = IttyRouter<IRequest, []>()
  for (const [path, group] of groupByPath(rows, bases)) {
    router.all(path, (request) => ({ group, params: request.params }))
  }
  return async (method, target) => {
    const role = roleOf(target, bases)
    const pathname = originFormPath(target)
    if (pathname === undefined) return { ok: false, role, refusal: notFound() }
    // A fresh object each time: the router writes onto what it is given, and refuses relative URLs.
    const found: Found<R> | undefined = await router.fetch({ method: 'GET', url: `http://host${pathname}` })
    const params = found && decodeParams(found.params)
    if (found === undefined || params === undefined) return { ok: false, role, refusal: notFound() }
    const row = found.group.find((candidate) => candidate.method === method)
    if (row !== undefined) return { ok: true, row, params }
    // Only a GET can tell whether a path is a wallet address, so nothing else is promised there.
    if (found.group.every((candidate) => candidate.path === ANY_PATH)) return { ok: false, role, refusal: notFound() }
    const allow = found.group.map((candidate) => candidate.method).join(', ')
    return { ok: false, role: found.group[0]?.role ?? role, refusal: methodNotAllowed(allow) }
  }
}

interface Found<R> {
  readonly group: readonly R[]
  readonly params: Readonly<Record<string, string>>
}

// The longest base first, so that the more specific server is asked before the one around it.
function groupByPath<R extends Row>(rows: readonly R[], bases: Readonly<Record<ServerRole, string>>): Map<string, R[]> {
  const groups = new Map<string, R[]>()
  for (const row of [...rows].sort((a, b) => bases[b.role].length - bases[a.role].length)) {
    const path = `${bases[row.role]}${row.path}`
    groups.set(path, [...(groups.get(path) ?? []), row])
  }
  return groups
}

/** The path of an origin-form target, where a URL parser leaves it as it is. */
export function originFormPath(target: string): string | undefined {
  if (!target.startsWith('/') || target.length > 4096) return undefined
  const path = target.split('?', 1)[0] ?? ''
  const url = parseUrl(`http://host${target}`)
  return url?.pathname === path && url.host === 'host' && !target.includes('#') ? path : undefined
}

function decodeParams(params: Readonly<Record<string, string>>): Readonly<Record<string, string>> | undefined {
  try {
    return Object.fromEntries(Object.entries(params).map(([name, value]) => [name, decodeURIComponent(value)]))
  } catch {
    return undefined
  }
}

function roleOf(target: string, bases: Readonly<Record<ServerRole, string>>): ServerRole {
  const isUnder = (base: string): boolean => target === base || target.startsWith(`${base}/`)
  if (bases['auth-server'] !== bases['resource-server'] && isUnder(bases['auth-server'])) return 'auth-server'
  return 'resource-server'
}
