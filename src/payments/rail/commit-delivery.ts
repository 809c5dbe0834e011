import type { Context } from '../../ports/context.ts'
import type { Change } from '../../ports/storage.ts'
import type { StoredDelivery } from '../../protocol/delivery.ts'
import { type RailMovement, railAccountId } from '../../protocol/rail-account.ts'
import { type Attempt, decide } from '../../records/decide.ts'
import { recordsOfKind } from '../../records/read-record.ts'
import type { RailRecord } from '../payment-record.ts'
import { turnAtRailAccount } from '../turn-keys.ts'
import { progressOf } from './delivery-progress.ts'
import { railAccountChange } from './rail-account.ts'

/**
 * Commits how far the delivery of a payment has come, together with what its rail account has moved by that. `write`
 * returns the commit: it is given the payment with that delivery, still at the version that was read, and the changes
 * of the account, which it must include; after a conflict at the account it is called again. `lost` if the payment
 * belongs to another worker by now; `over_limit` if the account would then have sent more than it has received by more
 * than `most`.
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
  const commit = (): Promise<T | 'lost' | 'over_limit'> => decide(context, attempt, { lost: 'lost' })
  // A commit that only renews the lease does not write the account, so it takes no turn there: 256 deliveries do so
  // every few seconds.
  return movement === undefined ? commit() : context.inTurn(turnAtRailAccount(record.value.rail), commit)
}

/**
 * What a payment moves through its rail account. Whatever is in flight counts as sent until it is known not to have
 * left.
 */
function movementOf(record: RailRecord, next: RailRecord): RailMovement | undefined {
  const [before, after] = [progressOf(record.value), progressOf(next.value)]
  const inFlight = after.inFlight.sent - before.inFlight.sent
  const sent = after.sent - before.sent + inFlight
  return sent === 0n && inFlight === 0n ? undefined : { sent, inFlight }
}

/**
 * The changes that count a movement in the rail account. `lost` if the payment was changed meanwhile: its movement may
 * already be counted.
 */
async function accountChanges(
  context: Context,
  { version, value: { id, rail } }: RailRecord,
  movement: RailMovement | undefined,
  most?: bigint,
): Promise<readonly Change[] | 'lost' | 'over_limit'> {
  if (movement === undefined) return []
  const { method, account, sendAmount } = rail
  const railAccountKey = { kind: 'rail-account', id: railAccountId(method, account) } as const
  const records = await context.storage.get([{ kind: 'outgoing-payment', id }, railAccountKey])
  const [stored] = recordsOfKind(records, 'outgoing-payment')
  if (stored?.version !== version) return 'lost'
  const [railAccount] = recordsOfKind(records, 'rail-account')
  const change = railAccountChange(railAccount, { method, account, ...sendAmount }, movement, most)
  return change === 'over_limit' ? change : [change]
}
