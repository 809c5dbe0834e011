import { isDeepStrictEqual } from 'node:util'
import type { OpenPaymentsEvent, RailTransfer, RecordTypes, StoredRecord, TransferOutcome } from 'open-payments-server'
import type { RecordBook } from './record-book.ts'
import type { Write } from './simulated-storage.ts'

type Receipt = RecordTypes['receipt']

/** Money that a peer has told of: as often as it likes, and each time what the answer was. */
export interface ToldTransfer {
  readonly transfer: RailTransfer
  /** What it may be worth to the payee: what the exchange gave when it was told. */
  readonly amounts: Set<bigint>
  isTaken: boolean
  isRefused: boolean
}

/** What must be true of every transfer that a rail tells of, and of its receipt. */
export interface TransferWatch {
  /** A peer tells of a transfer: from now on it may be taken. */
  tells(transfer: RailTransfer): ToldTransfer
  /** And hears this. */
  hears(transfer: RailTransfer, outcome: TransferOutcome): void
  readonly transfers: ReadonlyMap<string, ToldTransfer>
  checkReceipt(writes: readonly Write[], before: StoredRecord | undefined, after: StoredRecord): void
  onEvent(event: OpenPaymentsEvent): void
}

interface Watching {
  readonly book: RecordBook
  /** What above the remainder becomes of a transfer. */
  readonly excess: 'accept' | 'cap' | 'refuse'
  checkAccount(id: string): void
  violate(text: string): void
  met(what: string): void
}

export function watchTransfers({ book, excess, checkAccount, violate, met }: Watching): TransferWatch {
  const { find } = book
  const transfers = new Map<string, ToldTransfer>()
  const must = (isTrue: boolean, text: () => string): void => {
    if (!isTrue) violate(text())
  }

  const isTaken = ({ state, payeeAccount }: Receipt): boolean => state !== 'dropped' || payeeAccount !== undefined

  function checkReceipt(writes: readonly Write[], before: StoredRecord | undefined, after: StoredRecord): void {
    const receipt = after.value as Receipt
    const { id, railAccountId, railAmount } = receipt
    if (railAccountId === undefined) return
    const told = transfers.get(id)
    if (told === undefined) {
      violate(`rail: nobody has told of ${id}`)
      return
    }
    checkAccount(railAccountId)
    if (before !== undefined) {
      const members = ['amount', 'excess', 'payeeAccount', 'railAccountId', 'railAmount', 'incomingPaymentId'] as const
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
    const { most } = transfer
    const owed = owedThrough(receipt.railAccountId ?? '')
    must(most === undefined || owed <= most, () => `rail: with ${id} the peer owes ${owed}, and at most ${most}`)
  }

  /** What has come less what has left for certain: the peer may refuse the rest, and has paid nothing for it. */
  function owedThrough(railAccountId: string): bigint {
    const came = book.receiptsOfRailAccount(railAccountId).reduce((sum, { railAmount = 0n }) => sum + railAmount, 0n)
    return book.payments.ofRailAccount(railAccountId).reduce((owed, { delivery }) => {
      return owed - BigInt(delivery?.sent ?? 0)
    }, came)
  }

  return {
    transfers,
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
    checkReceipt,
    onEvent(event) {
      if (event.type !== 'credit_refused') return
      const receipt = find('receipt', event.receipt)
      must(receipt?.state === 'dropped' && isTaken(receipt), () => `events: ${event.receipt} is told as refused`)
    },
  }
}
