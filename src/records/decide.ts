import { invalidSignature, unavailable } from '../errors/conditions.ts'
import type { Context } from '../ports/context.ts'
import type { Change, CommitResult, RecordKind } from '../ports/storage.ts'
import { isWrittenBy, type Write } from './as-committed.ts'
import { tellFault } from './tell-fault.ts'

// Which way to commit, by who waits for the outcome:
// - `decide`: a request, or a worker that moves a payment. Reads, decides and commits until the outcome is known.
// - `decideOnce`: the same for a request that counts once, under its signature and its key; `planOnce`, `decideTogether`: for
//   those that can share the commit of others who wait for the same turn.
// - `commitKnown`: one try of that, for whoever handles the conflict.
// - `tryCommit`, `commitUncontested`: nobody. What fails, or another worker was faster at, is due again later.

/** What a commit needs. */
export type CommitContext = Pick<Context, 'storage' | 'clock' | 'emit'>

/** The result of one attempt: what is to be committed, if anything, and the answer. */
export interface Attempt<T> {
  readonly changes?: readonly Change[]
  readonly answer: T
}

/**
 * Reads, decides and commits, until the commit succeeds. `attempt` reads what it needs and may throw a refusal; it runs
 * again after each conflict with a concurrent writer, until the commit deadline (then this throws "unavailable").
 *
 * `claims` are the replay claims of the request: they are part of whatever is committed. If a claim already exists, the
 * request is a replay, and is refused.
 *
 * `earlier` finds out whether this was decided before; if so, its answer is the answer, without any claim. It is called
 * before each attempt, and once more before a replay is refused or a refusal of the attempt is thrown.
 *
 * `lost` is for a worker that holds a payment, and must write no other: it is the answer if the record of the payment
 * conflicts, since the payment then belongs to another worker.
 *
 * A commit that fails without a reply is never repeated: the storage is read to see whether it happened. If that cannot
 * be seen, this throws "unavailable", never a refusal.
 */
export async function decide<T>(
  context: Context,
  attempt: () => Promise<Attempt<T>>,
  {
    claims = [],
    earlier,
    lost,
  }: {
    readonly claims?: readonly Change[]
    readonly earlier?: () => Promise<T | undefined>
    readonly lost?: T
  } = {},
): Promise<T> {
  // Perhaps the same request was decided after `earlier` looked, and used up its signature, or what the attempt did not find.
  const refuse = async (refusal: unknown): Promise<T> => {
    const known = await earlier?.()
    if (known === undefined) throw refusal
    return known
  }
  const deadline = context.clock.now() + context.limits.commitSeconds * 1000
  for (let round = 0; ; round++) {
    const before = await earlier?.()
    if (before !== undefined) return before
    let decision: Attempt<T>
    try {
      decision = await attempt()
    } catch (refusal) {
      return refuse(refusal)
    }
    const changes = [...(decision.changes ?? []), ...claims]
    const conflicts = changes.length === 0 ? [] : await commitKnown(context, changes)
    if (conflicts.length === 0) return decision.answer
    if (conflicts.some((change) => claims.includes(change)))
      return refuse(invalidSignature('this signature was used before, sign the request again'))
    if (lost !== undefined && conflicts.some(({ kind }) => kind === 'outgoing-payment')) return lost
    if (context.clock.now() >= deadline)
      throw unavailable('the commit kept conflicting with other writers until its deadline')
    await context.clock.sleep(backOffMilliseconds(context, round))
  }
}

/**
 * Commits; returns the changes that conflicted, none if it was committed. Throws "unavailable" if the outcome stays
 * unknown.
 */
export async function commitKnown(context: CommitContext, changes: readonly Change[]): Promise<readonly Change[]> {
  try {
    return conflictsOf(await context.storage.commit(changes), changes)
  } catch (cause) {
    if (await hasHappened(context, changes, cause)) return []
    throw unavailable('the outcome of a commit is unknown')
  }
}

/**
 * The changes that conflicted, none if they were committed. Throws if a storage in plain JavaScript answers anything
 * else: then it is unknown whether it committed.
 */
export function conflictsOf(outcome: CommitResult, changes: readonly Change[]): readonly Change[] {
  if (outcome === 'committed') return []
  const found = outcome?.conflicts?.flatMap((index) => changes[index] ?? []) ?? []
  if (found.length === 0) throw new TypeError('the storage answered a commit with neither `committed` nor a conflict')
  return found
}

async function hasHappened(context: CommitContext, changes: readonly Change[], cause: unknown): Promise<boolean> {
  tellFault(context, 'a commit was not answered', cause)
  const written = tellingWrites(changes.filter((change) => 'value' in change))
  if (written.length === 0) return false
  const keys = written.map(({ kind, value }) => ({ kind, id: value.id }))
  const found = await context.storage.get(keys).catch(() => [])
  return written.every((write, index) => {
    const record = found[index]
    return record !== undefined && (isFresh(write) || isWrittenBy(record, write))
  })
}

/**
 * The writes by which a commit is recognised afterwards: a record with a fresh id, or else its payment and its receipt,
 * or else all that it replaces, or else its claims, each of which starts at a version of its own.
 */
function tellingWrites(writes: readonly Write[]): readonly Write[] {
  const fresh = writes.find(isFresh)
  if (fresh !== undefined) return [fresh]
  // Not the incoming payment that counts a receipt: other receipts of the same amount give it the same value. And the
  // payment only together with its receipt: another worker may have written just one of them with the same value.
  const payment = writes.find(({ kind }) => kind === 'outgoing-payment')
  const receipt = writes.find(({ kind }) => kind === 'receipt')
  const own = [payment, receipt].filter((write) => write !== undefined)
  if (own.length > 0) return own
  const replaced = writes.filter(({ action }) => action === 'replace')
  return replaced.length > 0 ? replaced : writes
}

// Records of these kinds have fresh random ids: once such an id is stored, its commit has happened.
const FRESH: readonly RecordKind[] = ['grant', 'access-token', 'incoming-payment', 'quote', 'outgoing-payment']

function isFresh({ action, kind }: Write): boolean {
  return action === 'insert' && FRESH.includes(kind)
}

/** From this round on, the pauses between colliding writers are at their longest. */
export const LONGEST_BACK_OFF = 5

/**
 * A random time between half and all of a ceiling that doubles from 5 ms to 160 ms: so colliding writers drift apart.
 */
export function backOffMilliseconds(context: Context, round: number): number {
  const ceiling = 5 * 2 ** Math.min(round, LONGEST_BACK_OFF)
  const [random = 0] = context.cryptography.randomBytes(1)
  return ceiling / 2 + (ceiling / 2) * (random / 255)
}
