import type { Hold, LedgerResult } from '../../src/ports/ledger.ts'
import { turn, turns } from '../support/turns.ts'
import { type BrokenLedger, randomId } from './contract-broken.ts'

const OK = { ok: true } as const
const AT_ONCE = 'a hold of all there is, or of too much, made fifty times at once, has one answer for all'
const NEVER_FREE = 'what a settlement takes is at no moment free for a hold, and what it leaves always is'
const STAYS_ENDED = 'a hold that ends while the same call still runs stays ended'
const ON_ITS_WAY = 'of holds that meet money on its way those that succeed are held, and the others are not'
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

/** Makes a call, and once more if it fails. */
async function surely<T>(call: () => Promise<T>): Promise<T> {
  return call().catch(call)
}

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
  {
    does: 'looks for the id, waits for the account, judges the balance, and only then meets the id',
    breaks: [AT_ONCE],
    breakLedger(ledger) {
      const lock = locks()
      const known = new Set<string>()
      return {
        async hold(hold) {
          if (known.has(hold.id)) return ledger.hold(hold)
          return lock([hold.account], async () => {
            const balance = await ledger.balance(hold.account)
            const answer = await ledger.hold(hold)
            known.add(hold.id)
            const isShort = balance !== undefined && balance.available < hold.amount.value
            return isShort ? { ok: false, reason: 'insufficient_funds' } : answer
          })
        },
        credit: (credit) => lock([credit.account], () => ledger.credit(credit)),
      }
    },
  },
  {
    does: 'frees what is held, and takes the money in a second step, which it repeats until it is done',
    breaks: [NEVER_FREE],
    breakLedger(ledger) {
      const held = new Map<string, Hold>()
      return {
        async hold(hold) {
          if (!held.has(hold.id)) held.set(hold.id, hold)
          await turn()
          return ledger.hold(hold)
        },
        async settle(settlement) {
          const answer = await ledger.settle(settlement)
          const hold = held.get(settlement.id)
          if (!answer.ok || hold === undefined) return answer
          held.delete(settlement.id)
          const { canSend = false, canReceive = false } = (await ledger.account(hold.account)) ?? {}
          if (!canSend || !canReceive) return answer
          const { amount } = settlement
          const step = (): Hold => ({ ...hold, id: randomId(), amount })
          const [there, back] = [step(), step()]
          // What was settled is there once more for a turn.
          await surely(() => ledger.credit(there))
          await turn()
          await surely(() => ledger.hold(back))
          await surely(() => ledger.settle({ ...settlement, id: back.id, fee: { ...amount, value: 0n } }))
          return answer
        },
      }
    },
  },
  {
    does: 'takes the money, and frees what was held for it in a second step',
    breaks: [NEVER_FREE],
    breakLedger(ledger) {
      const [payers, taken] = [new Map<string, string>(), new Map<string, bigint>()]
      return {
        async hold(hold) {
          if (payers.has(hold.id)) return ledger.hold(hold)
          payers.set(hold.id, hold.account)
          await turn()
          const { available = 0n } = (await ledger.balance(hold.account)) ?? {}
          const isShort = available - (taken.get(hold.account) ?? 0n) < hold.amount.value
          const isCovered = available >= hold.amount.value
          return isShort && isCovered ? { ok: false, reason: 'insufficient_funds' } : ledger.hold(hold)
        },
        async settle(settlement) {
          const payer = payers.get(settlement.id) ?? ''
          taken.set(payer, settlement.amount.value)
          await turns(2)
          taken.delete(payer)
          return ledger.settle(settlement)
        },
      }
    },
  },
  {
    does: 'keeps open holds in a table of their own, which a release empties, and looks at the answers before it waits',
    breaks: [STAYS_ENDED],
    breakLedger(ledger) {
      const [answered, released] = [new Set<string>(), new Set<string>()]
      return {
        async hold(hold) {
          const isKnown = answered.has(hold.id)
          await turn()
          const isAnew = !isKnown && released.has(hold.id)
          const answer = await ledger.hold(isAnew ? { ...hold, id: randomId() } : hold)
          answered.add(hold.id)
          return answer
        },
        release(release) {
          released.add(release.id)
          return ledger.release(release)
        },
      }
    },
  },
  {
    does: 'looks up afterwards why it did not reserve, and takes it for done where nothing speaks against it by then',
    breaks: [ON_ITS_WAY],
    breakLedger(ledger) {
      const lock = locks()
      const explained = new Map<string, Promise<LedgerResult>>()
      const explain = async (hold: Hold): Promise<LedgerResult> => {
        await turns(2)
        const { available = 0n } = (await ledger.balance(hold.account)) ?? {}
        return available < hold.amount.value ? { ok: false, reason: 'insufficient_funds' } : OK
      }
      return {
        async hold(hold) {
          const answer = await lock([hold.account], () => ledger.hold(hold))
          if (answer.ok || answer.reason !== 'insufficient_funds') return answer
          const explanation = explained.get(hold.id) ?? explain(hold)
          explained.set(hold.id, explanation)
          return explanation
        },
        credit: (credit) => lock([credit.account], () => ledger.credit(credit)),
      }
    },
  },
]
