import type { SettlementResult } from '../../src/ports/ledger.ts'
import { type Asset, amountOf } from '../../src/protocol/amount.ts'
import { type BrokenLedger, randomId } from './contract-broken.ts'

const FEE = 'a fee goes to the wallet, out of the amount and not on top of it'
const CONFLICT = { ok: false, reason: 'conflict' } as const
const OK = { ok: true } as const
const PAYER_CLOSED = 'neither a credit nor a settlement is refused because the payer was closed or emptied meanwhile'

/** Ledgers that end a hold wrongly. */
export const BROKEN_ENDS: readonly BrokenLedger[] = [
  {
    does: 'settles all that is held',
    breaks: ['a settlement takes its amount once and frees the rest'],
    breakLedger(ledger) {
      const amounts = new Map<string, bigint>()
      return {
        hold(hold) {
          amounts.set(hold.id, hold.amount.value)
          return ledger.hold(hold)
        },
        settle(settlement) {
          const value = amounts.get(settlement.id) ?? settlement.amount.value
          return ledger.settle({ ...settlement, amount: { ...settlement.amount, value } })
        },
      }
    },
  },
  {
    does: 'settles what it can where it is told to settle more',
    breaks: ['a settlement beyond its hold, a fee beyond its amount, or one in another asset does nothing'],
    breakLedger(ledger) {
      const amounts = new Map<string, bigint>()
      return {
        hold(hold) {
          amounts.set(hold.id, hold.amount.value)
          return ledger.hold(hold)
        },
        settle(settlement) {
          const { amount } = settlement
          const value = amounts.get(settlement.id) ?? 0n
          return ledger.settle(amount.value > value ? { ...settlement, amount: { ...amount, value } } : settlement)
        },
      }
    },
  },
  {
    does: 'keeps no fees',
    breaks: [FEE],
    breakLedger: (ledger) => ({
      settle: (settlement) => ledger.settle({ ...settlement, fee: { ...settlement.fee, value: 0n } }),
    }),
  },
  {
    does: 'takes the fee on top of the amount',
    breaks: [FEE],
    breakLedger: (ledger) => ({
      settle(settlement) {
        const value = settlement.amount.value + settlement.fee.value
        return ledger.settle({ ...settlement, amount: { ...settlement.amount, value } })
      },
    }),
  },
  {
    does: 'takes a fee in any asset for one in that of the amount',
    breaks: ['a fee in another asset than its amount is a conflict and moves nothing'],
    breakLedger: (ledger) => ({
      settle: ({ id, amount, fee }) => ledger.settle({ id, amount, fee: { ...amount, value: fee.value } }),
    }),
  },
  {
    does: 'ignores the scale of a fee',
    breaks: ['a fee in another asset than its amount is a conflict and moves nothing'],
    breakLedger: (ledger) => ({
      settle: (settlement) =>
        ledger.settle({ ...settlement, fee: { ...settlement.fee, assetScale: settlement.amount.assetScale } }),
    }),
  },
  {
    does: 'ignores the scale of a settlement',
    breaks: ['a settlement beyond its hold, a fee beyond its amount, or one in another asset does nothing'],
    breakLedger: (ledger) => ({
      settle: ({ id, amount, fee }) =>
        ledger.settle({ id, amount: { ...amount, assetScale: 2 }, fee: { ...fee, assetScale: 2 } }),
    }),
  },
  {
    does: 'looks at the asset of a settlement when it comes first, and no more when it comes again',
    breaks: ['a settlement with other arguments is a conflict without effect'],
    breakLedger(ledger) {
      const settled = new Map<string, Asset>()
      return {
        async settle({ id, amount, fee }) {
          const asset = settled.get(id) ?? amount
          const answer = await ledger.settle({
            id,
            amount: amountOf(asset, amount.value),
            fee: amountOf(asset, fee.value),
          })
          if (answer.ok) settled.set(id, asset)
          return answer
        },
      }
    },
  },
  {
    does: 'knows a settlement by its id alone',
    breaks: ['a settlement with other arguments is a conflict without effect'],
    breakLedger(ledger) {
      const settled = new Set<string>()
      return {
        async settle(settlement) {
          if (settled.has(settlement.id)) return OK
          const answer = await ledger.settle(settlement)
          if (answer.ok) settled.add(settlement.id)
          return answer
        },
      }
    },
  },
  {
    does: 'settles after a release',
    breaks: ['a release frees all that is held, once, and a settlement afterwards is a conflict'],
    breakLedger(ledger) {
      const released = new Set<string>()
      return {
        release(release) {
          released.add(release.id)
          return ledger.release(release)
        },
        settle: async (settlement) => (released.has(settlement.id) ? OK : ledger.settle(settlement)),
      }
    },
  },
  {
    does: 'releases what it has settled',
    breaks: ['a release after a settlement is a conflict'],
    breakLedger: (ledger) => ({
      async release(release) {
        await ledger.release(release)
        return OK
      },
    }),
  },
  {
    does: 'ends what it does not know',
    breaks: ['what was never held is neither settled nor released'],
    breakLedger(ledger) {
      const known = new Set<string>()
      return {
        hold(hold) {
          known.add(hold.id)
          return ledger.hold(hold)
        },
        settle: async (settlement) => (known.has(settlement.id) ? ledger.settle(settlement) : OK),
      }
    },
  },
  {
    does: 'keeps the conflict of a settlement that came before its hold',
    breaks: ['a settlement that came before its hold is no answer for good: once it is held, it settles'],
    breakLedger(ledger) {
      const answers = new Map<string, SettlementResult>()
      return {
        async settle(settlement) {
          const answer = answers.get(settlement.id) ?? (await ledger.settle(settlement))
          answers.set(settlement.id, answer)
          return answer
        },
      }
    },
  },
  {
    does: 'holds nothing any more once one hold is settled',
    breaks: ['the end of one hold leaves the others of its account held'],
    breakLedger(ledger) {
      const held: string[] = []
      return {
        hold(hold) {
          held.push(hold.id)
          return ledger.hold(hold)
        },
        async settle(settlement) {
          const answer = await ledger.settle(settlement)
          for (const id of held) await ledger.release({ id })
          return answer
        },
      }
    },
  },
  {
    does: 'settles nothing for an account that is closed',
    breaks: [PAYER_CLOSED],
    breakLedger: (ledger) => ({
      settle: async (settlement) => ((await ledger.account('alice'))?.canSend ? ledger.settle(settlement) : CONFLICT),
    }),
  },
]

/** Ledgers that credit wrongly. */
export const BROKEN_CREDITS: readonly BrokenLedger[] = [
  {
    does: 'credits nothing that a closed account pays',
    breaks: [PAYER_CLOSED],
    breakLedger: (ledger) => ({
      async credit(credit) {
        const { counterparty } = credit
        const isClosed = counterparty.kind === 'local' && !(await ledger.account(counterparty.account))?.canSend
        return isClosed ? { ok: false, reason: 'account_closed' } : ledger.credit(credit)
      },
    }),
  },
  {
    does: 'credits again when it is asked again',
    breaks: ['a credit that is repeated adds once, also at the same time'],
    breakLedger: (ledger) => ({ credit: (credit) => ledger.credit({ ...credit, id: randomId() }) }),
  },
  {
    does: 'knows a credit by its id alone',
    breaks: ['a credit with other arguments under a known id is a conflict without effect'],
    breakLedger(ledger) {
      const known = new Set<string>()
      return {
        async credit(credit) {
          if (known.has(credit.id)) return OK
          const answer = await ledger.credit(credit)
          if (answer.ok) known.add(credit.id)
          return answer
        },
      }
    },
  },
  {
    does: 'forgets its refusals of credits',
    breaks: ['a closed or unknown account refuses credits, and keeps that answer once it is open'],
    breakLedger(ledger) {
      const ids = new Map<string, string>()
      return {
        async credit(credit) {
          const answer = await ledger.credit({ ...credit, id: ids.get(credit.id) ?? credit.id })
          if (!answer.ok) ids.set(credit.id, randomId())
          return answer
        },
      }
    },
  },
  {
    does: 'counts in floating point',
    breaks: ['amounts of 64 bits are exact to the last unit'],
    breakLedger: (ledger) => ({
      hold: (hold) => ledger.hold({ ...hold, amount: { ...hold.amount, value: BigInt(Number(hold.amount.value)) } }),
    }),
  },
  {
    does: 'makes the money of a credit',
    breaks: ['payments of every outcome, all at the same time, neither make nor lose money in any asset'],
    breakLedger: (ledger) => ({
      async credit(credit) {
        const { assetCode, assetScale, value } = credit.amount
        const answer = await ledger.credit(credit)
        if (answer.ok) {
          await ledger.createAccount({ account: `minted ${credit.id}`, assetCode, assetScale, balance: value })
        }
        return answer
      },
    }),
  },
]
