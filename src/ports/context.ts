import type { ClientId } from '../protocol/client.ts'
import type { OutgoingPayment } from '../protocol/outgoing-payment.ts'
import type { Clock } from './clock.ts'
import type { Cryptography } from './cryptography.ts'
import type { MoneyEvent, OpenPaymentsEvent } from './events.ts'
import type { KeyResolver } from './key-resolver.ts'
import type { Ledger, LedgerResult } from './ledger.ts'
import type { PaymentMethod } from './payment-method.ts'
import type { Pricing } from './pricing.ts'
import type { RemoteReceivers } from './remote-receivers.ts'
import type { Secrets } from './secrets.ts'
import type { Lifetimes, Policies, RequestLimits } from './settings.ts'
import type { Change, Storage } from './storage.ts'
import type { WalletAddress } from './wallet-addresses.ts'

/** Calls of the ledger that nobody waits for any more: what they answer late is as good as what a repeat would be answered. */
export interface LateAnswers {
  /**
   * Notes a call that was begun, and answers the same calls (`key`: what is called, and its id) begun before that have
   * neither failed nor been forgotten.
   */
  expect(key: string, call: Promise<LedgerResult>): readonly Promise<LedgerResult>[]
  /** For calls that were answered in time. */
  forget(key: string): void
}

/** A payment that is with a payment method, and the account that it is paid from. */
export type DeliveryKey = Pick<OutgoingPayment, 'id' | 'account'>

/**
 * The payments that are with a payment method in this process, until it has answered: those that were ordered here, those
 * that `recover()` took up, and those whose call nobody waits for any more. A payment that is worked on twice is one.
 */
export interface Deliveries {
  /** Whether a payment is one of them. */
  has(outgoingPayment: string): boolean
  /** Hands out the room that there is now: answers whether there is some for one more payment, beside those that it was given before. */
  openRoom(): (payment: Pick<DeliveryKey, 'account'>) => boolean
  /** Counts a payment until the work has settled. */
  follow(payment: DeliveryKey, work: Promise<unknown>): void
}

/** Work of this process that goes on after the call that began it has resolved. */
export interface OngoingWork {
  /** Takes such work, which may reject. Resolves when it has ended; never rejects. */
  keep(work: Promise<unknown>): Promise<unknown>
  /** Has the host told of something that nobody waits for, or leaves that to a later `recover()`: what is not told stays due. */
  tellLater(tell: () => Promise<unknown>): void
  /** Resolves once nothing goes on any more, not even what was begun meanwhile. */
  drain(): Promise<void>
}

/** The changes of a joint commit, by the record that each is about. */
export type JointChanges = Map<string, Change>

/** What waits for a turn to commit changes, and may have them committed in the turn of one that waits before it. */
export interface Companion {
  /**
   * Adds its changes to those of the companions before it, and hands all of them on; leaves them as they are where it must
   * have a turn of its own. Never rejects.
   */
  join(before: Promise<JointChanges>): Promise<JointChanges>
  /** Tells it that the joint commit is over: that it has happened, or failed with a cause so that nobody knows whether. */
  settle(end: 'committed' | { readonly cause: unknown }): void
}

/** Runs tasks of the same key one after the other in this process: writers of one hot record do not race each other. */
export interface Serializer {
  <T>(key: string, task: () => Promise<T>): Promise<T>
  /**
   * The same for a task that others may do along with their own. It is given those that wait for this key, itself first, and
   * nobody is given the same ones again; none where it was given to another task itself.
   */
  inCompany<T>(key: string, own: Companion, task: (companions: readonly Companion[]) => Promise<T>): Promise<T>
  /** Whether a task of this key would have to wait: what need not be done in a turn is done without one then. */
  isBusy(key: string): boolean
}

/**
 * The parts and settings of one server, put together once by `createOpenPayments`. A request may be given a copy of its own:
 * where the host names its source, with a `keyResolver` that asks in the name of that source; where it asks another
 * server, with `waitsUntil`.
 */
export interface Context {
  /** Published base URLs, without a trailing slash. */
  readonly authServer: string
  readonly resourceServer: string
  readonly walletAddressServer: string
  readonly storage: Storage
  readonly ledger: Ledger
  readonly lateAnswers: LateAnswers
  readonly deliveries: Deliveries
  readonly ongoing: OngoingWork
  /** The wallet's directory, its answers checked and waited for no longer than `holdSeconds`. */
  readonly walletAddresses: { find(walletAddress: string): Promise<WalletAddress | undefined> }
  readonly keyResolver: KeyResolver
  readonly cryptography: Cryptography
  readonly secrets: Secrets
  readonly clock: Clock
  readonly pricing: Pricing
  readonly paymentMethods: readonly PaymentMethod[]
  /** Reads incoming payments on other servers; absent where no payment method could pay them. */
  readonly remoteReceivers?: RemoteReceivers
  readonly lifetimes: Lifetimes
  readonly limits: RequestLimits
  /** Of one request that asks another server: until when it waits for anybody. */
  readonly waitsUntil?: number
  readonly policies: Policies
  /**
   * Charges one new record to the quota of its client, and to that of the source where the host names it. Answers 0, or
   * how many seconds it is until both allow one; then neither was charged. @spec T-37
   */
  chargeCreation(client: ClientId, source: string | undefined): number
  /**
   * Charges one more refusal of an incoming payment: it is written down, and whoever knows the payment can cause it for
   * nothing. `refusals` says of which payment, and of which kind. Answers 0; where too many were charged, another number, and this one was not. @spec T-37
   */
  chargeRefusal(refusals: string): number
  /** Tells the host, best effort; never throws. A money event only where none is recorded. */
  emit(event: OpenPaymentsEvent): void
  /** Where the host listens: delivers a money event, and rejects where the host did. Absent: nobody listens, nothing is recorded. */
  readonly deliverEvent?: (event: MoneyEvent) => Promise<void>
  readonly serialize: Serializer
}
