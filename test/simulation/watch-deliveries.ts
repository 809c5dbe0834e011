import { isDeepStrictEqual } from 'node:util'
import type { Delivery, FoundReceiver, OpenPaymentsEvent, StoredRecord } from 'open-payments-server'
import type { FarSide } from './far-side.ts'
import { decisionFor, isWhole, type OutgoingPayment } from './payment-facts.ts'
import type { RecordBook } from './record-book.ts'
import type { SimulatedProcess } from './world.ts'

/** What must be true of every delivery by a rail, and of what is written down of it. */
export interface DeliveryWatch {
  /** A process has read a receiver on another server. */
  reads(process: SimulatedProcess, url: string, found: FoundReceiver): void
  /** A rail is asked to deliver. */
  begins(process: SimulatedProcess, delivery: Delivery): void
  checkPayment(before: StoredRecord | undefined, after: StoredRecord): void
  onEvent(event: OpenPaymentsEvent): void
}

interface Watching {
  readonly book: RecordBook
  readonly far: FarSide
  checkAccount(id: string): void
  violate(text: string): void
  met(what: string): void
}

export function watchDeliveries({ book: { find }, far, checkAccount, violate, met }: Watching): DeliveryWatch {
  /** What a process was told of a receiver, and when, in order of events; and when a rail last began. */
  const reads = new Map<string, { readonly at: number; readonly found: FoundReceiver }[]>()
  const begun = new Map<string, number>()
  let moment = 0
  const must = (isTrue: boolean, text: () => string): void => {
    if (!isTrue) violate(text())
  }

  function begins(
    process: SimulatedProcess,
    { id, details, account, sendAmount, receiveAmount, isOver }: Delivery,
  ): void {
    const payment = find('outgoing-payment', id)
    const { rail } = payment ?? {}
    if (payment === undefined || rail === undefined) {
      violate(`rail: ${id} is sent, and is no payment over a rail`)
      return
    }
    const terms = { account, sendAmount: sendAmount.value, receiveAmount: receiveAmount.value }
    const { value } = rail.sendAmount
    const stored = { account: rail.account, sendAmount: BigInt(value), receiveAmount: payment.receiveAmount.value }
    must(isDeepStrictEqual(terms, stored), () => `rail: ${id} is sent on other terms than are stored`)
    must(far.receiverOf(details)?.url === payment.receiver, () => `rail: ${id} is sent to somebody else`)
    const worker = `${process.id} ${id}`
    const last = Math.max(begun.get(worker) ?? 0, begun.get(id) ?? 0)
    const looks = (reads.get(`${process.id} ${payment.receiver}`) ?? []).filter(({ at }) => at > last)
    const isOpen = looks.some(({ found }) => takesRest(payment, found))
    must(isOver || isOpen, () => `T-45: ${id} is sent without a look at its receiver, or though that takes no more`)
    begun.set(worker, ++moment)
  }

  /** Whether a receiver takes what it has not had yet; of a part more may have arrived than was told. */
  function takesRest({ receiveAmount, delivery }: OutgoingPayment, found: FoundReceiver): boolean {
    if (!found.ok || found.payment.isCompleted || found.payment.methods.length === 0) return false
    const { receivedAmount, incomingAmount } = found.payment
    if (receivedAmount.assetCode !== receiveAmount.assetCode) return false
    const remainder = (incomingAmount?.value ?? receivedAmount.value + receiveAmount.value) - receivedAmount.value
    const isBegun = BigInt(delivery?.sent ?? 0) > 0n && remainder > 0n
    return isBegun || remainder >= receiveAmount.value - BigInt(delivery?.received ?? 0)
  }

  function checkPayment(before: StoredRecord | undefined, after: StoredRecord): void {
    const payment = after.value as OutgoingPayment
    const { id, rail, delivery, state, decision } = payment
    if (rail === undefined) {
      must(delivery === undefined, () => `rail: ${id} is delivered, and not over a rail`)
      return
    }
    const from = before?.value as OutgoingPayment | undefined
    // Whatever was read before the money was held says nothing of the time when it is sent.
    if (state === 'sending' && from?.state !== 'sending') begun.set(id, ++moment)
    const [sent, received] = [BigInt(delivery?.sent ?? 0), BigInt(delivery?.received ?? 0)]
    const flying = BigInt(delivery?.inFlightSent ?? 0)
    const really = far.movedFor(id)
    const told = `${sent} sent and ${flying} in flight`
    must(really.sent >= sent, () => `rail: of ${id} ${told}, and only ${really.sent} left`)
    must(really.sent <= sent + flying, () => `rail: of ${id} ${told}, and ${really.sent} left`)
    must(received <= really.received, () => `rail: ${id} brought ${received} by its word`)
    must(sent + flying <= BigInt(rail.sendAmount.value), () => `rail: of ${id} ${told}, which is more than may leave`)
    const was = from?.delivery
    must(
      sent >= BigInt(was?.sent ?? 0) && received >= BigInt(was?.received ?? 0),
      () => `rail: ${id} takes back what was sent`,
    )
    must(
      was?.isLeftToHost === undefined || was.isLeftToHost === delivery?.isLeftToHost,
      () => `rail: ${id} left the host`,
    )
    if (delivery?.isLeftToHost === 'pending' && was?.isLeftToHost === undefined)
      must(
        BigInt(was?.inFlightSent ?? 0) > 0n || hasAllInFlight(payment),
        () => `rail: ${id} is taken over, but for ${told}`,
      )
    const isSame = state === 'sending' || from?.state === 'sending' || isDeepStrictEqual(was, delivery)
    must(isSame, () => `7: the delivery of ${id} changed while it was ${state}`)
    if (sent + flying > 0n) checkDetails(payment)
    if (decision !== undefined && from?.decision === undefined && from?.state === 'sending') {
      must(flying === 0n && sent === really.sent, () => `rail: ${id} is decided by ${told}, and ${really.sent} left`)
      checkDecision(payment, really.sent)
    }
    if (state === 'completed') must(isWhole(payment, really.sent), () => `5: ${id} completed, and ${told}`)
    checkAccount(`${rail.method}:${rail.account}`)
  }

  /** Whether all that has not left is in flight, and all that has not arrived. */
  function hasAllInFlight({ delivery, rail, receiveAmount }: OutgoingPayment): boolean {
    const sums = [
      BigInt(delivery?.sent ?? 0) + BigInt(delivery?.inFlightSent ?? 0) === BigInt(rail?.sendAmount.value ?? 0),
      BigInt(delivery?.received ?? 0) + BigInt(delivery?.inFlightReceived ?? 0) >= receiveAmount.value,
    ]
    return sums.every((isSo) => isSo)
  }

  /** What the payer loses is what really left, and its fee. */
  function checkDecision(payment: OutgoingPayment, sent: bigint): void {
    const { id, decision } = payment
    const expected = decisionFor(payment, sent)
    const found =
      decision?.action === 'settle' ? { amount: decision.amount, fee: decision.fee } : { amount: 0n, fee: 0n }
    must(
      isDeepStrictEqual(found, expected),
      () =>
        `1: ${id}, of which ${sent} left, takes ${found.amount} with ${found.fee}, not ${expected.amount} with ${expected.fee}`,
    )
    met(
      `a payment over a rail is decided: ${sent === 0n ? 'nothing' : found.amount === payment.debitAmount.value ? 'all' : 'a part'}`,
    )
  }

  /** The secret of the receiver is kept, and nobody can read it. */
  function checkDetails({ id, delivery, receiver, state }: OutgoingPayment): void {
    const text = JSON.stringify(delivery)
    const secrets = far.receivers.find(({ url }) => url === receiver)?.details ?? []
    must(!secrets.some(({ sharedSecret }) => text.includes(sharedSecret)), () => `T-34: ${id} tells a secret`)
    const isKept = delivery?.details !== undefined || delivery?.isLeftToHost === 'pending' || state !== 'sending'
    must(isKept, () => `rail: nobody can find out what became of ${id}`)
  }

  return {
    reads(process, url, found) {
      const key = `${process.id} ${url}`
      reads.set(key, [...(reads.get(key) ?? []), { at: ++moment, found }])
    },
    begins,
    checkPayment,
    onEvent(event) {
      if (event.type !== 'delivery_unknown') return
      const { delivery } = find('outgoing-payment', event.outgoingPayment) ?? {}
      must(delivery?.isLeftToHost !== undefined, () => `events: ${event.outgoingPayment} is told as unknown`)
    },
  }
}
