import type { ClientId } from './client.ts'
import type { OperationId } from './operations.ts'

/** The JSON of an answer without its secrets, which are derived again for a repeat. */
export type KeptAnswer = Readonly<Record<string, unknown>>

/**
 * Records what a request created under a key that its client chose, so that a repeat gets the same answer and has no
 * second effect.
 * @spec OUT-12
 */
export interface IdempotencyKey {
  /** SHA-256 of `idempotencyKeyInput`. */
  readonly id: string
  /** SHA-256 of the bytes of the request's body. */
  readonly bodyHash: string
  /** The id of what was created, the last segment of its URL. */
  readonly resourceId: string
  readonly answer: KeptAnswer
  /** Milliseconds since 1970. */
  readonly expiresAt: number
}

/** A request that names a key: the id of its record, and the digest of its body. */
export type KeyedRequest = Pick<IdempotencyKey, 'id' | 'bodyHash'>

const KEY = /^[\x21-\x7e]{1,256}$/

/**
 * The key in the lines of `Idempotency-Key`: one line of 1 to 256 visible ASCII characters; `undefined` for anything
 * else. A space is not visible, so two lines that a host has joined with a comma and a space are not a key either.
 */
export function parseIdempotencyKey(lines: readonly string[]): string | undefined {
  const key = lines.length === 1 ? (lines[0] ?? '').trim() : ''
  return KEY.test(key) ? key : undefined
}

/** The text from which a key's record id is derived. A key is separate for each client and each operation. */
export function idempotencyKeyInput(operation: OperationId, client: ClientId, key: string): string {
  return `${operation}\n${client}\n${key}`
}
