const DAY_MILLISECONDS = 24 * 3600 * 1000

/**
 * How long records are kept once they are over, for clients that ask again: revoked and rotated tokens, grants that were
 * never given, incoming payments that ended without money or an order for them. And how long after its token has expired
 * a grant that needed no consent is kept, with the token: until then the token can be rotated.
 */
export const OVER_KEPT_MILLISECONDS = 30 * DAY_MILLISECONDS

/**
 * How long a repeated continuation or rotation gets the first answer again: its client may have lost it.
 * @spec CON-5 @spec TOK-7
 */
export const REPEAT_MILLISECONDS = 60_000

/** How long a repeat under an `Idempotency-Key` gets the first answer again. @spec OUT-12 */
export const IDEMPOTENCY_KEPT_MILLISECONDS = DAY_MILLISECONDS

/** How long an expired quote or interaction is kept, so that whoever comes late is told that it has expired. */
export const EXPIRED_KEPT_MILLISECONDS = DAY_MILLISECONDS

/**
 * How much longer than needed a record that prevents a repeat is kept: a clock that ran ahead and was then corrected
 * must not cause it to be deleted too early.
 */
export const CLOCK_ERROR_MILLISECONDS = DAY_MILLISECONDS
