import type { Ledger } from '../../src/ports/ledger.ts'
import { MAX_AMOUNT_VALUE } from '../../src/protocol/amount.ts'
import { type BrokenLedger, randomId } from './contract-broken.ts'

const NEIGHBOURS = 'amounts that floating point takes for the same are told apart'
const IDS = 'ids of 128 bits that differ in one digit are not taken for one another'
const ASSETS = 'an asset is its code and its scale: fees and clearing of one code and two scales are kept apart'
const MORE_SUMS = 'what is held of an account, fees and positive clearing go beyond 64 bits, and are exact there'
const SUMS = 'balances, fees and clearing go beyond 64 bits, and are exact there'

/** A ledger that keeps its ids in another form. */
function withIds(ledger: Ledger, keep: (id: string) => string): Partial<Ledger> {
  return {
    hold: (hold) => ledger.hold({ ...hold, id: keep(hold.id) }),
    settle: (settlement) => ledger.settle({ ...settlement, id: keep(settlement.id) }),
    release: ({ id }) => ledger.release({ id: keep(id) }),
    credit: (credit) => ledger.credit({ ...credit, id: keep(credit.id) }),
  }
}

/** Ledgers that take things for the same that are nearly so. */
export const BROKEN_COMPARISONS: readonly BrokenLedger[] = [
  {
    does: 'compares what is available in floating point',
    breaks: [NEIGHBOURS],
    breakLedger: (ledger) => ({
      async hold(hold) {
        const available = (await ledger.balance(hold.account))?.available ?? 0n
        const isCovered = Number(available) >= Number(hold.amount.value)
        const value = available < hold.amount.value && isCovered ? available : hold.amount.value
        return ledger.hold({ ...hold, amount: { ...hold.amount, value } })
      },
    }),
  },
  {
    does: 'compares what is held in floating point',
    breaks: [NEIGHBOURS],
    breakLedger(ledger) {
      const held = new Map<string, bigint>()
      return {
        hold(hold) {
          held.set(hold.id, hold.amount.value)
          return ledger.hold(hold)
        },
        settle(settlement) {
          const { id, amount } = settlement
          const most = held.get(id) ?? 0n
          const isTaken = amount.value > most && Number(amount.value) <= Number(most)
          return ledger.settle(isTaken ? { ...settlement, amount: { ...amount, value: most } } : settlement)
        },
      }
    },
  },
  {
    does: 'compares a fee in floating point',
    breaks: [NEIGHBOURS],
    breakLedger: (ledger) => ({
      settle(settlement) {
        const { amount, fee } = settlement
        const isTaken = fee.value > amount.value && Number(fee.value) <= Number(amount.value)
        return ledger.settle(isTaken ? { ...settlement, fee: amount } : settlement)
      },
    }),
  },
  {
    does: 'keeps its fees by the code of the currency',
    breaks: [ASSETS],
    breakLedger: (ledger) => ({
      async settle(settlement) {
        const { amount, fee } = settlement
        if (amount.assetScale === 2) return ledger.settle(settlement)
        const answer = await ledger.settle({ ...settlement, fee: { ...fee, value: 0n } })
        // The fee comes to that of the other scale.
        const [account, id] = [`fee of ${settlement.id}`, randomId()]
        await ledger.createAccount({ account, assetCode: 'USD', assetScale: 2, balance: fee.value })
        const same = { ...fee, assetScale: 2 }
        await ledger.hold({ id, account, amount: same, counterparty: { kind: 'rail', method: '', address: '' } })
        await ledger.settle({ id, amount: same, fee: same })
        return answer
      },
    }),
  },
  {
    does: 'takes a credit out of the clearing account of the same code',
    breaks: [ASSETS],
    breakLedger: (ledger) => ({
      async credit(credit) {
        const { assetCode, assetScale, value } = credit.amount
        const answer = await ledger.credit(credit)
        // Nothing is taken out of this asset: what was goes back.
        if (assetScale !== 2)
          await ledger.createAccount({ account: `taken for ${credit.id}`, assetCode, assetScale, balance: value })
        return answer
      },
    }),
  },
  {
    does: 'keeps the last 64 bits of an id',
    breaks: [IDS],
    breakLedger: (ledger) => withIds(ledger, (id) => id.slice(-16)),
  },
  {
    does: 'reads an id as a floating-point number',
    breaks: [IDS],
    breakLedger: (ledger) => withIds(ledger, (id) => String(Number(`0x${id}`))),
  },
  {
    does: 'has no room for ids of more than 63 bits',
    breaks: [IDS],
    rejects: 'out of range for type bigint',
    breakLedger: (ledger) =>
      withIds(ledger, (id) => {
        if (BigInt(`0x${id}`) >= 2n ** 63n) throw new Error('out of range for type bigint')
        return id
      }),
  },
  {
    does: 'keeps the first 64 bits of the id of a credit',
    breaks: [IDS],
    breakLedger: (ledger) => ({ credit: (credit) => ledger.credit({ ...credit, id: credit.id.slice(0, 16) }) }),
  },
  {
    does: 'lets no balance go beyond 64 bits',
    breaks: [SUMS],
    breakLedger: (ledger) => ({
      async credit(credit) {
        const { total = 0n } = (await ledger.balance(credit.account)) ?? {}
        const isFull = total + credit.amount.value > MAX_AMOUNT_VALUE
        return isFull ? { ok: false, reason: 'not_allowed' } : ledger.credit(credit)
      },
    }),
  },
  {
    does: 'has no room for fees of more than 31 bits',
    breaks: [SUMS],
    rejects: 'out of range for type integer',
    breakLedger: (ledger) => ({
      async settle(settlement) {
        if (settlement.fee.value >= 2n ** 31n) throw new Error('out of range for type integer')
        return ledger.settle(settlement)
      },
    }),
  },
  {
    does: 'keeps its fees in floating point',
    breaks: [SUMS],
    breakLedger: (ledger) => ({
      settle: ({ id, amount, fee }) => ledger.settle({ id, amount, fee: { ...fee, value: BigInt(Number(fee.value)) } }),
    }),
  },
  {
    does: 'keeps what is held in 64 bits, and begins again at 0',
    breaks: [MORE_SUMS],
    breakLedger(ledger) {
      const held = new Map<string, bigint>()
      return {
        async hold(hold) {
          const { total, available } = (await ledger.balance(hold.account)) ?? { total: 0n, available: 0n }
          const lost = total - available - BigInt.asUintN(64, total - available)
          // What it has forgotten is there to be held again.
          if (lost > 0n && available < hold.amount.value && !held.has(hold.id)) return { ok: true }
          held.set(hold.id, hold.amount.value)
          return ledger.hold(hold)
        },
      }
    },
  },
  {
    does: 'keeps all fees in 64 bits, and drops what does not fit',
    breaks: [MORE_SUMS],
    breakLedger(ledger) {
      let fees = 0n
      return {
        async settle(settlement) {
          const { fee } = settlement
          const isOver = fees + fee.value > MAX_AMOUNT_VALUE && fee.value <= settlement.amount.value
          const answer = await ledger.settle(isOver ? { ...settlement, fee: { ...fee, value: 0n } } : settlement)
          if (answer.ok && !isOver) fees += fee.value
          return answer
        },
      }
    },
  },
  {
    does: 'keeps clearing in floating point where it is above 64 bits',
    breaks: [MORE_SUMS],
    breakLedger(ledger) {
      let clearing = 0n
      return {
        async credit(credit) {
          const answer = await ledger.credit(credit)
          if (answer.ok) clearing -= credit.amount.value
          return answer
        },
        async settle(settlement) {
          const answer = await ledger.settle(settlement)
          if (!answer.ok) return answer
          clearing += settlement.amount.value - settlement.fee.value
          const more = BigInt(Number(clearing)) - clearing
          // What rounding has made is there from then on.
          if (clearing > MAX_AMOUNT_VALUE && more > 0n)
            await ledger.createAccount({ account: randomId(), assetCode: 'USD', assetScale: 2, balance: more })
          return answer
        },
      }
    },
  },
]
