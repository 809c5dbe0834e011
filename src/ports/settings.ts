/** How long things live, in whole seconds above zero. */
export interface Lifetimes {
  /** An access token. Default 600. */
  readonly accessTokenSeconds: number
  /**
   * From the grant request to the end of the interaction and its continuation. Default 600; more than
   * `continuationWaitSeconds`.
   * @spec GRT-17
   */
  readonly interactionSeconds: number
  /** A quote, unless its receiver expires earlier. Default 300; at most 86400. */
  readonly quoteSeconds: number
  /** An incoming payment that names no expiry, and the longest that one may request. Default 30 days. @spec INC-2 */
  readonly incomingPaymentSeconds: number
  /** The `wait` of a continuation. Default 5. @spec CON-3 */
  readonly continuationWaitSeconds: number
  /** How old the `created` of a signature may be. Default 300; at most 3600. @spec SIG-18 */
  readonly signatureAgeSeconds: number
  /** How far ahead the `created` of a signature may be. Default 60; at most 3600. @spec SIG-18 */
  readonly signatureSkewSeconds: number
}

/** Sizes, deadlines and a quota: whole numbers above zero. A deadline is in seconds, and at most a day (86400). */
export interface RequestLimits {
  /** The largest request body. Default 65536. @spec EMB-1 */
  readonly bodyBytes: number
  /**
   * How long a body may take to arrive; a packet at `/ilp` always has 10 seconds, whatever this says. Default 10.
   * @spec EMB-2
   */
  readonly bodySeconds: number
  /**
   * How long a request waits for a hold before it answers without its outcome. It is also the deadline for the calls that an
   * answer depends on, and that mean 503 if they are late: `walletAddresses.find`, `account` of the ledger, `pricing.price`,
   * and `createDetails` of a payment method. For an incoming payment that is created, a quote or an order, all of these
   * share the deadline, with the keys of the client and the receiver's server, and the hold may take half as long again: so
   * its answer takes at most 1.5 × `holdSeconds`, plus the storage. In any other request each call has it to itself. Whatever
   * this setting is, fetching the keys of a client ends after 3 seconds (a `keyResolver` of your own has 4, twice if a key is
   * new to it), reading a receiver on another server after 3, and `ilp` takes at most 2.5 to find the rate to it. Default 3;
   * at most a fifth of `leaseSeconds`.
   */
  readonly holdSeconds: number
  /** How long a commit is retried against concurrent writers. Default 3. */
  readonly commitSeconds: number
  /**
   * How long a payment is reserved for the worker that took it up. Default 30; at most 3600, at least five times
   * `holdSeconds`, and at least 15 with a payment method.
   */
  readonly leaseSeconds: number
  /**
   * How many grants, token rotations, incoming payments, quotes and outgoing payments together one client may request, and
   * likewise one source if the host names sources: a bucket of this many, which may all be used at once, that refills evenly
   * at that rate per hour, so one hour can see up to twice as many. Each process counts on its own. A client that is known
   * only by its key can make itself as many identities as it likes, so only its source limits it. Default 100000.
   * @spec T-37
   */
  readonly createdPerHour: number
}

/** The choices that the protocol leaves open. */
export interface Policies {
  /** Which signatures are accepted. Default `open-payments`. @spec D1 */
  readonly signatureProfile: 'open-payments' | 'gnap'
  /** Which malformed headers, of two deployed clients, are accepted all the same. Default both. @spec D2 */
  readonly legacySignatureSyntax: readonly ('php' | 'rust')[]
  /** Encoding of the finish hash. Default `auto`: depends on whether the client sent `finish.hash_method`. @spec D3 */
  readonly finishHashEncoding: 'auto' | 'base64' | 'base64url'
  /**
   * Whether `Rn` means n repetitions after the first window, or n windows. Default `additional`. It is read anew for each
   * payment: grants that were given under `total` have one window more under `additional`, which their owners were not shown.
   * @spec D4
   */
  readonly intervalCounting: 'additional' | 'total'
  /** What the finish redirect of a denied interaction carries. Default `result`. @spec D7 */
  readonly finishOnDenial: 'result' | 'gnap'
  /** Which requests are single use. Default `payments`. @spec D8 */
  readonly replay: 'payments' | 'all'
  /** Whether a grant is bound to its client or to the key of its request. Default `client`. @spec D9 */
  readonly keyBinding: 'client' | 'key'
  /** Who may use a quote: any client with a right to its wallet address, or its creator. Default `walletAddress`. @spec D12 */
  readonly quoteBinding: 'walletAddress' | 'client'
  /**
   * What happens to money above the remainder of an incoming payment: of a transfer that the wallet itself reports, or
   * that a payment method receives. Default `cap`. @spec INC-8
   */
  readonly excessReceipt: 'accept' | 'cap' | 'refuse'
  /**
   * By how much the exchange on the way to a receiver on another server may be worse than the wallet's own `pricing`, in
   * hundredths of a percent: from 0 to 9999. It includes what a payment method allows for slippage on the way
   * (`slippageBasisPoints` of `ilp`). Default 500.
   */
  readonly exchangeToleranceBasisPoints: number
  /**
   * Types whose grants need no interaction; `outgoing-payment`, `list-all` and a subject always do. Default incoming-payment
   * and quote. If a type is left out later, rights of that type that nobody consented to no longer count. A right to quotes
   * names no wallet address: without `quote` here, it is granted only together with a right that names one, and for that one.
   * @spec GRT-5
   */
  readonly withoutInteraction: readonly ('incoming-payment' | 'quote')[]
  /** Whether the URI in `WWW-Authenticate: GNAP as_uri=` is in quotation marks. Default no, as published. */
  readonly quoteAsUri: boolean
  /**
   * Admits http and ports, on loopback names only, in wallet addresses, finish URIs and key fetches. For development.
   * Default no.
   * @spec WAS-2
   */
  readonly loopbackHttp: boolean
  /** App schemes allowed in a finish URI besides https, such as `com.example.app`. Default none. @spec INT-5 */
  readonly finishSchemes: readonly string[]
  /**
   * The wallet address of this server under which it reads from other servers that accept no client known by its key alone.
   * Its key set then contains this server's keys too. Default: none.
   */
  readonly clientWalletAddress?: string
  /** Prefix of the ILP addresses given out if no payment method is configured. Default `test.local`. */
  readonly localIlpPrefix: string
}

/** Some of the settings; the others, and those that are `undefined`, have their defaults. */
export type SomeOf<T> = { readonly [K in keyof T]?: T[K] | undefined }
