import { methodNotAllowed, notFound } from '../errors/conditions.ts'
import type { OpenPaymentsError } from '../errors/open-payments-error.ts'
import { parseUrl } from '../protocol/url.ts'
import type { ServerRole } from './exchange.ts'

/** The path of an endpoint that answers for every path no other endpoint has. */
export const ANY_PATH = '*'

/** What the router needs to know of an endpoint. `path` may hold one `:name` for a segment, or `:name+` for several. */
export interface Row {
  readonly method: string
  readonly path: string
  readonly role: ServerRole
}

/** A matched row, the raw path and its decoded parameters; or why there is none, and which server says so. */
export type Match<R extends Row> =
  | {
      readonly ok: true
      readonly row: R
      readonly path: string
      readonly params: Readonly<Record<string, string>>
    }
  | { readonly ok: false; readonly role: ServerRole; readonly refusal: OpenPaymentsError }

/**
 * Routes by method and raw target. Each role has a base path; a target matches under the longest base that holds it.
 * Trailing slashes are ignored. A target that a URL parser would rewrite is no route: what was signed is the raw one.
 * @spec SIG-30 @spec D16
 */
export function createRouter<R extends Row>(
  rows: readonly R[],
  bases: Readonly<Record<ServerRole, string>>,
): (method: string, target: string) => Match<R> {
  const groups = groupByPath(rows, bases)
  const fixed = new Map([...groups].filter(([path]) => !path.includes(':')))
  const patterns = [...groups].flatMap(([path, group]) => parsePattern(path, group))
  const find = (path: string): Found<R> | undefined => {
    const asked = withoutEndSlashes(path)
    const found = fixed.get(asked)
    if (found !== undefined) return { group: found, params: {} }
    for (const pattern of patterns) {
      const value = parameterOf(pattern, asked)
      if (value !== undefined) return { group: pattern.group, params: decodeParameter(pattern.name, value) }
    }
    const rest = fixed.get(ANY_PATH)
    return rest && { group: rest, params: {} }
  }
  return (method, target) => {
    const path = originFormPath(target)
    const found = path === undefined ? undefined : find(path)
    if (path === undefined || found?.params === undefined)
      return { ok: false, role: roleOf(target, bases), refusal: notFound() }
    const { group, params } = found
    const row = group.find((candidate) => candidate.method === method)
    if (row !== undefined) return { ok: true, row, path, params }
    const role = roleOf(target, bases)
    // Only a GET can tell whether a path is a wallet address, so nothing else is promised there.
    if (group.every((candidate) => candidate.path === ANY_PATH)) return { ok: false, role, refusal: notFound() }
    const allow = group.map((candidate) => candidate.method).join(', ')
    return { ok: false, role: group[0]?.role ?? role, refusal: methodNotAllowed(allow) }
  }
}

interface Found<R> {
  readonly group: readonly R[]
  /** `undefined` where its value is no text in UTF-8. */
  readonly params: Readonly<Record<string, string>> | undefined
}

// The longest base first, so that the more specific server is asked before the one around it.
function groupByPath<R extends Row>(rows: readonly R[], bases: Readonly<Record<ServerRole, string>>): Map<string, R[]> {
  const groups = new Map<string, R[]>()
  for (const row of [...rows].sort((a, b) => bases[b.role].length - bases[a.role].length)) {
    const path = withoutEndSlashes(`${bases[row.role]}${row.path}`)
    groups.set(path, [...(groups.get(path) ?? []), row])
  }
  return groups
}

function withoutEndSlashes(path: string): string {
  return path.endsWith('/') ? path.replace(/\/+$/, '') : path
}

/** A path with a parameter, and what stands before and after it. */
interface Pattern<R> {
  readonly before: string
  readonly name: string
  readonly isOfSegments: boolean
  readonly after: string
  readonly group: readonly R[]
}

function parsePattern<R>(path: string, group: readonly R[]): readonly Pattern<R>[] {
  const match = /^([^:]*):(\w+)(\+?)([^:]*)$/.exec(path)
  if (match === null) return []
  const [, before = '', name = '', plus, after = ''] = match
  return [{ before, name, isOfSegments: plus === '+', after, group }]
}

/** The raw value that a path gives to the parameter of a pattern; of several segments it may be empty. */
function parameterOf<R>({ before, after, isOfSegments }: Pattern<R>, path: string): string | undefined {
  const end = path.length - after.length
  if (end < before.length || !path.startsWith(before) || !path.endsWith(after)) return undefined
  const value = path.slice(before.length, end)
  return isOfSegments || (value !== '' && !value.includes('/')) ? value : undefined
}

/** What every URL parser leaves as it is: no escapes, and no segment that begins with a dot. */
const PLAIN_PATH = /^(?:\/[\w~-][\w.~-]*)+\/?$/

/** The path of an origin-form target, where a URL parser leaves it as it is. */
export function originFormPath(target: string): string | undefined {
  if (!target.startsWith('/') || target.length > 4096 || target.includes('#')) return undefined
  const queryStart = target.indexOf('?')
  const path = queryStart < 0 ? target : target.slice(0, queryStart)
  return PLAIN_PATH.test(path) || parseUrl(`http://host${path}`)?.pathname === path ? path : undefined
}

function decodeParameter(name: string, value: string): Readonly<Record<string, string>> | undefined {
  try {
    return { [name]: value.includes('%') ? decodeURIComponent(value) : value }
  } catch {
    return undefined
  }
}

function roleOf(target: string, bases: Readonly<Record<ServerRole, string>>): ServerRole {
  const isUnder = (base: string): boolean => target === base || target.startsWith(`${base}/`)
  if (bases['auth-server'] !== bases['resource-server'] && isUnder(bases['auth-server'])) return 'auth-server'
  return 'resource-server'
}
