import type { Context } from '../ports/context.ts'
import type { Change, StoredRecord } from '../ports/storage.ts'
import { toHex } from '../protocol/identifiers.ts'
import { creditReceipt, dropReceipt, type IncomingPayment, reserveReceipt } from '../protocol/incoming-payment.ts'
import type { Decision, OutgoingPayment } from '../protocol/outgoing-payment.ts'
import { backOffMilliseconds } from '../records/decide.ts'
import { readRecord } from '../records/read-record.ts'
import { askLedger } from './ask-ledger.ts'
import { incomingPaymentEvent, recordEvents } from './notify.ts'
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
  const creditId = await creditIdOf(context, payment.id)
  const room = await reserveRoom(context, record, creditId)
  if (room !== 'reserved') return room
  const credited = await askLedger(context, () =>
    context.ledger.credit({
      id: creditId,
      account: payment.payeeAccount,
      amount: payment.receiveAmount,
      counterparty: { kind: 'local', account: payment.account, incomingPayment: payment.incomingPaymentId },
    }),
  )
  if (credited.outcome === 'unknown') return { progress: 'stalled' }
  const settle: Decision = { action: 'settle', amount: payment.debitAmount.value, fee: payment.fee.value }
  const decision: Decision = credited.outcome === 'done' ? settle : { action: 'release', reason: credited.reason }
  return decideWithReceipt(context, record, creditId, decision)
}

/** Commits a receipt for the payment, or the decision to release where the incoming payment takes no more. @spec INC-8 */
async function reserveRoom(
  context: Context,
  record: StoredRecord<'outgoing-payment'>,
  creditId: string,
): Promise<'reserved' | Step> {
  const payment = record.value
  return retryOnReceiver(context, record, async () => {
    const receipt = await readRecord(context.storage, 'receipt', creditId)
    if (receipt !== undefined) return { changes: [], answer: 'reserved' }
    const incoming = await readIncoming(context, payment)
    const now = context.clock.now()
    const reserved = reserveReceipt(incoming.value, payment.receiveAmount.value, now)
    if (!reserved.ok) return decided(context, record, { action: 'release', reason: reserved.reason }, [])
    return {
      changes: [
        { action: 'check', kind: 'outgoing-payment', id: payment.id, version: record.version },
        { ...incoming, action: 'replace', value: reserved.payment },
        {
          action: 'insert',
          kind: 'receipt',
          value: {
            id: creditId,
            incomingPaymentId: payment.incomingPaymentId,
            state: 'reserved',
            amount: payment.receiveAmount,
            createdAt: now,
            outgoingPaymentId: payment.id,
          },
        },
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
  decision: Decision,
): Promise<Step> {
  const isCredited = decision.action === 'settle'
  return retryOnReceiver(context, record, async () => {
    const receipt = await readRecord(context.storage, 'receipt', creditId)
    if (receipt === undefined) throw new Error('the receipt of a payment has vanished')
    // Decided before, by a worker that did not live to see its own commit.
    if (receipt.value.state !== 'reserved') return decided(context, record, decision, [])
    const incoming = await readIncoming(context, record.value)
    const amount = receipt.value.amount.value
    const value = isCredited ? creditReceipt(incoming.value, amount) : dropReceipt(incoming.value, amount)
    return decided(context, record, decision, [
      replaceIncoming(incoming, value),
      { ...receipt, action: 'replace', value: { ...receipt.value, state: isCredited ? 'credited' : 'dropped' } },
      ...completionEvents(context, incoming.value, value),
    ])
  })
}

/** A completed incoming payment has no deadline any more. */
export function replaceIncoming(record: StoredRecord<'incoming-payment'>, value: IncomingPayment): Change {
  const { dueAt, ...unmarked } = record
  const isOver = value.state === 'completed' || value.state === 'expired'
  return { ...unmarked, action: 'replace', value, ...(dueAt !== undefined && !isOver && { dueAt }) }
}

/** The event of a completion that this change brings about; none for one that was completed before. */
export function completionEvents(context: Context, before: IncomingPayment, after: IncomingPayment): readonly Change[] {
  if (before.state === 'completed' || after.state !== 'completed') return []
  return recordEvents(context, [incomingPaymentEvent(context, after, 'completed')])
}

function decided(
  context: Context,
  record: StoredRecord<'outgoing-payment'>,
  decision: Decision,
  others: readonly Change[],
): { readonly changes: readonly Change[]; readonly answer: Step } {
  const value: OutgoingPayment = { ...record.value, state: 'decided', decision, attempts: 0 }
  const dueAt = context.clock.now() + context.limits.leaseSeconds * 1000
  return {
    changes: [{ ...record, action: 'replace', value, dueAt }, ...others],
    answer: { progress: 'moved', record: { ...record, version: record.version + 1, value, dueAt } },
  }
}

async function readIncoming(context: Context, payment: OutgoingPayment): Promise<StoredRecord<'incoming-payment'>> {
  const incoming = await readRecord(context.storage, 'incoming-payment', payment.incomingPaymentId)
  if (incoming === undefined) throw new Error('the receiver of a payment has vanished')
  return incoming
}

/**
 * Commits against the incoming payment, which other payers may change at any time, and reads it again when they do.
 * Where the outgoing payment itself was changed, it belongs to another worker and this one stops.
 */
async function retryOnReceiver<T>(
  context: Context,
  record: StoredRecord<'outgoing-payment'>,
  attempt: () => Promise<{ readonly changes: readonly Change[]; readonly answer: T | Step }>,
): Promise<T | Step> {
  return context.serialize(`incoming:${record.value.incomingPaymentId}`, async () => {
    const deadline = context.clock.now() + context.limits.commitSeconds * 1000
    for (let round = 0; context.clock.now() < deadline || round === 0; round++) {
      const { changes, answer } = await attempt()
      if (changes.length === 0) return answer
      const outcome = await context.storage.commit(changes)
      if (outcome === 'committed') return answer
      const lost = outcome.conflicts.some((index) => changes[index]?.kind === 'outgoing-payment')
      if (lost) return { progress: 'lost' }
      await context.clock.sleep(backOffMilliseconds(context, round))
    }
    return { progress: 'stalled' }
  })
}
