import type { Hold, LedgerResult } from '../../src/ports/ledger.ts'
import { turn } from '../support/turns.ts'
import { type BrokenLedger, randomId } from './contract-broken.ts'

const OK = { ok: true } as const
const MEANWHILE = 'a call that nobody waited for is answered the same when it is made again, meanwhile and afterwards'
const AFTER_END = 'a hold with other arguments under the id of one that has ended is a conflict without effect'
const BOTH_WAYS = 'payments in both directions, and of an account to itself, at the same time all come through'

/** Locks that are taken one after the other; where two wait for each other one gives up, as in a database. */
function locks() {
  const locked = new Map<string, object>()
  return async <T>(names: readonly string[], work: () => Promise<T>): Promise<T> => {
    const owner = {}
    try {
      for (const name of names) {
        while (locked.has(name)) {
          if ([...locked.values()].includes(owner)) throw new Error('deadlock detected')
          await turn()
        }
        locked.set(name, owner)
        await turn()
      }
      return await work()
    } finally {
      for (const [name, holder] of locked) if (holder === owner) locked.delete(name)
    }
  }
}

/** Ledgers that answer a call wrongly when it comes again. */
export const BROKEN_REPEATS: readonly BrokenLedger[] = [
  {
    does: 'looks at the account before it looks at the id',
    breaks: ['a success is kept under its id, even if the same call would be refused by now'],
    breakLedger: (ledger) => ({
      hold: async (hold) =>
        (await ledger.account(hold.account))?.canSend === false
          ? { ok: false, reason: 'account_closed' }
          : ledger.hold(hold),
    }),
  },
  {
    does: 'looks at the balance before it looks at the id',
    breaks: ['a success is kept under its id, even if the same call would be refused by now'],
    breakLedger: (ledger) => ({
      async hold(hold) {
        const { available = 0n } = (await ledger.balance(hold.account)) ?? {}
        return available === 0n ? { ok: false, reason: 'insufficient_funds' } : ledger.hold(hold)
      },
    }),
  },
  {
    does: 'refuses a call as a conflict while the same call is running',
    breaks: [MEANWHILE],
    breakLedger(ledger) {
      const running = new Set<string>()
      return {
        async credit(credit) {
          if (running.has(credit.id)) return { ok: false, reason: 'conflict' }
          running.add(credit.id)
          await turn()
          running.delete(credit.id)
          return ledger.credit(credit)
        },
      }
    },
  },
  {
    does: 'knows an id only once its call has ended',
    breaks: [
      MEANWHILE,
      'a credit that is repeated adds once, also at the same time',
      'of fifty calls of one id with different arguments at the same time exactly one has an effect',
    ],
    breakLedger(ledger) {
      const ended = new Map<string, string>()
      return {
        async credit(credit) {
          const id = ended.get(credit.id) ?? randomId()
          await turn()
          const answer = await ledger.credit({ ...credit, id })
          ended.set(credit.id, id)
          return answer
        },
      }
    },
  },
  {
    does: 'takes a credit that comes again after the settlement for a new one',
    breaks: ['every call of a payment that is over may come again, in any order, and is answered as it was'],
    breakLedger(ledger) {
      let isSettled = false
      return {
        settle(settlement) {
          isSettled = true
          return ledger.settle(settlement)
        },
        credit: (credit) => ledger.credit(isSettled ? { ...credit, id: randomId() } : credit),
      }
    },
  },
  {
    does: 'forgets the arguments of a hold once it is released, and takes it anew',
    breaks: [AFTER_END],
    breakLedger(ledger) {
      const released = new Map<string, bigint>()
      const held = new Map<string, bigint>()
      return {
        hold(hold) {
          const earlier = released.get(hold.id)
          const isAnew = earlier !== undefined && earlier !== hold.amount.value
          if (!held.has(hold.id)) held.set(hold.id, hold.amount.value)
          return ledger.hold(isAnew ? { ...hold, id: randomId() } : hold)
        },
        release(release) {
          released.set(release.id, held.get(release.id) ?? 0n)
          return ledger.release(release)
        },
      }
    },
  },
  {
    does: 'gives every hold under an id that is settled its first answer',
    breaks: [AFTER_END],
    breakLedger(ledger) {
      const settled = new Set<string>()
      return {
        hold: async (hold) => (settled.has(hold.id) ? OK : ledger.hold(hold)),
        settle(settlement) {
          settled.add(settlement.id)
          return ledger.settle(settlement)
        },
      }
    },
  },
  {
    does: 'answers a release that comes again with a conflict',
    breaks: ['every call of a payment that is over may come again, in any order, and is answered as it was'],
    breakLedger(ledger) {
      const released = new Set<string>()
      return {
        async release(release) {
          if (released.has(release.id)) return { ok: false, reason: 'conflict' }
          released.add(release.id)
          return ledger.release(release)
        },
      }
    },
  },
]

/** Ledgers that are right while one caller waits for the other, and wrong when two come at once. */
export const BROKEN_RACES: readonly BrokenLedger[] = [
  {
    does: 'checks the balance in one step and reserves in another',
    breaks: ['of fifty holds of a tenth, made at the same time, ten succeed'],
    breakLedger: (ledger) => ({
      async hold(hold) {
        const balance = await ledger.balance(hold.account)
        const isCovered = balance !== undefined && balance.available >= hold.amount.value
        const answer = await ledger.hold(hold)
        return isCovered && !answer.ok && answer.reason === 'insufficient_funds' ? OK : answer
      },
    }),
  },
  {
    does: 'sees that a hold has not ended, and then ends it',
    breaks: ['of a settlement and a release at the same time exactly one succeeds, and both are answered so for ever'],
    breakLedger(ledger) {
      const ended = new Set<string>()
      return {
        async settle(settlement) {
          const isOpen = !ended.has(settlement.id)
          await turn()
          ended.add(settlement.id)
          const answer = await ledger.settle(settlement)
          return isOpen ? OK : answer
        },
        async release(release) {
          const isOpen = !ended.has(release.id)
          await turn()
          ended.add(release.id)
          const answer = await ledger.release(release)
          return isOpen ? OK : answer
        },
      }
    },
  },
  {
    does: 'lets the last one win of those who end a hold',
    breaks: ['of a settlement and a release at the same time exactly one succeeds, and both are answered so for ever'],
    breakLedger(ledger) {
      const last = new Map<string, 'settle' | 'release'>()
      const endAs = async (id: string, end: 'settle' | 'release', call: () => Promise<unknown>) => {
        last.set(id, end)
        await turn()
        if (last.get(id) !== end) return { ok: false, reason: 'conflict' } as const
        await call()
        return OK
      }
      return {
        settle: (settlement) => endAs(settlement.id, 'settle', () => ledger.settle(settlement)),
        release: (release) => endAs(release.id, 'release', () => ledger.release(release)),
      }
    },
  },
  {
    does: 'decides a hold once for each of two copies',
    breaks: ['a hold that is asked for again while money comes in has one answer for all who ask'],
    breakLedger(ledger) {
      let calls = 0
      const decided = new Map<string, LedgerResult>()
      const decide = async (hold: Hold, copy: number): Promise<LedgerResult> => {
        const name = `${copy} ${hold.id}`
        const answer = decided.get(name) ?? (await ledger.hold({ ...hold, id: randomId() }))
        decided.set(name, answer)
        return answer
      }
      return {
        async hold(hold) {
          const copy = calls++ % 2
          if (copy === 1) await turn()
          return decide(hold, copy)
        },
      }
    },
  },
  {
    does: 'locks accounts in the order of its entries, and gives up where two wait for each other',
    breaks: [BOTH_WAYS],
    rejects: 'deadlock detected',
    breakLedger(ledger) {
      const lock = locks()
      return {
        settle: (settlement) => lock(['alice', 'clearing'], () => ledger.settle(settlement)),
        credit: (credit) => lock(['clearing', credit.account], () => ledger.credit(credit)),
      }
    },
  },
  {
    does: 'moves nothing from an account to itself',
    breaks: [BOTH_WAYS],
    breakLedger: (ledger) => ({
      credit: async (credit) => {
        const { counterparty, account } = credit
        return counterparty.kind === 'local' && counterparty.account === account ? OK : ledger.credit(credit)
      },
    }),
  },
  {
    does: 'says that it has credited what it knows as a hold',
    breaks: ['a hold and a credit of one id do not pass for one another'],
    breakLedger(ledger) {
      const known = new Set<string>()
      return {
        hold(hold) {
          known.add(hold.id)
          return ledger.hold(hold)
        },
        credit: async (credit) => (known.has(credit.id) ? OK : ledger.credit(credit)),
      }
    },
  },
]
