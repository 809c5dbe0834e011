import { isDeepStrictEqual } from 'node:util'
import type {
  Delivery,
  FoundReceiver,
  OpenPaymentsEvent,
  RailTransfer,
  RecordTypes,
  StoredRecord,
  TransferOutcome,
} from 'open-payments-server'
import type { FarSide } from './far-side.ts'
import { decisionFor, type OutgoingPayment } from './payment-facts.ts'
import type { RecordBook } from './record-book.ts'
import type { Write } from './simulated-storage.ts'
import type { SimulatedProcess } from './world.ts'

type Receipt = RecordTypes['receipt']

/** Money that a peer has told of: as often as it likes, and each time what the answer was. */
export interface ToldTransfer {
  readonly transfer: RailTransfer
  /** What it may be worth to the payee: what the exchange gave when it was told. */
  readonly amounts: Set<bigint>
  isTaken: boolean
  isRefused: boolean
}

/** What must be true of everything that a rail does, and of what is written down of it. */
export interface RailWatch {
  /** A process has read a receiver on another server. */
  reads(process: SimulatedProcess, url: string, found: FoundReceiver): void
  /** A rail is asked to deliver. */
  begins(process: SimulatedProcess, delivery: Delivery): void
  /** A peer tells of a transfer: from now on it may be taken. */
  tells(transfer: RailTransfer): ToldTransfer
  /** And hears this. */
  hears(transfer: RailTransfer, outcome: TransferOutcome): void
  readonly transfers: ReadonlyMap<string, ToldTransfer>
  checkPayment(before: StoredRecord | undefined, after: StoredRecord): void
  checkReceipt(writes: readonly Write[], before: StoredRecord | undefined, after: StoredRecord): void
  checkAccount(id: string): void
  onEvent(event: OpenPaymentsEvent): void
}

interface Watching {
  readonly book: RecordBook
  readonly far: FarSide
  /** What above the remainder becomes of a transfer. */
  readonly excess: 'accept' | 'cap' | 'refuse'
  violate(text: string): void
  met(what: string): void
}

export function watchRails({ book, far, excess, violate, met }: Watching): RailWatch {
  const { find } = book
  const transfers = new Map<string, ToldTransfer>()
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

  /** What an account has moved is what its payments have sent, or may have, and what its receipts have brought. */
  function checkAccount(id: string): void {
    const sent = book.payments.ofRailAccount(id).reduce((sum, { delivery }) => {
      return sum + BigInt(delivery?.sent ?? 0) + BigInt(delivery?.inFlightSent ?? 0)
    }, 0n)
    const received = book.receiptsOfRailAccount(id).reduce((sum, { railAmount }) => sum + (railAmount ?? 0n), 0n)
    const account = find('rail-account', id) ?? { sent: 0n, received: 0n }
    must(account.sent === sent, () => `rail: ${id} has sent ${account.sent}, its payments ${sent}`)
    must(account.received === received, () => `rail: ${id} has received ${account.received}, its receipts ${received}`)
  }

  const isTaken = ({ state, payeeAccount }: Receipt): boolean => state !== 'dropped' || payeeAccount !== undefined

  function checkReceipt(writes: readonly Write[], before: StoredRecord | undefined, after: StoredRecord): void {
    const receipt = after.value as Receipt
    const { id, railAccount, railAmount } = receipt
    if (railAccount === undefined) return
    const told = transfers.get(id)
    if (told === undefined) {
      violate(`rail: nobody has told of ${id}`)
      return
    }
    checkAccount(railAccount)
    if (before !== undefined) {
      const members = ['amount', 'excess', 'payeeAccount', 'railAccount', 'railAmount', 'incomingPaymentId'] as const
      const from = before.value as Receipt
      must(
        members.every((name) => isDeepStrictEqual(from[name], receipt[name])),
        () => `7: the transfer ${id} changed`,
      )
      return
    }
    if (!isTaken(receipt)) {
      must(railAmount === undefined, () => `rail: ${id} was refused, and has brought ${railAmount}`)
      return
    }
    checkTaken(writes, receipt, told)
  }

  function checkTaken(
    writes: readonly Write[],
    receipt: Receipt,
    { transfer, amounts, isRefused }: ToldTransfer,
  ): void {
    const { id, amount, excess: above = 0n, railAmount, createdAt, incomingPaymentId } = receipt
    must(!isRefused, () => `rail: ${id} was refused, and is taken`)
    must(createdAt <= transfer.notAfter, () => `rail: ${id} is taken too late`)
    must(railAmount === transfer.accountAmount.value, () => `rail: ${id} brings ${railAmount}`)
    must(amounts.has(amount.value + above), () => `4: ${id} is worth ${amount.value} and ${above}`)
    must(above === 0n || (excess === 'cap' && amount.value >= transfer.least), () => `4: ${id} is cut by ${above}`)
    const isOne = ['incoming-payment', 'rail-account'].every((kind) => writes.some(({ after }) => after?.kind === kind))
    must(isOne, () => `rail: ${id} is taken without its account, or without its room in ${incomingPaymentId}`)
  }

  return {
    transfers,
    reads(process, url, found) {
      const key = `${process.id} ${url}`
      reads.set(key, [...(reads.get(key) ?? []), { at: ++moment, found }])
    },
    begins,
    tells(transfer) {
      const told = transfers.get(transfer.id) ?? { transfer, amounts: new Set(), isTaken: false, isRefused: false }
      transfers.set(transfer.id, told)
      told.amounts.add(transfer.amount.value)
      return told
    },
    hears({ id }, outcome) {
      const told = transfers.get(id)
      const receipt = find('receipt', id)
      met(`a rail is told: ${outcome}`)
      // What is refused for now alone may be taken at any moment.
      if (told === undefined || outcome === 'rate_limited') return
      const isThere = receipt !== undefined && isTaken(receipt)
      if (outcome === 'received') {
        must(isThere, () => `rail: ${id} may be claimed, and is not taken`)
        told.isTaken = true
      } else {
        must(!isThere, () => `rail: ${id} is answered ${outcome}, and is taken`)
        told.isRefused = true
      }
    },
    checkPayment,
    checkReceipt,
    checkAccount,
    onEvent(event) {
      if (event.type === 'credit_refused') {
        const receipt = find('receipt', event.receipt)
        must(receipt?.state === 'dropped' && isTaken(receipt), () => `events: ${event.receipt} is told as refused`)
      }
      if (event.type === 'delivery_unknown') {
        const { delivery } = find('outgoing-payment', event.outgoingPayment) ?? {}
        must(delivery?.isLeftToHost !== undefined, () => `events: ${event.outgoingPayment} is told as unknown`)
      }
    },
  }
}
