import type { Context } from '../../ports/context.ts'
import type { RailBalance } from '../../ports/payment-method.ts'
import type { Change, StoredRecord } from '../../ports/storage.ts'
import { type Asset, isSameAsset } from '../../protocol/amount.ts'
import { moveThrough, type RailMovement, railAccountId } from '../../protocol/rail-account.ts'
import { readRecord } from '../../records/read-record.ts'

/** An account of a rail, and the asset that it is in. */
export interface RailAccountName extends Asset {
  readonly method: string
  readonly account: string
}

/**
 * The change that counts a movement in a rail account, for the commit of that movement. The account must have been read
 * together with the record that moves (a payment or a receipt). `over_limit` if the side that grows would exceed the
 * other one by more than `most`. The account exists from its first movement on. Commit in the account's turn
 * (`turnAtRailAccount`), and read both again after a conflict.
 */
export function railAccountChange(
  record: StoredRecord<'rail-account'> | undefined,
  name: RailAccountName,
  moved: RailMovement,
  most?: bigint,
): Change | 'over_limit' {
  const { assetCode, assetScale } = name
  const id = railAccountId(name.method, name.account)
  const account = record?.value ?? { id, assetCode, assetScale, sent: 0n, inFlight: 0n, received: 0n }
  if (!isSameAsset(account, name)) throw new TypeError(`the account ${id} of a rail is in another asset`)
  const value = moveThrough(account, moved, most)
  if (value === undefined) return 'over_limit'
  if (record === undefined) return { action: 'insert', kind: 'rail-account', value }
  return { action: 'replace', kind: 'rail-account', version: record.version, value }
}

/** What a rail account has moved; nothing if it does not exist yet. */
export async function readRailBalance(context: Context, method: string, account: string): Promise<RailBalance> {
  const record = await readRecord(context.storage, 'rail-account', railAccountId(method, account))
  return { sent: record?.value.sent ?? 0n, received: record?.value.received ?? 0n }
}
