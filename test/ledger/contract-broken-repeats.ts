import { turn } from '../support/turns.ts'
import { type BrokenLedger, randomId } from './contract-broken.ts'

const OK = { ok: true } as const
const AFTER_END = 'a hold with other arguments under the id of one that has ended is a conflict without effect'
const MEANWHILE = 'a call that nobody waited for is answered the same when it is made again, meanwhile and afterwards'

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
