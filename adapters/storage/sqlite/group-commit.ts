import { gatherWork, type Work } from '../../turns.ts'
import { inTransaction, type SqliteHandle } from './handle.ts'

/**
 * Runs synchronous work in a transaction and resolves with its result once that is durable. What it throws undoes its
 * writes. Work is applied in the order of the calls; what one work throws touches no other. If the transaction itself
 * fails, every work of it rejects. Work may run twice, the first time of which everything is undone: it has no effect but
 * on the database.
 */
export type CommitInTurn = <T>(work: () => T) => Promise<T>

/** What is thrown to undo a transaction in which a task failed. */
const UNDO = Object.freeze(new Error('undone'))

/**
 * Applies a task in a transaction that is under way; if it throws, what it did is undone, and that alone. Throws the task's
 * error if that has ended the transaction.
 */
function applyApart(handle: SqliteHandle, { apply, reject }: Work): () => void {
  handle.exec('SAVEPOINT op_task')
  try {
    const answer = apply()
    handle.exec('RELEASE op_task')
    return answer
  } catch (error) {
    try {
      handle.exec('ROLLBACK TO op_task')
      handle.exec('RELEASE op_task')
    } catch {
      // SQLite has ended the transaction by itself (a full disk, an I/O error), and the savepoint with it.
      throw error
    }
    return () => reject(error)
  }
}

/** Applies a task in a transaction that is under way, and undoes all of that if the task throws. */
function applyOrUndo({ apply }: Work): () => void {
  try {
    return apply()
  } catch {
    // Applied once more, apart from the others, it throws again, and is told.
    throw UNDO
  }
}

/**
 * Applies tasks in one transaction. Nearly always none throws, and then they need no savepoints, which cost a copy of each
 * page that changes; if one does, all is undone and they are applied again, each apart.
 */
function applyAll(handle: SqliteHandle, tasks: readonly Work[]): readonly (() => void)[] {
  try {
    return inTransaction(handle, () => tasks.map(applyOrUndo))
  } catch (error) {
    if (error !== UNDO) throw error
    return inTransaction(handle, () => tasks.map((task) => applyApart(handle, task)))
  }
}

/** Collects the work of one turn of the event loop into one transaction: concurrent commits share one fsync. */
export function createGroupCommit(handle: SqliteHandle): CommitInTurn {
  // Where the host makes commits durable none share an fsync: every work has a transaction of its own.
  if (handle.transactionSync !== undefined) return async (work) => inTransaction(handle, work)
  return gatherWork((tasks) => {
    try {
      for (const answer of applyAll(handle, tasks)) answer()
    } catch (error) {
      for (const task of tasks) task.reject(error)
    }
  })
}
