import { createHash } from 'node:crypto'
import { lastSegment } from '../support/last-segment.ts'
import { exchange, isUndecided } from './check-wallet.ts'
import type { LoggedPacket } from './packet-log.ts'
import { leftOf, type RailPayment, sumOf, type WalletState } from './read-wallet.ts'
import { ASSETS, ilpAddressOf, type OfEach, otherOf, WALLETS, type WalletName } from './wallet-process/wallets.ts'

type Receipt = WalletState['receipts'][number]

/** A packet and the incoming payment that it is for; none where somebody has altered its address. */
export interface AddressedPacket extends LoggedPacket {
  readonly incomingPayment: string
}

/** The receipt that a packet leaves where its money was taken, worked out apart from the code that is tested. */
function receiptIdOf({ incomingPayment, condition }: AddressedPacket): string {
  return createHash('sha256').update(incomingPayment).update(condition, 'hex').digest('hex').slice(0, 32)
}

/** Whether the wallet has taken the money that a receipt tells of; else it was refused. */
export function isTaken({ railAmount }: Receipt): boolean {
  return railAmount !== undefined
}

/** What is wrong between the two wallets, at rest: every packet, every payment, every account of the rail. */
export function checkRail(
  wallets: OfEach<WalletState>,
  packets: readonly AddressedPacket[],
  isSafe: boolean,
): readonly string[] {
  return WALLETS.flatMap((from) => {
    const [sender, receiver] = [wallets[from], wallets[otherOf(from)]]
    const own = packets.filter((packet) => packet.from === from)
    return [
      ...checkPackets(own, receiver),
      ...checkReceivers(own, sender, receiver),
      ...checkAccounts(own, sender, receiver, isSafe),
    ].map((wrong) => `from ${from}: ${wrong}`)
  })
}

/** Each packet that was fulfilled has left its receipt, and no receipt is there without a packet that got through. */
function checkPackets(packets: readonly AddressedPacket[], receiver: WalletState): readonly string[] {
  const receipts = new Map(receiver.receipts.map((receipt) => [receipt.id, receipt]))
  const sent = new Map(packets.map((packet) => [receiptIdOf(packet), packet]))
  return [
    ...packets.flatMap((packet) => checkPacket(packet, receipts.get(receiptIdOf(packet)))),
    ...receiver.receipts.flatMap((receipt) => {
      const packet = sent.get(receipt.id)
      if (packet !== undefined && packet.delivered > 0) return []
      // One that was refused may be of a packet that somebody has altered.
      return isTaken(receipt) ? [`nobody has sent a packet for the receipt ${receipt.id}`] : []
    }),
  ]
}

function checkPacket(packet: AddressedPacket, receipt: Receipt | undefined): readonly string[] {
  const isThere = receipt !== undefined && isTaken(receipt)
  const name = `the packet ${packet.condition} of ${packet.amount} ${packet.assetCode}`
  if (!isThere) return packet.fulfilled > 0 ? [`${name} was fulfilled, and left no receipt`] : []
  const excess = receipt.excess ?? 0n
  const worth = exchange(packet.amount, packet.assetCode, receipt.amount.assetCode)
  return [
    ...(receipt.railAmount === packet.amount ? [] : [`${name} is counted as ${receipt.railAmount}`]),
    ...(receipt.amount.value + excess === worth ? [] : [`${name} is worth ${worth}, not ${receipt.amount.value}`]),
    ...(receipt.state === 'reserved' ? [`${name} was never credited`] : []),
  ]
}

/** The receivers of a wallet's payments: what the payments say has left and arrived is what their receipts say. */
function checkReceivers(
  packets: readonly AddressedPacket[],
  sender: WalletState,
  receiver: WalletState,
): readonly string[] {
  const byDestination = groupBy(packets, ({ incomingPayment }) => incomingPayment)
  const byPayment = groupBy(receiver.receipts, ({ incomingPaymentId }) => incomingPaymentId)
  return [...groupBy(sender.payments, ({ receiver: url }) => lastSegment(url))].flatMap(([id, payments]) => {
    const receipts = (byPayment.get(id) ?? []).filter(isTaken)
    return checkReceiver(id, payments, receipts, byDestination.get(id) ?? [])
  })
}

function checkReceiver(
  id: string,
  payments: readonly RailPayment[],
  receipts: readonly Receipt[],
  packets: readonly AddressedPacket[],
): readonly string[] {
  const arrived = sumOf(receipts, ({ railAmount = 0n }) => railAmount)
  const worth = sumOf(receipts, ({ amount, excess = 0n }) => amount.value + excess)
  const sent = sumOf(payments, (payment) => leftOf(payment).sent)
  const inFlight = sumOf(payments, (payment) => leftOf(payment).inFlight)
  const received = sumOf(payments, ({ delivery }) => BigInt(delivery?.received ?? 0))
  const isRight = sent <= arrived && arrived <= sent + inFlight && received <= worth
  // Where one payment alone has paid, no packet went below the rate that was quoted to it.
  const [payment, ...others] = payments
  const taken = new Map(receipts.map((receipt) => [receipt.id, receipt]))
  const below = packets.filter((packet) => {
    const receipt = taken.get(receiptIdOf(packet))
    if (payment === undefined || others.length > 0 || receipt === undefined) return false
    const got = receipt.amount.value + (receipt.excess ?? 0n)
    return (got + 1n) * BigInt(payment.rail.sendAmount.value) <= packet.amount * payment.receiveAmount.value
  })
  return [
    ...(isRight
      ? []
      : [`for ${id} ${sent} has left and ${inFlight} may have, worth ${received}; ${arrived} arrived, worth ${worth}`]),
    ...below.map(({ condition }) => `the packet ${condition} was taken below its rate`),
  ]
}

/** The accounts that the two have with each other mirror each other; only what is unknown may set them apart. */
function checkAccounts(
  packets: readonly AddressedPacket[],
  sender: WalletState,
  receiver: WalletState,
  isSafe: boolean,
): readonly string[] {
  return ASSETS.flatMap(({ assetCode, assetScale }) => {
    const moved = (state: WalletState, peer: WalletName, way: 'sent' | 'inFlight' | 'received'): bigint =>
      state.railAccounts.find(({ id }) => id === `ilp:${ilpAddressOf(peer)}/${assetCode}/${assetScale}`)?.[way] ?? 0n
    const [sent, received] = [moved(sender, receiver.name, 'sent'), moved(receiver, sender.name, 'received')]
    const inFlight = moved(sender, receiver.name, 'inFlight')
    const own = sender.payments.filter(({ rail }) => rail.sendAmount.assetCode === assetCode)
    const known = sumOf(own, (payment) => leftOf(payment).sent)
    const unknown = sumOf(own.filter(isUndecided), (payment) => leftOf(payment).inFlight)
    const ids = new Set(packets.filter((packet) => packet.assetCode === assetCode).map(receiptIdOf))
    const taken = sumOf(
      receiver.receipts.filter(({ id }) => ids.has(id)),
      ({ railAmount = 0n }) => railAmount,
    )
    return [
      ...(sent === known + unknown ? [] : [`the account says ${sent} ${assetCode} left, payments ${known + unknown}`]),
      ...(inFlight === unknown ? [] : [`the account says ${inFlight} ${assetCode} in flight, payments ${unknown}`]),
      ...(received === taken ? [] : [`the account says ${received} ${assetCode} came, receipts ${taken}`]),
      ...(sent - unknown <= received && received <= sent ? [] : [`${sent} ${assetCode} left, ${received} came`]),
      ...(isSafe && unknown > 0n ? [`${unknown} ${assetCode} is unknown between two that can ask again`] : []),
    ]
  })
}

function groupBy<T>(list: readonly T[], nameOf: (item: T) => string): ReadonlyMap<string, readonly T[]> {
  const groups = new Map<string, T[]>()
  for (const item of list) {
    const group = groups.get(nameOf(item)) ?? []
    groups.set(nameOf(item), group)
    group.push(item)
  }
  return groups
}
