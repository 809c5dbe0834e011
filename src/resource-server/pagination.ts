import { invalidRequest } from '../errors/conditions.ts'
import type { Input } from '../http/endpoint.ts'
import { queryOf } from '../http/exchange.ts'
import { claimSignature } from '../http/replay-claims.ts'
import type { Result } from '../http/respond.ts'
import type { ListableKind, ListPosition, ListQuery, RecordTypes, Storage } from '../ports/storage.ts'
import { readNamed, recordsOfKind } from '../records/read-record.ts'
import { activeWalletAddress, isOfOtherAccount, requireRightTo, visibleClient } from './authorize.ts'
import type { ReadingCaller } from './identify-caller.ts'

/** The page that a list request asks for. */
interface PageRequest {
  readonly cursor?: string
  readonly limit: number
  /** `older`: the items after the cursor; `newer`: those before it. The answer is newest first either way. */
  readonly direction: 'older' | 'newer'
}

/** The `pagination` member of a list. JSON leaves out what is undefined. */
interface PageInfo {
  readonly startCursor: string | undefined
  readonly endCursor: string | undefined
  readonly hasNextPage: boolean
  readonly hasPreviousPage: boolean
}

/** Lists the payments of one kind on a wallet address that the token may see, each in its JSON form. */
export async function answerList<K extends 'incoming-payment' | 'outgoing-payment'>(
  { exchange, caller }: Input<ReadingCaller, undefined>,
  kind: K,
  toWire: (item: RecordTypes[K]) => object,
): Promise<Result> {
  const { context } = exchange
  const query = queryOf(exchange.request)
  const page = parsePage(query)
  const named = single(query, 'wallet-address')
  if (named === undefined) throw invalidRequest('wallet-address is required')
  const url = requireRightTo(context, caller, kind, 'list', named)
  const found = await activeWalletAddress(context, caller, url)
  await claimSignature(exchange, caller.proof)
  const client = visibleClient(context, caller, kind, found.url)
  const scope = { kind, walletAddress: found.url, ...(client !== undefined && { client }) }
  const list: List<K> = { ...scope, isShown: (item) => !isOfOtherAccount(caller.token, item) }
  const { items, pagination } = await listPage(caller.readAhead, list, page)
  return { status: 200, body: { pagination, result: items.map(toWire) } }
}

const DEFAULT_LIMIT = 20
const MAX_LIMIT = 100

/** Reads `cursor`, `first` and `last` of a list's query. */
function parsePage(query: URLSearchParams): PageRequest {
  const cursor = single(query, 'cursor')
  const first = parseLimit(query, 'first')
  const last = parseLimit(query, 'last')
  if (first !== undefined && last !== undefined) throw invalidRequest('give first or last, not both')
  if (last !== undefined && cursor === undefined) throw invalidRequest('last needs a cursor')
  return {
    ...(cursor !== undefined && { cursor }),
    limit: first ?? last ?? DEFAULT_LIMIT,
    direction: last === undefined ? 'older' : 'newer',
  }
}

/** The value of a query parameter that may occur at most once. */
function single(query: URLSearchParams, name: string): string | undefined {
  const values = query.getAll(name)
  if (values.length > 1) throw invalidRequest(`${name} must be given once`)
  return values[0]
}

function parseLimit(query: URLSearchParams, name: string): number | undefined {
  const text = single(query, name)
  if (text === undefined) return undefined
  const limit = /^[0-9]{1,3}$/.test(text) ? Number(text) : 0
  if (limit < 1 || limit > MAX_LIMIT) throw invalidRequest(`${name} must be between 1 and ${MAX_LIMIT}`)
  return limit
}

/** A list that is asked for: whose items it has, and which of them are shown. */
interface List<K extends ListableKind> extends Pick<ListQuery, 'walletAddress' | 'client'> {
  readonly kind: K
  isShown(item: RecordTypes[K]): boolean
}

/**
 * Reads one page, newest first. A cursor is the bare id of an item that the same list would show; one more item than
 * requested is read, to know whether there are more. Items of an earlier account are skipped: a cursor would reveal
 * their ids, by which others may read them.
 * @spec RS-13
 */
async function listPage<K extends ListableKind>(
  storage: Storage,
  list: List<K>,
  page: PageRequest,
): Promise<{ readonly items: readonly RecordTypes[K][]; readonly pagination: PageInfo }> {
  const { isShown, ...scope } = list
  const { cursor, direction } = page
  let after = cursor === undefined ? undefined : await positionOf(storage, list, cursor)
  const found: RecordTypes[K][] = []
  for (let limit = page.limit + 1; ; limit = MAX_LIMIT) {
    const records = await storage.list({ ...scope, direction, limit, ...(after && { after }) })
    const read = recordsOfKind(records, list.kind).map(({ value }) => value)
    found.push(...read.filter(isShown))
    const last = read.at(-1)
    if (last === undefined || read.length < limit || found.length > page.limit) break
    after = { createdAt: last.createdAt, id: last.id }
  }
  const hasMore = found.length > page.limit
  const kept = found.slice(0, page.limit)
  const items = direction === 'older' ? kept : kept.reverse()
  return {
    items,
    pagination: {
      startCursor: items[0]?.id,
      endCursor: items.at(-1)?.id,
      // On the side towards the cursor there is always more: at least the item of the cursor itself.
      hasNextPage: direction === 'older' ? hasMore : true,
      hasPreviousPage: direction === 'older' ? cursor !== undefined : hasMore,
    },
  }
}

async function positionOf<K extends ListableKind>(
  storage: Storage,
  { kind, walletAddress, client, isShown }: List<K>,
  cursor: string,
): Promise<ListPosition> {
  const record = await readNamed(storage, kind, cursor)
  const isInScope =
    record?.isListed === true &&
    record.value.walletAddress === walletAddress &&
    (client === undefined || record.value.client === client) &&
    isShown(record.value)
  if (record === undefined || !isInScope) throw invalidRequest('unknown cursor')
  return { createdAt: record.value.createdAt, id: record.value.id }
}
