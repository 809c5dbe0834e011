import type { TakenUp } from '../records/try-commit.ts'

/** What a part of `recover()` came to. */
export interface Tally {
  /** How many were taken up here. */
  readonly taken: number
  /** How many another worker took up at the same moment. */
  readonly lost: number
  /** How many were taken out of the way of others. */
  readonly cleared: number
}

/** Counts outcomes; what could not be committed does not count. */
export function tallyOf(outcomes: readonly TakenUp[], cleared = 0): Tally {
  const countOf = (counted: TakenUp): number => outcomes.filter((outcome) => outcome === counted).length
  return { taken: countOf('taken'), lost: countOf('lost'), cleared }
}

/** What a call resolves with: what other workers took up first counts too, if this call got anything itself. */
export function resolvedWith(...tallies: readonly Tally[]): number {
  const own = tallies.reduce((sum, { taken, cleared }) => sum + taken + cleared, 0)
  return own > 0 ? tallies.reduce((sum, { lost }) => sum + lost, own) : 0
}
