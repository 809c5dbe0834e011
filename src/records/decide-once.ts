import { idempotencyConflict, invalidSignature } from '../errors/conditions.ts'
import type { Context, Plan } from '../ports/context.ts'
import type { Change, Storage, StoredRecord } from '../ports/storage.ts'
import type { KeptAnswer, KeyedRequest } from '../protocol/idempotency-key.ts'
import type { OutgoingPayment } from '../protocol/outgoing-payment.ts'
import { deleteChange, startVersion } from './change.ts'
import { decide } from './decide.ts'
import { readRecord } from './read-record.ts'
import { CLOCK_ERROR_MILLISECONDS, IDEMPOTENCY_KEPT_MILLISECONDS } from './retention.ts'

/**
 * The change that claims a signature or nonce: it inserts a record with an id derived from that, in the commit of the
 * request's effect. If that insert conflicts, the request is a replay.
 * @spec SIG-26
 */
export type ReplayClaimChange = Extract<Change, { readonly action: 'insert'; readonly kind: 'replay-claim' }>

/** The claims on the signatures of a request. */
export interface ReplayClaims {
  readonly claims: readonly ReplayClaimChange[]
  /** Those of the claims that are made for a `nonce`. */
  readonly nonceClaims: readonly ReplayClaimChange[]
}

/** What a request uses up: its signatures, and the `Idempotency-Key` that it names. */
export interface SingleUse extends ReplayClaims {
  /** Absent if the request names no key. */
  readonly key?: KeyedRequest | undefined
}

/** What an attempt does; `response` is the answer that a repeat will get. */
export interface Effect<T> {
  readonly changes: readonly Change[]
  readonly resourceId: string
  readonly response: KeptAnswer
  /** What the request itself goes on with; a repeat gets none. */
  readonly made: T
}

/** The outcome of a request: its own effect, or that of an earlier request under the same key. */
export type Once<T> =
  | { readonly isRepeat: false; readonly response: KeptAnswer; readonly made: T }
  | { readonly isRepeat: true; readonly response: KeptAnswer; readonly resourceId: string }

/**
 * Decides as `decide` does, and at most once under a key: the key is written in the commit of the effect, so that
 * neither exists without the other. The key is looked up before the replay claims are checked, so that even the
 * identical request, signature included, gets its answer. Throws if the key was used with another body. `isKeyFree`: the
 * key was just looked up and has no record, so it is not looked up before the first attempt: if it is used by then, the commit
 * conflicts.
 * @spec OUT-12
 */
export async function decideOnce<T>(
  context: Context,
  used: SingleUse,
  attempt: () => Promise<Effect<T>>,
  isKeyFree = false,
): Promise<Once<T>> {
  const { claims, key } = used
  /** Set by `earlier`, which runs before each attempt: so an attempt finds it absent or expired. */
  let kept: StoredRecord<'idempotency-key'> | undefined
  let isKnownFree = isKeyFree
  const earlier = async (): Promise<Once<T> | undefined> => {
    if (key === undefined) return undefined
    if (isKnownFree) {
      isKnownFree = false
      return undefined
    }
    kept = await readRecord(context.storage, 'idempotency-key', key.id)
    if (!isUsed(context, kept)) return undefined
    const { bodyHash, answer, resourceId } = kept.value
    if (bodyHash !== key.bodyHash) {
      // Use the signature up: otherwise somebody could send this request again once the key is free, and it would pay.
      await claimForRepeat(context, used)
      throw idempotencyConflict()
    }
    return { isRepeat: true, response: answer, resourceId }
  }
  const once = await decide<Once<T>>(context, async () => underKey(context, key, await attempt(), kept), {
    claims,
    earlier,
  })
  if (once.isRepeat) await claimForRepeat(context, used)
  return once
}

/** Whether a key was used, and its record has not expired: then that record alone decides how the request is answered. */
function isUsed(
  { clock }: Context,
  found: StoredRecord<'idempotency-key'> | undefined,
): found is StoredRecord<'idempotency-key'> {
  return found !== undefined && clock.now() < found.value.expiresAt
}

/**
 * Uses up the signature of a request that has no effect of its own: if a refusal freed the key, somebody else could
 * send the request again. A signature base that is already claimed is no error here: the identical request is a repeat,
 * not a replay. A nonce is different: by sending it, the client itself asked that it count once, and a repeat can carry
 * another.
 * @spec SIG-23 @spec SIG-24
 */
async function claimForRepeat(context: Context, { claims, nonceClaims }: SingleUse): Promise<void> {
  await decide(context, async () => {
    const found = await context.storage.get(claims.map(({ kind, value }) => ({ kind, id: value.id })))
    const missing = claims.filter((_claim, index) => found[index] === undefined)
    if (!nonceClaims.every((claim) => missing.includes(claim))) throw invalidSignature('this nonce was used before')
    return { changes: missing, answer: undefined }
  })
}

/** The effect, with the change that keeps its answer for a repeat. */
function underKey<T>(
  context: Context,
  key: KeyedRequest | undefined,
  effect: Effect<T>,
  stale: StoredRecord<'idempotency-key'> | undefined,
): Plan<Once<T>> {
  const { changes, response, made } = effect
  const keeping = key === undefined ? [] : [keepAnswerChange(context, key, effect, stale)]
  return { changes: [...changes, ...keeping], answer: { isRepeat: false, response, made } }
}

/**
 * The change that keeps an answer under its key. An expired record of the key (`stale`) is replaced. Undefined members
 * are left out: JSON has none, and some databases refuse them.
 */
function keepAnswerChange(
  context: Context,
  key: KeyedRequest,
  { resourceId, response }: Effect<unknown>,
  stale: StoredRecord<'idempotency-key'> | undefined,
): Change {
  const answer = Object.fromEntries(Object.entries(response).filter(([, member]) => member !== undefined))
  const expiresAt = context.clock.now() + IDEMPOTENCY_KEPT_MILLISECONDS
  const dueAt = expiresAt + CLOCK_ERROR_MILLISECONDS
  const kept = { kind: 'idempotency-key', value: { ...key, resourceId, answer, expiresAt }, dueAt } as const
  if (stale === undefined) return { ...kept, action: 'insert', version: startVersion(context) }
  return { ...kept, action: 'replace', version: stale.version }
}

/** What `decideOnce` would commit and answer, for a commit shared with others; `undefined` if the key is used. */
export async function planOnce<T>(
  context: Context,
  { claims, key }: SingleUse,
  attempt: () => Promise<Effect<T>>,
): Promise<Plan<Once<T>> | undefined> {
  const found = await readRecord(context.storage, 'idempotency-key', key?.id)
  if (isUsed(context, found)) return undefined
  const { changes, answer } = underKey(context, key, await attempt(), found)
  return { changes: [...changes, ...claims], answer }
}

/**
 * Reads what a request needs, and throws if that rejects, unless the request is a repeat: a repeat gets its first answer,
 * even if what that was based on has changed since. Then nothing is `needed`.
 *
 * `readAhead` may know the record of the key. If there is none, the key is free, and `decideOnce` need not look it up again. If
 * there is one, it does.
 * @spec OUT-12
 */
export async function unlessRepeated<T>(
  context: Context,
  key: KeyedRequest | undefined,
  readAhead: Storage,
  readNeeded: () => Promise<T>,
): Promise<{ readonly needed?: T; readonly isKeyFree: boolean }> {
  const found = key && (await readRecord(readAhead, 'idempotency-key', key.id))
  if (isUsed(context, found)) return { isKeyFree: false }
  try {
    return { needed: await readNeeded(), isKeyFree: found === undefined }
  } catch (refusal) {
    if (isUsed(context, await readRecord(context.storage, 'idempotency-key', key?.id))) return { isKeyFree: false }
    throw refusal
  }
}

/** The change that frees the key under which an undone payment was ordered; none if there was no key. */
export async function freeKeyChanges(context: Context, { id, keyId }: OutgoingPayment): Promise<readonly Change[]> {
  const record = await readRecord(context.storage, 'idempotency-key', keyId)
  return record?.value.resourceId === id ? [deleteChange(record)] : []
}
