import { identifyTokenAndNamed, type NamingCaller } from '../http/credentials.ts'
import type { Exchange } from '../http/exchange.ts'
import type { Key, RecordKind } from '../ports/storage.ts'
import { isIdentifier } from '../protocol/identifiers.ts'

/** The names of members that may name a record of this server by its URL, with its kind and where such records are. */
export type NamingMembers = Readonly<Record<string, { readonly kind: RecordKind; readonly collection: string }>>

/** A longer body is not parsed for somebody who may hold no token. */
const LONGEST_AHEAD = 4096

/** `identifyToken` for an endpoint whose body names a record: both are read in one round trip. */
export function identifyReadingAhead(members: NamingMembers): (exchange: Exchange) => Promise<NamingCaller> {
  return (exchange) => identifyTokenAndNamed(exchange, () => namedIn(exchange, members))
}

/**
 * The record that a body names, as far as its text tells. Nothing is decided by it: a URL that is written differently is
 * read later, and a body that is wrong is refused in its place.
 */
function namedIn(exchange: Exchange, members: NamingMembers): Key | undefined {
  const body = bodyOf(exchange)
  for (const [name, { kind, collection }] of Object.entries(members)) {
    const url = body[name]
    const base = `${exchange.context.resourceServer}/${collection}/`
    if (typeof url !== 'string' || !url.startsWith(base)) continue
    const id = url.slice(base.length)
    if (isIdentifier(id)) return { kind, id }
  }
  return undefined
}

function bodyOf(exchange: Exchange): Readonly<Record<string, unknown>> {
  try {
    return exchange.bytes.length > LONGEST_AHEAD ? {} : Object(exchange.json())
  } catch {
    return {}
  }
}
