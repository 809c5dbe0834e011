import type { TokenCaller } from '../http/credentials.ts'
import type { Input } from '../http/endpoint.ts'
import type { LocalWalletAddress } from '../http/local-wallet-address.ts'
import { claimSignature } from '../http/replay-claims.ts'
import type { Result } from '../http/respond.ts'
import { withAnswerDeadline } from '../payments/answer-deadline.ts'
import { priceRequest } from '../payments/price-request.ts'
import type { Context } from '../ports/context.ts'
import type { ClientId } from '../protocol/client.ts'
import { type CreateQuote, type Quote, quoteToWire } from '../protocol/quote.ts'
import { decideOnce } from '../records/decide-once.ts'
import { freshId } from '../records/fresh-id.ts'
import { readRecord } from '../records/read-record.ts'
import { EXPIRED_KEPT_MILLISECONDS } from '../records/retention.ts'
import {
  activeWalletAddress,
  requireLedgerAccount,
  requireResource,
  requireRightTo,
  requireSameAccount,
} from './authorize.ts'
import type { ReadingCaller, RecordCaller } from './identify-caller.ts'
import { quoteUrl } from './resource-urls.ts'
import { singleUseOf } from './single-use.ts'

/** `create-quote`. @spec QUO-1 @spec QUO-2 @spec QUO-6 */
export async function createQuote({ exchange, caller, body }: Input<ReadingCaller, CreateQuote>): Promise<Result> {
  const { context } = exchange
  const timed = { ...withAnswerDeadline(context, exchange.startedAt), storage: caller.readAhead }
  const use = await singleUseOf(exchange, caller)
  const url = requireRightTo(context, caller, 'quote', 'create', body.walletAddress)
  const once = await decideOnce(timed, use, async () => {
    const payer = await activeWalletAddress(timed, caller, url)
    // Anyone may request quotes; only a client with a right from the owner learns here that the account may not send.
    const isOwners = caller.token.walletAddress === payer.url
    await requireLedgerAccount(timed, payer, isOwners ? 'canSend' : undefined)
    const quote = await intendQuote(timed, caller.token.client, payer, body)
    const dueAt = quote.expiresAt + EXPIRED_KEPT_MILLISECONDS
    return {
      changes: [{ action: 'insert', kind: 'quote', value: quote, dueAt }],
      resourceId: quote.id,
      response: { ...quoteToWire(quote, quoteUrl(context, quote.id)) },
      made: undefined,
    }
  })
  if (once.isRepeat) await requireRepeatable(context, caller, once.resourceId)
  return { status: 201, body: once.response }
}

/** @spec RS-13 */
async function requireRepeatable(context: Context, caller: TokenCaller, id: string): Promise<void> {
  const record = await readRecord(context.storage, 'quote', id)
  // Where a clock runs ahead, the quote may have been swept before its key: then there is nothing left to compare.
  if (record !== undefined) requireSameAccount(caller, record.value)
}

async function intendQuote(
  context: Context,
  client: ClientId,
  payer: LocalWalletAddress,
  body: CreateQuote,
): Promise<Quote> {
  const { receiver, amounts } = await priceRequest(context, payer, body, { client })
  const createdAt = context.clock.now()
  const lifetime = createdAt + context.lifetimes.quoteSeconds * 1000
  const id = freshId(context.secrets, createdAt)
  if (receiver.kind === 'local')
    context.expectedReads.ofQuotes.set(id, { kind: 'incoming-payment', id: receiver.record.value.id })
  return {
    id,
    walletAddress: payer.url,
    account: payer.account,
    client,
    state: 'open',
    createdAt,
    expiresAt: Math.min(lifetime, receiver.expiresAt ?? lifetime),
    receiver: receiver.url,
    ...amounts,
  }
}

/** `get-quote`. */
export async function getQuote({ exchange, caller }: Input<RecordCaller<'quote'>, undefined>): Promise<Result> {
  const { context } = exchange
  const quote = requireResource(context, caller, 'quote', 'read', caller.record?.value)
  await claimSignature(exchange, caller.proof)
  return { status: 200, body: quoteToWire(quote, quoteUrl(context, quote.id)) }
}
