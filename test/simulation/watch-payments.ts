import { isDeepStrictEqual } from 'node:util'
import type { RecordTypes, StoredRecord } from 'open-payments-server'
import { entryOf, isCounted, type OutgoingPayment, spentOf, windowOf } from './payment-facts.ts'
import { insertedOf, type RecordBook } from './record-book.ts'
import { claimIdOf, orderedBy, signedRequestIdOf } from './signature-claims.ts'
import type { Write } from './simulated-storage.ts'

/** What every commit that writes a payment, or what a grant has spent, must leave true. */
export interface PaymentWatch {
  checkPayment(writes: readonly Write[], before: StoredRecord | undefined, after: StoredRecord): void
  checkSpending(id: string): void
  /** What the grant had spent, with the payment and those before it, in the commit that created it. */
  spentWith(paymentId: string): bigint | undefined
}

const NEXT_STATES: Readonly<Record<OutgoingPayment['state'], readonly string[]>> = {
  created: ['created', 'sending', 'refused', 'failed'],
  sending: ['sending', 'decided', 'completed'],
  decided: ['decided', 'completed', 'failed'],
  refused: [],
  completed: [],
  failed: [],
}

/** The members of a payment that may change after its intent. */
const CHANGING: ReadonlySet<string> = new Set(['state', 'states', 'sentAmount', 'decision', 'attempts', 'delivery'])

export function watchPayments(book: RecordBook, violate: (text: string) => void): PaymentWatch {
  const { find } = book
  const spentWith = new Map<string, bigint>()
  /** The payment that each signature was used up for. */
  const ordered = new Map<string, string>()
  const must = (isTrue: boolean, text: () => string): void => {
    if (!isTrue) violate(text())
  }

  function checkPayment(writes: readonly Write[], before: StoredRecord | undefined, after: StoredRecord): void {
    const payment = after.value as OutgoingPayment
    const name = `payment ${payment.id}`
    if (before === undefined) checkIntent(writes, payment, name)
    else checkMove(before, after, name)
    const { sentAmount, debitAmount, state } = payment
    const least = (before?.value as OutgoingPayment | undefined)?.sentAmount.value ?? 0n
    must(
      sentAmount.value >= least && sentAmount.value <= debitAmount.value,
      () => `5: ${name} sent ${sentAmount.value}`,
    )
    const isWhole = sentAmount.value === debitAmount.value
    must(
      state === 'completed' ? isWhole : !isWhole || debitAmount.value === 0n,
      () => `5: ${name} ${state} with ${sentAmount.value}`,
    )
    const events = insertedOf(writes, 'event').map(({ id }) => id)
    const isNewlyListed = after.isListed === true && before?.isListed !== true
    const isNewlyOver = (state === 'completed' || state === 'failed') && before !== undefined
    must(
      events.includes(`${payment.id}:1`) === isNewlyListed,
      () => `events: ${name} became ${state} without its first`,
    )
    must(events.includes(`${payment.id}:2`) === isNewlyOver, () => `events: ${name} became ${state} without its last`)
    const backed = book.payments.ofQuote(payment.quoteId ?? '').filter((one) => one.state !== 'refused')
    must(backed.length <= 1, () => `3: quote ${payment.quoteId} backs ${backed.length} payments`)
    if (before === undefined || !isCounted(payment)) for (const id of payment.spendingIds) checkSpending(id)
    if (state === 'refused') checkUndone(payment, name)
  }

  /** Payment, signed request, replay claim, key and budget are one commit; under a token and a grant that are alive. */
  function checkIntent(writes: readonly Write[], payment: OutgoingPayment, name: string): void {
    const signed = insertedOf(writes, 'signed-request').find(({ id }) => id === signedRequestIdOf(payment))
    must(signed !== undefined, () => `${name} has no signed request`)
    checkClaim(writes, signed, name)
    const token = book.tokenOfManagement(signed?.tokenManageId ?? '')
    must(token?.state === 'active', () => `${name} was ordered with a token that is ${token?.state}`)
    must(find('grant', payment.grantId)?.state === 'issued', () => `${name} is under a grant that is over`)
    const key = payment.keyId === undefined ? undefined : find('idempotency-key', payment.keyId)
    must(key?.resourceId === (payment.keyId && payment.id), () => `${name} and its key are not one commit`)
    if (payment.quoteId !== undefined)
      must(find('quote', payment.quoteId)?.outgoingPaymentId === payment.id, () => `3: ${name} does not have its quote`)
    checkWindow(payment, name)
    const [first] = payment.spendingIds
    const spent = first === undefined ? undefined : find('spending', first)
    must(spent !== undefined, () => `2: ${name} is charged to nothing`)
    if (spent !== undefined) spentWith.set(payment.id, spent.debit.value - chargedAfter(writes, payment))
  }

  /** The signature of the order is used up in its commit, and for no other payment: a nonce, or another's claim, is not enough. */
  function checkClaim(writes: readonly Write[], signed: RecordTypes['signed-request'] | undefined, name: string): void {
    if (signed === undefined) return
    const claimId = claimIdOf(signed)
    const isClaimed = insertedOf(writes, 'replay-claim').some(({ id }) => id === claimId)
    must(isClaimed, () => `${name} claims no signature`)
    must(!ordered.has(claimId), () => `${name} claims no signature but that of payment ${ordered.get(claimId)}`)
    ordered.set(claimId, orderedBy(signed.id))
  }

  /** What those payments come to that the same commit charges to the same window after this one. */
  function chargedAfter(writes: readonly Write[], { id, spendingIds: [window] }: OutgoingPayment): bigint {
    const made = insertedOf(writes, 'outgoing-payment')
    const later = made.slice(made.findIndex((one) => one.id === id) + 1)
    const same = later.filter((one) => one.spendingIds[0] === window)
    return same.reduce((sum, one) => sum + one.debitAmount.value, 0n)
  }

  /** What the payments of one entry come to in one window, worked out from the payments alone. */
  function checkWindow(payment: OutgoingPayment, name: string): void {
    const entry = entryOf(payment)
    const access = find('grant', payment.grantId)?.access[entry]
    if (access?.type !== 'outgoing-payment') {
      violate(`2: ${name} is charged to no entry`)
      return
    }
    const { interval, debitAmount, receiveAmount, receiver } = access.limits ?? {}
    const window = windowOf(interval, payment.createdAt)
    if (window === undefined) {
      violate(`14: ${name} was made outside of every window`)
      return
    }
    must(receiver === undefined || receiver === payment.receiver, () => `2: ${name} pays another receiver`)
    must(access.identifier === payment.walletAddress, () => `2: ${name} pays from another account`)
    const own = book.payments
      .ofGrant(payment.grantId)
      .filter((one) => entryOf(one) === entry && windowOf(interval, one.createdAt) === window)
    const debit = own.reduce((sum, one) => sum + spentOf(one).debit, 0n)
    must(debitAmount === undefined || debit <= BigInt(debitAmount.value), () => `2: ${name} makes it ${debit} spent`)
    const received = own.filter((one) => one.receiveAmount.assetCode === receiveAmount?.assetCode)
    const sum = received.reduce((total, one) => total + spentOf(one).receive, 0n)
    const isOther = receiveAmount !== undefined && receiveAmount.assetCode !== payment.receiveAmount.assetCode
    // The rounding of a payment counts against those after it.
    const rounding = spentOf(payment).receive - payment.receiveAmount.value
    const isWithin = receiveAmount === undefined || sum - rounding <= BigInt(receiveAmount.value)
    must(isWithin && !isOther, () => `2: ${name} makes it ${sum} received`)
  }

  function checkMove(before: StoredRecord, after: StoredRecord, name: string): void {
    const from = before.value as OutgoingPayment
    const to = after.value as OutgoingPayment
    must(NEXT_STATES[from.state].includes(to.state), () => `7: ${name} went from ${from.state} to ${to.state}`)
    const members = new Set([...Object.keys(from), ...Object.keys(to)].filter((member) => !CHANGING.has(member)))
    for (const member of members) {
      const isSame = isDeepStrictEqual(Reflect.get(from, member), Reflect.get(to, member))
      const isForgotten = member === 'metadata' && to.state === 'refused' && to.metadata === undefined
      must(isSame || isForgotten, () => `7: ${member} of ${name} changed`)
    }
    const last = to.states.at(-1)?.state
    const isContinued = isDeepStrictEqual(to.states.slice(0, from.states.length), from.states) && last === to.state
    must(isContinued, () => `7: the states of ${name} are not those that it had`)
    const isDecided = from.decision !== undefined
    must(!isDecided || isDeepStrictEqual(from.decision, to.decision), () => `8: the decision of ${name} changed`)
    const isEndedAtOnce = from.state === 'sending' && to.state === 'completed'
    must(!isEndedAtOnce || to.rail === undefined, () => `8: ${name} was ended over a rail and never decided`)
    must(before.isListed !== true || after.isListed === true, () => `${name} is shown no more`)
  }

  /** A refused hold gives everything back: the quote, the key, and the request that would prove an order. */
  function checkUndone(payment: OutgoingPayment, name: string): void {
    const quote = payment.quoteId === undefined ? undefined : find('quote', payment.quoteId)
    must(quote?.outgoingPaymentId !== payment.id, () => `3: ${name} was refused and keeps its quote`)
    const key = payment.keyId === undefined ? undefined : find('idempotency-key', payment.keyId)
    must(key?.resourceId !== payment.id, () => `${name} was refused and keeps its key`)
    must(
      find('signed-request', signedRequestIdOf(payment)) === undefined,
      () => `${name} was refused and keeps its order`,
    )
  }

  /** What a window has spent is the sum over its payments. */
  function checkSpending(id: string): void {
    const spending = find('spending', id)
    if (spending === undefined) {
      violate(`2: the spending ${id} has vanished`)
      return
    }
    const own = book.payments.ofSpending(id)
    const debit = own.reduce((sum, one) => sum + spentOf(one).debit, 0n)
    must(spending.debit.value === debit, () => `2: ${id} says ${spending.debit.value}, its payments ${debit}`)
    const charged = own.filter(({ state }) => state !== 'refused')
    const last = charged.some((one) => one.id === spending.lastCharge?.payment)
    must(last === (charged.length > 0 && id.endsWith(':life')), () => `2: ${id} does not say what was charged last`)
    for (const { value, assetCode } of spending.receive) {
      const received = own.filter(({ receiveAmount }) => receiveAmount.assetCode === assetCode)
      const sum = received.reduce((total, one) => total + spentOf(one).receive, 0n)
      must(BigInt(value) === sum, () => `2: ${id} says ${value} ${assetCode} received, its payments ${sum}`)
    }
  }

  return { checkPayment, checkSpending, spentWith: (paymentId) => spentWith.get(paymentId) }
}
