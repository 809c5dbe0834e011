import type { Context, ReadsAhead } from '../ports/context.ts'
import type { Key, ListQuery } from '../ports/storage.ts'
import type { AccessToken } from '../protocol/access-token.ts'
import type { ClientId } from '../protocol/client.ts'
import { latestValues } from '../protocol/latest-values.ts'
import { nameOf } from './change.ts'

/**
 * Of how many records, and for how many pages, it is known what is read with them: for twice as many it takes some
 * megabytes.
 */
const RECORDS = 4096

/** The most keys that are read because of one record: whoever asked for a grant has chosen how many entries it has. */
const MOST_KEYS = 4

/** The longest target that is remembered: several times as long as one that names a wallet address and a cursor. */
const LONGEST_TARGET = 512

/** Remembers the latest records and pages for which something was noted. */
export function createReadsAhead(): ReadsAhead {
  const known = latestValues<{ readonly others: readonly Key[]; readonly client: ClientId | undefined }>(RECORDS)
  const pages = latestValues<ListQuery>(RECORDS)
  return {
    with: ({ kind, id }) => known.get(nameOf(kind, id))?.others ?? [],
    clientOf: ({ kind, id }) => known.get(nameOf(kind, id))?.client,
    note: ({ kind, id }, others, client) => {
      if (others.length > 0 && others.length <= MOST_KEYS) known.set(nameOf(kind, id), { others, client })
    },
    pageOf: ({ id }, target) => pages.get(`${id} ${target}`),
    notePage: ({ id }, target, page) => {
      if (target.length <= LONGEST_TARGET) pages.set(`${id} ${target}`, page)
    },
  }
}

/** Notes which spending records the requests with a token read. */
export function noteSpendingAhead(
  { readsAhead }: Pick<Context, 'readsAhead'>,
  { id, client }: AccessToken,
  spendingIds: readonly string[],
): void {
  const spending = spendingIds.map((id) => ({ kind: 'spending', id }) as const)
  readsAhead.note({ kind: 'access-token', id }, spending, client)
}
