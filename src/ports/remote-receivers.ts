import type { Amount } from '../protocol/amount.ts'
import type { ClientId } from '../protocol/client.ts'
import type { IlpPaymentMethod } from '../protocol/payment-method.ts'

/** An incoming payment on another server, as that server describes it now. */
export interface RemoteIncomingPayment {
  /** Its URL, which is also what its server calls it. */
  readonly url: string
  /**
   * Whom it pays, as its server claims; canonical. Absent if what it says is no wallet address: that makes it no worse a
   * receiver.
   */
  readonly walletAddress?: string
  readonly isCompleted: boolean
  /** In the asset of `receivedAmount`. */
  readonly incomingAmount?: Amount
  /** Its asset is the one in which the payment receives. */
  readonly receivedAmount: Amount
  /** Milliseconds since 1970. */
  readonly expiresAt?: number
  /** How it can be paid; empty once it takes no money. */
  readonly methods: readonly IlpPaymentMethod[]
}

/**
 * The answer of another server. `unreachable`: none for now, and nothing is known; `refused`: it does not let this server
 * read the payment; `unknown`: it knows no such payment; `invalid`: its answer is not an incoming payment, or is a different
 * one. `detail` is for the operator, and holds no secret. `rate_limited`: it was not asked, because whoever asks here has
 * asked too often.
 */
export type FoundReceiver =
  | { readonly ok: true; readonly payment: RemoteIncomingPayment }
  | {
      readonly ok: false
      readonly reason: 'unreachable' | 'refused' | 'unknown' | 'invalid'
      readonly detail?: string
    }
  | { readonly ok: false; readonly reason: 'rate_limited'; readonly retryAfterSeconds: number }

/** On whose behalf this server asks. An implementation that fetches limits what each of them can make it fetch. @spec T-5 */
export interface ReceiverAsker {
  /** Who wants to pay the receiver. */
  readonly client?: ClientId
  /** Where that request came from, if the host tells. */
  readonly source?: string
  /**
   * A payment to the receiver is ordered, and its money held: this server has read it before, whatever the reader still
   * remembers, and nobody else may keep it from being read again.
   */
  readonly isOrdered?: boolean
}

/** Reads incoming payments on other servers, as their client. */
export interface RemoteReceivers {
  /**
   * `url` is as a URL parser writes it, at most 2048 characters: http or https, without userinfo, query and fragment, its
   * path ending in `/incoming-payments/` and one more segment. Answers within 3 seconds and never rejects. @spec QUO-9 @spec T-5
   */
  find(url: string, asker?: ReceiverAsker): Promise<FoundReceiver>
}
