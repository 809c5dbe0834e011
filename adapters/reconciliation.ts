/**
 * Compares payments with the wallet's ledger, and tells a ledger again what it has lost.
 *
 * @module open-payments-server/reconciliation
 */

export type { BookedLine, Books, OpenHold, ReadBooks } from './reconciliation/books.ts'
export { creditIdOf } from './reconciliation/credit-id.ts'
export { type LoggedCall, loggedLedger, repeatCalls } from './reconciliation/logged-ledger.ts'
export type { PaymentSource, ReconciliationOptions } from './reconciliation/options.ts'
export { type Received, readReceived } from './reconciliation/received.ts'
export { type ReconcileAllOptions, reconcileAll } from './reconciliation/reconcile-all.ts'
export {
  type ClosedDay,
  type ReconcileDayOptions,
  type ReconciledDay,
  reconcileDay,
} from './reconciliation/reconcile-day.ts'
export { settledOf } from './reconciliation/settled.ts'
export { callsOf, type TellLedgerOptions, tellLedger } from './reconciliation/tell-ledger.ts'
