import { gatherWork, type Work } from '../../turns.ts'
import type { AtOneMoment, SqliteHandle } from './handle.ts'

/** Runs a synchronous read in the next turn of the event loop, and resolves with what it found. It may run twice. */
export type ReadInTurn = <T>(read: () => T) => Promise<T>

/** What tells each caller, also of a read that fails. */
function readApart({ apply, reject }: Work): () => void {
  try {
    return apply()
  } catch (error) {
    return () => reject(error)
  }
}

/** Whether SQLite has waited in vain for another process. */
function isLocked(error: unknown): boolean {
  return error instanceof Error && error.message.includes('locked')
}

function readTogether(atOneMoment: AtOneMoment, tasks: readonly Work[]): readonly (() => void)[] {
  try {
    if (tasks.length > 1) return atOneMoment(() => tasks.map((task) => task.apply()))
  } catch (error) {
    // Each would wait as long again, and the event loop with it.
    if (isLocked(error)) return tasks.map((task) => () => task.reject(error))
    // What fails is read once more, apart from the others, and is told.
  }
  return tasks.map(readApart)
}

/**
 * Collects the reads of one turn of the event loop into one transaction: SQLite locks the file once for all of them, and
 * not for each, which is a quarter of a read. What waited for the same turn also goes on in step.
 */
export function createTurnReads(handle: SqliteHandle, atOneMoment: AtOneMoment): ReadInTurn {
  // A Durable Object has no turns that it could wait for.
  if (handle.transactionSync !== undefined) return async (read) => read()
  return gatherWork((tasks) => {
    for (const answer of readTogether(atOneMoment, tasks)) answer()
  })
}
