import { invalidQuote, invalidReceiver } from '../errors/conditions.ts'
import type { TokenCaller } from '../http/credentials.ts'
import type { Input } from '../http/endpoint.ts'
import type { Exchange } from '../http/exchange.ts'
import type { LocalWalletAddress } from '../http/local-wallet-address.ts'
import { claimSignature } from '../http/replay-claims.ts'
import type { Result } from '../http/respond.ts'
import { advancePayment } from '../payments/advance-payment.ts'
import { withAnswerDeadline } from '../payments/answer-deadline.ts'
import { createPayment } from '../payments/create-payment.ts'
import type { PaymentOrder, PaymentTerms } from '../payments/plan-payment.ts'
import { priceRequest } from '../payments/price-request.ts'
import { mostOf, resolveReceiver } from '../payments/resolve-receiver.ts'
import type { Context } from '../ports/context.ts'
import type { StoredRecord } from '../ports/storage.ts'
import { isSameAsset } from '../protocol/amount.ts'
import { toBase64url } from '../protocol/bytes.ts'
import type { ClientId } from '../protocol/client.ts'
import type { KeptAnswer } from '../protocol/idempotency-key.ts'
import {
  type CreateOutgoingPayment,
  type OutgoingPayment,
  outgoingPaymentToWire,
  type WireOutgoingPayment,
} from '../protocol/outgoing-payment.ts'
import type { Quote } from '../protocol/quote.ts'
import { localQuoteId } from '../protocol/receiver.ts'
import { hideToken } from '../protocol/signed-request.ts'
import { type Spending, spentAmountsOf } from '../protocol/spent-amounts.ts'
import { knownAtFirst, readNamed, readRecord } from '../records/read-record.ts'
import { activeWalletAddress, requireLedgerAccount, requireResource, requireRightTo } from './authorize.ts'
import type { ReadingCaller, RecordCaller } from './identify-caller.ts'
import { answerList } from './pagination.ts'
import { outgoingPaymentUrl, quoteUrl } from './resource-urls.ts'
import { singleUseOf } from './single-use.ts'

/** `create-outgoing-payment`: from a quote, or straight from an incoming payment. @spec OUT-2 @spec OUT-3 @spec OUT-10 */
export async function createOutgoingPayment({
  exchange,
  caller,
  body,
}: Input<ReadingCaller, CreateOutgoingPayment>): Promise<Result> {
  const { context } = exchange
  const timed = withAnswerDeadline(context, exchange.startedAt)
  const use = await singleUseOf(exchange, caller)
  const url = requireRightTo(context, caller, 'outgoing-payment', 'create', body.walletAddress)
  const readTerms = async (): Promise<PaymentTerms> => {
    const reading = { ...timed, storage: caller.readAhead }
    const payer = await activeWalletAddress(reading, caller, url)
    const terms =
      'quoteId' in body
        ? await termsOfQuote(reading, payer, body.quoteId, caller.token.client)
        : await termsOfIncomingPayment(reading, payer, body, caller.token.client)
    return { ...terms, ...(body.metadata && { metadata: body.metadata }) }
  }
  const { record, answer, isOurs, written } = await createPayment(timed, {
    ...use,
    presented: caller.presented,
    readAhead: caller.readAhead,
    endedTurns: exchange.endedTurns,
    signedRequest: signedRequestOf(exchange, caller),
    readTerms,
    answerOf: (payment, spent) => ({ ...toWire(context, payment), ...grantSpentOf(spent) }),
  })
  // Begun now, but the answer does not wait for it: so under `context`, without the deadline of `timed`.
  if (isOurs) exchange.waitUntil(advancePayment(context, record, { written }))
  return { status: 201, body: answer }
}

/**
 * What proves later that the client ordered this. The body was parsed as JSON, so its bytes are valid text.
 * @spec T-42
 */
function signedRequestOf({ bytes }: Exchange, { token, proof }: TokenCaller): PaymentOrder['signedRequest'] {
  return {
    publicKey: proof.key,
    signature: toBase64url(proof.signature),
    base: hideToken(proof.base),
    // Keep a byte order mark: the digest covers it.
    body: new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes),
    tokenSecretId: token.secretId,
    tokenManageId: token.manageId,
  }
}

async function termsOfQuote(
  context: Context,
  payer: LocalWalletAddress,
  url: string,
  client: ClientId,
): Promise<PaymentTerms> {
  const found = await findQuote(context, payer, url, client)
  // It may have been read before the key: what used it may be undone since, and with that the key is free.
  const quote = found.value.state === 'open' ? found : await findQuote(context, payer, url, client)
  await requireOpenQuote(context, quote, client)
  const { value } = quote
  // If the wallet has since changed the account's asset, the same number of the new unit would be taken.
  if (!isSameAsset(value.debitAmount, payer)) throw invalidQuote('the wallet address now has a different asset')
  const resolved = await resolveReceiver(context, value.receiver, { client })
  if (!resolved.ok) throw invalidReceiver(resolved.reason, resolved.detail)
  const { receiver } = resolved
  if (!isSameAsset(receiver.asset, value.receiveAmount))
    throw invalidReceiver('the incoming payment is now in a different asset')
  const most = mostOf(receiver)
  if (most !== undefined && value.receiveAmount.value > most)
    throw invalidReceiver('the incoming payment now takes less than the quoted amount')
  const { debitAmount, receiveAmount, fee, receiveWorth, rail } = value
  const readQuote = knownAtFirst(context.storage, quote)
  return {
    walletAddress: payer.url,
    account: payer.account,
    receiver,
    debitAmount,
    receiveAmount,
    fee,
    ...(receiveWorth !== undefined && { receiveWorth }),
    ...(rail && { rail }),
    readQuote: async () => requireOpenQuote(context, await readQuote(), client),
  }
}

/** The quote of a payer that a client may use. Any other looks like one that does not exist. @spec T-38 @spec D12 @spec RS-13 */
async function findQuote(
  context: Context,
  payer: LocalWalletAddress,
  url: string,
  client: ClientId,
): Promise<StoredRecord<'quote'>> {
  const quote = await readNamed(context.storage, 'quote', localQuoteId(url, context.resourceServer))
  const isBound = context.policies.quoteBinding === 'client'
  if (
    quote === undefined ||
    quote.value.walletAddress !== payer.url ||
    quote.value.account !== payer.account ||
    (isBound && quote.value.client !== client)
  )
    throw invalidQuote('unknown quote')
  return quote
}

/**
 * Refuses a quote that cannot be used any more. The refusal names the payment that used it: a client whose order got no
 * answer learns of its payment here, perhaps before any list shows it.
 * @spec OUT-2 @spec QUO-7 @spec T-32
 */
async function requireOpenQuote(
  context: Context,
  quote: StoredRecord<'quote'> | undefined,
  client: ClientId,
): Promise<StoredRecord<'quote'>> {
  if (quote === undefined) throw invalidQuote('unknown quote')
  const { value } = quote
  if (value.state !== 'open') throw invalidQuote('the quote is used', await paidWith(context, value, client))
  if (context.clock.now() >= value.expiresAt) throw invalidQuote('the quote has expired')
  return quote
}

/** The URL of the payment that used a quote, if this client ordered it. */
async function paidWith(context: Context, { outgoingPaymentId }: Quote, client: ClientId): Promise<string | undefined> {
  const payment = await readRecord(context.storage, 'outgoing-payment', outgoingPaymentId)
  return payment?.value.client === client ? outgoingPaymentUrl(context, payment.value.id) : undefined
}

async function termsOfIncomingPayment(
  context: Context,
  payer: LocalWalletAddress,
  { incomingPayment, debitAmount }: Extract<CreateOutgoingPayment, { readonly incomingPayment: string }>,
  client: ClientId,
): Promise<PaymentTerms> {
  await requireLedgerAccount(context, payer, 'canSend')
  const request = { receiver: incomingPayment, debitAmount }
  const { receiver, amounts } = await priceRequest(context, payer, request, { client })
  return { walletAddress: payer.url, account: payer.account, receiver, ...amounts }
}

function toWire(context: Context, payment: OutgoingPayment): WireOutgoingPayment {
  const quote = payment.quoteId === undefined ? undefined : quoteUrl(context, payment.quoteId)
  return outgoingPaymentToWire(payment, outgoingPaymentUrl(context, payment.id), quote)
}

function grantSpentOf(spent: Spending): KeptAnswer {
  const { spentDebitAmount, spentReceiveAmount } = spentAmountsOf(spent)
  return {
    ...(spentDebitAmount && { grantSpentDebitAmount: spentDebitAmount }),
    ...(spentReceiveAmount && { grantSpentReceiveAmount: spentReceiveAmount }),
  }
}

/** `get-outgoing-payment`. */
export async function getOutgoingPayment({
  exchange,
  caller,
}: Input<RecordCaller<'outgoing-payment'>, undefined>): Promise<Result> {
  const { context } = exchange
  const { record } = caller
  // Not filtered by `isListed`: a client may have got its 201 from a process that could not commit that. Only a refused
  // payment never existed.
  const existing = record?.value.state === 'refused' ? undefined : record?.value
  const payment = requireResource(context, caller, 'outgoing-payment', 'read', existing)
  await claimSignature(exchange, caller.proof)
  return { status: 200, body: toWire(context, payment) }
}

/** `list-outgoing-payments`. @spec OUT-11 */
export async function listOutgoingPayments(input: Input<ReadingCaller, undefined>): Promise<Result> {
  return answerList(input, 'outgoing-payment', (item) => toWire(input.exchange.context, item))
}
