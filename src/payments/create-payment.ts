import { grantLimitExceeded, invalidToken, ledgerRefused } from '../errors/conditions.ts'
import type { Context } from '../ports/context.ts'
import type { Change, StoredRecord } from '../ports/storage.ts'
import type { WalletAddress } from '../ports/wallet-addresses.ts'
import { type AccessToken, isUsableToken } from '../protocol/access-token.ts'
import { type Amount, amountOf } from '../protocol/amount.ts'
import type { Metadata } from '../protocol/metadata.ts'
import type { OutgoingPayment } from '../protocol/outgoing-payment.ts'
import type { Spending } from '../protocol/spent-amounts.ts'
import { decide } from '../records/decide.ts'
import { readRecord } from '../records/read-record.ts'
import { chargeGrant } from './charge-grant.ts'
import { confirmHold, type HeldPayment } from './confirm-hold.ts'
import { outgoingPaymentEvent, recordEvents } from './notify.ts'
import type { LocalReceiver } from './resolve-receiver.ts'

/** A payment with its amounts frozen, before any budget is charged for it. */
export interface PaymentTerms {
  readonly walletAddress: string
  readonly payer: WalletAddress
  readonly receiver: LocalReceiver
  readonly debitAmount: Amount
  readonly receiveAmount: Amount
  readonly fee: Amount
  readonly metadata?: Metadata
  /** The open quote that fixes the amounts, where there is one. */
  readonly quote?: StoredRecord<'quote'>
}

/** A payment that is durable, and what its grant has spent with it. */
interface Intent {
  readonly record: StoredRecord<'outgoing-payment'>
  readonly spent: Spending
}

/** A payment that was created. */
export interface CreatedPayment extends Intent {
  /** Whether it is for the caller to move it on; else another worker does, or recovery will. */
  readonly isOurs: boolean
}

/**
 * Creates an outgoing payment. `readTerms` reads what the payment rests on, and reads it again whenever a concurrent
 * writer was faster.
 *
 * One commit takes the replay claim, the quote and the budget and writes the payment, so that none of them ever
 * exists without the others; then the wallet is asked to hold the money. A refusal gives quote and budget back and
 * throws; anything else that goes wrong leaves the payment to recovery, and counts as created.
 * @spec OUT-5 @spec OUT-6 @spec D15
 */
export async function createPayment(
  context: Context,
  token: AccessToken,
  claims: readonly Change[],
  readTerms: () => Promise<PaymentTerms>,
): Promise<CreatedPayment> {
  const id = context.secrets.randomId()
  const attempt = async (): Promise<{ readonly changes: readonly Change[]; readonly answer: Intent }> => {
    const terms = await readTerms()
    const now = context.clock.now()
    // Read again, and checked by the commit: a grant that was revoked while this waited its turn pays nothing. @spec TOK-9
    const presented = await readRecord(context.storage, 'access-token', token.id)
    if (presented === undefined || !isUsableToken(presented.value, now)) throw invalidToken()
    const charged = await chargeGrant(context, token, { ...terms, receiver: terms.receiver.url }, now)
    if (!charged.ok) throw grantLimitExceeded(charged.reason)
    const payment = intendPayment(id, token, terms, charged.spendingIds, now)
    const dueAt = now + context.limits.leaseSeconds * 1000
    const changes: readonly Change[] = [
      { action: 'insert', kind: 'outgoing-payment', value: payment, dueAt },
      { action: 'check', kind: 'access-token', id: token.id, version: presented.version },
      ...charged.changes,
      ...reserveQuote(terms.quote, id),
    ]
    const record: StoredRecord<'outgoing-payment'> = { kind: 'outgoing-payment', version: 1, value: payment, dueAt }
    return { changes, answer: { record, spent: charged.spent } }
  }
  const intent = await context.serialize(`grant:${token.grantId}`, () => decide(context, attempt, claims))
  const held = await beginPayment(context, intent.record)
  if (held.outcome === 'refused') throw ledgerRefused(held.reason)
  return { record: held.record, spent: intent.spent, isOurs: held.outcome !== 'lost' }
}

/**
 * Asks for the hold of a payment whose intent is durable. From here on only the ledger's own refusal undoes it: any
 * other failure leaves it to recovery, which will carry it out, so the client must not be told to try again.
 */
async function beginPayment(context: Context, record: StoredRecord<'outgoing-payment'>): Promise<HeldPayment> {
  try {
    const held = await confirmHold(context, record, 'undo')
    return held.outcome === 'unknown' ? await showPayment(context, held.record.value.id) : held
  } catch (cause) {
    const at = context.clock.now()
    context.emit({ type: 'fault', at, operation: undefined, message: 'a payment is left to recovery', cause })
    return { outcome: 'lost', record }
  }
}

function intendPayment(
  id: string,
  token: AccessToken,
  terms: PaymentTerms,
  spendingIds: readonly string[],
  createdAt: number,
): OutgoingPayment {
  return {
    id,
    walletAddress: terms.walletAddress,
    client: token.client,
    state: 'created',
    createdAt,
    ...(terms.quote && { quoteId: terms.quote.value.id }),
    receiver: terms.receiver.url,
    debitAmount: terms.debitAmount,
    receiveAmount: terms.receiveAmount,
    fee: terms.fee,
    sentAmount: amountOf(terms.debitAmount, 0n),
    ...(terms.metadata && { metadata: terms.metadata }),
    account: terms.payer.account,
    incomingPaymentId: terms.receiver.record.value.id,
    payeeAccount: terms.receiver.account,
    grantId: token.grantId,
    spendingIds,
    attempts: 0,
  }
}

/** @spec QUO-7 */
function reserveQuote(quote: StoredRecord<'quote'> | undefined, outgoingPaymentId: string): readonly Change[] {
  if (quote === undefined) return []
  const { kind, version, value } = quote
  return [{ action: 'replace', kind, version, value: { ...value, state: 'reserved', outgoingPaymentId } }]
}

/**
 * Makes a payment visible whose hold is not confirmed yet: its client is about to learn its id, so from here on a
 * refusal fails the payment instead of undoing it.
 */
async function showPayment(context: Context, id: string): Promise<HeldPayment> {
  return decide<HeldPayment>(context, async () => {
    const record = await readRecord(context.storage, 'outgoing-payment', id)
    if (record === undefined) throw new Error('an outgoing payment has vanished')
    if (record.isListed === true) return { answer: { outcome: 'lost', record } }
    const events = recordEvents(context, [outgoingPaymentEvent(context, record.value, 'created')])
    const shown: StoredRecord<'outgoing-payment'> = { ...record, version: record.version + 1, isListed: true }
    return {
      changes: [{ ...record, action: 'replace', isListed: true }, ...events],
      answer: { outcome: 'unknown', record: shown },
    }
  })
}
