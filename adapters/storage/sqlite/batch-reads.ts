import { gatherWork, type Work } from '../../batches.ts'
import { type AtOneMoment, isLocked, type SqliteHandle } from './handle.ts'

/**
 * Collects synchronous reads, which may run twice, into batches, each of them one transaction: SQLite locks the file once
 * for all of them, which saves a quarter of the cost of a read. Requests of one batch also go on in step (see `gatherBatch`).
 */
export function createBatchReads(handle: SqliteHandle, atOneMoment: AtOneMoment): <T>(read: () => T) => Promise<T> {
  // In a Durable Object there are no turns to wait for.
  if (handle.transactionSync !== undefined) return async (read) => read()
  return gatherWork((tasks) => {
    for (const answer of readTogether(atOneMoment, tasks)) answer()
  })
}

function readTogether(atOneMoment: AtOneMoment, tasks: readonly Work[]): readonly (() => void)[] {
  try {
    if (tasks.length > 1) return atOneMoment(() => tasks.map((task) => task.apply()))
  } catch (error) {
    // If each were retried, each would wait as long again, and block the event loop meanwhile.
    if (isLocked(error)) return tasks.map((task) => () => task.reject(error))
    // Run each read again, apart from the others, so that only the failing one rejects.
  }
  return tasks.map(readApart)
}

/** Runs one read; returns the function that tells its caller, even if the read fails. */
function readApart({ apply, reject }: Work): () => void {
  try {
    return apply()
  } catch (error) {
    return () => reject(error)
  }
}
