import type { Context } from '../../ports/context.ts'
import type { OpenIncomingPayment, PaymentMethod, RailServer } from '../../ports/payment-method.ts'
import { type Amount, type Asset, amountOf, isSameAsset } from '../../protocol/amount.ts'
import { assetOf, isActive, remainderOf } from '../../protocol/incoming-payment.ts'
import { priceFixedSend } from '../../protocol/price.ts'
import { readRecord } from '../../records/read-record.ts'
import { askRate } from '../ask-pricing.ts'
import { findReceived } from './known-transfer.ts'
import { readRailBalance } from './rail-account.ts'
import { findPayee, receiveByRail } from './receive-by-rail.ts'
import { openAddress } from './seal-address.ts'

/** What this server gives to a payment method; work that goes on after a call is passed to `keep`. */
export function createRailServer(
  context: Context,
  method: PaymentMethod['type'],
  keep: (work: Promise<unknown>) => void,
): RailServer {
  return {
    clock: context.clock,
    cryptography: context.cryptography,
    emit: (event) => context.emit(event),
    findPayable: (address) => findPayable(context, address),
    exchange: (amount, to, walletAddress) => exchangeReceived(context, amount, to, walletAddress),
    findReceived: (terms) => findReceived(context, method, terms),
    receive: (transfer) => receiveByRail(context, method, transfer, keep),
    balance: (account) => readRailBalance(context, method, account),
  }
}

/**
 * The incoming payment at an address. One that takes no money now has a remainder of zero: transfers that it took
 * before may be reported again, and recognising them needs its secret.
 */
async function findPayable(context: Context, address: string): Promise<OpenIncomingPayment | undefined> {
  const opened = await openAddress(context.secrets, address)
  if (opened === undefined) return undefined
  const payment = (await readRecord(context.storage, 'incoming-payment', opened.id))?.value
  if (payment?.secretId !== opened.secretId) return undefined
  const isOpen = isActive(payment, context.clock.now()) && (await findPayee(context, payment)) !== undefined
  const remainder = isOpen ? remainderOf(payment) : 0n
  return {
    id: payment.id,
    sharedSecret: opened.sharedSecret,
    address,
    walletAddress: payment.walletAddress,
    asset: assetOf(payment),
    ...(remainder !== undefined && { remainder }),
  }
}

/** At the wallet's rate, without its fee: the fee is charged to a payer, and here the payer is not ours. */
async function exchangeReceived(
  context: Context,
  amount: Amount,
  to: Asset,
  walletAddress: string,
): Promise<Amount | undefined> {
  if (isSameAsset(amount, to)) return amount
  const asked = await askRate(context, { walletAddress, from: amount, to })
  if (asked === undefined) return undefined
  const { from, rate } = asked
  const priced = priceFixedSend(amount.value, { from, to, rate, basisPoints: 0, fixed: 0n })
  return priced && amountOf(to, priced.receive)
}
