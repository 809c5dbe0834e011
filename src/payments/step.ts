import type { StoredRecord } from '../ports/storage.ts'

/** The payment one state further. */
export interface Moved {
  readonly progress: 'moved'
  readonly record: StoredRecord<'outgoing-payment'>
  /** The receipt by which the same commit reserved room for it; absent where it reserved none. */
  readonly receiptId?: string | undefined
  /** Whether the incoming payment is complete by that, and its host is to hear of it. */
  readonly completesReceiver?: boolean
}

/** The payment at its end. */
export interface Ended {
  readonly progress: 'ended'
  /** Whether the incoming payment is complete by that, and its host is to hear of it. */
  readonly completesReceiver?: boolean
}

/** What a step came to: the payment one state further, its end, or an answer that did not come. */
export type Step =
  | Moved
  | Ended
  /** It waits for a word of the host. */
  | { readonly progress: 'waiting' }
  /** `reason` is for the operator. */
  | { readonly progress: 'stalled'; readonly reason: string }
  /** Asking again at once would be of no use. */
  | { readonly progress: 'later'; readonly record: StoredRecord<'outgoing-payment'>; readonly reason: string }
  /** Another worker has moved the payment on: it is no longer this one's. */
  | { readonly progress: 'lost' }

/**
 * What became of something that was due: it was taken up, another worker was faster with it, or nothing could be committed,
 * so that it is still due.
 */
export type TakenUp = 'taken' | 'lost' | 'failed'

/** Takes work that goes on after a call has resolved: `drain()` waits for it. */
export type Keep = (work: Promise<unknown>) => void

/** Has the host told of something that nobody waits for, or leaves that to a later `recover()`. */
export type TellLater = (tell: () => Promise<unknown>) => void

/** So many at once: a backlog must not ask more of a host than it can answer in time. */
const MOST_TOLD_AT_ONCE = 100

/** Tells later what there is room for; what is left stays due. `keep` is given the work. */
export function createTellLater(keep: Keep): TellLater {
  let running = 0
  return (tell) => {
    if (running >= MOST_TOLD_AT_ONCE) return
    running++
    keep(tell().finally(() => running--))
  }
}

/** A reason as it is stored and told: short, and one line of text. */
export function reasonText(reason: string): string {
  return reason.slice(0, 256).replaceAll(/[\p{Cc}\p{Surrogate}]/gu, ' ')
}
