import type { Clock, RecordProgress } from '../../src/index.ts'
import { formatProgress, type SendState } from './deliver-notes.ts'

/** What is recorded of a delivery. */
export interface Journal {
  /** More is known than was recorded last. */
  noteChange(): void
  /** Whether all that is known is recorded. */
  isCurrent(): boolean
  /** When it has to be recorded again, so that who holds the payment is seen to be alive. */
  dueAt(): number
  /** Whether recording has failed: the payment may belong to somebody else by now. */
  isLost(): boolean
  /** Records how far it has come, unless the account would have sent more than `most` then. Rejects if recording does. */
  write(most?: bigint): Promise<'recorded' | 'over_limit'>
}

const RECORD_MILLISECONDS = 5_000

/** Opens the journal of a delivery whose state is recorded as it is now. */
export function openJournal(clock: Clock, record: RecordProgress, stateNow: () => SendState): Journal {
  let [changes, recordedChanges, recordedAt, isLost] = [0, 0, clock.now(), false]
  return {
    noteChange() {
      changes++
    },
    isCurrent: () => changes === recordedChanges,
    dueAt: () => recordedAt + RECORD_MILLISECONDS,
    isLost: () => isLost,
    async write(most) {
      // The lease that it renews may count from now on, however long it takes.
      const [written, begunAt] = [changes, clock.now()]
      const recorded = await record(formatProgress(stateNow()), most).catch((cause: unknown) => {
        isLost = true
        throw cause
      })
      if (recorded === 'over_limit') return 'over_limit'
      ;[recordedChanges, recordedAt] = [written, begunAt]
      return 'recorded'
    },
  }
}
