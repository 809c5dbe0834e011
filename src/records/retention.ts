const DAY_MILLISECONDS = 24 * 3600 * 1000

/** How long the records of what is over are kept for those who ask again: revoked tokens, grants that came to nothing. */
export const OVER_KEPT_MILLISECONDS = 30 * DAY_MILLISECONDS

/** How long the repeat of a continuation or a rotation is answered as the first was: its client has lost the answer. @spec CON-5 @spec TOK-7 */
export const REPEAT_MILLISECONDS = 60_000

/** How long a repeat under an `Idempotency-Key` is answered as the first request was. @spec OUT-12 */
export const IDEMPOTENCY_KEPT_MILLISECONDS = DAY_MILLISECONDS

/** How long an expired quote or interaction is kept, so that those who come late are told what happened. */
export const EXPIRED_KEPT_MILLISECONDS = DAY_MILLISECONDS

/**
 * How much longer than it can matter a record that refuses a repeat is kept: it must not have been forgotten because of a
 * clock that ran ahead and was then corrected.
 */
export const CLOCK_ERROR_MILLISECONDS = DAY_MILLISECONDS
