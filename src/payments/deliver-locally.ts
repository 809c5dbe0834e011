import type { Context } from '../ports/context.ts'
import type { Change, StoredRecord } from '../ports/storage.ts'
import { toHex } from '../protocol/identifiers.ts'
import { creditReceipt, dropReceipt, reserveReceipt } from '../protocol/incoming-payment.ts'
import { isLocalPayment, type OutgoingPayment, type Decision as PaymentDecision } from '../protocol/outgoing-payment.ts'
import { type Decision, decide } from '../records/decide.ts'
import { recordsOfKind } from '../records/read-record.ts'
import { askLedger } from './ask-ledger.ts'
import { decided } from './decide-payment.ts'
import { completionEvents, replaceIncoming } from './replace-incoming.ts'
import type { Step } from './step.ts'

/** The id of the credit that pays a local receiver: 128 bits of SHA-256 over the payment's id. @spec OUT-6 */
export async function creditIdOf(context: Context, outgoingPaymentId: string): Promise<string> {
  const digest = await context.cryptography.sha256(new TextEncoder().encode(`credit:${outgoingPaymentId}`))
  return toHex(digest).slice(0, 32)
}

/**
 * Pays a receiver on this server inside the ledger: reserve room in the incoming payment, credit the payee, then
 * decide. In that order, because a credit can be refused and a settlement cannot.
 */
export async function deliverLocally(context: Context, record: StoredRecord<'outgoing-payment'>): Promise<Step> {
  const payment = record.value
  if (!isLocalPayment(payment)) throw new Error('the receiver of a payment is not on this server')
  const creditId = await creditIdOf(context, payment.id)
  const room = await reserveRoom(context, record, creditId)
  if (room !== 'reserved') return room
  const credited = await askLedger(context, `credit ${creditId}`, () =>
    context.ledger.credit({
      id: creditId,
      account: payment.payeeAccount,
      amount: payment.receiveAmount,
      counterparty: { kind: 'local', account: payment.account, incomingPayment: payment.incomingPaymentId },
    }),
  )
  if (credited.outcome === 'unknown') return { progress: 'stalled', reason: credited.reason }
  const settle: PaymentDecision = { action: 'settle', amount: payment.debitAmount.value, fee: payment.fee.value }
  const decision: PaymentDecision =
    credited.outcome === 'done' ? settle : { action: 'release', reason: credited.reason }
  return decideWithReceipt(context, record, creditId, decision)
}

/**
 * Commits a receipt for the payment, or the decision to release where the incoming payment takes no more. Either
 * inserts the receipt, and its id is there once: so no worker gives up a payment for which another one has reserved,
 * even where both hold the same version of it.
 * @spec INC-8
 */
async function reserveRoom(
  context: Context,
  record: StoredRecord<'outgoing-payment'>,
  creditId: string,
): Promise<'reserved' | Step> {
  const payment = record.value
  return decideAtReceiver(context, record, async () => {
    const { incoming, receipt } = await readReceiver(context, payment, creditId)
    if (receipt !== undefined) return { answer: receipt.value.state === 'reserved' ? 'reserved' : { progress: 'lost' } }
    const now = context.clock.now()
    const reserved = reserveReceipt(incoming.value, payment.receiveAmount.value, now)
    const insert: Change = {
      action: 'insert',
      kind: 'receipt',
      value: {
        id: creditId,
        incomingPaymentId: incoming.value.id,
        state: reserved.ok ? 'reserved' : 'dropped',
        amount: payment.receiveAmount,
        createdAt: now,
        outgoingPaymentId: payment.id,
      },
    }
    if (!reserved.ok) return decided(context, record, { action: 'release', reason: reserved.reason }, [insert])
    return {
      changes: [
        { action: 'check', kind: 'outgoing-payment', id: payment.id, version: record.version },
        { ...incoming, action: 'replace', value: reserved.payment },
        insert,
      ],
      answer: 'reserved',
    }
  })
}

/** Commits the outcome of the credit at both ends at once: the receipt, the incoming payment and the decision. @spec INC-6 */
async function decideWithReceipt(
  context: Context,
  record: StoredRecord<'outgoing-payment'>,
  creditId: string,
  decision: PaymentDecision,
): Promise<Step> {
  const isCredited = decision.action === 'settle'
  return decideAtReceiver(context, record, async () => {
    const { incoming, receipt } = await readReceiver(context, record.value, creditId)
    if (receipt === undefined) throw new Error('the receipt of a payment has vanished')
    // The receipt is decided in the commit that decides the payment: another worker has done both.
    if (receipt.value.state !== 'reserved') return { answer: { progress: 'lost' } }
    const amount = receipt.value.amount.value
    const value = isCredited ? creditReceipt(incoming.value, amount) : dropReceipt(incoming.value, amount)
    const completion = completionEvents(context, incoming.value, value)
    const { changes, answer } = decided(context, record, decision, [
      replaceIncoming(incoming, value),
      { ...receipt, action: 'replace', value: { ...receipt.value, state: isCredited ? 'credited' : 'dropped' } },
      ...completion,
    ])
    return { changes, answer: { ...answer, completesReceiver: completion.length > 0 } }
  })
}

/** The incoming payment and the receipt at one moment: a receipt that is still reserved is counted in it. */
async function readReceiver(
  context: Context,
  { incomingPaymentId = '' }: OutgoingPayment,
  creditId: string,
): Promise<{
  readonly incoming: StoredRecord<'incoming-payment'>
  readonly receipt: StoredRecord<'receipt'> | undefined
}> {
  const found = await context.storage.get([
    { kind: 'incoming-payment', id: incomingPaymentId },
    { kind: 'receipt', id: creditId },
  ])
  const [incoming] = recordsOfKind(found, 'incoming-payment')
  const [receipt] = recordsOfKind(found, 'receipt')
  if (incoming === undefined) throw new Error('the receiver of a payment has vanished')
  return { incoming, receipt }
}

/**
 * Commits against the incoming payment, which other payers may change at any time, and reads it again when they do.
 * Where the outgoing payment itself was changed, it belongs to another worker and this one stops.
 */
async function decideAtReceiver<T>(
  context: Context,
  { value: payment }: StoredRecord<'outgoing-payment'>,
  attempt: () => Promise<Decision<T | Step>>,
): Promise<T | Step> {
  const lost = { payment: payment.id, answer: { progress: 'lost' } } as const
  return context.serialize(`incoming:${payment.incomingPaymentId}`, () => decide(context, attempt, [], { lost }))
}
