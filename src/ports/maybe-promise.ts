/** A value now or later: what is there at once need not wait for a turn of the event loop. */
export type MaybePromise<T> = T | Promise<T>
