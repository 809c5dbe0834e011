import type { DoubleEntryLedger } from '../../adapters/ledger/memory.ts'
import type { Counterparty, Ledger } from '../../src/ports/ledger.ts'
import type { BrokenLedger } from './contract-broken.ts'

const TO = 'money for another wallet is held, settled and released as money for an account here is'
const FROM = 'money from another wallet is credited and refused as money of an account here is'
const OK = { ok: true } as const
const BOTH = { canSend: true, canReceive: true }

const isRail = ({ counterparty }: { readonly counterparty: Counterparty }): boolean => counterparty.kind === 'rail'

/** A ledger that is wrong only about holds for other wallets: `amountOf` tells what is held under such an id. */
function forRails(
  ledger: DoubleEntryLedger,
  wrong: (amountOf: (id: string) => bigint | undefined) => Pick<Ledger, 'settle' | 'release'>,
): Partial<Ledger> {
  const amounts = new Map<string, bigint>()
  const { settle, release } = wrong((id) => amounts.get(id))
  return {
    hold(hold) {
      if (isRail(hold)) amounts.set(hold.id, hold.amount.value)
      return ledger.hold(hold)
    },
    settle: (settlement) => (amounts.has(settlement.id) ? settle(settlement) : ledger.settle(settlement)),
    release: (one) => (amounts.has(one.id) ? release(one) : ledger.release(one)),
  }
}

/** Ledgers that are right about payments within one wallet. */
export const BROKEN_RAILS: readonly BrokenLedger[] = [
  {
    does: 'holds for another wallet what is not there',
    breaks: [TO],
    breakLedger: (ledger) => ({
      async hold(hold) {
        const answer = await ledger.hold(hold)
        return isRail(hold) && !answer.ok && answer.reason === 'insufficient_funds' ? OK : answer
      },
    }),
  },
  {
    does: 'forgets whose wallet address a hold is for',
    breaks: [TO],
    breakLedger: (ledger) => ({
      hold({ counterparty, ...hold }) {
        if (counterparty.kind === 'local') return ledger.hold({ ...hold, counterparty })
        const { kind, method, address } = counterparty
        return ledger.hold({ ...hold, counterparty: { kind, method, address } })
      },
    }),
  },
  {
    does: 'settles all that is held for another wallet',
    breaks: [TO],
    breakLedger: (ledger) =>
      forRails(ledger, (amountOf) => ({
        settle: ({ id, amount, fee }) =>
          ledger.settle({ id, amount: { ...amount, value: amountOf(id) ?? amount.value }, fee }),
        release: ledger.release,
      })),
  },
  {
    does: 'keeps no fee of what goes to another wallet',
    breaks: [TO],
    breakLedger: (ledger) =>
      forRails(ledger, () => ({
        settle: ({ id, amount, fee }) => ledger.settle({ id, amount, fee: { ...fee, value: 0n } }),
        release: ledger.release,
      })),
  },
  {
    does: 'says that it has released what it holds for another wallet',
    breaks: [TO],
    breakLedger: (ledger) => forRails(ledger, () => ({ settle: ledger.settle, release: async () => OK })),
  },
  {
    does: 'says that it has credited what comes from another wallet',
    breaks: [FROM],
    breakLedger: (ledger) => ({ credit: async (credit) => (isRail(credit) ? OK : ledger.credit(credit)) }),
  },
  {
    does: 'credits a closed account with what comes from another wallet',
    breaks: [FROM],
    breakLedger: (ledger) => ({
      async credit(credit) {
        if (isRail(credit)) await ledger.setPermissions(credit.account, BOTH)
        return ledger.credit(credit)
      },
    }),
  },
  {
    does: 'makes the money that comes from another wallet',
    breaks: [FROM],
    breakLedger: (ledger) => ({
      async credit(credit) {
        const { assetCode, assetScale, value } = credit.amount
        const answer = await ledger.credit(credit)
        const account = `minted ${credit.id}`
        if (isRail(credit) && answer.ok) await ledger.createAccount({ account, assetCode, assetScale, balance: value })
        return answer
      },
    }),
  },
]
