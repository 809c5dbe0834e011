import type { WireAmount } from './amount.ts'

/** How a receiver on another server is paid. Fixed with the price, for good. */
export interface RailTerms {
  readonly method: 'ilp'
  /** The rail account that the money leaves through. */
  readonly account: string
  /** The most that may leave, in the rail's asset. */
  readonly sendAmount: WireAmount
  /** Whether the delivery is complete once the receive amount has arrived; otherwise it is once all has left. */
  readonly isFixedReceive: boolean
  /** The part of the fee that is due as a whole once anything has left, in the payer's smallest units; absent for none. */
  readonly fixedFee?: string
  /** Set if the wallet has no price of its own for the exchange on the way: what arrives is what others say. */
  readonly isUnpriced?: true
}

/** How a receiver is paid, as it is stored: its shared secret is sealed, and only this server can open it. */
export interface SealedDetails {
  readonly ilpAddress: string
  /** The shared secret under a key that is derived from the secret `secretId` and from `nonce`; base64url. */
  readonly sealed: string
  readonly nonce: string
  readonly secretId: string
}

/** How far a delivery over a rail has come, as it is stored. Amounts are decimal text. */
export interface StoredDelivery {
  /** Known to have left, in the rail's asset. */
  readonly sent: string
  /** Known to have arrived, in the receiver's asset. */
  readonly received: string
  /** What else may have left and arrived. */
  readonly inFlightSent: string
  readonly inFlightReceived: string
  /** What the rail needs to find out what became of that. */
  readonly notes: string
  /** Set once the rail is no longer asked and the host is to say how it ended. */
  readonly isLeftToHost?: 'pending' | 'unknown'
  /** What the host has said about what was in flight then. */
  readonly saidByHost?: 'sent' | 'failed'
  /** Why it ended before all had arrived. */
  readonly reason?: string
  /** The details by which the receiver was to be paid when the first of it left. */
  readonly details?: SealedDetails
}
