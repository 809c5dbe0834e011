import type { SqliteHandle } from '../../adapters/storage/sqlite.ts'
import type { Ledger } from '../../src/ports/ledger.ts'
import type { Storage } from '../../src/ports/storage.ts'
import type { LedgerUnderTest } from '../../src/testing/ledger-case.ts'

/** A database that fails once, when it is told to. */
export interface NextFailure {
  readonly failNext: NonNullable<LedgerUnderTest['failNext']>
  /** Makes a commit, and throws instead of it or after it if that was asked for. */
  commit<T>(work: () => T): T
  /** The same for one that is waited for. */
  commitLater<T>(work: () => Promise<T>): Promise<T>
}

/** A failure that is yet to be asked for. */
export function nextFailure(): NextFailure {
  let asked: 'before commit' | 'after commit' | undefined
  let left = 0
  const failIf = (moment: typeof asked, isNow: boolean): void => {
    if (isNow) throw new Error(`injected: the database failed ${moment}`)
  }
  const take = (): typeof asked => {
    if (left > 0) {
      left -= 1
      return undefined
    }
    const moment = asked
    asked = undefined
    failIf(moment, moment === 'before commit')
    return moment
  }
  return {
    failNext: (moment, skip = 0) => {
      asked = moment
      left = skip
    },
    commit: (work) => {
      const moment = take()
      const result = work()
      failIf(moment, moment === 'after commit')
      return result
    },
    commitLater: async (work) => {
      const moment = take()
      const result = await work()
      failIf(moment, moment === 'after commit')
      return result
    },
  }
}

/** A connection whose commits may fail. */
export function failingHandle(handle: SqliteHandle, failure: NextFailure): SqliteHandle {
  const { transactionSync } = handle
  return {
    prepare: (sql) => handle.prepare(sql),
    exec: (sql) => (sql === 'COMMIT' ? failure.commit(() => handle.exec(sql)) : handle.exec(sql)),
    ...(transactionSync && {
      transactionSync: <T>(work: () => T) => failure.commit(() => transactionSync(work)),
    }),
  }
}

/** A storage without a database that could fail. */
export function failingCommits(storage: Storage, { commitLater }: NextFailure): Storage {
  return { ...storage, commit: (changes) => commitLater(() => storage.commit(changes)) }
}

/** A ledger without a database: each of its calls is a commit. */
export function failingCalls(ledger: Ledger, { commitLater }: NextFailure): Ledger {
  return {
    account: (account) => ledger.account(account),
    hold: (hold) => commitLater(() => ledger.hold(hold)),
    settle: (settlement) => commitLater(() => ledger.settle(settlement)),
    release: (release) => commitLater(() => ledger.release(release)),
    credit: (credit) => commitLater(() => ledger.credit(credit)),
  }
}
