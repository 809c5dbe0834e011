import type { Clock, RecordProgress } from '../../src/index.ts'
import { formatProgress, type SendState } from './deliver-notes.ts'

/** What is recorded of a delivery. */
export interface Journal {
  /** Notes that more is known than was last recorded. */
  noteChange(): void
  /** Whether everything that is known is recorded. */
  isCurrent(): boolean
  /** When it must be recorded again to renew the payment's lease, even if nothing has changed. */
  dueAt(): number
  /** Whether recording has failed: the payment may belong to another worker by now. */
  isLost(): boolean
  /**
   * Records how far the delivery has come, unless the account would then have sent more than it has received by more
   * than `most`. Rejects if recording does.
   */
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
      // Counted from the beginning: the renewed lease may count from now, however long recording takes.
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
