import type { Context } from '../ports/context.ts'
import type { StoredRecord } from '../ports/storage.ts'
import { amountOf, amountToWire, type WireAmount } from '../protocol/amount.ts'
import { isIdentifier } from '../protocol/identifiers.ts'
import { isRailPayment, type RailPayment } from '../protocol/outgoing-payment.ts'
import { type Decision, decide } from '../records/decide.ts'
import { readRecord, recordsOfKind } from '../records/read-record.ts'
import { advancePayment } from './advance-payment.ts'
import { progressOf, settleFlight } from './delivery-progress.ts'
import { decidedByProgress } from './end-delivery.ts'
import { accountChanges } from './follow-delivery.ts'

/**
 * What became of a host's word. `unknown`: there is no such payment. `too_early`: its rail has not left it to the host yet;
 * the same call may succeed later. `not_asked`: it is not the host's to decide, and never will be. `conflict`: the host has
 * said otherwise before.
 */
export type HostDecision =
  | { readonly ok: true }
  | { readonly ok: false; readonly reason: 'unknown' | 'too_early' | 'not_asked' | 'conflict' }

/** A payment of which the host is to say how it ended. Amounts are in wire form. */
export interface UndecidedPayment {
  readonly id: string
  readonly walletAddress: string
  readonly receiver: string
  readonly createdAt: number
  /** `pending`: its rail has given it over to the host. `unknown`: its rail cannot find out. */
  readonly reason: 'pending' | 'unknown'
  /** The account of the rail that it left through. */
  readonly railAccount: string
  /** What is known to have left, in the asset of the rail, and to have arrived, in the receiver's. */
  readonly sent: WireAmount
  readonly received: WireAmount
  /** What may have left beside that, and arrived. */
  readonly unknownSent: WireAmount
  readonly unknownReceived: WireAmount
}

/** What a decision of the host came to: the payment to move on, or an answer alone. */
type Outcome =
  | { readonly record: StoredRecord<'outgoing-payment'> }
  | { readonly record?: undefined; readonly answer: HostDecision }

/**
 * Takes the host's word for what became of what is in flight. It decides the payment once; the same word again is the same
 * answer.
 */
export async function decideByHost(
  context: Context,
  id: string,
  said: 'sent' | 'failed',
  keep: (work: Promise<unknown>) => void,
): Promise<HostDecision> {
  const outcome = await decide<Outcome>(context, async () => {
    const record = isIdentifier(id) ? await readRecord(context.storage, 'outgoing-payment', id) : undefined
    if (record === undefined) return { answer: { answer: { ok: false, reason: 'unknown' } } }
    const { value } = record
    const { delivery, state } = value
    if (delivery?.saidByHost !== undefined)
      return { answer: { answer: delivery.saidByHost === said ? { ok: true } : { ok: false, reason: 'conflict' } } }
    const isUnderWay = state === 'created' || state === 'sending'
    if (!isRailPayment(value) || !isUnderWay) return { answer: { answer: { ok: false, reason: 'not_asked' } } }
    if (delivery?.isLeftToHost === undefined) return { answer: { answer: { ok: false, reason: 'too_early' } } }
    return endByHost(context, record, value, said)
  })
  if (outcome.record === undefined) return outcome.answer
  keep(advancePayment(context, outcome.record))
  return { ok: true }
}

async function endByHost(
  context: Context,
  record: StoredRecord<'outgoing-payment'>,
  payment: RailPayment,
  said: 'sent' | 'failed',
): Promise<Decision<Outcome>> {
  const before = progressOf(payment)
  const progress = settleFlight(before, said === 'sent')
  const moved = await accountChanges(context, payment.rail, before, progress)
  if (moved === 'over_limit') throw new Error('an account of a rail is over a limit that nobody named')
  const end = { progress, reason: `host_said_${said}`, saidByHost: said, changes: moved }
  const { changes, answer } = decidedByProgress(context, record, payment, end)
  if (answer.progress !== 'moved') throw new Error('a decision has moved no payment')
  return { changes, answer: { record: answer.record } }
}

const BATCH = 100

/** Every payment of which the host is to say how it ended; the longest waiting first. */
export async function listUndecided(context: Context): Promise<readonly UndecidedPayment[]> {
  for (let limit = BATCH; ; limit *= 2) {
    // Each has a moment at which the host is reminded, and there is no other way to find them all.
    const due = await context.storage.due('outgoing-payment', Number.MAX_SAFE_INTEGER, limit)
    if (due.length < limit) return recordsOfKind(due, 'outgoing-payment').flatMap(({ value }) => undecided(value))
  }
}

function undecided(payment: StoredRecord<'outgoing-payment'>['value']): readonly UndecidedPayment[] {
  const { id, walletAddress, receiver, createdAt, state, delivery } = payment
  const reason = delivery?.isLeftToHost
  if (!isRailPayment(payment) || reason === undefined || state !== 'sending') return []
  const { sent, received, inFlight } = progressOf(payment)
  const { account, sendAmount } = payment.rail
  const leaving = (value: bigint): WireAmount => amountToWire(amountOf(sendAmount, value))
  const arriving = (value: bigint): WireAmount => amountToWire(amountOf(payment.receiveAmount, value))
  return [
    {
      id,
      walletAddress,
      receiver,
      createdAt,
      reason,
      railAccount: account,
      sent: leaving(sent),
      received: arriving(received),
      unknownSent: leaving(inFlight.sent),
      unknownReceived: arriving(inFlight.received),
    },
  ]
}
