import type { Access } from '../protocol/access.ts'
import type { HttpRequest, HttpResponse } from './http-exchange.ts'

/** The interval of a limit, for display to a person. */
export interface ConsentInterval {
  /** As the client requested it. */
  readonly interval: string
  /** How many windows there are; absent if they never end. @spec D4 */
  readonly windows?: number
  /**
   * Whether the first window is still to come, a window is current, or the last one is over, so that nothing can be paid any
   * more.
   */
  readonly phase: 'ahead' | 'current' | 'over'
  /**
   * Start of the first window, in milliseconds since 1970. If `windows` is absent: start of the current window; before the
   * first begins, of the first; once the last is over, of the last. Counted back from an end, it may lie before the year 1.
   */
  readonly startsAt: number
  /** End of the last window, in milliseconds since 1970; absent if they never end. */
  readonly endsAt?: number
}

/** One requested right. Its amounts are written for people, as `1200.00 USD`; a limit that was not requested is absent. */
export interface ConsentAccess {
  readonly access: Access
  readonly debitAmount?: string
  readonly receiveAmount?: string
  /** The URL of the only incoming payment that may be paid. */
  readonly receiver?: string
  readonly interval?: ConsentInterval
}

/** What a resource owner must be shown before approving. All of it comes from the server's own records. @spec INT-11 */
export interface ConsentData {
  readonly client: {
    /** The client's wallet address. */
    readonly id: string
    /** The name in its wallet address document. The client's owner chose it: show `id` beside it. */
    readonly name?: string
    /**
     * The origin of `id`: who is responsible for it. Many clients may share an origin, so it alone identifies none of
     * them.
     */
    readonly origin: string
    /** Whether the client is itself an account at this wallet, like any other customer. `origin` is then the wallet's own. */
    readonly isLocal: boolean
  }
  /** The account that this is about: only its owner may approve. */
  readonly walletAddress: string
  readonly access: readonly ConsentAccess[]
  /** Whether the client asks to learn that the owner controls `walletAddress`. */
  readonly subject: boolean
  /**
   * Where the browser goes next: the host of the finish URL. Absent if the client did not ask for a redirect: warn about
   * that.
   * @spec T-20
   */
  readonly finishHost?: string
  /** Until when it can be decided, in milliseconds since 1970. The client has to continue by then, too. */
  readonly expiresAt: number
}

/**
 * Why an interaction cannot be shown or decided. After `not_owner` and `other_session` it stays open for the person who
 * may decide it; after `wider_access` it stays open for another answer. While the directory names a different account for
 * the wallet address than when the client asked, `approve` answers `not_owner` even to the owner.
 */
export type InteractionRefusal =
  | 'unknown'
  | 'expired'
  | 'used'
  | 'other_session'
  | 'bad_csrf'
  | 'not_owner'
  | 'wider_access'

/** An opened interaction: what to show, and the value that the decision must return. */
export type OpenedInteraction =
  | { readonly ok: true; readonly consent: ConsentData; readonly csrf: string }
  | { readonly ok: false; readonly reason: InteractionRefusal }

/** Who is logged in at the wallet: the one thing that only the wallet can know. */
export interface ResourceOwner {
  /** Identifies the browser session: the same for all of its requests, and unguessable. @spec INT-10 */
  readonly session: string
  /**
   * This person's wallet addresses, as URLs; one that is closed or on another server does no harm. Only the owner of the one
   * in question sees the request and decides.
   */
  readonly walletAddresses: readonly string[]
}

/** A resource owner who decides, in the session that opened the interaction and with its anti-CSRF value. @spec INT-10 */
export interface Decider extends ResourceOwner {
  /** The `csrf` value from `find`. */
  readonly csrf: string
}

/** A resource owner who approves all or part of what was requested. */
export interface Approver extends Decider {
  /**
   * What is granted: `'all'` that was requested, or a part of it. Each entry of a part narrows one requested entry, and no
   * two narrow the same one: type and identifier stay the same; the actions are a subset (`read` is part of `read-all`); an
   * amount is not larger; a receiver and an interval stay as they are. A limit that was not requested may be added, but not
   * an interval to an amount requested without one, which covers the grant's whole life. A part may be empty if the client
   * also asked for the subject. Anything else is refused with `wider_access`, so a screen that loses what was chosen approves
   * nothing. So is every approval while the directory has no account for the wallet address, or an inactive one. If it has a
   * different account than when the client asked, the answer is `not_owner`.
   * @spec GRT-13
   */
  readonly access: 'all' | readonly Access[]
}

/** A decision that was made. `redirect`: where to send the browser with status 303; absent if the client polls. */
export type DecidedInteraction =
  | { readonly ok: true; readonly redirect?: string }
  | { readonly ok: false; readonly reason: InteractionRefusal }

/**
 * What a wallet's own consent screen calls. `reference` is the last segment of the interaction URL. Each call rejects with
 * `TypeError` if `walletAddresses` is not a list of URLs, `session` is not a non-empty string, or `reference` or `csrf` is not a
 * string; and otherwise if the storage or a secret that it needs is unavailable; `approve` also if the directory fails. The same
 * call may then succeed later.
 */
export interface Interactions {
  /** Opens an interaction for its owner's session, or shows it to that session again. Nobody else can open it. */
  find(reference: string, owner: ResourceOwner): Promise<OpenedInteraction>
  /**
   * Grants what was requested, or the part of it in `access`; the client is told exactly that, and held to it.
   * @spec GRT-13
   */
  approve(reference: string, approver: Approver): Promise<DecidedInteraction>
  /** Grants nothing and ends the grant. */
  deny(reference: string, decider: Decider): Promise<DecidedInteraction>
}

/** A request of a browser to an interaction, and what its answer needs. */
export interface ConsentExchange {
  readonly request: HttpRequest
  readonly reference: string
  /** The interaction URL itself, for the form's action. */
  readonly url: string
  readonly interactions: Interactions
}

/** Answers the browser at `{authServer}/interact/{reference}`. */
export interface Consent {
  /**
   * Answers a GET or a POST. The library adds the security headers of INT-9 to whatever is returned, and sends every
   * redirect with status 303. An answer that no host could send counts as a rejection: a status outside 200 to 599, or a
   * header with a control character or with one above U+00FF. So percent-encode a URL.
   *
   * There is no deadline: only this browser waits, perhaps for its person to confirm on a second device, and an answer that
   * was given up would lose the redirect of a decision that is made all the same.
   */
  respond(exchange: ConsentExchange): Promise<HttpResponse>
  /**
   * Makes the page that a person sees when `respond` rejects: `status` is 503 if the same request may succeed later, and
   * 500 if something is broken. The failure itself is reported by an event. Without this method, or if it rejects too or no
   * host could send its answer, the answer is the authorization server's JSON error.
   */
  failed?(status: 500 | 503): Promise<HttpResponse>
}
