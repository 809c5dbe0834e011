import type { Context } from '../../ports/context.ts'
import type { WireAmount } from '../../protocol/amount.ts'
import { isIdentifier } from '../../protocol/identifiers.ts'
import { isRailPayment, type OutgoingPayment } from '../../protocol/outgoing-payment.ts'
import { readDue, readRecord } from '../../records/read-record.ts'
import { advancePayment } from '../advance-payment.ts'
import { isRailRecord } from '../payment-record.ts'
import { progressOf, settleFlight, toldDelivery } from './delivery-progress.ts'
import { endDelivery } from './end-delivery.ts'

/**
 * What became of a host's decision. `unknown`: there is no such payment. `too_early`: its rail has not left it to the
 * host yet; the same call may succeed later. `not_asked`: it is not for the host to decide, and never will be.
 * `conflict`: the host decided otherwise before.
 */
export type DecisionResult =
  | { readonly ok: true }
  | { readonly ok: false; readonly reason: 'unknown' | 'too_early' | 'not_asked' | 'conflict' }

/** A payment for which the host is to say how it ended. Amounts are in wire form. */
export interface UndecidedPayment {
  /** The last segment of its URL, for `sent` and `failed`. */
  readonly id: string
  /** A URL, like `receiver`. */
  readonly walletAddress: string
  readonly receiver: string
  /** Milliseconds since 1970. */
  readonly createdAt: number
  /** `pending`: its rail has handed it over to the host. `unknown`: its rail cannot find out. */
  readonly reason: 'pending' | 'unknown'
  /** The rail account that it left through. */
  readonly railAccount: string
  /** What is known to have left, in the rail's asset, and to have arrived, in the receiver's. */
  readonly sent: WireAmount
  readonly received: WireAmount
  /** What else may have left and arrived. */
  readonly inFlightSent: WireAmount
  readonly inFlightReceived: WireAmount
}

/**
 * Takes the host's word for what became of the money in flight, and decides the payment once; the same word again gets
 * the same answer. Rejects with a `TypeError` if `id` is not an id.
 */
export async function decideByHost(context: Context, id: string, said: 'sent' | 'failed'): Promise<DecisionResult> {
  // Ids come only from the wallet's own records: anything else is a programming mistake.
  if (!isIdentifier(id))
    throw new TypeError(`outgoingPayments.${said}: the id must be the last segment of the payment's URL, not ${id}`)
  for (;;) {
    const record = await readRecord(context.storage, 'outgoing-payment', id)
    if (record === undefined) return { ok: false, reason: 'unknown' }
    const { delivery, state } = record.value
    if (delivery?.saidByHost !== undefined)
      return delivery.saidByHost === said ? { ok: true } : { ok: false, reason: 'conflict' }
    const isUnderWay = state === 'created' || state === 'sending'
    if (!isRailRecord(record) || !isUnderWay) return { ok: false, reason: 'not_asked' }
    if (delivery?.isLeftToHost === undefined) return { ok: false, reason: 'too_early' }
    const progress = settleFlight(progressOf(record.value), said === 'sent')
    const end = { outcome: 'ended', progress, reason: `host_said_${said}`, saidByHost: said } as const
    const step = await endDelivery(context, record, end)
    if (step.outcome === 'moved') {
      context.ongoing.keep(advancePayment(context, step.record))
      return { ok: true }
    }
    // The record was changed meanwhile, by another decision or only by a reminder: read it again.
  }
}

const BATCH = 100

/** Every payment that waits for the host to say how it ended, oldest order first. */
export async function listUndecided(context: Context): Promise<readonly UndecidedPayment[]> {
  for (let limit = BATCH; ; limit *= 2) {
    // Each of them is due when the host is to be reminded, and there is no other way to find them all.
    const due = await readDue(context.storage, 'outgoing-payment', Number.MAX_SAFE_INTEGER, limit)
    if (due.length < limit)
      return due.flatMap(({ value }) => undecided(value)).sort((one, other) => one.createdAt - other.createdAt)
  }
}

function undecided(payment: OutgoingPayment): readonly UndecidedPayment[] {
  const { id, walletAddress, receiver, createdAt, state, delivery } = payment
  const reason = delivery?.isLeftToHost
  if (!isRailPayment(payment) || reason === undefined || state !== 'sending') return []
  return [{ id, walletAddress, receiver, createdAt, reason, ...toldDelivery(payment, progressOf(payment)) }]
}
