import type { JsonWebKey } from 'open-payments-server'
import type { SigningKey } from 'open-payments-server/testing'

export const BASE = 'https://wallet.example'
export const AUTH = 'https://wallet.example/auth'

/** How many customers pay, each under grants of their own. */
export const PAYERS = 32

/** The private key of the benchmark's one client, as text: all servers of a run know the same. */
export interface ClientKey {
  readonly jwk: JsonWebKey
  readonly seed: string
}

/** The key as requests are signed with it. */
export function signingKeyOf({ jwk, seed }: ClientKey): SigningKey {
  return { keyId: jwk.kid, jwk, privateKeySeed: new Uint8Array(Buffer.from(seed, 'base64')) }
}

/** The tokens of the benchmark's one client. */
export interface Tokens {
  /** Incoming payments of the shop: create, read, list, complete. */
  readonly receiving: string
  readonly quoting: string
  /** One per customer, without limits. */
  readonly spending: readonly string[]
  /** One per customer, under a debit limit. */
  readonly limited: readonly string[]
}

/** What a measured process says when it listens. */
export interface Listening {
  readonly port: number
}

/** What a server says when it listens: with this, requests are signed before the clock starts. */
export interface ServerHello extends Listening {
  /** How far its clock is ahead, in milliseconds. */
  readonly ahead: number
  /** Absent where it was started without. */
  readonly tokens?: Tokens
}
