import { grantLimitExceeded, invalidQuote, invalidSignature, invalidToken } from '../errors/conditions.ts'
import type { Context } from '../ports/context.ts'
import type { Change, Storage, StoredRecord } from '../ports/storage.ts'
import { type AccessToken, isUsableToken } from '../protocol/access-token.ts'
import { amountOf } from '../protocol/amount.ts'
import type { KeptAnswer } from '../protocol/idempotency-key.ts'
import type { Metadata } from '../protocol/metadata.ts'
import type { OutgoingPayment } from '../protocol/outgoing-payment.ts'
import type { FrozenAmounts } from '../protocol/quote.ts'
import { type SignedRequest, signedRequestIdOf } from '../protocol/signed-request.ts'
import type { Spending } from '../protocol/spent-amounts.ts'
import { asCommitted } from '../records/as-committed.ts'
import { unmarked } from '../records/change.ts'
import type { Effect, ReplayClaimChange, SingleUse } from '../records/decide-once.ts'
import { type ChargedGrant, chargeGrant } from './charge-grant.ts'
import { leaseEnd } from './lease.ts'
import type { Receiver } from './resolve-receiver.ts'

/** A payment with its amounts frozen, before any budget is charged for it. */
export interface PaymentTerms extends FrozenAmounts {
  readonly walletAddress: string
  /** The payer's account in the wallet's ledger. */
  readonly account: string
  readonly receiver: Receiver
  readonly metadata?: Metadata
  /**
   * Reads the quote that fixes the amounts, if there is one: the first call returns it as it was found, later ones read it
   * anew. Throws if it cannot be used any more.
   */
  readonly readQuote?: () => Promise<StoredRecord<'quote'>>
}

/** What a client orders, and the proof that it did. */
export interface PaymentOrder extends SingleUse {
  /** The access token that was presented, as it was when its client was identified. */
  readonly presented: StoredRecord<'access-token'>
  readonly signedRequest: Omit<SignedRequest, 'id'>
  /** Reads what the payment is based on; called until it has succeeded once. */
  readonly readTerms: () => Promise<PaymentTerms>
  /** The storage; the first read of what was read together with the token is answered with that. */
  readonly readAhead: Storage
  /** How many turns had ended before anything was read. */
  readonly endedTurns: number
  /** The answer to the order; `spent` is what its grant has spent, this payment included. */
  readonly answerOf: (payment: OutgoingPayment, spent: Spending) => KeptAnswer
}

/** A payment once it is durable, and what its grant has spent, this payment included. */
export interface Intent {
  readonly record: StoredRecord<'outgoing-payment'>
  readonly spent: Spending
}

/**
 * What is committed for an order: the payment, its charge to the budget and the use of its quote, if the token is still
 * usable.
 */
export async function planPayment(
  context: Context,
  { presented, key, claims, signedRequest, answerOf }: PaymentOrder,
  {
    id,
    terms,
    current,
    uncommitted,
    readAhead,
  }: {
    readonly id: string
    readonly terms: PaymentTerms
    /** The token as it is now. */
    readonly current: StoredRecord<'access-token'> | undefined
    /** The changes of the orders before this one in a joint commit. */
    readonly uncommitted: readonly Change[]
    /** A storage that may know what the grant has spent, perhaps as it was before the key and the quote were read. */
    readonly readAhead?: Storage | undefined
  },
): Promise<Effect<Intent>> {
  const token = presented.value
  const now = context.clock.now()
  if (claims.some((claim) => isExpiredClaim(claim, now))) throw invalidSignature('signature is too old by now')
  // Checked by the commit, and read again after a conflict: a grant that was revoked while this order waited pays
  // nothing. @spec TOK-9
  if (current === undefined || !isUsableToken(current.value, now)) throw invalidToken()
  const quote = await terms.readQuote?.()
  const charge = { ...terms, id, receiver: terms.receiver.url }
  const charged = await chargeGrant(context, token, charge, now, { uncommitted, readAhead })
  if (!charged.ok) throw grantLimitExceeded(charged.reason)
  const payment: OutgoingPayment = {
    ...intendPayment(id, token, terms, charged, now),
    ...(quote && { quoteId: quote.value.id }),
    ...(key && { keyId: key.id }),
  }
  const dueAt = leaseEnd(context, now)
  const write = { action: 'insert', kind: 'outgoing-payment', value: payment, dueAt } satisfies Change
  const changes: readonly Change[] = [
    write,
    { action: 'insert', kind: 'signed-request', value: { id: signedRequestIdOf(payment), ...signedRequest } },
    { action: 'check', kind: 'access-token', id: token.id, version: current.version },
    ...charged.changes,
    ...(quote ? [useQuoteChange(quote, id)] : []),
  ]
  const { spent } = charged
  const made = { record: asCommitted(write), spent }
  // Without a key no answer is kept: the client gets the payment as it is after the hold.
  return { changes, resourceId: id, response: key ? answerOf(payment, spent) : {}, made }
}

/**
 * An expired claim may already have been swept, so it no longer protects: the same request may have been sent again and
 * carried out in the meantime.
 * @spec SIG-26
 */
function isExpiredClaim({ value }: ReplayClaimChange, now: number): boolean {
  return value.expiresAt <= now
}

function intendPayment(
  id: string,
  token: AccessToken,
  terms: PaymentTerms,
  { spendingIds, chargedAfter, receiveCharge }: Extract<ChargedGrant, { readonly ok: true }>,
  createdAt: number,
): OutgoingPayment {
  return {
    id,
    walletAddress: terms.walletAddress,
    client: token.client,
    state: 'created',
    states: [{ state: 'created', at: createdAt }],
    createdAt,
    receiver: terms.receiver.url,
    debitAmount: terms.debitAmount,
    receiveAmount: terms.receiveAmount,
    fee: terms.fee,
    ...(receiveCharge !== terms.receiveAmount.value && { receiveCharge }),
    sentAmount: amountOf(terms.debitAmount, 0n),
    ...(terms.metadata && { metadata: terms.metadata }),
    account: terms.account,
    ...payeeOf(terms),
    grantId: token.grantId,
    spendingIds,
    ...(chargedAfter && { chargedAfter }),
    attempts: 0,
  }
}

function payeeOf({
  receiver,
  rail,
}: PaymentTerms): Pick<OutgoingPayment, 'incomingPaymentId' | 'payeeAccount' | 'rail'> {
  if (receiver.kind === 'local') return { incomingPaymentId: receiver.record.value.id, payeeAccount: receiver.account }
  // The quote was made when the receiver's URL was still a local one.
  if (rail === undefined) throw invalidQuote('the receiver is now on another server')
  const { details, walletAddress } = receiver
  return {
    rail: { ...rail, address: details.ilpAddress, ...(walletAddress !== undefined && { walletAddress }) },
  }
}

/** @spec QUO-7 */
function useQuoteChange(quote: StoredRecord<'quote'>, outgoingPaymentId: string): Change {
  return { ...unmarked(quote), action: 'replace', value: { ...quote.value, state: 'used', outgoingPaymentId } }
}
