import type { RecordKind, RecordTypes, StoredRecord } from 'open-payments-server'
import type { FarSide } from './far-side.ts'
import type { OutgoingPayment } from './payment-facts.ts'
import { createRecordBook, insertedOf } from './record-book.ts'
import { orderedBy } from './signature-claims.ts'
import type { SimulatedStorage, Write } from './simulated-storage.ts'
import { watchPayments } from './watch-payments.ts'
import { type RailWatch, watchRails } from './watch-rails.ts'

/** What every commit must leave true. */
export interface CommitWatch {
  onCommit(writes: readonly Write[]): void
  /** Takes note of a record that is there from the start. */
  learn(record: StoredRecord): void
  /** The payment whose credit has this id. */
  paymentOfCredit(creditId: string): OutgoingPayment | undefined
  /** What the grant had spent, with the payment and those before it, in the commit that created it. */
  spentWith(paymentId: string): bigint | undefined
  /** Incoming payments for which a client has ever asked for completion. */
  readonly completedByCall: Set<string>
  readonly rails: RailWatch
}

/** Kinds that are the wallet's books: nothing deletes them. */
const KEPT: readonly RecordKind[] = ['outgoing-payment', 'incoming-payment', 'receipt', 'spending', 'rail-account']

const HALF_A_DAY = 12 * 3_600_000

export interface CommitWatching {
  readonly storage: () => SimulatedStorage
  /** What is done with what a rail pays in above what was asked for. */
  readonly excess: 'accept' | 'cap' | 'refuse'
  readonly far: FarSide
  now(): number
  met(what: string): void
  violate(text: string): void
}

export function watchCommits({ storage, excess, far, now, met, violate }: CommitWatching): CommitWatch {
  const book = createRecordBook(storage)
  const { find, learn } = book
  const payments = watchPayments(book, violate)
  const rails = watchRails({ book, far, excess, met, violate })
  const completedByCall = new Set<string>()
  const must = (isTrue: boolean, text: () => string): void => {
    if (!isTrue) violate(text())
  }

  function checkIncoming(writes: readonly Write[], before: StoredRecord | undefined, after: StoredRecord): void {
    const payment = after.value as RecordTypes['incoming-payment']
    const from = before?.value as RecordTypes['incoming-payment'] | undefined
    const name = `incoming payment ${payment.id}`
    checkSums(payment)
    const { received, state, incomingAmount } = payment
    must(received.value >= (from?.received.value ?? 0n), () => `4: ${name} received less than before`)
    const isReached = incomingAmount !== undefined && received.value >= incomingAmount.value
    const room = excess === 'accept' || incomingAmount === undefined ? undefined : incomingAmount.value
    const taken = received.value + payment.reserved.value
    must(room === undefined || taken <= room, () => `4: ${name} takes ${taken} of ${room}`)
    const isCompleted = state === 'completed'
    must(!isReached || isCompleted, () => `4: ${name} is reached and ${state}`)
    must(!isCompleted || isReached || completedByCall.has(payment.id), () => `4: ${name} is completed by nobody`)
    const was = from?.state
    must(!(was === 'completed' || was === 'expired') || state === was, () => `7: ${name} went from ${was} to ${state}`)
    const events = insertedOf(writes, 'event').map(({ id }) => id)
    must(events.includes(`${payment.id}:1`) === (from === undefined), () => `events: ${name} without its first`)
    const isNewlyOver = (isCompleted || state === 'expired') && state !== was && was !== 'expired'
    must(events.includes(`${payment.id}:2`) === isNewlyOver, () => `events: ${name} became ${state} without its last`)
    const fresh = insertedOf(writes, 'receipt').filter((one) => one.incomingPaymentId === payment.id)
    for (const { id, createdAt, state: receiptState } of fresh) {
      const isInTime = (was === 'pending' || was === 'processing') && createdAt <= (from?.expiresAt ?? createdAt)
      must(receiptState === 'dropped' || isInTime, () => `4: ${name} was ${was} when ${id} came`)
    }
  }

  /** What was received, and what is reserved, are the sums of the receipts. */
  function checkSums({ id, received, reserved }: RecordTypes['incoming-payment']): void {
    const receipts = book.receiptsOf(id)
    const sumOf = (state: string): bigint =>
      receipts.filter((one) => one.state === state).reduce((sum, { amount }) => sum + amount.value, 0n)
    const [credited, kept] = [sumOf('credited'), sumOf('reserved')]
    must(received.value === credited, () => `4: incoming payment ${id} received ${received.value}, not ${credited}`)
    must(reserved.value === kept, () => `4: incoming payment ${id} reserves ${reserved.value}, not ${kept}`)
  }

  function checkReceipt(before: StoredRecord | undefined, after: StoredRecord): void {
    const receipt = after.value as RecordTypes['receipt']
    const was = (before?.value as RecordTypes['receipt'] | undefined)?.state
    must(
      was === undefined || was === 'reserved',
      () => `4: receipt ${receipt.id} was ${was} and became ${receipt.state}`,
    )
    const incoming = find('incoming-payment', receipt.incomingPaymentId)
    if (incoming === undefined) {
      violate(`4: receipt ${receipt.id} is for nothing`)
      return
    }
    checkSums(incoming)
    const payment =
      receipt.outgoingPaymentId === undefined ? undefined : find('outgoing-payment', receipt.outgoingPaymentId)
    if (payment === undefined || receipt.state === 'reserved') return
    const action = receipt.state === 'credited' ? 'settle' : 'release'
    must(payment.decision?.action === action, () => `8: receipt ${receipt.id} is ${receipt.state} without the decision`)
  }

  function checkToken(after: StoredRecord): void {
    const token = after.value as RecordTypes['access-token']
    const active = book.tokensOfGrant(token.grantId).filter((one) => one.state === 'active')
    must(active.length <= 1, () => `6: grant ${token.grantId} has ${active.length} usable tokens`)
    const isLive = find('grant', token.grantId)?.state === 'issued'
    must(token.state !== 'active' || isLive, () => `6: a token is active under a grant that is over`)
  }

  function checkGrant(before: StoredRecord | undefined, after: StoredRecord): void {
    const { id, state } = after.value as RecordTypes['grant']
    const isFinal = (before?.value as RecordTypes['grant'] | undefined)?.state === 'finalised'
    must(!isFinal, () => `7: the finalised grant ${id} changed`)
    const isUsable = book.tokensOfGrant(id).some((token) => token.state === 'active')
    must(state === 'issued' || !isUsable, () => `6: grant ${id} is ${state} and has a usable token`)
  }

  /** A quote is used in the commit that creates its payment, and open again only in one that undoes it. */
  function checkQuote(writes: readonly Write[], before: StoredRecord | undefined, after: StoredRecord): void {
    const from = before?.value as RecordTypes['quote'] | undefined
    const quote = after.value as RecordTypes['quote']
    const user = (quote.state === 'used' ? quote : from)?.outgoingPaymentId
    const payment = writes.find((one) => one.after?.kind === 'outgoing-payment' && one.after.value.id === user)
    const became = (payment?.after?.value as OutgoingPayment | undefined)?.state
    const isNext =
      from === undefined
        ? quote.state === 'open'
        : (from.state === 'open' && quote.state === 'used' && payment !== undefined && payment.before === undefined) ||
          (from.state === 'used' && quote.state === 'open' && became === 'refused')
    must(isNext, () => `7: quote ${quote.id} went from ${from?.state} to ${quote.state}, its payment to ${became}`)
  }

  /** A key is written with what was made under it. */
  function checkKey(writes: readonly Write[], after: StoredRecord): void {
    const { id, resourceId } = after.value as RecordTypes['idempotency-key']
    const isMade = writes.some((one) => one.before === undefined && one.after?.value.id === resourceId)
    must(isMade, () => `key ${id} was written without what was made under it`)
  }

  function checkWrite(writes: readonly Write[], before: StoredRecord | undefined, after: StoredRecord): void {
    const { kind, value } = after
    if (kind === 'outgoing-payment') {
      payments.checkPayment(writes, before, after)
      rails.checkPayment(before, after)
    }
    if (kind === 'spending') payments.checkSpending(value.id)
    if (kind === 'incoming-payment') checkIncoming(writes, before, after)
    if (kind === 'receipt') {
      checkReceipt(before, after)
      rails.checkReceipt(writes, before, after)
    }
    if (kind === 'rail-account') rails.checkAccount(value.id)
    if (kind === 'access-token') checkToken(after)
    if (kind === 'grant') checkGrant(before, after)
    if (kind === 'quote') checkQuote(writes, before, after)
    if (kind === 'idempotency-key') checkKey(writes, after)
    if (kind === 'signed-request') must(before === undefined, () => `7: the signed request ${value.id} changed`)
  }

  function checkDeletion({ kind, value }: StoredRecord): void {
    must(!KEPT.includes(kind) || isOldRefusal(value.id), () => `${kind} ${value.id} was deleted`)
    if (kind === 'idempotency-key') checkKeyDeletion(value as RecordTypes['idempotency-key'])
    const isUndone = kind !== 'signed-request' || find('outgoing-payment', orderedBy(value.id))?.state === 'refused'
    must(isUndone, () => `the order of ${value.id} was forgotten`)
  }

  /** A key is deleted with the refusal that frees it, or once it has expired at every clock. */
  function checkKeyDeletion({ id, resourceId, expiresAt }: RecordTypes['idempotency-key']): void {
    const isFreed = find('outgoing-payment', resourceId)?.state === 'refused'
    must(isFreed || now() > expiresAt + HALF_A_DAY, () => `key ${id} was deleted while it counted`)
  }

  /** A transfer that was refused is forgotten once it is too late for it at every clock. */
  function isOldRefusal(id: string): boolean {
    const told = rails.transfers.get(id)
    return told?.isTaken === false && now() > told.transfer.notAfter + HALF_A_DAY
  }

  return {
    learn,
    onCommit(writes) {
      if (insertedOf(writes, 'outgoing-payment').length > 1) met('orders share a commit')
      // Everything that the checks look up must be known before the first of them.
      for (const { before, after } of writes) if (before === undefined && after !== undefined) learn(after)
      for (const { before, after } of writes) {
        if (after !== undefined && after !== before) checkWrite(writes, before, after)
        if (after === undefined && before !== undefined) checkDeletion(before)
      }
    },
    paymentOfCredit: book.paymentOfCredit,
    spentWith: payments.spentWith,
    completedByCall,
    rails,
  }
}
