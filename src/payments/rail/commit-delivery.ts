import type { Context } from '../../ports/context.ts'
import type { Change } from '../../ports/storage.ts'
import type { StoredDelivery } from '../../protocol/delivery.ts'
import { type RailMovement, railAccountId } from '../../protocol/rail-account.ts'
import { type Attempt, decide } from '../../records/decide.ts'
import { recordsOfKind } from '../../records/read-record.ts'
import { turnAtRailAccount } from '../turns.ts'
import { progressOf } from './delivery-progress.ts'
import { railAccountChange } from './rail-account.ts'
import type { RailRecord } from './rail-record.ts'

/**
 * Commits a payment whose delivery has come so far, together with what its account of the rail has moved by that. `write` is
 * given the payment with that delivery, still at the version that was read, and the changes of the account, which are part
 * of its commit; it is called again after a conflict at the account. `lost` if the payment belongs to another worker by now;
 * `over_limit` if the account would have sent more than it has received by more than `most`.
 */
export async function commitDelivery<T>(
  context: Context,
  record: RailRecord,
  delivery: StoredDelivery,
  write: (next: RailRecord, moved: readonly Change[]) => Attempt<T>,
  most?: bigint,
): Promise<T | 'lost' | 'over_limit'> {
  const next: RailRecord = { ...record, value: { ...record.value, delivery } }
  const movement = movementOf(record, next)
  const attempt = async (): Promise<Attempt<T | 'lost' | 'over_limit'>> => {
    const moved = await accountChanges(context, record, movement, most)
    return typeof moved === 'string' ? { answer: moved } : write(next, moved)
  }
  const lost = { payment: record.value.id, answer: 'lost' } as const
  const commit = (): Promise<T | 'lost' | 'over_limit'> => decide(context, attempt, { lost })
  // What only renews the lease does not write the account, and 256 deliveries renew theirs every few seconds.
  return movement === undefined ? commit() : context.serialize(turnAtRailAccount(record.value.rail), commit)
}

/** What a payment moves through its rail's account: what is in flight has left, until it is known that it has not. */
function movementOf(record: RailRecord, next: RailRecord): RailMovement | undefined {
  const [before, after] = [progressOf(record.value), progressOf(next.value)]
  const inFlight = after.inFlight.sent - before.inFlight.sent
  const sent = after.sent - before.sent + inFlight
  return sent === 0n && inFlight === 0n ? undefined : { sent, inFlight }
}

/**
 * The changes by which the rail's account follows what a payment moves through it. `lost` if the payment was changed
 * meanwhile: the account may have followed that already.
 */
async function accountChanges(
  context: Context,
  { version, value: { id, rail } }: RailRecord,
  movement: RailMovement | undefined,
  most?: bigint,
): Promise<readonly Change[] | 'lost' | 'over_limit'> {
  if (movement === undefined) return []
  const { method, account, sendAmount } = rail
  const { assetCode, assetScale } = sendAmount
  const railAccountKey = { kind: 'rail-account', id: railAccountId(method, account) } as const
  const records = await context.storage.get([{ kind: 'outgoing-payment', id }, railAccountKey])
  const [stored] = recordsOfKind(records, 'outgoing-payment')
  if (stored?.version !== version) return 'lost'
  const [railAccount] = recordsOfKind(records, 'rail-account')
  const change = railAccountChange(railAccount, { method, account, assetCode, assetScale }, movement, most)
  return change === 'over_limit' ? change : [change]
}
