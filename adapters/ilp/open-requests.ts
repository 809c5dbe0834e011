/**
 * The requests to peers that are open in this process: the packets of all payments and quotes that wait for an answer.
 * Each is on its own connection.
 */
export interface OpenRequests {
  /** Whether there is room for another test packet of a quote. */
  hasRoom(): boolean
  /** Whether a payment with `own` open requests may open another. */
  hasRoomBeside(own: number): boolean
  /** Counts a request from now until it settles, so that calls at the same moment already see it counted. */
  follow<T>(request: Promise<T>): Promise<T>
}

/** The most requests with which test packets of quotes still leave. One of each of 256 payments comes on top. */
const MOST_REQUESTS = 640
/** When this many are open, no payment may have more than its first; the rest is for test packets. */
const MOST_BESIDE_FIRST = 384
/** A payment may have at most one such part of the requests that are left. */
const PART = 16

/**
 * Counts the requests of one process. A payment may always open its first, so that none waits for another; the more are
 * open, the fewer it may open in addition. So whoever fills the process with packets that nobody answers leaves room
 * for all others.
 */
export function countRequests(): OpenRequests {
  let count = 0
  return {
    hasRoom: () => count < MOST_REQUESTS,
    hasRoomBeside: (own) => own === 0 || (own + 1) * PART <= MOST_BESIDE_FIRST - count,
    async follow(request) {
      count++
      try {
        return await request
      } finally {
        count--
      }
    },
  }
}
