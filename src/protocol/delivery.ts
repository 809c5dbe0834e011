import type { WireAmount } from './amount.ts'

/** How a receiver on another server is paid. Fixed with the price, for good. */
export interface RailTerms {
  readonly method: 'ilp'
  /** The rail account that the money leaves through. */
  readonly account: string
  /** The most that may leave, in the rail's asset. */
  readonly sendAmount: WireAmount
  /** The rate of the price: at least `received` arrive for `sent`, decimal text. The amounts are rounded; this is not. */
  readonly rate: { readonly sent: string; readonly received: string }
  /**
   * Whether the delivery is complete once the receive amount has arrived; otherwise, once the whole send amount has
   * left.
   */
  readonly isFixedReceive: boolean
  /**
   * The part of the fee that is due in full once anything has left, in the payer's smallest unit; absent if there is
   * none.
   */
  readonly fixedFee?: string
  /** Set if the wallet has no price of its own for the exchange on the way: then only others say how much arrives. */
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
  /** What the rail needs to find out what became of the money in flight. */
  readonly notes: string
  /** Set once the host, instead of the rail, is asked how the delivery ended. */
  readonly isLeftToHost?: 'pending' | 'unknown'
  /** What the host said about the money that was in flight then. */
  readonly saidByHost?: 'sent' | 'failed'
  /** Why it ended before everything had arrived. */
  readonly reason?: string
  /** The receiver's payment details at the time when the first money left. */
  readonly details?: SealedDetails
}
