import type { Context, ReadsAhead } from '../ports/context.ts'
import type { Key } from '../ports/storage.ts'
import { nameOf } from './change.ts'

/** Of how many records it is known what is read with them: a few megabytes. */
const MOST_RECORDS = 4096

/** The most keys that are read because of one record: whoever asked for a grant has chosen how many entries it has. */
const MOST_KEYS = 4

/** Remembers the latest records for which something was noted. */
export function createReadsAhead(): ReadsAhead {
  const known = new Map<string, readonly Key[]>()
  return {
    with: (key) => known.get(nameOf(key.kind, key.id)) ?? [],
    note: (key, others) => {
      if (others.length === 0 || others.length > MOST_KEYS) return
      const name = nameOf(key.kind, key.id)
      known.delete(name)
      known.set(name, others)
      if (known.size <= MOST_RECORDS) return
      const [oldest] = known.keys()
      if (oldest !== undefined) known.delete(oldest)
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
