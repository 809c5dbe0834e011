/** The time. Supplied by the host so that tests and simulations can control it. */
export interface Clock {
  /** Whole milliseconds since 1970, UTC. */
  now(): number
  /**
   * Resolves after `milliseconds`, or at once when `signal` is aborted. Never rejects. Without a `signal` it is a pause in
   * ongoing work: on a host whose process ends when nothing is left to do, it keeps the process alive.
   */
  sleep(milliseconds: number, signal?: AbortSignal): Promise<void>
}
