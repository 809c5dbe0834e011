import type { ExpressFigure } from './compare-hosts.ts'
import type { Conditions } from './conditions.ts'
import type { FirstAnswer } from './first-answer.ts'
import type { StorageName, VerifierName } from './host-names.ts'
import type { Figure } from './measure.ts'
import type { ReferenceFigure } from './reference.ts'

/** What was measured in one part of a run. */
export interface PartResult {
  readonly runtime: string
  readonly storage: StorageName
  readonly verifier: VerifierName
  readonly figures: readonly Figure[]
  /** Where a process was started on SQLite. */
  readonly firstAnswer?: FirstAnswer
}

/** A whole run, as its file holds it. */
export interface RunResult {
  readonly before: Conditions
  readonly after: Conditions
  readonly passes: number
  readonly share: number
  readonly warmUpRequests: number
  readonly results: readonly PartResult[]
  readonly express: readonly ExpressFigure[]
  readonly reference: readonly ReferenceFigure[]
}
