import type { CommitResult, Storage } from '../../src/ports/storage.ts'
import type { StorageUnderTest } from '../../src/testing/storage-case.ts'
import { failingCommits, nextFailure } from '../support/next-failure.ts'
import type { BrokenStore } from './contract-broken.ts'

const BEFORE = 'if failNext is given: a commit that fails before it is made rejects, and nothing of it is there'
const AFTER = 'if failNext is given: a commit that fails after it was made rejects, and is there once'

/** A store whose database fails when it is told to; `commit` is what it makes of that. */
function failing(
  storage: Storage,
  commit: (database: Storage, ...given: Parameters<Storage['commit']>) => Promise<CommitResult>,
): StorageUnderTest {
  const failure = nextFailure()
  const database = failingCommits(storage, failure)
  return { ...database, failNext: failure.failNext, commit: (changes) => commit(database, changes) }
}

/** Stores that are wrong if their database fails. */
export const BROKEN_FAILURES: readonly BrokenStore[] = [
  {
    does: 'takes an error for a conflict',
    breaks: [BEFORE, AFTER],
    breakStore: (storage) =>
      failing(storage, (database, changes) => database.commit(changes).catch(() => ({ conflicts: [0] }))),
  },
  {
    does: 'commits again after an error',
    breaks: [BEFORE, AFTER],
    breakStore: (storage) =>
      failing(storage, (database, changes) => database.commit(changes).catch(() => database.commit(changes))),
  },
  {
    does: 'commits again after an error, and rejects all the same',
    breaks: [BEFORE],
    breakStore: (storage) =>
      failing(storage, async (database, changes) => {
        try {
          return await database.commit(changes)
        } catch (error) {
          await database.commit(changes)
          throw error
        }
      }),
  },
  {
    does: 'says that it has made what failed',
    breaks: [BEFORE, AFTER],
    breakStore: (storage) =>
      failing(storage, (database, changes) => database.commit(changes).catch(() => 'committed' as const)),
  },
  {
    does: 'commits its changes one by one, and gives up at an error',
    breaks: [AFTER],
    breakStore: (storage) =>
      failing(storage, async (database, changes) => {
        for (const change of changes) await database.commit([change])
        return 'committed'
      }),
  },
]
