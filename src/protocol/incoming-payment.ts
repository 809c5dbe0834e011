import * as v from 'valibot'
import {
  Amount,
  type Asset,
  addAmounts,
  amountOf,
  amountToWire,
  MAX_AMOUNT_VALUE,
  subtractAmounts,
  type WireAmount,
} from './amount.ts'
import type { ClientId } from './client.ts'
import { DateTime } from './date-time.ts'
import { Metadata } from './metadata.ts'
import { UrlText } from './url-text.ts'

/** The state of an incoming payment; `completed` and `expired` are never left. */
export type IncomingPaymentState = 'pending' | 'processing' | 'completed' | 'expired'

/**
 * An incoming payment as it is stored. `received` counts credited receipts only, `reserved` those whose credit is not
 * decided yet.
 */
export interface IncomingPayment {
  /** 44 hexadecimal digits, the last segment of its URL. */
  readonly id: string
  readonly walletAddress: string
  /** The account that the wallet address had when it was created. @spec INC-13 */
  readonly account: string
  readonly client: ClientId
  readonly state: IncomingPaymentState
  /** Milliseconds since 1970, like `expiresAt`. */
  readonly createdAt: number
  readonly expiresAt?: number
  readonly incomingAmount?: Amount
  readonly received: Amount
  readonly reserved: Amount
  readonly metadata?: Metadata
  readonly secretId: string
}

/**
 * The body of `POST /incoming-payments`. A `null` for an optional member counts as absent, because one deployed client
 * sends it.
 */
export interface CreateIncomingPayment {
  readonly walletAddress: string
  readonly incomingAmount?: Amount | null | undefined
  readonly expiresAt?: number | null | undefined
  readonly metadata?: Metadata | null | undefined
}

/** Reads the body of `POST /incoming-payments`. */
export const CreateIncomingPayment: v.GenericSchema<unknown, CreateIncomingPayment> = v.strictObject({
  walletAddress: UrlText,
  incomingAmount: v.nullish(Amount),
  expiresAt: v.nullish(DateTime),
  metadata: v.nullish(Metadata),
})

/** An incoming payment without payment methods, as list and complete answer it. JSON leaves out what is undefined. */
export interface WireIncomingPayment {
  readonly id: string
  readonly walletAddress: string
  readonly completed: boolean
  readonly incomingAmount: WireAmount | undefined
  readonly receivedAmount: WireAmount
  readonly expiresAt: string | undefined
  readonly metadata: Metadata | undefined
  readonly createdAt: string
}

/** The JSON form of an incoming payment; `url` is its identifier on this server. */
export function incomingPaymentToWire(payment: IncomingPayment, url: string): WireIncomingPayment {
  return {
    id: url,
    walletAddress: payment.walletAddress,
    completed: payment.state === 'completed',
    incomingAmount: payment.incomingAmount && amountToWire(payment.incomingAmount),
    receivedAmount: amountToWire(payment.received),
    expiresAt: payment.expiresAt === undefined ? undefined : new Date(payment.expiresAt).toISOString(),
    metadata: payment.metadata,
    createdAt: new Date(payment.createdAt).toISOString(),
  }
}

/** Why an incoming payment takes no money. */
export type NotPayable = 'completed' | 'expired' | 'over_remainder'

/** The asset in which an incoming payment receives. */
export function assetOf(payment: IncomingPayment): Asset {
  return payment.received
}

/** Whether an incoming payment is in a state that is never left. */
export function hasEnded({ state }: IncomingPayment): boolean {
  return state === 'completed' || state === 'expired'
}

/** Whether an incoming payment still accepts money at this moment. @spec INC-7 */
export function isActive(payment: IncomingPayment, now: number): boolean {
  return !hasEnded(payment) && (payment.expiresAt === undefined || now <= payment.expiresAt)
}

/** What may still be paid in; `undefined` if the payment names no amount. */
export function remainderOf(payment: IncomingPayment): bigint | undefined {
  if (payment.incomingAmount === undefined) return undefined
  const taken = payment.received.value + payment.reserved.value
  return taken >= payment.incomingAmount.value ? 0n : payment.incomingAmount.value - taken
}

/**
 * What may still be paid in: the remainder or, if the payment names no amount, what an unsigned 64-bit sum still holds.
 * @spec LIM-11
 */
export function roomOf(payment: IncomingPayment): bigint {
  return remainderOf(payment) ?? MAX_AMOUNT_VALUE - payment.received.value - payment.reserved.value
}

/**
 * How much of the money that came from elsewhere is counted, given the wallet's policy for an excess; `undefined` if
 * none. No policy lets the sum exceed an unsigned 64-bit integer.
 * @spec INC-8 @spec LIM-11
 */
export function acceptReceipt(
  payment: IncomingPayment,
  amount: bigint,
  excess: 'accept' | 'cap' | 'refuse',
): bigint | undefined {
  const room = roomOf(payment)
  if (amount <= room) return amount
  if (excess === 'cap' && payment.incomingAmount !== undefined) return room
  const sum = payment.received.value + payment.reserved.value + amount
  return excess === 'accept' && sum <= MAX_AMOUNT_VALUE ? amount : undefined
}

/** Reserves room for a local receipt, in full or not at all. @spec INC-8 */
export function reserveReceipt(
  payment: IncomingPayment,
  amount: bigint,
  now: number,
): { readonly ok: true; readonly payment: IncomingPayment } | { readonly ok: false; readonly reason: NotPayable } {
  if (payment.state === 'completed') return { ok: false, reason: 'completed' }
  if (!isActive(payment, now)) return { ok: false, reason: 'expired' }
  if (amount > roomOf(payment)) return { ok: false, reason: 'over_remainder' }
  return { ok: true, payment: reserve(payment, amount) }
}

/** Reserves room that an active payment is known to have. */
export function reserve(payment: IncomingPayment, amount: bigint): IncomingPayment {
  const reserved = addAmounts(payment.reserved, amountOf(payment.reserved, amount))
  return { ...payment, reserved, state: 'processing' }
}

/**
 * Counts a reserved receipt as received, and completes the payment in the same step when the sum is reached. A
 * receipt that was reserved in time is credited even after completion or expiry.
 * @spec INC-5 @spec INC-6
 */
export function creditReceipt(payment: IncomingPayment, amount: bigint): IncomingPayment {
  const reserved = subtractAmounts(payment.reserved, amountOf(payment.reserved, amount))
  return { ...countReceipt(payment, amount), reserved }
}

/** Frees the room of a reserved receipt: the money did not come. */
export function dropReceipt(payment: IncomingPayment, amount: bigint): IncomingPayment {
  const reserved = subtractAmounts(payment.reserved, amountOf(payment.reserved, amount))
  const isEmpty = payment.state === 'processing' && reserved.value === 0n && payment.received.value === 0n
  return { ...payment, reserved, state: isEmpty ? 'pending' : payment.state }
}

/**
 * Counts a receipt for which nothing was reserved, and completes the payment in the same step. @spec INC-5 @spec INC-6
 */
export function countReceipt(payment: IncomingPayment, amount: bigint): IncomingPayment {
  const received = addAmounts(payment.received, amountOf(payment.received, amount))
  return { ...payment, received, state: stateAfterReceipt(payment, received.value) }
}

/** The state of a payment once its received sum has grown to `received`. */
function stateAfterReceipt(payment: IncomingPayment, received: bigint): IncomingPaymentState {
  if (payment.incomingAmount !== undefined && received >= payment.incomingAmount.value) return 'completed'
  return payment.state === 'pending' ? 'processing' : payment.state
}
