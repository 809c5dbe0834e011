const DAY_MILLISECONDS = 24 * 3600 * 1000

/**
 * How long records that are over (revoked tokens, grants that were never given) are kept, for clients that ask again.
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
