import type { StoredRecord } from '../ports/storage.ts'

/** What a step came to: the payment one state further, its end, or an answer that did not come. */
export type Step =
  | { readonly progress: 'moved'; readonly record: StoredRecord<'outgoing-payment'> }
  | { readonly progress: 'ended' }
  | { readonly progress: 'stalled' }
  /** Another worker has moved the payment on: it is no longer this one's. */
  | { readonly progress: 'lost' }
