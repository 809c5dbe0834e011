import type { LedgerResult, SettlementResult } from '../../src/ports/ledger.ts'
import { type BrokenLedger, randomId } from './contract-broken.ts'

const BEFORE =
  'if failNext is given: a call that fails before its commit rejects, and has its one effect when it comes again'
const AFTER =
  'if failNext is given: a call that fails after its commit rejects, and has no other effect when it comes again'
const BEFORE_LATER =
  'if failNext is given: a call that fails before its second or third commit has one effect when it comes again'
const AFTER_LATER =
  'if failNext is given: a call that fails after its second or third commit has one effect when it comes again'
const CONFLICT = { ok: false, reason: 'conflict' } as const
const OK = { ok: true } as const

/** Ids that are claimed before their calls are made; `abandoned` is what the next one gets if a call has failed. */
function claims<T>(abandoned: () => Promise<T>): (id: string, call: () => Promise<T>) => Promise<T> {
  const answered = new Map<string, Promise<boolean>>()
  return async (id, call) => {
    const earlier = answered.get(id)
    if (earlier !== undefined) return (await earlier) ? call() : abandoned()
    const answer = call()
    const hasAnswered = answer.then(
      () => true,
      () => false,
    )
    answered.set(id, hasAnswered)
    return answer
  }
}

/** Ledgers that are wrong if their database fails. What they call is that database: it rejects. */
export const BROKEN_FAILURES: readonly BrokenLedger[] = [
  {
    does: 'refuses what its database has failed at',
    breaks: [BEFORE, AFTER],
    breakLedger: (ledger) => ({
      hold: (hold) => ledger.hold(hold).catch(() => ({ ok: false, reason: 'not_allowed' })),
      credit: (credit) => ledger.credit(credit).catch(() => ({ ok: false, reason: 'not_allowed' })),
    }),
  },
  {
    does: 'tells of a conflict if its database has failed at an end',
    breaks: [BEFORE, AFTER],
    breakLedger: (ledger) => ({
      settle: (settlement) => ledger.settle(settlement).catch(() => CONFLICT),
      release: (release) => ledger.release(release).catch(() => CONFLICT),
    }),
  },
  {
    does: 'says that it has done what it has only tried',
    breaks: [BEFORE, AFTER],
    breakLedger: (ledger) => ({ credit: (credit) => ledger.credit(credit).catch(() => OK) }),
  },
  {
    does: 'claims an id first, and lets who comes again wait for the answer of who has claimed it',
    breaks: [BEFORE, AFTER],
    isSilent: true,
    breakLedger(ledger) {
      const claim = claims<LedgerResult>(() => new Promise(() => undefined))
      return {
        hold: (hold) => claim(hold.id, () => ledger.hold(hold)),
        credit: (credit) => claim(credit.id, () => ledger.credit(credit)),
      }
    },
  },
  {
    does: 'claims an id first, and takes who comes after a failure for another',
    breaks: [BEFORE, AFTER],
    breakLedger(ledger) {
      const claim = claims<LedgerResult>(async () => CONFLICT)
      return { hold: (hold) => claim(hold.id, () => ledger.hold(hold)) }
    },
  },
  {
    does: 'claims an id first, and takes it for done after a failure',
    breaks: [BEFORE],
    breakLedger(ledger) {
      const claim = claims<SettlementResult>(async () => OK)
      return { settle: (settlement) => claim(settlement.id, () => ledger.settle(settlement)) }
    },
  },
  {
    does: 'claims an id, moves the money and marks it done in three transactions, and goes on where it is only claimed',
    breaks: [BEFORE_LATER, AFTER_LATER],
    breakLedger(ledger) {
      const done = new Map<string, LedgerResult>()
      const commitRow = () => ledger.release({ id: randomId() })
      return {
        async credit(credit) {
          const answer = done.get(credit.id)
          if (answer !== undefined) return answer
          await commitRow()
          const moved = await ledger.credit({ ...credit, id: randomId() })
          await commitRow()
          done.set(credit.id, moved)
          return moved
        },
      }
    },
  },
  {
    does: 'fails for ever at a call that has failed late',
    breaks: [BEFORE_LATER, AFTER_LATER],
    breakLedger(ledger) {
      const failed = new Set<string>()
      return {
        async hold(hold) {
          if (failed.has(hold.id)) throw new Error('under way')
          await ledger.release({ id: randomId() })
          const answer = ledger.hold(hold)
          answer.catch(() => failed.add(hold.id))
          return answer
        },
      }
    },
  },
  {
    does: 'moves the money first, and keeps the id in a transaction of its own',
    breaks: [AFTER],
    breakLedger(ledger) {
      const ids = new Map<string, string>()
      return {
        credit(credit) {
          const answer = ledger.credit({ ...credit, id: ids.get(credit.id) ?? credit.id })
          answer.catch(() => ids.set(credit.id, randomId()))
          return answer
        },
      }
    },
  },
]
