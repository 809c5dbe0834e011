import type { Context } from '../ports/context.ts'
import type { StoredRecord } from '../ports/storage.ts'
import type { Decision, LocalPayment } from '../protocol/outgoing-payment.ts'
import { creditIdOf } from '../records/credit-id.ts'
import { type Attempt, decide } from '../records/decide.ts'
import { readRecord } from '../records/read-record.ts'
import { askLedger } from './ask-ledger.ts'
import { askEnd, changesOfDecision, changesOfDecisionAndEnd } from './finish-payment.ts'
import { changesOfCredit } from './incoming-changes.ts'
import type { LocalRecord } from './payment-record.ts'
import { readReceipts } from './read-receipts.ts'
import type { Step } from './step.ts'
import { type ReservedRoom, takeRoom } from './take-room.ts'
import { turnAtIncoming } from './turn-keys.ts'

/**
 * Pays a receiver on this server inside the ledger: reserves room in the incoming payment, if that is not done yet,
 * credits the payee, then settles. In that order, because a credit can be refused and a settlement cannot.
 *
 * `reserved` is its room, if that was reserved just now: nothing has been waited for since.
 *
 * Once the payee is credited only one outcome is left, and the amounts to settle were committed with the order: so the
 * ledger is told to settle at once, and then one commit records the outcome for payer and payee. If the ledger refused
 * the credit, or did not confirm the settlement, only the decision is committed here, and the ledger is told
 * afterwards.
 */
export async function deliverLocally(
  context: Context,
  record: LocalRecord,
  reserved: ReservedRoom | undefined,
): Promise<Step> {
  const payment = record.value
  const room = reserved ?? (await reserveRoom(context, record))
  if ('outcome' in room) return room
  const known = { ...room, endedTurns: context.inTurn.endedTurns() }
  const creditId = room.receipt.value.id
  const credited = await askLedger(context, 'credit', creditId, () =>
    context.ledger.credit({
      id: creditId,
      account: payment.payeeAccount,
      // A copy: what the ledger writes into it must not become the payment's own amount.
      amount: { ...payment.receiveAmount },
      counterparty: { kind: 'local', account: payment.account, incomingPayment: payment.incomingPaymentId },
    }),
  )
  if (credited.outcome === 'unknown') return { outcome: 'stalled', reason: credited.reason }
  if (credited.outcome === 'refused') {
    const release: Decision = { action: 'release', reason: credited.reason }
    return writeOutcome(context, record, known, { decision: release, isTold: false })
  }
  const settle: Decision = { action: 'settle', amount: payment.debitAmount.value, fee: payment.fee.value }
  const settled = await askEnd(context, payment, settle)
  return writeOutcome(context, record, known, { decision: settle, isTold: settled.outcome === 'done' })
}

/**
 * Reserves room for the payment, or decides to release it if the incoming payment takes no more. Whether another worker
 * has the payment by now does not matter here: whoever reserves or gives up inserts the receipt, whose id is unique, so the
 * two exclude each other. Without an incoming payment nothing was ever reserved.
 */
async function reserveRoom(context: Context, record: LocalRecord): Promise<ReservedRoom | Step> {
  const creditId = await creditIdOf(context, record.value.id)
  return decideAtReceiver<ReservedRoom | Step>(context, record.value, async () => {
    const { incoming, receipts } = await readReceipts(context, record.value.incomingPaymentId, creditId)
    const [receipt] = receipts
    if (incoming && receipt?.value.state === 'reserved') return { answer: { incoming, receipt } }
    if (receipt !== undefined) return { answer: await takenOver(context, record) }
    // The incoming payment ended so long ago that it was deleted: so no room in it was ever reserved. @spec INC-14
    if (incoming === undefined) return changesOfDecision(context, record, { action: 'release', reason: 'expired' }, [])
    const taken = takeRoom(incoming, record.value, creditId, context.clock.now())
    if (!taken.ok) return changesOfDecision(context, record, { action: 'release', reason: taken.reason }, taken.changes)
    return { changes: taken.changes, answer: taken.room }
  })
}

/**
 * Commits the outcome of the credit on both sides at once: the receipt, the incoming payment and the outgoing payment,
 * which also ends if the ledger `isTold` of the decision. Both are read only if others have had their turn here since room was
 * reserved, or after a conflict.
 * @spec INC-6
 */
async function writeOutcome(
  context: Context,
  record: LocalRecord,
  known: ReservedRoom & { readonly endedTurns: number },
  { decision, isTold }: { readonly decision: Decision; readonly isTold: boolean },
): Promise<Step> {
  const { incomingPaymentId } = record.value
  let isCurrent = context.inTurn.isQuietSince(turnAtIncoming(incomingPaymentId), known.endedTurns)
  return decideAtReceiver<Step>(context, record.value, async () => {
    const { incoming, receipts } = isCurrent
      ? { incoming: known.incoming, receipts: [known.receipt] }
      : await readReceipts(context, incomingPaymentId, known.receipt.value.id)
    isCurrent = false
    const [receipt] = receipts
    if (incoming === undefined || receipt === undefined) throw new Error('the receipt of a payment has vanished')
    if (receipt.value.state !== 'reserved') return { answer: await takenOver(context, record) }
    const credit = changesOfCredit(context, incoming, receipt, decision.action === 'settle')
    const changesOf = isTold ? changesOfDecisionAndEnd : changesOfDecision
    const { changes, answer } = changesOf(context, record, decision, credit.changes)
    return { changes, answer: { ...answer, completes: credit.completes } }
  })
}

/**
 * What is left to do for a payment whose receipt has ended: nothing, since one commit ends the receipt and decides the payment,
 * and so another worker has done both. Throws if the payment is still as this worker read it: then its record was put back to
 * an older state by hand, and a person has to repair it.
 */
async function takenOver(context: Context, { value, version }: StoredRecord<'outgoing-payment'>): Promise<Step> {
  const current = await readRecord(context.storage, 'outgoing-payment', value.id)
  if (current?.version === version) throw new Error('the payment is older than its receipt, which has ended')
  return { outcome: 'lost' }
}

/**
 * Commits against the incoming payment, which other payers may change at any time, and reads it again if they did. If the
 * commit writes the outgoing payment, and that was changed, it belongs to another worker, and this one stops.
 */
async function decideAtReceiver<T>(
  context: Context,
  payment: LocalPayment,
  attempt: () => Promise<Attempt<T | Step>>,
): Promise<T | Step> {
  return context.inTurn(turnAtIncoming(payment.incomingPaymentId), () =>
    decide(context, attempt, { lost: { outcome: 'lost' } }),
  )
}
