import type { SigningKey } from 'open-payments-server/testing'
import type { Answer, ClientRequest, WireRequest } from './client.ts'

/**
 * What must have become of an order in the end. `paid`: one payment, completed. `unpaid`: none, or one that failed.
 * `open`: one or none; whatever there is has ended.
 */
export type Fate = 'paid' | 'unpaid' | 'open'

/** An order for one payment, which carries the order's name in its metadata. */
export interface PaymentOrder {
  readonly name: string
  readonly fate: Fate
  readonly token: string
  readonly signer: SigningKey
  /** The payment that a client was told of. */
  url?: string
  /** An incoming payment with room for one: of all orders that name it here, exactly one is paid. */
  readonly rivals?: string
}

/** A request under a key, and what it was answered: its repeats are answered the same. */
export interface KeyedRequest {
  readonly request: ClientRequest
  readonly signer: SigningKey
  readonly answer: Answer
}

/** What a rail reported, and what it was answered. */
export interface Transfer {
  readonly incomingPaymentId: string
  readonly transferId: string
  readonly request: WireRequest
  readonly answer: Answer
}

/** Everything that clients were told and must be able to rely on. */
export interface Notebook {
  readonly orders: PaymentOrder[]
  readonly keyed: KeyedRequest[]
  /** Payments without a key, byte for byte; sent again they must be refused. */
  readonly captured: WireRequest[]
  readonly transfers: Transfer[]
  /** Incoming payments that a client has completed by a call. */
  readonly completed: Set<string>
  readonly violations: string[]
  requests: number
  unanswered: number
}

/** An empty one. */
export function openNotebook(): Notebook {
  return {
    orders: [],
    keyed: [],
    captured: [],
    transfers: [],
    completed: new Set(),
    violations: [],
    requests: 0,
    unanswered: 0,
  }
}
