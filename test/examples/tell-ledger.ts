import type { AuditedPayment, Credit, Hold, Ledger, WireAmount } from 'open-payments-server'
import { type Received, settledOf } from './reconcile.ts'

/** The hold and the credit of a payment, with the very arguments that the library gives the ledger. */
export function callsOf(payment: AuditedPayment): { readonly hold: Hold; readonly credit?: Credit } {
  const { holdId, creditId, account, payeeAccount, debitAmount, receiveAmount, receiver, rail } = payment
  const hold = { id: holdId, account, amount: amountOf(debitAmount) }
  if (rail !== undefined) {
    const { method, address, walletAddress } = rail
    const payee = walletAddress === undefined ? {} : { walletAddress }
    return { hold: { ...hold, counterparty: { kind: 'rail', method, address, ...payee } } }
  }
  if (payeeAccount === undefined || creditId === undefined) throw new Error(`${holdId} has no payee`)
  const incomingPayment = receiver.split('/').at(-1) ?? ''
  const credit = { id: creditId, account: payeeAccount, amount: amountOf(receiveAmount) }
  return {
    hold: { ...hold, counterparty: { kind: 'local', account: payeeAccount, incomingPayment } },
    credit: { ...credit, counterparty: { kind: 'local', account, incomingPayment } },
  }
}

/** Tells a ledger that is behind what the storage knows. Answers what it did not take, and what is to be charged by hand. */
export async function tellLedger(
  ledger: Ledger,
  payments: readonly AuditedPayment[],
  received: readonly Received[] = [],
): Promise<readonly string[]> {
  const refused: string[] = []
  const ask = async (what: string, call: ReturnType<Ledger['hold']>) => {
    const answer = await call
    if (!answer.ok) refused.push(`${what}: ${answer.reason}`)
  }
  // Credits first: then every payer has what came in, in whatever order it came.
  for (const { id, state, payeeAccount, amount, railAccount } of received) {
    const [method = '', address = ''] = railAccount.split(/:(.*)/)
    const credit = { id, account: payeeAccount, amount: amountOf(amount) }
    if (state === 'credited')
      await ask(`credit ${id}`, ledger.credit({ ...credit, counterparty: { kind: 'rail', method, address } }))
  }
  for (const payment of payments) {
    const { state, failureReason } = payment
    const isPaid = state === 'completed' || (state === 'decided' && failureReason === undefined)
    const { credit } = callsOf(payment)
    if (isPaid && credit !== undefined) await ask(`credit ${credit.id}`, ledger.credit(credit))
  }
  for (const payment of payments) {
    const { holdId: id, state, debitAmount } = payment
    const { debit, fee } = settledOf(payment)
    const inAsset = (value: bigint) => ({ ...amountOf(debitAmount), value })
    if (state === 'failed' && debit === 0n)
      await ledger.release({ id }) // a conflict: it was not held
    else if (state !== 'created') {
      // What is `sending` has paid nobody, or not all; of the others it is known what they cost.
      const isToDo = state === 'sending' ? state : `charge ${debit}`
      await ask(`hold ${id} (${isToDo})`, ledger.hold(callsOf(payment).hold))
    }
    const isSettled = state === 'completed' || (state === 'failed' && debit > 0n)
    if (isSettled) await ask(`settle ${id}`, ledger.settle({ id, amount: inAsset(debit), fee: inAsset(fee) }))
  }
  return refused
}

function amountOf({ value, assetCode, assetScale }: WireAmount) {
  return { value: BigInt(value), assetCode, assetScale }
}
