import { inTransaction, type SqliteHandle } from './handle.ts'

/**
 * Runs synchronous work in a transaction and resolves with its result once that is durable. `isKept` decides by the
 * result whether the work's writes stay (default) or are undone. Work is applied in the order of the calls; what one
 * work throws or undoes touches no other. Where the transaction itself fails, every work of it rejects.
 */
export type Transact = <T>(work: () => T, isKept?: (result: T) => boolean) => Promise<T>

interface Task {
  /** Does the work; returns what to tell its caller once the transaction is durable. */
  apply(): { readonly isKept: boolean; resolve(): void }
  reject(error: unknown): void
}

/** What is thrown to undo a transaction in which nothing failed. */
const UNDO = Object.freeze(new Error('undone'))

/** Gives every work a transaction of its own: where the host makes commits durable, none share an fsync. */
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

/** Collects the work of one turn of the event loop into one transaction: concurrent commits share one fsync. */
export function createGroupCommit(handle: SqliteHandle): Transact {
  if (handle.transactionSync !== undefined) return createSingleCommits(handle)
  let queue: Task[] = []

  const applyTask = (task: Task): (() => void) => {
    handle.exec('SAVEPOINT op_task')
    try {
      const { isKept, resolve } = task.apply()
      if (!isKept) handle.exec('ROLLBACK TO op_task')
      handle.exec('RELEASE op_task')
      return resolve
    } catch (error) {
      handle.exec('ROLLBACK TO op_task')
      handle.exec('RELEASE op_task')
      return () => task.reject(error)
    }
  }

  const flush = (): void => {
    const tasks = queue
    queue = []
    try {
      const answers = inTransaction(handle, () => tasks.map(applyTask))
      for (const answer of answers) answer()
    } catch (error) {
      for (const task of tasks) task.reject(error)
    }
  }

  return <T>(work: () => T, isKept: (result: T) => boolean = () => true) =>
    new Promise<T>((resolve, reject) => {
      queue.push({
        apply: () => {
          const result = work()
          return { isKept: isKept(result), resolve: () => resolve(result) }
        },
        reject,
      })
      // A macrotask, not a microtask: requests arrive in callbacks of their own, and those of one turn should share.
      if (queue.length === 1) setImmediate(flush)
    })
}
