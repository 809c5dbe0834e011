import type { Access } from '../protocol/access.ts'
import type { HttpRequest, HttpResponse } from './http-exchange.ts'

/** The interval of a limit, as a person should read it. */
export interface ConsentInterval {
  /** As the client asked for it. */
  readonly interval: string
  /** How many windows there are; absent where they never end. @spec D4 */
  readonly windows?: number
  /** Start of the first window (of the current one where they never end), in milliseconds. */
  readonly startsAt: number
  /** End of the last window, in milliseconds; absent where they never end. */
  readonly endsAt?: number
}

/** One right that is asked for, with its amounts in human form. */
export interface ConsentAccess {
  readonly access: Access
  readonly debitAmount?: string
  readonly receiveAmount?: string
  readonly receiver?: string
  readonly interval?: ConsentInterval
}

/** What a resource owner must be shown before approving. All of it comes from the server's own records. @spec INT-11 */
export interface ConsentData {
  readonly client: {
    /** The client's wallet address. */
    readonly id: string
    /** The name in its wallet address document. Its owner chose it: show `id` beside it. */
    readonly name?: string
    /** The origin of `id`: who answers for it. Many clients may share it, so it names none of them alone. */
    readonly origin: string
    /** Whether that is an account of this wallet, of a customer as any other: `origin` is the wallet's own then. */
    readonly isLocal: boolean
  }
  /** Whose account this is about: only its owner may approve. */
  readonly walletAddress: string
  readonly access: readonly ConsentAccess[]
  /** Whether the client asks to learn that the owner controls `walletAddress`. */
  readonly subject: boolean
  /** Where the browser goes next: host of the finish URL. Absent: the client did not ask for a redirect, warn about that. @spec T-20 */
  readonly finishHost?: string
  /** Milliseconds since 1970. */
  readonly expiresAt: number
}

/**
 * Why an interaction cannot be shown or decided. `not_owner` and `other_session` leave it open for the one who may;
 * `wider_access` leaves it open for another answer. While the directory has another account for the wallet address than
 * when the client asked, `approve` answers `not_owner` to its owner, too.
 */
export type InteractionRefusal =
  | 'unknown'
  | 'expired'
  | 'used'
  | 'other_session'
  | 'bad_csrf'
  | 'not_owner'
  | 'wider_access'

/** An interaction that was opened: what to show, and the value that the decision must bring back. */
export type OpenedInteraction =
  | { readonly ok: true; readonly consent: ConsentData; readonly csrf: string }
  | { readonly ok: false; readonly reason: InteractionRefusal }

/** Who is logged in at the wallet: the one thing that the wallet, and nobody else, can say. */
export interface ResourceOwner {
  /** Identifies the browser session; the same for every request of it, and unguessable. @spec INT-10 */
  readonly session: string
  /** The wallet addresses of this person, as canonical URLs. Only the owner of the one that is asked about sees and decides. */
  readonly walletAddresses: readonly string[]
}

/** A resource owner who decides: in the session that opened the interaction, with its anti-CSRF value. @spec INT-10 */
export interface Decider extends ResourceOwner {
  /** The value from `find`. */
  readonly csrf: string
}

/** A resource owner who approves, all of what was asked or a part of it. */
export interface Approver extends Decider {
  /**
   * What is granted: `'all'` that was asked, or a part of it. Each entry of a part narrows one that was asked, and no
   * two the same one: type and identifier are the same; the actions are some of those (`read` of a `read-all`, too); an
   * amount is not larger, a receiver and an interval stay as they are. A limit that was not asked for may be added, but
   * no interval to an amount that was meant for good. A part may be empty where the client also asked for the subject.
   * Anything else is refused with `wider_access`: a screen that loses what was chosen approves nothing. So is everything
   * while the directory knows no account that it would be given for. Where it has another one than when the client
   * asked, the answer is `not_owner`.
   * @spec GRT-13
   */
  readonly access: 'all' | readonly Access[]
}

/** A decision that was taken. `redirect`: where to send the browser with status 303; absent where the client polls. */
export type DecidedInteraction =
  | { readonly ok: true; readonly redirect?: string }
  | { readonly ok: false; readonly reason: InteractionRefusal }

/**
 * What a wallet's own consent screen calls. `reference` is the last segment of the interaction URL. Each call rejects with
 * `TypeError` where `walletAddresses` is no list or `session` no text or an empty one, and otherwise where the storage or a
 * secret that it needs is away; `approve` also where the directory fails. The same call may succeed later.
 */
export interface Interactions {
  /** Opens an interaction for its owner's session, or shows it to the same session again. Nobody else can open it. */
  find(reference: string, owner: ResourceOwner): Promise<OpenedInteraction>
  /** Grants what was asked, or the part of it in `access`; what is granted is what the client is answered and held to. @spec GRT-13 */
  approve(reference: string, approver: Approver): Promise<DecidedInteraction>
  /** Grants nothing and ends the grant. */
  deny(reference: string, decider: Decider): Promise<DecidedInteraction>
}

/** Answers the browser at `{authServer}/interact/{reference}`. */
export interface Consent {
  /**
   * Answers a GET or a POST. `url` is the interaction URL itself, for the form's action; the library adds the
   * security headers of INT-9 to whatever is returned, and sends every redirect with status 303.
   */
  respond(exchange: {
    readonly request: HttpRequest
    readonly reference: string
    readonly url: string
    readonly interactions: Interactions
  }): Promise<HttpResponse>
  /**
   * Makes the page for a person whom `respond` could not answer, because it rejected: `status` is 503 where the same
   * request may succeed later, and 500 where something is broken. The failure itself is told by the events. Without
   * this, or where it rejects too, the answer is the authorization server's error in JSON.
   */
  failed?(status: 500 | 503): Promise<HttpResponse>
}
