import { gatherWork, type Work } from '../../turns.ts'
import { atOneMoment, type SqliteHandle } from './handle.ts'

/** Runs a synchronous read in the next turn of the event loop, and resolves with what it found. It may run twice. */
export type ReadInTurn = <T>(read: () => T) => Promise<T>

/** A read comes to what tells its caller. */
type Task = Work<() => void>

/** What tells each caller, also of a read that fails. */
function applyApart({ apply, reject }: Task): () => void {
  try {
    return apply()
  } catch (error) {
    return () => reject(error)
  }
}

function applyAll(handle: SqliteHandle, tasks: readonly Task[]): readonly (() => void)[] {
  try {
    if (tasks.length > 1) return atOneMoment(handle, () => tasks.map((task) => task.apply()))
  } catch {
    // Read once more, apart from the others, it fails again, and is told.
  }
  return tasks.map(applyApart)
}

/**
 * Collects the reads of one turn of the event loop into one transaction: SQLite locks the file once for all of them, and
 * not for each, which is a quarter of a read. What waited for the same turn also goes on in step (`createTurns`).
 */
export function createTurnReads(handle: SqliteHandle): ReadInTurn {
  // A Durable Object has no turns that it could wait for.
  if (handle.transactionSync !== undefined) return async (read) => read()
  const gather = gatherWork((tasks: readonly Task[]) => {
    for (const answer of applyAll(handle, tasks)) answer()
  })
  return <T>(read: () => T) =>
    gather<T>((resolve) => {
      const found = read()
      return () => resolve(found)
    })
}
