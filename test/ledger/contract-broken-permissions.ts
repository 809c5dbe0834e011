import type { DoubleEntryLedger } from '../../adapters/ledger/memory.ts'
import { type BrokenLedger, randomId } from './contract-broken.ts'

const NOT_ALLOWED = 'what was not allowed is kept under its id, and is a conflict with what is'
const SEND_ONLY =
  'if setPermissions is given: an account that may only send is not credited, and keeps that answer afterwards'
const RECEIVE_ONLY =
  'if setPermissions is given: an account that may only receive holds nothing, and keeps that answer afterwards'

/** Makes a call while an account may do both, if it may do one. */
async function whileOpen<T>(ledger: DoubleEntryLedger, account: string, call: () => Promise<T>): Promise<T> {
  const found = await ledger.account(account)
  if (!found || found.canSend === found.canReceive) return call()
  await ledger.setPermissions(account, { canSend: true, canReceive: true })
  const answer = await call()
  await ledger.setPermissions(account, found)
  return answer
}

/** Ledgers that know open accounts and closed ones only, or keep some refusals and not others. */
export const BROKEN_PERMISSIONS: readonly BrokenLedger[] = [
  {
    does: 'credits every account that is not closed',
    breaks: [SEND_ONLY],
    breakLedger: (ledger) => ({
      credit: (credit) => whileOpen(ledger, credit.account, () => ledger.credit(credit)),
    }),
  },
  {
    does: 'holds of every account that is not closed',
    breaks: [RECEIVE_ONLY],
    breakLedger: (ledger) => ({ hold: (hold) => whileOpen(ledger, hold.account, () => ledger.hold(hold)) }),
  },
  {
    does: 'tells that an account which may only send is closed',
    breaks: [SEND_ONLY],
    breakLedger: (ledger) => ({
      async account(account) {
        const found = await ledger.account(account)
        return found?.canReceive === false ? { ...found, canSend: false } : found
      },
    }),
  },
  {
    does: 'settles nothing for an account that may only receive',
    breaks: [RECEIVE_ONLY],
    breakLedger: (ledger) => ({
      async settle(settlement) {
        const alice = await ledger.account('alice')
        const isReceiver = alice?.canReceive === true && !alice.canSend
        return isReceiver ? { ok: false, reason: 'conflict' } : ledger.settle(settlement)
      },
    }),
  },
  {
    does: 'forgets what it did not allow',
    breaks: [NOT_ALLOWED, SEND_ONLY, RECEIVE_ONLY],
    breakLedger(ledger) {
      const ids = new Map<string, string>()
      const idOf = (id: string): string => ids.get(id) ?? id
      return {
        async hold(hold) {
          const answer = await ledger.hold({ ...hold, id: idOf(hold.id) })
          if (!answer.ok && answer.reason === 'not_allowed') ids.set(hold.id, randomId())
          return answer
        },
        async credit(credit) {
          const answer = await ledger.credit({ ...credit, id: idOf(credit.id) })
          if (!answer.ok && answer.reason === 'not_allowed') ids.set(credit.id, randomId())
          return answer
        },
      }
    },
  },
]
