import { expect } from 'vitest'
import { lastSegment } from '../../support/last-segment.ts'
import { AUTH } from '../../support/test-wallet.ts'
import { isExchanged, type Price, receiveExactly, sendExactly } from './prices.ts'
import { type Caller, covers, holds, identify, refuseAddress, sees } from './rights.ts'
import {
  type Expected,
  type IncomingModel,
  isSameAsset,
  type Model,
  type Money,
  money,
  ownerOf,
  type QuoteModel,
  refused,
} from './state.ts'

export const INCOMING_MILLISECONDS = 3_600_000
export const QUOTE_MILLISECONDS = 300_000

const iso = (at: number): string => new Date(at).toISOString()

export const isActive = ({ isCompleted, expiresAt }: IncomingModel, now: number): boolean =>
  !isCompleted && now <= expiresAt

export const roomOf = ({ amount, received }: IncomingModel): bigint | undefined =>
  amount === undefined ? undefined : amount - received

export interface IncomingAsk {
  readonly walletAddress: string
  readonly incomingAmount?: Money
  readonly expiresAt?: string
  readonly metadata?: unknown
}

/** `POST /incoming-payments` */
export function createIncoming(model: Model, now: number, caller: Caller, ask: IncomingAsk): Expected {
  const identified = identify(model, now, caller, 'incoming-payment', 'create')
  if ('refusal' in identified) return identified.refusal
  const { walletAddress, incomingAmount, metadata } = ask
  const refusal = refuseAddress(identified.token, 'incoming-payment', 'create', walletAddress)
  const owner = ownerOf(walletAddress)
  if (refusal !== undefined || owner === undefined) return refusal ?? refused(404, 'unknown_wallet_address')
  const isAmount =
    incomingAmount === undefined || (isSameAsset(incomingAmount, owner.asset) && incomingAmount.value !== '0')
  if (!isAmount) return refused(400, 'invalid_amount')
  const latest = now + INCOMING_MILLISECONDS
  const expiresAt = ask.expiresAt === undefined ? latest : Date.parse(ask.expiresAt)
  if (expiresAt <= now || expiresAt > latest) return refused(400, 'invalid_request')
  if (model.accounts[owner.account]?.canReceive !== true) return refused(403, 'not_allowed')
  const made = {
    walletAddress,
    client: identified.token.grant.client,
    createdAt: now,
    expiresAt,
    asset: owner.asset,
    amount: incomingAmount && BigInt(incomingAmount.value),
    metadata,
    received: 0n,
    isCompleted: false,
  }
  const method = { type: 'ilp', ilpAddress: expect.any(String), sharedSecret: expect.any(String) }
  return {
    status: 201,
    body: { ...incomingBody({ ...made, url: expect.any(String) }), methods: [method] },
    learn: ({ id: url, methods }) => void model.incomings.push({ ...made, url, methods }),
  }
}

/** An incoming payment without its methods. */
function incomingBody(incoming: Omit<IncomingModel, 'methods'>): object {
  const { url, asset, amount, metadata } = incoming
  return {
    id: url,
    walletAddress: incoming.walletAddress,
    completed: incoming.isCompleted,
    ...(amount !== undefined && { incomingAmount: money(asset, amount) }),
    receivedAmount: money(asset, incoming.received),
    expiresAt: iso(incoming.expiresAt),
    ...(metadata !== undefined && { metadata }),
    createdAt: iso(incoming.createdAt),
  }
}

/** `GET /incoming-payments/{id}` */
export function readIncoming(model: Model, now: number, caller: Caller, incoming: IncomingModel | undefined): Expected {
  if (caller.presented === undefined) {
    if (incoming === undefined) return refused(404, 'not_found')
    return { status: 200, body: { authServer: AUTH, receivedAmount: money(incoming.asset, incoming.received) } }
  }
  const identified = identify(model, now, caller, 'incoming-payment', 'read')
  if ('refusal' in identified) return identified.refusal
  const isSeen = incoming !== undefined && sees(identified.token, 'incoming-payment', 'read', incoming)
  if (!isSeen) return refused(404, 'not_found')
  return { status: 200, body: { ...incomingBody(incoming), methods: isActive(incoming, now) ? incoming.methods : [] } }
}

/** A list of what a token sees on a wallet address, newest first. */
export function listAll<
  T extends {
    readonly walletAddress: string
    readonly client: number
    readonly url: string
    readonly createdAt: number
  },
>(
  model: Model,
  now: number,
  caller: Caller,
  list: {
    readonly type: string
    readonly walletAddress: string
    readonly items: readonly T[]
    readonly body: (item: T) => object
  },
): Expected {
  const { type, walletAddress, items } = list
  const identified = identify(model, now, caller, type, 'list')
  if ('refusal' in identified) return identified.refusal
  const { token } = identified
  const refusal = refuseAddress(token, type, 'list', walletAddress)
  if (refusal !== undefined) return refusal
  const seen = items
    .filter((item) => item.walletAddress === walletAddress && sees(token, type, 'list', item))
    .sort((a, b) => b.createdAt - a.createdAt || (a.url < b.url ? 1 : -1))
  const [first, last] = [seen[0], seen.at(-1)]
  const cursors = first && last && { startCursor: lastSegment(first.url), endCursor: lastSegment(last.url) }
  const pagination = { ...cursors, hasNextPage: false, hasPreviousPage: false }
  return { status: 200, body: { pagination, result: seen.map(list.body) } }
}

/** `GET /incoming-payments` */
export function listIncomings(model: Model, now: number, caller: Caller, walletAddress: string): Expected {
  const { incomings: items } = model
  return listAll(model, now, caller, {
    type: 'incoming-payment',
    walletAddress,
    items,
    body: incomingBodyWithoutMethods,
  })
}

const incomingBodyWithoutMethods = ({ methods: _, ...incoming }: IncomingModel): object => incomingBody(incoming)

/** `POST /incoming-payments/{id}/complete` */
export function completeIncoming(
  model: Model,
  now: number,
  caller: Caller,
  incoming: IncomingModel | undefined,
): Expected {
  const identified = identify(model, now, caller, 'incoming-payment', 'complete')
  if ('refusal' in identified) return identified.refusal
  const { access, client } = identified.token.grant
  const isOwn =
    incoming?.client === client &&
    access.some((entry) => holds(entry, 'incoming-payment', 'complete') && covers(entry, incoming.walletAddress))
  if (!isOwn) return refused(404, 'not_found')
  if (!incoming.isCompleted && !isActive(incoming, now)) return refused(409, 'wrong_state')
  incoming.isCompleted = true
  return { status: 200, body: incomingBodyWithoutMethods(incoming) }
}

/** Money that a rail of the wallet's own reports: never more than is expected. */
export function receiveTransfer(
  model: Model,
  now: number,
  incoming: IncomingModel | undefined,
  amount: bigint,
  transfer: string,
): object {
  const known = model.transfers.get(transfer)
  if (known !== undefined) {
    const isSame = known.incoming === incoming && known.amount === amount
    if (!isSame) return { ok: false, reason: 'conflict' }
    return known.excess === undefined
      ? { ok: false, reason: 'expired' }
      : { ok: true, accepted: amount - known.excess, excess: known.excess }
  }
  if (incoming === undefined) return { ok: false, reason: 'unknown' }
  if (incoming.isCompleted) return { ok: false, reason: 'completed' }
  if (!isActive(incoming, now)) {
    model.transfers.set(transfer, { incoming, amount, excess: undefined })
    return { ok: false, reason: 'expired' }
  }
  const room = roomOf(incoming) ?? amount
  const accepted = amount < room ? amount : room
  creditIncoming(incoming, accepted)
  model.transfers.set(transfer, { incoming, amount, excess: amount - accepted })
  return { ok: true, accepted, excess: amount - accepted }
}

export function creditIncoming(incoming: IncomingModel, amount: bigint): void {
  incoming.received += amount
  if (incoming.amount !== undefined && incoming.received >= incoming.amount) incoming.isCompleted = true
}

export interface PriceAsk {
  readonly walletAddress: string
  readonly receiver: IncomingModel | undefined
  readonly debit?: Money | undefined
  readonly receive?: Money | undefined
}

export type Priced = { readonly price: Price; readonly receiver: IncomingModel } | { readonly refusal: Expected }

/** What a payment costs, or why there is none; whom the owner has given nothing is not told that the account may not send. */
export function priceOf(model: Model, now: number, ask: PriceAsk, isOwners = true): Priced {
  const no = (code: string, status = 400): Priced => ({ refusal: refused(status, code) })
  const payer = ownerOf(ask.walletAddress)
  if (payer === undefined || (isOwners && model.accounts[payer.account]?.canSend !== true))
    return no('not_allowed', 403)
  const { receiver, debit } = ask
  if (receiver === undefined || !isActive(receiver, now)) return no('invalid_receiver')
  const room = roomOf(receiver)
  const receive =
    debit === undefined ? (ask.receive ?? (room === undefined ? undefined : money(receiver.asset, room))) : undefined
  const [given, asset] = debit === undefined ? [receive, receiver.asset] : [debit, payer.asset]
  if (given === undefined || !isSameAsset(given, asset) || given.value === '0') return no('invalid_amount')
  if (!isExchanged(payer.asset, receiver.asset)) return no('invalid_receiver')
  const price = (debit === undefined ? receiveExactly : sendExactly)(payer.asset, receiver.asset, BigInt(given.value))
  if (price.receive === 0n) return no('non_positive_receive_amount')
  return room !== undefined && price.receive > room ? no('invalid_amount') : { price, receiver }
}

/** `POST /quotes` */
export function createQuote(model: Model, now: number, caller: Caller, ask: PriceAsk): Expected {
  const identified = identify(model, now, caller, 'quote', 'create')
  if ('refusal' in identified) return identified.refusal
  const { walletAddress } = ask
  const refusal = refuseAddress(identified.token, 'quote', 'create', walletAddress)
  const asset = ownerOf(walletAddress)?.asset
  if (refusal !== undefined || asset === undefined) return refusal ?? refused(404, 'unknown_wallet_address')
  const priced = priceOf(model, now, ask, identified.token.grant.owner === walletAddress)
  if ('refusal' in priced) return priced.refusal
  const { price, receiver } = priced
  const made = {
    walletAddress,
    client: identified.token.grant.client,
    createdAt: now,
    expiresAt: Math.min(now + QUOTE_MILLISECONDS, receiver.expiresAt),
    receiver,
    debit: money(asset, price.debit),
    receive: money(receiver.asset, price.receive),
    fee: price.fee,
    isUsed: false,
    isForgotten: false,
  }
  const learn = ({ id: url }: { readonly id: string }): void => void model.quotes.push({ ...made, url })
  return { status: 201, body: quoteBody({ ...made, url: expect.any(String) }), learn }
}

function quoteBody(quote: QuoteModel): object {
  return {
    id: quote.url,
    walletAddress: quote.walletAddress,
    receiver: quote.receiver.url,
    receiveAmount: quote.receive,
    debitAmount: quote.debit,
    method: 'ilp',
    expiresAt: iso(quote.expiresAt),
    createdAt: iso(quote.createdAt),
  }
}

/** `GET /quotes/{id}` */
export function readQuote(model: Model, now: number, caller: Caller, quote: QuoteModel | undefined): Expected {
  const identified = identify(model, now, caller, 'quote', 'read')
  if ('refusal' in identified) return identified.refusal
  const isSeen = quote !== undefined && !quote.isForgotten && sees(identified.token, 'quote', 'read', quote)
  return isSeen ? { status: 200, body: quoteBody(quote) } : refused(404, 'not_found')
}
