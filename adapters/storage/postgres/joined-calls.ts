/** A call that waits for its answer. */
export interface WaitingCall<Call, Answer> {
  readonly call: Call
  resolve(answer: Answer): void
  reject(error: unknown): void
}

/** Does what several calls ask for in one go, and resolves each of them. Where it throws, all of them reject. */
export type DoTogether<Call, Answer> = (sort: string, calls: readonly WaitingCall<Call, Answer>[]) => Promise<void>

const MOST_JOINED = 64

/**
 * Lets calls of one sort share round trips: the first goes at once, and what is asked while it is under way goes together
 * as soon as it is back. So nothing waits where little is asked, and the more is asked the less each call costs.
 */
export function createJoinedCalls<Call, Answer>(
  doTogether: DoTogether<Call, Answer>,
): (sort: string, call: Call) => Promise<Answer> {
  /** What waits, for each sort of which calls are under way. */
  const queues = new Map<string, WaitingCall<Call, Answer>[]>()

  const doAll = async (sort: string, queue: WaitingCall<Call, Answer>[]): Promise<void> => {
    while (queue.length > 0) {
      const joined = queue.splice(0, MOST_JOINED)
      try {
        await doTogether(sort, joined)
      } catch (error) {
        for (const { reject } of joined) reject(error)
      }
    }
    queues.delete(sort)
  }

  return (sort, call) =>
    new Promise((resolve, reject) => {
      const queue = queues.get(sort)
      if (queue !== undefined) {
        queue.push({ call, resolve, reject })
        return
      }
      const fresh = [{ call, resolve, reject }]
      queues.set(sort, fresh)
      doAll(sort, fresh)
    })
}
