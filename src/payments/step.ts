import type { StoredRecord } from '../ports/storage.ts'
import type { ReservedRoom } from './take-room.ts'

/** The payment has moved one state further. */
export interface Moved {
  readonly outcome: 'moved'
  readonly record: StoredRecord<'outgoing-payment'>
  /** The room that the same commit reserved; absent if it reserved none. */
  readonly room?: ReservedRoom | undefined
  /** The id of the incoming payment if it is complete by that, and its host is to hear of it. */
  readonly completes?: string | undefined
}

/** The payment at its end. */
export interface Ended {
  readonly outcome: 'ended'
  /** The id of the incoming payment if it is complete by that, and its host is to hear of it. */
  readonly completes?: string | undefined
}

/** What a step came to: the payment one state further, its end, or why this worker does not move it on now. */
export type Step =
  | Moved
  | Ended
  /** It waits for the host to decide. */
  | { readonly outcome: 'waiting' }
  /** `reason` is for the operator. */
  | { readonly outcome: 'stalled'; readonly reason: string }
  /** Asking again at once would be of no use. */
  | { readonly outcome: 'later'; readonly record: StoredRecord<'outgoing-payment'>; readonly reason: string }
  /** This process has no place for it with a payment method: any that has one may take it up at once. */
  | { readonly outcome: 'no_place' }
  /** Another worker has moved the payment on: it is no longer this one's. */
  | { readonly outcome: 'lost' }
