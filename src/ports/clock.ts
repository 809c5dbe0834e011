/** The time. Given by the host so that tests and simulations can hold it. */
export interface Clock {
  /** Whole milliseconds since 1970, UTC. */
  now(): number
  /** Resolves after `milliseconds`, or at once when `signal` is aborted. Never rejects. */
  sleep(milliseconds: number, signal?: AbortSignal): Promise<void>
}
