import { invalidToken, missingAuthorization } from '../errors/conditions.ts'
import { presentedToken, proveTokenHolder, signaturesOf, type TokenCaller } from '../http/credentials.ts'
import type { Exchange } from '../http/exchange.ts'
import type { Context } from '../ports/context.ts'
import type { Key, RecordKind, Storage, StoredRecord } from '../ports/storage.ts'
import { isUsableToken } from '../protocol/access-token.ts'
import { isIdentifier } from '../protocol/identifiers.ts'
import { recordsOfKind, storageKnowing } from '../records/read-record.ts'
import { tokenIdOf } from '../records/token-value.ts'
import { keyRecordOf } from './single-use.ts'

/** Steps 3 and 4 for the resource server: token, then signature with a key of the token's client. @spec RS-1 */
export async function identifyToken(exchange: Exchange): Promise<TokenCaller> {
  return proveCaller(exchange, await exchange.context.storage.get([await keyOfToken(exchange)]))
}

/** The caller of an endpoint whose path names a record, and that record, if there is one. */
export interface RecordCaller<K extends RecordKind> extends TokenCaller {
  readonly record: StoredRecord<K> | undefined
}

/** `identifyToken` where the path names a record of this kind by its id: token and record are read in one round trip. */
export async function identifyTokenAndRecord<K extends RecordKind>(
  exchange: Exchange,
  kind: K,
): Promise<RecordCaller<K>> {
  const { context, params } = exchange
  const id = params['id'] ?? ''
  const token = await keyOfToken(exchange)
  const found = await context.storage.get(isIdentifier(id) ? [token, { kind, id }] : [token])
  const [record] = recordsOfKind(found, kind)
  return { ...(await proveCaller(exchange, found)), record }
}

/**
 * Who reads an incoming payment: anyone if there is no `Authorization` header; if there is one, the token must be good.
 * @spec RS-9
 */
export async function identifyReader(exchange: Exchange): Promise<RecordCaller<'incoming-payment'> | undefined> {
  return exchange.request.headerLines('authorization').length === 0
    ? undefined
    : identifyTokenAndRecord(exchange, 'incoming-payment')
}

/** A caller for whom more was read together with the token. */
export interface ReadingCaller extends TokenCaller {
  /** The storage; what was read together with the token is the answer to the first read of it. */
  readonly readAhead: Storage
}

/** The caller who asks for a quote: the receiver is read together with the token. */
export async function identifyQuoter(exchange: Exchange): Promise<ReadingCaller> {
  const token = await keyOfToken(exchange)
  return identifyTokenReadingAhead(exchange, token, namedIn(exchange, { receiver: 'incoming-payment' }))
}

/**
 * The caller who orders a payment. Read together with the token: the quote or the receiver that the body names; if the token is
 * known, the `Idempotency-Key` and what the grant has spent; if the quote is known, its receiver.
 */
export async function identifyPayer(exchange: Exchange): Promise<ReadingCaller> {
  const { ofTokens, ofQuotes } = exchange.context.expectedReads
  const token = await keyOfToken(exchange)
  const known = ofTokens.get(token.id)
  const named = namedIn(exchange, { quoteId: 'quote', incomingPayment: 'incoming-payment' })
  return identifyTokenReadingAhead(exchange, token, [
    ...named,
    ...(known ? await keyRecordOf(exchange, known.client) : []),
    ...named.flatMap(({ id }) => ofQuotes.get(id) ?? []),
    ...(known?.spending ?? []),
  ])
}

/** The caller who asks what its grant has spent: that is read together with the token. */
export async function identifySpender(exchange: Exchange): Promise<ReadingCaller> {
  const token = await keyOfToken(exchange)
  const known = exchange.context.expectedReads.ofTokens.get(token.id)
  return identifyTokenReadingAhead(exchange, token, known?.spending ?? [])
}

const CURSOR = /[?&]cursor=([\da-f]+)(?:&|$)/

/**
 * The caller who asks for a page of a list: the item that its cursor names is read together with the token, and the page at the
 * same time if this token was shown it before, as it is to a client that asks again and again whether anything has come.
 */
export async function identifyLister(
  exchange: Exchange,
  kind: 'incoming-payment' | 'outgoing-payment',
): Promise<ReadingCaller> {
  const { request, context } = exchange
  const id = CURSOR.exec(request.target)?.[1] ?? ''
  const token = await keyOfToken(exchange)
  const list = readPageAhead(context, token, request.target)
  const caller = await identifyTokenReadingAhead(exchange, token, isIdentifier(id) ? [{ kind, id }] : [])
  return { ...caller, readAhead: { ...caller.readAhead, list } }
}

/** The longest target that is remembered: several times as long as one that names a wallet address and a cursor. */
const LONGEST_TARGET = 512

/**
 * Begins to read the page that this token and target led to before. Returns `list` of the storage; if its first call asks for
 * that page, it is the answer.
 */
function readPageAhead({ storage, expectedReads, ongoing }: Context, token: Key, target: string): Storage['list'] {
  const name = `${token.id} ${target}`
  const expected = expectedReads.ofPages.get(name)
  const reading = expected && storage.list(expected)
  // If the request is refused before, nobody waits for it but `drain()`.
  if (reading !== undefined) ongoing.keep(reading)
  let isFirst = true
  return (page) => {
    if (!isFirst) return storage.list(page)
    isFirst = false
    if (target.length <= LONGEST_TARGET) expectedReads.ofPages.set(name, page)
    return reading !== undefined && JSON.stringify(expected) === JSON.stringify(page) ? reading : storage.list(page)
  }
}

/**
 * The record whose URL is in one of these members of a body, as far as its text tells: the first of them. Nothing is decided by
 * it: a URL that is written differently is read later, and a body that is wrong is refused in its place.
 */
function namedIn(exchange: Exchange, members: Readonly<Record<string, 'quote' | 'incoming-payment'>>): readonly Key[] {
  const body = bodyOf(exchange)
  for (const [member, kind] of Object.entries(members)) {
    const url = body[member]
    const base = `${exchange.context.resourceServer}/${kind}s/`
    if (typeof url !== 'string' || !url.startsWith(base)) continue
    const id = url.slice(base.length)
    if (isIdentifier(id)) return [{ kind, id }]
  }
  return []
}

/** A longer body is not parsed for somebody who may hold no token. */
const LONGEST_AHEAD = 4096

function bodyOf(exchange: Exchange): Readonly<Record<string, unknown>> {
  try {
    return exchange.bytes.length > LONGEST_AHEAD ? {} : Object(exchange.json())
  } catch {
    return {}
  }
}

/**
 * `identifyToken`, and in the same round trip the records `ahead`, before anything of the request was checked. `token`: from
 * `keyOfToken`.
 */
async function identifyTokenReadingAhead(
  exchange: Exchange,
  token: Key,
  ahead: readonly Key[],
): Promise<ReadingCaller> {
  const { storage } = exchange.context
  const found = await storage.get([token, ...ahead])
  const caller = await proveCaller(exchange, found)
  return { ...caller, readAhead: storageKnowing(storage, ahead, found.slice(1)) }
}

/** The record of the token that a request presents. Throws the 401 if it presents none. */
async function keyOfToken(exchange: Exchange): Promise<Key> {
  const value = presentedToken(exchange)
  if (value === undefined) throw missingAuthorization()
  return { kind: 'access-token', id: await tokenIdOf(exchange.context.secrets, value) }
}

/** The caller whose token is among these records: checks it, then proves its signature. */
async function proveCaller(exchange: Exchange, found: readonly (StoredRecord | undefined)[]): Promise<TokenCaller> {
  const { context } = exchange
  const [presented] = recordsOfKind(found, 'access-token')
  if (presented === undefined || !isUsableToken(presented.value, context.clock.now())) throw invalidToken()
  return proveTokenHolder(exchange, await signaturesOf(exchange), presented)
}
