import { invalidAmount, invalidReceiver, nonPositiveReceiveAmount } from '../errors/conditions.ts'
import type { OpenPaymentsError } from '../errors/open-payments-error.ts'
import type { Context } from '../ports/context.ts'
import type { ReceiverAsker } from '../ports/remote-receivers.ts'
import { type Asset, amountOf, amountToWire } from '../protocol/amount.ts'
import type { CreateQuote, FrozenAmounts } from '../protocol/quote.ts'
import { type FixedAmount, type PricedPayment, pricePayment } from './price-payment.ts'
import { mostOf, type Receiver, resolveReceiver } from './resolve-receiver.ts'

/** A payment that can be made: its receiver and its frozen amounts. */
export interface PricedRequest {
  readonly receiver: Receiver
  readonly amounts: FrozenAmounts
}

/** Resolves and prices what a quote or a payment requests; throws the condition that names what is wrong. */
export async function priceRequest(
  context: Context,
  payer: Asset & { readonly url: string },
  request: Pick<CreateQuote, 'receiver' | 'debitAmount' | 'receiveAmount'>,
  asker: ReceiverAsker,
): Promise<PricedRequest> {
  const from = { assetCode: payer.assetCode, assetScale: payer.assetScale }
  const amount = request.debitAmount ?? request.receiveAmount
  const resolved = await resolveReceiver(context, request.receiver, asker, { from, ...(amount && { amount }) })
  if (!resolved.ok) throw invalidReceiver(resolved.reason, resolved.detail)
  const { receiver, way } = resolved
  const fixed = fixedAmountOf(request, receiver)
  if (fixed === undefined) throw invalidAmount('give an amount: the receiver names none')
  const asked = { walletAddress: payer.url, from, to: receiver.asset, most: mostOf(receiver), fixed, way }
  const priced = await pricePayment(context, asked)
  if (!priced.ok) throw conditionOf(priced)
  return { receiver, amounts: priced.amounts }
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
    case 'unlikely_way':
      return invalidReceiver('the route to the receiver promises much more than the prices of this wallet')
    case 'receives_nothing':
      return nonPositiveReceiveAmount(refusal.minSendAmount && amountToWire(refusal.minSendAmount))
  }
}
