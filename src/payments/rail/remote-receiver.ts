import { unavailable } from '../../errors/conditions.ts'
import type { Context } from '../../ports/context.ts'
import type { PaymentMethod, RailQuote, RailQuoteRequest } from '../../ports/payment-method.ts'
import type { FoundReceiver, ReceiverAsker, RemoteIncomingPayment } from '../../ports/remote-receivers.ts'
import { type Asset, amountOf, isSameAsset, mistakeInAsset } from '../../protocol/amount.ts'
import type { RailTerms } from '../../protocol/delivery.ts'
import type { IlpPaymentMethod } from '../../protocol/payment-method.ts'
import type { RailRate } from '../../protocol/price.ts'
import { tellFault } from '../../records/tell-fault.ts'
import { answerBeforeDeadline } from '../answer-deadline.ts'
import { askRail, hideSecret } from './ask-rail.ts'

/** An incoming payment on another server that takes money now, according to that server. */
export interface RemoteReceiver {
  readonly kind: 'remote'
  /** Its URL in normal form. */
  readonly url: string
  /** The wallet address that it pays, as its server claims. */
  readonly walletAddress?: string
  readonly asset: Asset
  /** What may still be paid in; absent if the payment names no amount. */
  readonly remainder?: bigint
  readonly expiresAt?: number
  readonly details: IlpPaymentMethod
  /** The payment method of this wallet that those are for. */
  readonly method: PaymentMethod
}

/** How a rail carries money to a receiver: in which asset it leaves, through which account, and how much arrives. */
export interface RailWay {
  readonly method: RailTerms['method']
  readonly account: string
  readonly asset: Asset
  readonly rate: RailRate
}

/** Why a remote receiver cannot be paid. */
export type NotReachable = 'unreachable' | 'refused' | 'invalid' | 'unknown' | 'completed' | 'expired' | 'no_method'

/** Why there is no remote receiver; `detail` is for the operator. */
export type NoRemoteReceiver =
  | { readonly ok: false; readonly reason: NotReachable; readonly detail?: string }
  | Extract<FoundReceiver, { readonly reason: 'rate_limited' }>

/** A remote receiver, with the way to it if that was asked for; or why there is none. */
export type FoundRemoteReceiver =
  | { readonly ok: true; readonly receiver: RemoteReceiver; readonly way?: RailWay }
  | NoRemoteReceiver

/** A way that is asked for: from an account in `from`, for the amount that is named, if any. */
export type WayRequest = Pick<RailQuoteRequest, 'from' | 'amount'>

/**
 * Asks another server for an incoming payment and, if a `way` is asked for, its payment method how it reaches it: both under
 * one deadline. Rejects only if `remoteReceivers` breaks its contract, or the payment method fails.
 * @spec QUO-9 @spec T-45
 */
export async function findRemoteReceiver(
  context: Context,
  url: string,
  asker: ReceiverAsker,
  way?: WayRequest,
): Promise<FoundRemoteReceiver> {
  let lateDetail = 'its server did not answer in time'
  const found = await answerBeforeDeadline(context, async () => {
    const asked = await askServer(context, url, asker)
    if (!asked.ok || way === undefined) return asked
    lateDetail = 'the payment method did not answer in time'
    return findWay(context, asked.receiver, way)
  })
  return found === 'late' ? { ok: false, reason: 'unreachable', detail: lateDetail } : found
}

/** Why a remote receiver cannot be paid, in words for the developer of a client. */
export const NOT_REACHABLE: Readonly<Record<NotReachable, string>> = {
  unreachable: 'the incoming payment cannot be reached from here now',
  refused: 'its server does not let this wallet read the incoming payment',
  invalid: 'what its server answers is not this incoming payment',
  unknown: 'its server knows no such incoming payment',
  completed: 'the incoming payment is completed',
  expired: 'the incoming payment is expired',
  no_method: 'the incoming payment names no payment method that this wallet can use',
}

async function askServer(context: Context, url: string, asker: ReceiverAsker): Promise<FoundRemoteReceiver> {
  const { remoteReceivers, source } = context
  if (remoteReceivers === undefined) return { ok: false, reason: 'unreachable' }
  const found = await remoteReceivers.find(url, { ...asker, ...(source !== undefined && { source }) })
  const mistake = found.ok ? mistakeInPayment(found.payment) : mistakeInReason(found.reason)
  if (mistake !== undefined) throw new TypeError(`remoteReceivers.find: ${mistake}`)
  return found.ok ? receiverOf(context, url, found.payment) : found
}

const REASONS: Readonly<Record<Extract<FoundReceiver, { readonly ok: false }>['reason'], true>> = {
  unreachable: true,
  refused: true,
  unknown: true,
  invalid: true,
  rate_limited: true,
}

function mistakeInReason(reason: string): string | undefined {
  return Object.hasOwn(REASONS, reason) ? undefined : 'its reason is none of the five'
}

/** What is wrong with an answer from plain JavaScript, if it could end a payment for a reason that is none. */
function mistakeInPayment(payment: RemoteIncomingPayment): string | undefined {
  const { isCompleted, incomingAmount, receivedAmount, expiresAt } = payment
  if (typeof isCompleted !== 'boolean') return 'isCompleted must be true or false'
  if (expiresAt !== undefined && !Number.isFinite(expiresAt)) return 'expiresAt must be a number'
  if (incomingAmount !== undefined && typeof incomingAmount.value !== 'bigint')
    return 'incomingAmount.value must be a bigint'
  if (typeof receivedAmount.value !== 'bigint') return 'receivedAmount.value must be a bigint'
  const mistake = mistakeInAsset(receivedAmount)
  return mistake && `receivedAmount: ${mistake}`
}

function receiverOf(context: Context, url: string, payment: RemoteIncomingPayment): FoundRemoteReceiver {
  const { walletAddress, incomingAmount, receivedAmount, expiresAt, isCompleted, methods } = payment
  if (payment.url !== url) return { ok: false, reason: 'invalid' }
  if (isCompleted) return { ok: false, reason: 'completed' }
  if (expiresAt !== undefined && context.clock.now() > expiresAt) return { ok: false, reason: 'expired' }
  const details = methods.find(({ type }) => context.paymentMethods.some((method) => method.type === type))
  const method = context.paymentMethods.find(({ type }) => type === details?.type)
  if (details === undefined || method === undefined) return { ok: false, reason: 'no_method' }
  if (incomingAmount !== undefined && !isSameAsset(incomingAmount, receivedAmount))
    return { ok: false, reason: 'invalid' }
  const left = incomingAmount && incomingAmount.value - receivedAmount.value
  return {
    ok: true,
    receiver: {
      kind: 'remote',
      url,
      ...(walletAddress !== undefined && { walletAddress }),
      asset: { assetCode: receivedAmount.assetCode, assetScale: receivedAmount.assetScale },
      ...(left !== undefined && { remainder: left > 0n ? left : 0n }),
      ...(expiresAt !== undefined && { expiresAt }),
      details,
      method,
    },
  }
}

/** Asks the payment method of a receiver for a way; if it finds none, says why. */
async function findWay(context: Context, receiver: RemoteReceiver, way: WayRequest): Promise<FoundRemoteReceiver> {
  const { details, method, asset, remainder } = receiver
  const amount = way.amount ?? (remainder === undefined ? undefined : amountOf(asset, remainder))
  const quote = await quoteOf(context, method, { details, from: way.from, to: asset, ...(amount && { amount }) })
  if (!quote.ok) {
    const detail = hideSecret(`the payment method finds no way: ${quote.detail ?? quote.reason}`, details)
    return { ok: false, reason: 'unreachable', detail }
  }
  checkQuote(quote)
  const { account, asset: railAsset, rate } = quote
  return { ok: true, receiver, way: { method: method.type, account, asset: railAsset, rate } }
}

async function quoteOf(context: Context, method: PaymentMethod, request: RailQuoteRequest): Promise<RailQuote> {
  try {
    // A copy: what the rail writes into it must not become what is priced.
    return await askRail(request.details, () => method.quote(structuredClone(request)))
  } catch (cause) {
    tellFault(context, 'a payment method failed', cause)
    throw unavailable('a payment method failed')
  }
}

function checkQuote({ account, asset, rate }: Extract<RailQuote, { readonly ok: true }>): void {
  const isRate = [rate.sent, rate.received].every((units) => typeof units === 'bigint' && units > 0n)
  if (!isRate || mistakeInAsset(asset) !== undefined || typeof account !== 'string' || account === '')
    throw new TypeError('PaymentMethod.quote gave no account, no asset, or a rate that is not above zero')
}
