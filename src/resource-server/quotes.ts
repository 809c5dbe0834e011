import { insufficientGrant, invalidAmount, invalidReceiver, nonPositiveReceiveAmount } from '../errors/conditions.ts'
import type { OpenPaymentsError } from '../errors/open-payments-error.ts'
import type { RecordCaller, TokenCaller } from '../http/credentials.ts'
import type { Input } from '../http/endpoint.ts'
import type { LocalWalletAddress } from '../http/local-wallet-address.ts'
import { claimSignature } from '../http/replay-claims.ts'
import type { Result } from '../http/respond.ts'
import { withAnswerDeadline } from '../payments/in-time.ts'
import { type FixedAmount, type PricedPayment, pricePayment } from '../payments/price-payment.ts'
import { isRemoteReceiver, lookUpReceiver, type Receiver, type ReceiverLookup } from '../payments/resolve-receiver.ts'
import type { Context } from '../ports/context.ts'
import { amountOf, amountToWire } from '../protocol/amount.ts'
import type { ClientId } from '../protocol/client.ts'
import { type CreateQuote, type Quote, quoteToWire } from '../protocol/quote.ts'
import { decideOnce } from '../records/decide-once.ts'
import { freshId } from '../records/fresh-id.ts'
import { EXPIRED_KEPT_MILLISECONDS } from '../records/retention.ts'
import { activeWalletAddress, requireLedgerAccount, requireRightTo, requireVisible } from './authorize.ts'
import { quoteUrl } from './resource-urls.ts'
import { singleUseOf } from './single-use.ts'

/** A payment that can be made: its receiver and its frozen amounts. */
export interface PricedRequest {
  readonly receiver: Receiver
  readonly priced: Extract<PricedPayment, { readonly ok: true }>
}

/** `create-quote`. @spec QUO-1 @spec QUO-2 @spec QUO-6 */
export async function createQuote({ exchange, caller, body }: Input<TokenCaller, CreateQuote>): Promise<Result> {
  const { context } = exchange
  const timed = isRemoteReceiver(context, body.receiver) ? withAnswerDeadline(context) : context
  const use = await singleUseOf(exchange, caller)
  const url = requireRightTo(context, caller, 'quote', 'create', body.walletAddress)
  if (isBeyondConsent(context, caller, url)) throw insufficientGrant()
  const receivers = lookUpReceiver(timed, { client: caller.token.client })
  const { response } = await decideOnce(timed, use, async () => {
    const payer = await activeWalletAddress(timed, caller, url)
    // Anyone may request quotes; only a client with a right from the owner learns here that the account may not send.
    const isOwners = caller.token.walletAddress === payer.url
    await requireLedgerAccount(timed, payer, isOwners ? 'canSend' : undefined)
    const quote = await intendQuote(timed, caller.token.client, payer, body, receivers)
    const dueAt = quote.expiresAt + EXPIRED_KEPT_MILLISECONDS
    return {
      changes: [{ action: 'insert', kind: 'quote', value: quote, dueAt }],
      resourceId: quote.id,
      response: { ...quoteToWire(quote, quoteUrl(context, quote.id)) },
      made: undefined,
    }
  })
  return { status: 201, body: response }
}

/**
 * Whether a token has no right to quotes of a wallet address. A right to quotes names none. If such rights need
 * consent, this one is for the wallet address whose owner consented, like every right that needs consent.
 */
function isBeyondConsent({ policies }: Context, { token }: TokenCaller, walletAddress: string | undefined): boolean {
  return !policies.withoutInteraction.includes('quote') && token.walletAddress !== walletAddress
}

async function intendQuote(
  context: Context,
  client: ClientId,
  payer: LocalWalletAddress,
  body: CreateQuote,
  receivers: ReceiverLookup,
): Promise<Quote> {
  const { receiver, priced } = await priceRequest(context, payer, body, receivers)
  const createdAt = context.clock.now()
  const lifetime = createdAt + context.lifetimes.quoteSeconds * 1000
  return {
    id: freshId(context.secrets, createdAt),
    walletAddress: payer.url,
    account: payer.account,
    client,
    state: 'open',
    createdAt,
    expiresAt: Math.min(lifetime, receiver.expiresAt ?? lifetime),
    receiver: receiver.url,
    debitAmount: priced.debitAmount,
    receiveAmount: priced.receiveAmount,
    fee: priced.fee,
    ...(priced.rail && { rail: priced.rail }),
  }
}

/** Resolves and prices what a quote or a payment requests; throws the condition that names what is wrong. */
export async function priceRequest(
  context: Context,
  payer: LocalWalletAddress,
  request: Pick<CreateQuote, 'receiver' | 'debitAmount' | 'receiveAmount'>,
  receivers: ReceiverLookup,
): Promise<PricedRequest> {
  const from = { assetCode: payer.assetCode, assetScale: payer.assetScale }
  const reached = await receivers.reach(request.receiver, from, request.debitAmount ?? request.receiveAmount)
  if (!reached.ok) throw invalidReceiver(reached.reason, reached.detail)
  const { receiver, way } = reached
  const fixed = fixedAmountOf(request, receiver)
  if (fixed === undefined) throw invalidAmount('give an amount: the receiver names none')
  const { asset: to, remainder } = receiver
  const priced = await pricePayment(context, { walletAddress: payer.url, from, to, remainder, fixed, way })
  if (!priced.ok) throw conditionOf(priced)
  return { receiver, priced }
}

/** Without an amount, the receiver's remainder is what is requested. @spec QUO-2 */
function fixedAmountOf(
  request: Pick<CreateQuote, 'debitAmount' | 'receiveAmount'>,
  receiver: Receiver,
): FixedAmount | undefined {
  if (request.debitAmount !== undefined) return { debit: request.debitAmount }
  if (request.receiveAmount !== undefined) return { receive: request.receiveAmount }
  return receiver.remainder === undefined ? undefined : { receive: amountOf(receiver.asset, receiver.remainder) }
}

function conditionOf(refusal: Exclude<PricedPayment, { readonly ok: true }>): OpenPaymentsError {
  switch (refusal.reason) {
    case 'wrong_asset':
      return invalidAmount('debitAmount must be in the asset of the payer, receiveAmount in that of the receiver')
    case 'zero':
      return invalidAmount('the amount is zero, or nothing remains to be paid')
    case 'over_remainder':
      return invalidAmount('the receiver takes less than that')
    case 'too_large':
      return invalidAmount('the amount is too large')
    case 'no_exchange':
      return invalidReceiver('this wallet does not exchange the assets of payer and receiver')
    case 'unfair_way':
      return invalidReceiver('the route to the receiver delivers much less than the prices of this wallet')
    case 'receives_nothing':
      return nonPositiveReceiveAmount(refusal.minSendAmount && amountToWire(refusal.minSendAmount))
  }
}

/** `get-quote`. */
export async function getQuote({ exchange, caller }: Input<RecordCaller<'quote'>, undefined>): Promise<Result> {
  const { context } = exchange
  const found = caller.record?.value
  const isHidden = isBeyondConsent(context, caller, found?.walletAddress)
  const quote = requireVisible(caller, 'quote', isHidden ? undefined : found)
  await claimSignature(exchange, caller.proof)
  return { status: 200, body: quoteToWire(quote, quoteUrl(context, quote.id)) }
}
