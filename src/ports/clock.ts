/** The time. Given by the host so that tests and simulations can hold it. */
export interface Clock {
  /** Whole milliseconds since 1970, UTC. */
  now(): number
  /**
   * Resolves after `milliseconds`, or at once when `signal` is aborted. Never rejects. Without a `signal` it is a pause of work
   * that goes on: on a host whose process ends when nothing is left to do, it keeps the process alive.
   */
  sleep(milliseconds: number, signal?: AbortSignal): Promise<void>
}
