import type { Context } from '../ports/context.ts'
import type { StoredRecord } from '../ports/storage.ts'
import { type Asset, isSameAsset } from '../protocol/amount.ts'
import { assetOf, isActive, remainderOf } from '../protocol/incoming-payment.ts'
import { isLocalReceiver, localResourceId, parseReceiver } from '../protocol/receiver.ts'
import { readRecord } from '../records/read-record.ts'

/** An incoming payment on this server that can be paid now. */
export interface LocalReceiver {
  /** Its URL in normal form. */
  readonly url: string
  readonly record: StoredRecord<'incoming-payment'>
  readonly asset: Asset
  /** What may still be paid in; absent where the payment names no amount. */
  readonly remainder?: bigint
  readonly expiresAt?: number
  /** The payee's account in the wallet's ledger. */
  readonly account: string
}

/** A receiver, or why it cannot be paid. */
export type ResolvedReceiver =
  | { readonly ok: true; readonly receiver: LocalReceiver }
  | { readonly ok: false; readonly reason: string }

/**
 * Finds the incoming payment behind a receiver URL. A URL under this server's own base is local, every other one is
 * remote whatever its id, and a remote one cannot be paid from here.
 * @spec RS-10 @spec OUT-4 @spec T-41
 */
export async function resolveReceiver(context: Context, url: string): Promise<ResolvedReceiver> {
  const parsed = parseReceiver(url)
  if (parsed === undefined) return { ok: false, reason: 'not the URL of an incoming payment' }
  if (!isLocalReceiver(parsed.url, context.resourceServer)) {
    return { ok: false, reason: 'only incoming payments on this server can be paid from here' }
  }
  const id = localResourceId(parsed.url, context.resourceServer, 'incoming-payments')
  const record = id === undefined ? undefined : await readRecord(context.storage, 'incoming-payment', id)
  if (record === undefined) return { ok: false, reason: 'unknown incoming payment' }
  const payment = record.value
  if (!isActive(payment, context.clock.now()))
    return { ok: false, reason: 'the incoming payment is completed or expired' }
  const payee = await context.walletAddresses.find(payment.walletAddress)
  if (payee === undefined || payee.isActive === false)
    return { ok: false, reason: 'the wallet address of the receiver is not active' }
  if (!isSameAsset(payee, assetOf(payment)))
    return { ok: false, reason: 'the wallet address of the receiver has changed its asset' }
  const remainder = remainderOf(payment)
  return {
    ok: true,
    receiver: {
      url: parsed.url,
      record,
      asset: assetOf(payment),
      ...(remainder !== undefined && { remainder }),
      ...(payment.expiresAt !== undefined && { expiresAt: payment.expiresAt }),
      account: payee.account,
    },
  }
}
