import type { AccessToken } from '../protocol/access-token.ts'
import type { Grant } from '../protocol/grant.ts'
import type { IdempotencyKey } from '../protocol/idempotency-key.ts'
import type { IncomingPayment } from '../protocol/incoming-payment.ts'
import type { Interaction } from '../protocol/interaction.ts'
import type { OutgoingPayment } from '../protocol/outgoing-payment.ts'
import type { Quote } from '../protocol/quote.ts'
import type { RailAccount } from '../protocol/rail-account.ts'
import type { Receipt } from '../protocol/receipt.ts'
import type { ReplayClaim } from '../protocol/replay-claim.ts'
import type { SignedRequest } from '../protocol/signed-request.ts'
import type { Spending } from '../protocol/spent-amounts.ts'
import type { MoneyEvent } from './events.ts'

/** A money event that its host has not acknowledged yet. */
export interface PendingEvent {
  /** `<payment id>:<sequence>`; for `credit_refused` `receipt-<receipt id>:1`. */
  readonly id: string
  readonly event: MoneyEvent
}

/**
 * Everything that is stored, by kind. Values hold strings, finite numbers, booleans, `null`, bigints, arrays and plain
 * objects; no member or element is `undefined`. They come back equal, whatever a caller has done since to what it wrote or
 * was given; the members of an object may come in another order. In all of them `id`, and a name that ends in `Id`, is an
 * id and not a URL; `walletAddress` and `receiver` are URLs; and a time, such as `createdAt`, is in milliseconds since
 * 1970.
 */
export interface RecordTypes {
  readonly grant: Grant
  readonly interaction: Interaction
  readonly 'access-token': AccessToken
  readonly 'incoming-payment': IncomingPayment
  readonly quote: Quote
  readonly 'outgoing-payment': OutgoingPayment
  readonly 'signed-request': SignedRequest
  readonly spending: Spending
  readonly receipt: Receipt
  readonly 'rail-account': RailAccount
  readonly 'replay-claim': ReplayClaim
  readonly 'idempotency-key': IdempotencyKey
  readonly event: PendingEvent
}

/** The name of a kind of record. */
export type RecordKind = keyof RecordTypes

/** A kind that can be listed; listed values have `walletAddress`, `client` and `createdAt`. */
export type ListableKind = 'grant' | 'incoming-payment' | 'outgoing-payment'

/**
 * What a record is written with, besides its kind, its id (the value's `id`) and its version. A default may come back for
 * an absent mark.
 */
export interface RecordMarks {
  /** When background work is due on this record, in whole milliseconds since 1970; absent if none is. */
  readonly dueAt?: number
  /** Whether `list` shows it; only for a listable kind. Default no. */
  readonly isListed?: boolean
  /** The form that the value is in. The library sets it with every write; a store only keeps it. Absent: 1. */
  readonly schemaVersion?: number
}

/**
 * A record as it is read back. `version` starts at 1, or where the insert says (up to 2^49), and grows by 1 with each write; it
 * stays below 2^53.
 */
export interface StoredRecord<K extends RecordKind = RecordKind> extends RecordMarks {
  readonly kind: K
  readonly version: number
  readonly value: RecordTypes[K]
}

/** Names one record. */
export interface Key {
  readonly kind: RecordKind
  readonly id: string
}

/**
 * One part of a commit. `version` is the version that the record must have for the commit to happen; of an insert, the one that
 * the record starts at (absent: 1). That is a random one if the id may come back after its record was deleted: a change that is
 * meant for the old record then never fits the new one.
 */
export type Change =
  | {
      readonly [K in RecordKind]: {
        readonly action: 'insert'
        readonly kind: K
        readonly version?: number
        readonly value: RecordTypes[K]
      } & RecordMarks
    }[RecordKind]
  | {
      readonly [K in RecordKind]: {
        readonly action: 'replace'
        readonly kind: K
        readonly version: number
        readonly value: RecordTypes[K]
      } & RecordMarks
    }[RecordKind]
  | { readonly action: 'delete'; readonly kind: RecordKind; readonly id: string; readonly version: number }
  | { readonly action: 'check'; readonly kind: RecordKind; readonly id: string; readonly version: number }

/**
 * The outcome of a commit: all of it happened, or none of it. `conflicts` has the indexes of changes that did not fit: at
 * least one of these, and none of a change that did fit.
 */
export type CommitResult = 'committed' | { readonly conflicts: readonly number[] }

/** A place in a list: the record that the page begins after. */
export interface ListPosition {
  /** Milliseconds since 1970. */
  readonly createdAt: number
  readonly id: string
}

/** One page of a list. */
export interface ListQuery {
  readonly kind: ListableKind
  readonly walletAddress: string
  /** Only records of this client. */
  readonly client?: string
  /** Begin after this record, in the order of `direction`; absent: at the start. */
  readonly after?: ListPosition
  /** `older`: newest first (createdAt, then id, both descending). `newer`: the exact reverse. */
  readonly direction: 'older' | 'newer'
  /** The most records that are wanted, at least one. */
  readonly limit: number
}

/**
 * The library's storage: versioned records and one atomic commit. There is no begin and no rollback, so the same
 * contract works for memory, SQL and every store with a conditional batch write.
 *
 * - `get`, `list` and `due` see every commit that resolved before they were called; one call sees all its records at one
 *   moment: `list` and `due` give each as it was when it was listed or due. Nobody ever sees part of a commit, or anything
 *   of one that met a conflict or is not durable yet.
 * - `commit` applies all changes or none, durably before it resolves. Of two commits that replace or delete a record at one
 *   version, or insert one id, exactly one succeeds; any number may check it. Changes name each record at most once; there
 *   are 1 to 100 of them. A `check` changes nothing in its record. A commit whose versions all fit is tried again if it has
 *   lost to contention alone, never answered with `conflicts`.
 * - Ids and wallet addresses compare exactly, character by character. An id has up to 517 UTF-16 code units; that of a rail
 *   account is `<method>:<name>`, with `ilp` up to 981.
 * - A rejection of `commit` means that the outcome is *unknown*. A store never repeats such a commit by itself, nor does
 *   its driver.
 */
export interface Storage {
  /**
   * Reads records, in the order of the keys; `undefined` if there is none. One round trip. There is at least one key, there
   * may be more than a hundred, and a key may occur twice.
   */
  get(keys: readonly Key[]): Promise<readonly (StoredRecord | undefined)[]>
  /** Lists records with `isListed`: `limit` of them, or all if there are fewer. */
  list(query: ListQuery): Promise<readonly StoredRecord[]>
  /**
   * Records whose `dueAt` is at or before `now`, the longest due first: `limit` of them (usually 100, but there is no highest
   * one), or all if there are fewer. May leave out those whose `schemaVersion` is above the one that this release writes. May
   * also leave out a record that it cannot read, so that it holds up no others, if it calls `onUnreadable` with the reason.
   */
  due(
    kind: RecordKind,
    now: number,
    limit: number,
    onUnreadable?: (cause: unknown) => void,
  ): Promise<readonly StoredRecord[]>
  /** Applies all changes or none, durably before it resolves. A rejection means that the outcome is unknown. */
  commit(changes: readonly Change[]): Promise<CommitResult>
}
