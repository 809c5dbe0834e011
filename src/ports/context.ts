import type { ClientId } from '../protocol/client.ts'
import type { LatestValues } from '../protocol/latest-values.ts'
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
import type { ServerKeys } from './server-keys.ts'
import type { Lifetimes, Policies, RequestLimits } from './settings.ts'
import type { Change, Key, ListQuery, Storage } from './storage.ts'
import type { WalletAddress } from './wallet-addresses.ts'

/** Calls of the ledger that are no longer waited for: a late answer is as good as the answer to a repeat would be. */
export interface LateAnswers {
  /**
   * Notes a call that was begun, and returns the same calls (`key`: what is called, and its id) begun earlier that have
   * neither failed nor been forgotten.
   */
  expect(key: string, call: Promise<LedgerResult>): readonly Promise<LedgerResult>[]
  /** Once one of the calls was answered, in time or late: whoever calls next gets a new answer. */
  forget(key: string): void
}

/** Who pays: an account, and the grant under which the payment was ordered. */
export type Payer = Pick<OutgoingPayment, 'account' | 'grantId'>

/** A payment that is with a payment method, or waits for that. */
export type PlacedPayment = Payer & Pick<OutgoingPayment, 'id'>

/**
 * The payments that are with a payment method in this process, until it has answered: those that were ordered here, those
 * that `recover()` took up, and those whose call nobody waits for any more. A payment that is worked on twice is one.
 */
export interface Deliveries {
  /** Whether a payment is one of them, or there is a place for it now. */
  hasPlaceFor(payment: PlacedPayment): boolean
  /**
   * Hands out the places that are free now, one payment after the other: answers whether there is one for a payment of this
   * payer, beside those that were given one before.
   */
  handOutPlaces(): (payer: Payer) => boolean
  /** Counts a payment until the work has settled. */
  follow(payment: PlacedPayment, work: Promise<unknown>): void
  /** Remembers a payment that found no place and is due; it begins as soon as a place is free. */
  wait(payment: PlacedPayment): void
  /** Says how a payment that has waited is taken up. */
  onPlace(takeUp: (payment: PlacedPayment) => Promise<unknown>): void
  /** While the work runs, no waiting payment begins. */
  beginNoneDuring(work: () => Promise<void>): Promise<void>
}

/** Work of this process that goes on after the call that began it has resolved. */
export interface OngoingWork {
  /** Takes such work, which may reject. Resolves when it has ended; never rejects. */
  keep(work: Promise<unknown>): Promise<unknown>
  /**
   * Tells the host of something that nobody waits for. If too much is being told already it does nothing: what was
   * to be told stays due for `recover()`.
   */
  tellLater(tell: () => Promise<unknown>): void
  /** Resolves once nothing goes on any more, not even what was begun meanwhile. */
  drain(): Promise<void>
}

/** An answer of the wallet's directory that was checked: what is `null` there is absent here, and `isActive` has its default. */
export type CheckedWalletAddress = {
  readonly [Member in keyof WalletAddress]: Exclude<WalletAddress[Member], null>
} & { readonly isActive: boolean }

/** What is to be committed, and the answer once it is. */
export interface Plan<T> {
  readonly changes: readonly Change[]
  readonly answer: T
}

/** Runs tasks of the same key one after the other in this process: writers of one hot record do not race each other. */
export interface InTurn {
  /** `first`: before all that already wait, of which others may have made any number. */
  <T>(key: string, task: () => Promise<T>, place?: 'first' | 'last'): Promise<T>
  /** How many tasks of this key run or wait: a task that need not take a turn, or can be refused, takes none behind many. */
  countOf(key: string): number
  /** How many turns have ended in this process, at any key. */
  endedTurns(): number
  /**
   * Whether no task of this key runs or waits, and none has ended since so many turns had: so what its tasks write is as it was
   * then, unless another process has written it. `false` may also mean that this is no longer known.
   */
  isQuietSince(key: string, ended: number): boolean
}

/**
 * What was read after a token or a quote: next time all of it is read in one round trip. A guess: nothing is decided by it, and
 * what it misses is read when it is needed.
 */
export interface ExpectedReads {
  /** By the id of a token: what its grant has spent, and its client, by which its `Idempotency-Key`s are named. */
  readonly ofTokens: LatestValues<{ readonly spending: readonly Key[]; readonly client: ClientId }>
  /** By the id of a quote: its receiver. */
  readonly ofQuotes: LatestValues<Key>
  /** By the id of a token and the target of its request: the page of a list. */
  readonly ofPages: LatestValues<ListQuery>
}

/**
 * The parts and settings of one server, put together once by `createOpenPayments`. A request may be given a copy of its own:
 * if the host names its source, with that; if it creates an incoming payment, a quote or an outgoing payment, with
 * `answerDueAt`.
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
  /** The wallet's directory, its answers checked and waited for no longer than `holdSeconds`, and than `answerDueAt`. */
  readonly walletAddresses: {
    find(walletAddress: string, answerDueAt?: number): Promise<CheckedWalletAddress | undefined>
  }
  readonly keyResolver: KeyResolver
  readonly cryptography: Cryptography
  readonly secrets: Secrets
  readonly serverKeys: ServerKeys
  readonly clock: Clock
  readonly pricing: Pricing
  readonly paymentMethods: readonly PaymentMethod[]
  /** Reads incoming payments on other servers; absent if no payment method could pay them. */
  readonly remoteReceivers?: RemoteReceivers
  readonly lifetimes: Lifetimes
  readonly limits: RequestLimits
  /** The network that a request came from, if the host names it. It pays for what other servers are asked. @spec T-5 */
  readonly source?: string
  /** For a creating request: until when it waits for answers of the host and of other servers. */
  readonly answerDueAt?: number
  readonly policies: Policies
  /**
   * Charges one new record to the quota of its client, and to that of the source if the host names it. Returns 0, or in how
   * many seconds both will allow one; then neither was charged.
   * @spec T-37
   */
  chargeCreation(client: ClientId, source: string | undefined): number
  /**
   * Charges one more refusal of an incoming payment: each is recorded, and anyone who knows the payment can cause one at no
   * cost. `refusals` names the payment and the kind of refusal. Returns 0; if too many were charged, another number, and
   * this one is not charged.
   * @spec T-37
   */
  chargeRefusal(refusals: string): number
  /** Tells the host, best effort; never throws. A money event only if none is recorded. */
  emit(event: OpenPaymentsEvent): void
  /**
   * If the host listens: delivers a money event, and rejects if the host did. Absent: nobody listens, nothing is
   * recorded.
   */
  readonly deliverEvent?: (event: MoneyEvent) => Promise<void>
  readonly inTurn: InTurn
  readonly expectedReads: ExpectedReads
  /**
   * Decides in the turn of a key, as `inTurn` does, and if possible in one commit with the others that wait for the same
   * turn.
   *
   * `plan` says what a task does after those before it, whose changes it is given; it must not write anything. A task that
   * refuses, answers `undefined` or writes what another one writes gets its own turn, and is decided by `alone` there. So do
   * all of them if the joint commit conflicts: it is all or nothing, and then nothing of it has happened. So no refusal is
   * based on something that is not committed. Rejects with "unavailable" if the outcome of the joint commit stays unknown.
   */
  decideTogether<T>(
    key: string,
    plan: (before: Promise<readonly Change[]>) => Promise<Plan<T> | undefined>,
    alone: () => Promise<T>,
  ): Promise<T>
}
