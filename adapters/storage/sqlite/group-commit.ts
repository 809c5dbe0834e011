import { gatherWork, type Work } from '../../turns.ts'
import { inTransaction, type SqliteHandle } from './handle.ts'

/**
 * Runs synchronous work in a transaction and resolves with its result once that is durable. `isKept` decides by the
 * result whether the work's writes stay (default) or are undone. Work is applied in the order of the calls; what one
 * work throws or undoes touches no other. If the transaction itself fails, every work of it rejects. Work may run
 * twice, the first time of which everything is undone: it has no effect but on the database.
 */
export type Transact = <T>(work: () => T, isKept?: (result: T) => boolean) => Promise<T>

/** A task comes to what tells its caller once the transaction is durable. */
type Task = Work<{ readonly isKept: boolean; resolve(): void }>

/** What is thrown to undo a transaction in which nothing failed. */
const UNDO = Object.freeze(new Error('undone'))

/** Gives every work a transaction of its own: if the host makes commits durable, none share an fsync. */
function createSingleCommits(handle: SqliteHandle): Transact {
  return <T>(work: () => T, isKept: (result: T) => boolean = () => true) =>
    new Promise<T>((resolve, reject) => {
      let answer = (): void => undefined
      try {
        inTransaction(handle, () => {
          const result = work()
          answer = () => resolve(result)
          if (!isKept(result)) throw UNDO
        })
        answer()
      } catch (error) {
        if (error === UNDO) answer()
        else reject(error)
      }
    })
}

/**
 * Applies a task in a transaction that is under way; what it throws or does not keep is undone, and that alone. Throws the
 * task's error if that has ended the transaction.
 */
function applyApart(handle: SqliteHandle, task: Task): () => void {
  handle.exec('SAVEPOINT op_task')
  try {
    const { isKept, resolve } = task.apply()
    if (!isKept) handle.exec('ROLLBACK TO op_task')
    handle.exec('RELEASE op_task')
    return resolve
  } catch (error) {
    try {
      handle.exec('ROLLBACK TO op_task')
      handle.exec('RELEASE op_task')
    } catch {
      // SQLite has ended the transaction by itself (a full disk, an I/O error), and the savepoint with it.
      throw error
    }
    return () => task.reject(error)
  }
}

/** Applies a task in a transaction that is under way, and undoes all of that if the task throws or is not kept. */
function applyOrUndo(task: Task): () => void {
  try {
    const { isKept, resolve } = task.apply()
    if (isKept) return resolve
  } catch {
    // Applied once more, apart from the others, it throws again, and is told.
  }
  throw UNDO
}

/**
 * Applies tasks in one transaction. Nearly always all of them are kept, and then they need no savepoints, which cost a
 * copy of each page that changes; if one is not, all is undone and they are applied again, each apart.
 */
function applyAll(handle: SqliteHandle, tasks: readonly Task[]): readonly (() => void)[] {
  try {
    return inTransaction(handle, () => tasks.map(applyOrUndo))
  } catch (error) {
    if (error !== UNDO) throw error
    return inTransaction(handle, () => tasks.map((task) => applyApart(handle, task)))
  }
}

/** Collects the work of one turn of the event loop into one transaction: concurrent commits share one fsync. */
export function createGroupCommit(handle: SqliteHandle): Transact {
  if (handle.transactionSync !== undefined) return createSingleCommits(handle)
  const gather = gatherWork((tasks: readonly Task[]) => {
    try {
      for (const answer of applyAll(handle, tasks)) answer()
    } catch (error) {
      for (const task of tasks) task.reject(error)
    }
  })
  return <T>(work: () => T, isKept: (result: T) => boolean = () => true) =>
    gather<T>((resolve) => {
      const result = work()
      return { isKept: isKept(result), resolve: () => resolve(result) }
    })
}
