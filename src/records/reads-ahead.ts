import type { Context, ReadsAhead } from '../ports/context.ts'
import type { Key } from '../ports/storage.ts'
import { latestValues } from '../protocol/latest-values.ts'
import { nameOf } from './change.ts'

/** Of how many records it is known what is read with them: of twice as many it takes a few megabytes. */
const RECORDS = 4096

/** The most keys that are read because of one record: whoever asked for a grant has chosen how many entries it has. */
const MOST_KEYS = 4

/** Remembers the latest records for which something was noted. */
export function createReadsAhead(): ReadsAhead {
  const known = latestValues<readonly Key[]>(RECORDS)
  return {
    with: ({ kind, id }) => known.get(nameOf(kind, id)) ?? [],
    note: ({ kind, id }, others) => {
      if (others.length > 0 && others.length <= MOST_KEYS) known.set(nameOf(kind, id), others)
    },
  }
}

/** Notes which spending records the requests with a token read. */
export function noteSpendingAhead(
  { readsAhead }: Pick<Context, 'readsAhead'>,
  tokenId: string,
  spendingIds: readonly string[],
): void {
  readsAhead.note(
    { kind: 'access-token', id: tokenId },
    spendingIds.map((id) => ({ kind: 'spending', id })),
  )
}
