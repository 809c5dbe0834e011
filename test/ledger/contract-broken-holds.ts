import type { Credit, Hold, Ledger, LedgerResult } from '../../src/ports/ledger.ts'
import { type BrokenLedger, randomId } from './contract-broken.ts'

const REPEATED_HOLD =
  'a hold that is repeated has one effect and the same answer, also at the same time and after its end'
const OTHER_HOLD = 'a hold with other arguments under a known id is a conflict without effect'
const CLOSED_HOLD = 'a closed or unknown account refuses holds, and keeps that answer once it is open'
const CLOSED_CREDIT = 'a closed or unknown account refuses credits, and keeps that answer once it is open'
const SAME_ARGUMENTS = 'the same arguments are the same values, in whatever order their members stand'
const CONFLICT = { ok: false, reason: 'conflict' } as const
const OK = { ok: true } as const
const UNKNOWN = { ok: false, reason: 'account_closed' } as const

const failAtUnknown = async (ledger: Ledger, account: string): Promise<void> => {
  if (!(await ledger.account(account))) throw new Error('violates foreign key constraint')
}

/** Ledgers whose holds are wrong. */
export const BROKEN_HOLDS: readonly BrokenLedger[] = [
  {
    does: 'tells that a closed account may pay and be paid',
    breaks: ['account tells asset and permissions, and nothing of an account that is unknown'],
    breakLedger: (ledger) => ({
      async account(account) {
        const found = await ledger.account(account)
        return found && { ...found, canSend: true, canReceive: true }
      },
    }),
  },
  {
    does: 'never lends the last unit',
    breaks: ['a hold reserves all that is available, and not one unit more'],
    breakLedger: (ledger) => ({
      async hold(hold) {
        const available = (await ledger.balance(hold.account))?.available
        return available === hold.amount.value ? { ok: false, reason: 'insufficient_funds' } : ledger.hold(hold)
      },
    }),
  },
  {
    does: 'holds again when it is asked again',
    breaks: [REPEATED_HOLD],
    breakLedger: (ledger) => ({ hold: (hold) => ledger.hold({ ...hold, id: randomId() }) }),
  },
  {
    does: 'forgets its refusals',
    breaks: ['a refusal is kept under its id, even when money has come since', CLOSED_HOLD],
    breakLedger(ledger) {
      const ids = new Map<string, string>()
      return {
        async hold(hold) {
          const answer = await ledger.hold({ ...hold, id: ids.get(hold.id) ?? hold.id })
          if (!answer.ok) ids.set(hold.id, randomId())
          return answer
        },
      }
    },
  },
  {
    does: 'fails at an account that it does not know',
    breaks: [CLOSED_HOLD, CLOSED_CREDIT],
    rejects: 'violates foreign key constraint',
    breakLedger: (ledger) => ({
      hold: (hold) => failAtUnknown(ledger, hold.account).then(() => ledger.hold(hold)),
      credit: (credit) => failAtUnknown(ledger, credit.account).then(() => ledger.credit(credit)),
    }),
  },
  {
    does: 'keeps no refusal for an account that it does not know',
    breaks: [CLOSED_HOLD, CLOSED_CREDIT],
    breakLedger: (ledger) => ({
      hold: async (hold) => ((await ledger.account(hold.account)) ? ledger.hold(hold) : UNKNOWN),
      credit: async (credit) => ((await ledger.account(credit.account)) ? ledger.credit(credit) : UNKNOWN),
    }),
  },
  {
    does: 'keeps no arguments with what it refuses for an account that is closed or unknown',
    breaks: [CLOSED_HOLD, CLOSED_CREDIT],
    breakLedger(ledger) {
      const refused = new Set<string>()
      const once = async (call: Hold | Credit, first: Promise<LedgerResult>): Promise<LedgerResult> => {
        const answer = await first
        if (!answer.ok && answer.reason === 'account_closed') refused.add(call.id)
        return refused.has(call.id) ? UNKNOWN : answer
      }
      return {
        hold: (hold) => once(hold, ledger.hold(hold)),
        credit: (credit) => once(credit, ledger.credit(credit)),
      }
    },
  },
  {
    does: 'remembers for ever that it does not know an account',
    breaks: [CLOSED_HOLD, CLOSED_CREDIT],
    breakLedger(ledger) {
      const unknown = new Set<string>()
      const find = async (account: string): Promise<boolean> => {
        if (!(await ledger.account(account))) unknown.add(account)
        return !unknown.has(account)
      }
      return {
        hold: async (hold) => ((await find(hold.account)) ? ledger.hold(hold) : UNKNOWN),
        credit: async (credit) => ((await find(credit.account)) ? ledger.credit(credit) : UNKNOWN),
      }
    },
  },
  {
    does: 'takes an amount in any asset for one in its own',
    breaks: ['an amount in another asset or scale than the account is not allowed'],
    breakLedger: (ledger) => ({
      hold: (hold) => ledger.hold({ ...hold, amount: { ...hold.amount, assetCode: 'USD', assetScale: 2 } }),
    }),
  },
  {
    does: 'ignores the scale of an amount',
    breaks: ['an amount in another asset or scale than the account is not allowed'],
    breakLedger: (ledger) => ({
      credit: (credit) => ledger.credit({ ...credit, amount: { ...credit.amount, assetScale: 2 } }),
    }),
  },
  {
    does: 'knows a hold by its id alone',
    breaks: [OTHER_HOLD],
    breakLedger(ledger) {
      const known = new Set<string>()
      return {
        async hold(hold) {
          if (known.has(hold.id)) return OK
          const answer = await ledger.hold(hold)
          if (answer.ok) known.add(hold.id)
          return answer
        },
      }
    },
  },
  {
    does: 'ignores the counterparty',
    breaks: [OTHER_HOLD],
    breakLedger: (ledger) => ({
      hold: (hold) => ledger.hold({ ...hold, counterparty: { kind: 'rail', method: '', address: '' } }),
    }),
  },
  {
    does: 'compares the counterparty as it was written',
    breaks: [SAME_ARGUMENTS],
    breakLedger: (ledger) => ({
      hold: (hold) =>
        ledger.hold({
          ...hold,
          counterparty: { kind: 'rail', method: '', address: JSON.stringify(hold.counterparty) },
        }),
    }),
  },
  {
    does: 'compares settlements as they were written',
    breaks: [SAME_ARGUMENTS],
    breakLedger(ledger) {
      const written = new Map<string, string>()
      const write = (value: unknown) =>
        JSON.stringify(value, (_name, one) => (typeof one === 'bigint' ? `${one}` : one))
      return {
        async settle(settlement) {
          const text = written.get(settlement.id) ?? write(settlement)
          written.set(settlement.id, text)
          return text === write(settlement) ? ledger.settle(settlement) : CONFLICT
        },
      }
    },
  },
]
