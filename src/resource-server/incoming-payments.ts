import { invalidAmount, invalidExpiresAt, unknownResource, wrongState } from '../errors/conditions.ts'
import type { TokenCaller } from '../http/credentials.ts'
import type { Input } from '../http/endpoint.ts'
import type { Exchange } from '../http/exchange.ts'
import type { LocalWalletAddress } from '../http/local-wallet-address.ts'
import { claimSignature } from '../http/replay-claims.ts'
import type { Result } from '../http/respond.ts'
import { askHostInTime, withAnswerDeadline } from '../payments/answer-deadline.ts'
import { completionChanges, endIncoming } from '../payments/incoming-changes.ts'
import { deliverEvents, eventChanges, incomingPaymentEvent } from '../payments/money-events.ts'
import { askRail } from '../payments/rail/ask-rail.ts'
import { sealAddress } from '../payments/rail/seal-address.ts'
import { turnAtIncoming } from '../payments/turn-keys.ts'
import type { Context } from '../ports/context.ts'
import { amountOf, amountToWire, isSameAsset } from '../protocol/amount.ts'
import type { ClientId } from '../protocol/client.ts'
import {
  type CreateIncomingPayment,
  type IncomingPayment,
  incomingPaymentToWire,
  isActive,
  type WireIncomingPayment,
} from '../protocol/incoming-payment.ts'
import type { IlpPaymentMethod } from '../protocol/payment-method.ts'
import { type Attempt, decide } from '../records/decide.ts'
import { decideOnce } from '../records/decide-once.ts'
import { freshId } from '../records/fresh-id.ts'
import { knownAtFirst, readNamed, readRecord } from '../records/read-record.ts'
import {
  activeWalletAddress,
  requireLedgerAccount,
  requireResource,
  requireRightTo,
  requireSameAccount,
} from './authorize.ts'
import type { ReadingCaller, RecordCaller } from './identify-caller.ts'
import { answerList } from './pagination.ts'
import { incomingPaymentUrl } from './resource-urls.ts'
import { singleUseOf } from './single-use.ts'

/** `create-incoming-payment`. @spec INC-1 @spec INC-2 @spec INC-3 */
export async function createIncomingPayment({
  exchange,
  caller,
  body,
}: Input<TokenCaller, CreateIncomingPayment>): Promise<Result> {
  const context = withAnswerDeadline(exchange.context, exchange.startedAt)
  const use = await singleUseOf(exchange, caller)
  const url = requireRightTo(context, caller, 'incoming-payment', 'create', body.walletAddress)
  const id = freshId(context.secrets, context.clock.now())
  const once = await decideOnce(context, use, async () => {
    const payee = await activeWalletAddress(context, caller, url)
    const payment = await intendIncomingPayment(context, id, caller.token.client, payee, body)
    const events = eventChanges(context, [incomingPaymentEvent(context, payment, 'created')])
    return {
      changes: [
        { action: 'insert', kind: 'incoming-payment', value: payment, isListed: true, dueAt: payment.expiresAt + 1 },
        ...events,
      ],
      resourceId: payment.id,
      response: { ...toWire(context, payment) },
      // Requested before the commit: if the rail fails, no payment must be left behind that its client does not know.
      made: { createdEvent: events[0], methods: await detailsOf(context, payment) },
    }
  })
  if (!once.isRepeat) exchange.waitUntil(deliverEvents(context, id, { first: once.made.createdEvent }))
  const methods = once.isRepeat ? await detailsAgain(context, caller, once.resourceId) : once.made.methods
  return { status: 201, body: { ...once.response, methods } }
}

function toWire(context: Context, payment: IncomingPayment): WireIncomingPayment {
  return incomingPaymentToWire(payment, incomingPaymentUrl(context, payment.id))
}

async function intendIncomingPayment(
  context: Context,
  id: string,
  client: ClientId,
  payee: LocalWalletAddress,
  body: CreateIncomingPayment,
): Promise<IncomingPayment & { readonly expiresAt: number }> {
  if (body.incomingAmount) {
    if (!isSameAsset(body.incomingAmount, payee))
      throw invalidAmount('incomingAmount is not in the asset of the wallet address')
    if (body.incomingAmount.value === 0n) throw invalidAmount('incomingAmount is zero')
  }
  const createdAt = context.clock.now()
  const { incomingPaymentSeconds } = context.lifetimes
  const latest = createdAt + incomingPaymentSeconds * 1000
  const expiresAt = body.expiresAt ?? latest
  if (expiresAt <= createdAt) throw invalidExpiresAt('expiresAt is in the past')
  if (expiresAt > latest) throw invalidExpiresAt(`expiresAt is more than ${incomingPaymentSeconds} seconds ahead`)
  await requireLedgerAccount(context, payee, 'canReceive')
  return {
    id,
    walletAddress: payee.url,
    account: payee.account,
    client,
    state: 'pending',
    createdAt,
    expiresAt,
    ...(body.incomingAmount && { incomingAmount: body.incomingAmount }),
    received: amountOf(payee, 0n),
    reserved: amountOf(payee, 0n),
    ...(body.metadata && { metadata: body.metadata }),
    secretId: await context.secrets.currentId(),
  }
}

/** The details by which a payment is paid from elsewhere; its address and secret are derived each time. @spec INC-4 */
async function detailsOf(context: Context, payment: IncomingPayment): Promise<readonly IlpPaymentMethod[]> {
  const { address, sharedSecret } = await sealAddress(context.secrets, payment)
  if (context.paymentMethods.length === 0)
    return [{ type: 'ilp', ilpAddress: `${context.policies.localIlpPrefix}.${address}`, sharedSecret }]
  const { id, walletAddress } = payment
  const payable = { id, address, walletAddress, sharedSecret }
  return askHostInTime(context, 'a payment method', () =>
    Promise.all(context.paymentMethods.map((method) => askRail(payable, () => method.createDetails(payable)))),
  )
}

/**
 * The details as at creation, whatever became of the payment since: a repeat is answered as the first request was.
 * @spec OUT-12
 */
async function detailsAgain(context: Context, caller: TokenCaller, id: string): Promise<readonly IlpPaymentMethod[]> {
  const record = await readRecord(context.storage, 'incoming-payment', id)
  if (record === undefined) throw new Error('an incoming payment has vanished')
  requireSameAccount(caller, record.value)
  return detailsOf(context, record.value)
}

/** `get-incoming-payment`: the whole payment for a token that may see it, the public view for everybody else. */
export async function getIncomingPayment({
  exchange,
  caller,
}: Input<RecordCaller<'incoming-payment'> | undefined, undefined>): Promise<Result> {
  const { context } = exchange
  if (caller === undefined) return publicView(exchange)
  const payment = requireResource(context, caller, 'incoming-payment', 'read', caller.record?.value)
  await claimSignature(exchange, caller.proof)
  // How it can be paid from elsewhere; empty if it no longer takes money. @spec INC-9
  const methods = isActive(payment, context.clock.now()) ? await detailsOf(context, payment) : []
  return { status: 200, body: { ...toWire(context, payment), methods } }
}

/** @spec RS-9 @spec WAS-8 */
async function publicView({ context, params }: Exchange): Promise<Result> {
  const record = await readNamed(context.storage, 'incoming-payment', params['id'])
  if (record === undefined) throw unknownResource()
  return {
    status: 200,
    body: { authServer: context.authServer, receivedAmount: amountToWire(record.value.received) },
    headers: { 'access-control-allow-origin': '*' },
  }
}

/** `list-incoming-payments`. @spec INC-12 */
export async function listIncomingPayments(input: Input<ReadingCaller, undefined>): Promise<Result> {
  return answerList(input, 'incoming-payment', (item) => toWire(input.exchange.context, item))
}

/**
 * `complete-incoming-payment`: from now on it takes no more money. Repeating it is fine; an expired payment cannot be
 * completed.
 * @spec INC-10
 */
export async function completeIncomingPayment({
  exchange,
  caller,
}: Input<RecordCaller<'incoming-payment'>, undefined>): Promise<Result> {
  const { context, bytes } = exchange
  // A body is optional and its content does not matter; but it must be JSON, as everywhere.
  if (bytes.length > 0) exchange.json()
  const { record: known } = caller
  if (known === undefined) throw unknownResource()
  // Nothing of what this judges ever changes.
  const { id } = requireResource(context, caller, 'incoming-payment', 'complete', known.value)
  const turn = turnAtIncoming(id)
  // Whoever has to wait for a turn finds another record than this one.
  const isBusy = context.inTurn.countOf(turn) > 0
  const readIncoming = isBusy
    ? () => readRecord(context.storage, 'incoming-payment', id)
    : knownAtFirst(context.storage, known)
  const complete = async (): Promise<Attempt<IncomingPayment>> => {
    const record = await readIncoming()
    if (record === undefined) throw unknownResource()
    if (record.value.state === 'completed') return { answer: record.value }
    if (!isActive(record.value, context.clock.now())) throw wrongState()
    const { change, value } = endIncoming(context, record, 'completed')
    return { changes: [change, ...completionChanges(context, record.value, value)], answer: value }
  }
  const decided = () => decide(context, complete, { claims: caller.proof.claims })
  // Outside of the turn, each attempt would meet the commit of one more payer; behind all who wait, it might come too late. What
  // is over is never completed: repeats without end, each before all who wait, would keep those from what they have to record.
  const completed = isActive(known.value, context.clock.now())
    ? await context.inTurn(turn, decided, 'first')
    : await decided()
  exchange.waitUntil(deliverEvents(context, id))
  return { status: 200, body: toWire(context, completed) }
}
