import { rateLimited } from '../errors/conditions.ts'
import type { Context } from '../ports/context.ts'
import type { ReceiverAsker } from '../ports/remote-receivers.ts'
import type { StoredRecord } from '../ports/storage.ts'
import { type Asset, isSameAsset } from '../protocol/amount.ts'
import { assetOf, isActive, remainderOf, roomOf } from '../protocol/incoming-payment.ts'
import { isLocalReceiver, parseReceiver, type ReceiverUrl } from '../protocol/receiver.ts'
import { readNamed } from '../records/read-record.ts'
import { tellOtherAccount } from '../records/tell-other-account.ts'
import {
  findRemoteReceiver,
  NOT_REACHABLE,
  type NoRemoteReceiver,
  type RailWay,
  type RemoteReceiver,
  type WayRequest,
} from './rail/remote-receiver.ts'

/** An incoming payment on this server that can be paid now. */
export interface LocalReceiver {
  readonly kind: 'local'
  /** Its URL in normal form. */
  readonly url: string
  /** As it was read. */
  readonly record: StoredRecord<'incoming-payment'>
  readonly asset: Asset
  /** What may still be paid in; absent if the payment names no amount. */
  readonly remainder?: bigint
  /** The same or, if it names no amount, what its sum can still hold. @spec LIM-11 */
  readonly room: bigint
  readonly expiresAt?: number
  /** The payee's account in the wallet's ledger. */
  readonly account: string
}

/** A receiver that can be paid from here. */
export type Receiver = LocalReceiver | RemoteReceiver

/** The most that a receiver still takes; absent if its server names no maximum. @spec QUO-3 @spec OUT-4 */
export function mostOf(receiver: Receiver): bigint | undefined {
  return receiver.kind === 'local' ? receiver.room : receiver.remainder
}

/**
 * A receiver, with the way to it if that was asked for and is over a rail; or why it cannot be paid: `reason` is for the
 * developer of a client, `detail` for the operator.
 */
export type ResolvedReceiver =
  | { readonly ok: true; readonly receiver: Receiver; readonly way?: RailWay }
  | { readonly ok: false; readonly reason: string; readonly detail?: string }

/**
 * Finds what is behind a receiver URL, as it is now. A URL under this server's own base is local; every other one is remote,
 * whatever its id: its server is asked on behalf of `asker`, who wants to pay, and with `way` the payment method, too, how it
 * reaches the receiver. A remote receiver can be paid only if a payment method is configured.
 * @spec RS-10 @spec QUO-9 @spec T-5 @spec T-41
 */
export async function resolveReceiver(
  context: Context,
  url: string,
  asker: ReceiverAsker,
  way?: WayRequest,
): Promise<ResolvedReceiver> {
  const parsed = parseReceiver(url)
  if (parsed === undefined) return { ok: false, reason: 'not the URL of an incoming payment' }
  if (isLocalReceiver(parsed, context.resourceServer)) return resolveLocal(context, parsed)
  if (context.remoteReceivers === undefined)
    return { ok: false, reason: 'only incoming payments on this server can be paid from here' }
  const found = await findRemoteReceiver(context, parsed.url, asker, way)
  return found.ok ? found : refusalOf(found, url)
}

/** The incoming payment of this server, if it can be paid now. @spec OUT-4 @spec INC-13 */
async function resolveLocal(context: Context, { url, id }: ReceiverUrl): Promise<ResolvedReceiver> {
  const record = await readNamed(context.storage, 'incoming-payment', id)
  if (record === undefined) return { ok: false, reason: 'unknown incoming payment' }
  const payment = record.value
  if (!isActive(payment, context.clock.now()))
    return { ok: false, reason: 'the incoming payment is completed or expired' }
  const payee = await context.walletAddresses.find(payment.walletAddress, context.answerDueAt)
  if (!payee?.isActive) return { ok: false, reason: 'the wallet address of the receiver is not active' }
  if (payment.account !== payee.account) {
    tellOtherAccount(context, payment, payee.account)
    return { ok: false, reason: 'the wallet address of the receiver now has a different account' }
  }
  if (!isSameAsset(payee, assetOf(payment)))
    return { ok: false, reason: 'the wallet address of the receiver has changed its asset' }
  const remainder = remainderOf(payment)
  return {
    ok: true,
    receiver: {
      kind: 'local',
      url,
      record,
      asset: assetOf(payment),
      ...(remainder !== undefined && { remainder }),
      room: roomOf(payment),
      ...(payment.expiresAt !== undefined && { expiresAt: payment.expiresAt }),
      account: payee.account,
    },
  }
}

/** The refusal for the client. Throws "rate limited" if the other server was not asked for that reason. */
function refusalOf(found: NoRemoteReceiver, url: string): Extract<ResolvedReceiver, { readonly ok: false }> {
  if (found.reason === 'rate_limited')
    throw rateLimited(found.retryAfterSeconds, `one client or source names too many receivers, the last of them ${url}`)
  const { reason, detail } = found
  return { ok: false, reason: NOT_REACHABLE[reason], ...(detail !== undefined && { detail }) }
}
