/**
 * The requests to peers that are open in this process, each on a connection of its own: the packets that wait for an
 * answer, of all payments and quotes.
 */
export interface OpenRequests {
  /** Whether the way to a receiver may be tested by another one. */
  hasRoom(): boolean
  /** Whether a payment that has `own` of them open may open another. */
  hasRoomBeside(own: number): boolean
  /** Counts one until it has settled, from now on: others that are asked for at the same moment have this in it. */
  follow<T>(request: Promise<T>): Promise<T>
}

/** The first request of each of 256 payments comes on top of that. */
const MOST_REQUESTS = 640
/** While so many are open, no payment has more than its first: the rest is for those that test a way. */
const MOST_BESIDE_FIRST = 384
/** At once, a payment has no more than such a part of what is left of them. */
const PART = 16

/**
 * Counts the requests of one process. A payment always has its first, so that none waits for another. The fuller it
 * gets, the fewer it has besides: whoever fills the process with packets that nobody answers leaves room to all others.
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
