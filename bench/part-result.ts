import type { FirstAnswer } from './first-answer.ts'
import type { StorageName } from './host-names.ts'
import type { Figure } from './measure.ts'

/** What was measured in one part of a run. */
export interface PartResult {
  readonly runtime: string
  readonly storage: StorageName
  readonly figures: readonly Figure[]
  /** Where a process was started on SQLite. */
  readonly firstAnswer?: FirstAnswer
}
