import { gatherWork, type Work } from '../../batches.ts'
import { inTransaction, isLocked, type SqliteHandle, waitFor } from './handle.ts'

/**
 * Runs synchronous work in a transaction and resolves with its result once that is durable. What it throws undoes its
 * writes. Work is applied in the order of the calls; what one work throws touches no other. If the transaction itself
 * fails, every work of it rejects. Work may run twice, the first time of which everything is undone: it has no effect but
 * on the database.
 */
export type CommitInBatch = <T>(work: () => T) => Promise<T>

/**
 * Collects work into batches, each of them one transaction: concurrent commits share one fsync. A write waits
 * `busyMilliseconds` for the lock of another process. After one such wait in vain, every write on this connection waits only
 * briefly, until whoever waited in vain (the storage, or a ledger beside it) succeeds: otherwise a process that keeps the
 * lock would block this one for as long, with everybody who waits for an answer.
 */
export function createGroupCommit(handle: SqliteHandle, busyMilliseconds: number): CommitInBatch {
  // If the host makes commits durable, there is no fsync to share: each piece of work gets its own transaction.
  if (handle.transactionSync !== undefined) return async (work) => inTransaction(handle, work)
  let isShort = false
  return gatherWork((tasks) => {
    try {
      for (const answer of applyAll(handle, tasks)) answer()
      if (isShort) waitFor(handle, busyMilliseconds)
      isShort = false
    } catch (error) {
      for (const task of tasks) task.reject(error)
      if (!isLocked(error)) return
      // Even if it was short: a ledger on the same connection may have succeeded meanwhile.
      waitFor(handle, Math.min(busyMilliseconds, SHORT_WAIT_MILLISECONDS))
      isShort = true
    }
  })
}

const SHORT_WAIT_MILLISECONDS = 100

/**
 * Applies tasks in one transaction. Nearly always none of them throws, so they first run without savepoints, which cost
 * a copy of each changed page; if one throws, everything is undone, and each is applied again within its own savepoint.
 */
function applyAll(handle: SqliteHandle, tasks: readonly Work[]): readonly (() => void)[] {
  // Alone it needs no savepoint: what it throws undoes a transaction that nobody shares.
  if (tasks.length === 1) return inTransaction(handle, () => tasks.map(({ apply }) => apply()))
  try {
    return inTransaction(handle, () => tasks.map(applyOrUndo))
  } catch (error) {
    if (error !== UNDO) throw error
    return inTransaction(handle, () => tasks.map((task) => applyApart(handle, task)))
  }
}

/** Thrown to undo a transaction in which a task failed. */
const UNDO = Object.freeze(new Error('undone'))

/** Applies a task in an open transaction, and undoes the whole transaction if the task throws. */
function applyOrUndo({ apply }: Work): () => void {
  try {
    return apply()
  } catch {
    // It will be applied once more, apart from the others, and will throw again: then its caller is told.
    throw UNDO
  }
}

/**
 * Applies a task in an open transaction; if the task throws, only what it did is undone. Throws the task's error if
 * that has ended the transaction.
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
