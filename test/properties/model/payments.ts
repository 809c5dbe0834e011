import { expect } from 'vitest'
import { creditIncoming, isActive, listAll, priceOf, roomOf } from './resources.ts'
import { type Caller, covers, holds, identify, refuseAddress, sees } from './rights.ts'
import {
  type Entry,
  type Expected,
  type IncomingModel,
  isSameAsset,
  type Model,
  type Money,
  money,
  ownerOf,
  type PaymentModel,
  type QuoteModel,
  refused,
  type TokenModel,
  windowOf,
} from './state.ts'

export interface PaymentAsk {
  readonly walletAddress: string
  readonly metadata?: unknown
  readonly from:
    | { readonly quote: QuoteModel | undefined }
    | { readonly incoming: IncomingModel | undefined; readonly debit: Money }
}

interface Terms {
  readonly quote?: QuoteModel
  readonly receiver: IncomingModel
  readonly debit: Money
  readonly receive: Money
  readonly fee: bigint
}

/** `POST /outgoing-payments`, with everything that follows from it. */
export function createPayment(model: Model, now: number, caller: Caller, ask: PaymentAsk): Expected {
  const identified = identify(model, now, caller, 'outgoing-payment', 'create')
  if ('refusal' in identified) return identified.refusal
  const { token } = identified
  const { walletAddress, metadata } = ask
  const refusal = refuseAddress(token, 'outgoing-payment', 'create', walletAddress)
  if (refusal !== undefined) return refusal
  const terms = termsOf(model, now, ask)
  if ('refusal' in terms) return terms.refusal
  const { debit, receive, fee, receiver, quote } = terms
  const spentAt = (at: Charged): readonly PaymentModel[] => paymentsIn(model.payments, token, at)
  const charged = admittingEntry(token.grant.access, now, { walletAddress, ...terms }, spentAt)
  if (charged === undefined) return refused(403, 'grant_limit_exceeded')
  const payer = model.accounts[ownerOf(walletAddress)?.account ?? '']
  if (payer === undefined || !(payer.canSend || payer.canReceive)) return refused(403, 'account_closed')
  if (!payer.canSend) return refused(403, 'not_allowed')
  if (payer.balance < BigInt(debit.value)) return refused(403, 'insufficient_funds')
  const made = {
    walletAddress,
    client: token.grant.client,
    createdAt: now,
    quote,
    receiver,
    debit,
    receive,
    fee,
    metadata,
    grant: token.grant,
    ...charged,
    isFailed: false,
  }
  const spent = spentIn([...model.payments, { ...made, url: '' }], token, charged)
  const body = {
    ...paymentBody({ ...made, url: expect.any(String) }),
    sentAmount: { ...debit, value: '0' },
    grantSpentDebitAmount: spent.debit,
    ...(spent.receive !== null && { grantSpentReceiveAmount: spent.receive }),
  }
  return {
    status: 201,
    body,
    learn: ({ id: url }) => {
      const payment: PaymentModel = { ...made, url }
      model.payments.push(payment)
      if (quote !== undefined) quote.isUsed = true
      deliver(model, payment)
    },
  }
}

/** Pays the receiver, or fails where its account takes nothing. */
function deliver(model: Model, payment: PaymentModel): void {
  const payee = model.accounts[ownerOf(payment.receiver.walletAddress)?.account ?? '']
  const payer = model.accounts[ownerOf(payment.walletAddress)?.account ?? '']
  if (payee?.canReceive !== true || payer === undefined) {
    payment.isFailed = true
    return
  }
  payer.balance -= BigInt(payment.debit.value)
  payee.balance += BigInt(payment.receive.value)
  creditIncoming(payment.receiver, BigInt(payment.receive.value))
}

function termsOf(
  model: Model,
  now: number,
  { walletAddress, from }: PaymentAsk,
): Terms | { readonly refusal: Expected } {
  if ('debit' in from) {
    const priced = priceOf(model, now, { walletAddress, receiver: from.incoming, debit: from.debit })
    if ('refusal' in priced) return priced
    const { price, receiver } = priced
    return { receiver, debit: from.debit, receive: money(receiver.asset, price.receive), fee: price.fee }
  }
  const { quote } = from
  const isOpen = quote !== undefined && !quote.isForgotten && !quote.isUsed && now < quote.expiresAt
  if (!isOpen || quote.walletAddress !== walletAddress) return { refusal: refused(400, 'invalid_quote') }
  const { receiver, debit, receive, fee } = quote
  const room = roomOf(receiver)
  const isPayable = isActive(receiver, now) && (room === undefined || BigInt(receive.value) <= room)
  return isPayable ? { quote, receiver, debit, receive, fee } : { refusal: refused(400, 'invalid_receiver') }
}

/** An entry of a grant, and one of its windows. */
export interface Charged {
  readonly entry: number
  readonly window: number
}

/** A payment as limits see it. */
export interface Charge {
  readonly walletAddress: string
  readonly receiver: { readonly url: string }
  readonly debit: Money
  readonly receive: Money
}

/** The first entry that admits a payment, with its current window. */
export function admittingEntry(
  access: readonly Entry[],
  now: number,
  charge: Charge,
  spentIn: (at: Charged) => readonly Pick<Charge, 'debit' | 'receive'>[],
): Charged | undefined {
  for (const [entry, right] of access.entries()) {
    const window = windowOf(right, now)
    const isRight = holds(right, 'outgoing-payment', 'create') && covers(right, charge.walletAddress)
    if (!isRight || window === undefined) continue
    const { receiver, debitAmount, receiveAmount } = right.limits ?? {}
    if (receiver !== undefined && receiver !== charge.receiver.url) continue
    const all = [...spentIn({ entry, window }), charge]
    if (debitAmount !== undefined && sumOf(all.map(({ debit }) => debit)) > BigInt(debitAmount.value)) continue
    if (receiveAmount !== undefined) {
      if (!isSameAsset(receiveAmount, charge.receive)) continue
      const received = all.map(({ receive }) => receive).filter((one) => isSameAsset(one, receiveAmount))
      if (sumOf(received) > BigInt(receiveAmount.value)) continue
    }
    return { entry, window }
  }
  return undefined
}

export const sumOf = (amounts: readonly Money[]): bigint => amounts.reduce((sum, { value }) => sum + BigInt(value), 0n)

function paymentsIn(payments: readonly PaymentModel[], { grant }: TokenModel, at: Charged): readonly PaymentModel[] {
  return payments.filter(
    (one) => one.grant === grant && one.entry === at.entry && one.window === at.window && !one.isFailed,
  )
}

/** What a window has spent: what did not fail in it. Receivers of several assets have no sum. */
function spentIn(
  payments: readonly PaymentModel[],
  token: TokenModel,
  at: Charged,
): { debit: unknown; receive: unknown } {
  const own = paymentsIn(payments, token, at)
  const charged = payments.filter(({ grant, entry }) => grant === token.grant && entry === at.entry)
  const assets = new Map(own.map(({ receive }) => [receive.assetCode, receive]))
  const [asset, ...others] = assets.values()
  const payer = charged[0]?.debit
  const debit = payer && { ...payer, value: sumOf(own.map(({ debit: one }) => one)).toString() }
  if (asset !== undefined)
    return {
      debit,
      receive: others.length > 0 ? null : { ...asset, value: sumOf(own.map(({ receive }) => receive)).toString() },
    }
  // Nothing in any of the assets that were paid before: which of them is named is left open.
  const zeros = charged.map(({ receive: { assetCode } }) => assetCode)
  return { debit, receive: expect.toSatisfy((one) => one?.value === '0' && zeros.includes(one.assetCode)) }
}

/** `GET /outgoing-payment-grant`: the entry that was charged last. */
export function readSpent(model: Model, now: number, caller: Caller): Expected {
  const identified = identify(model, now, caller, 'outgoing-payment', 'create')
  if ('refusal' in identified) return identified.refusal
  const { token } = identified
  const last = model.payments.findLast(({ grant }) => grant === token.grant)
  const right = last && token.grant.access[last.entry]
  const window = right && windowOf(right, now)
  if (last === undefined || window === undefined)
    return { status: 200, body: { spentDebitAmount: null, spentReceiveAmount: null } }
  const spent = spentIn(model.payments, token, { entry: last.entry, window })
  return { status: 200, body: { spentDebitAmount: spent.debit, spentReceiveAmount: spent.receive } }
}

function paymentBody(payment: PaymentModel): object {
  const { debit, quote, isFailed, metadata } = payment
  return {
    id: payment.url,
    walletAddress: payment.walletAddress,
    ...(quote !== undefined && { quoteId: quote.url }),
    failed: isFailed,
    receiver: payment.receiver.url,
    receiveAmount: payment.receive,
    debitAmount: debit,
    sentAmount: isFailed ? { ...debit, value: '0' } : debit,
    ...(metadata !== undefined && { metadata }),
    createdAt: new Date(payment.createdAt).toISOString(),
  }
}

/** `GET /outgoing-payments/{id}` */
export function readPayment(model: Model, now: number, caller: Caller, payment: PaymentModel | undefined): Expected {
  const identified = identify(model, now, caller, 'outgoing-payment', 'read')
  if ('refusal' in identified) return identified.refusal
  const isSeen = payment !== undefined && sees(identified.token, 'outgoing-payment', 'read', payment)
  return isSeen ? { status: 200, body: paymentBody(payment) } : refused(404, 'not_found')
}

/** `GET /outgoing-payments` */
export function listPayments(model: Model, now: number, caller: Caller, walletAddress: string): Expected {
  const { payments: items } = model
  return listAll(model, now, caller, { type: 'outgoing-payment', walletAddress, items, body: paymentBody })
}
