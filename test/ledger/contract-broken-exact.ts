import { type BrokenLedger, randomId } from './contract-broken.ts'

const NEIGHBOURS = 'amounts that floating point takes for the same are told apart'
const NAMES = 'names of accounts compare exactly: alice and Alice are two'

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
    breaks: ['an asset is its code and its scale: fees of one code and two scales are kept apart'],
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
    does: 'finds the account of a credit in whatever case it is written',
    breaks: [NAMES],
    breakLedger: (ledger) => ({
      credit: (credit) => ledger.credit({ ...credit, account: credit.account.toLowerCase() }),
    }),
  },
  {
    does: 'finds the account of a hold in whatever case it is written',
    breaks: [NAMES],
    breakLedger: (ledger) => ({ hold: (hold) => ledger.hold({ ...hold, account: hold.account.toLowerCase() }) }),
  },
  {
    does: 'knows an account in whatever case it is written',
    breaks: [NAMES],
    breakLedger: (ledger) => ({ account: (account) => ledger.account(account.toLowerCase()) }),
  },
  {
    does: 'compares the account of a call that comes again in whatever case it is written',
    breaks: [NAMES],
    breakLedger(ledger) {
      const written = new Map<string, string>()
      return {
        credit(credit) {
          const call = `${credit.id} ${credit.account.toLowerCase()}`
          const account = written.get(call) ?? credit.account
          written.set(call, account)
          return ledger.credit({ ...credit, account })
        },
      }
    },
  },
]
