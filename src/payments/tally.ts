import type { TakenUp } from '../records/try-commit.ts'

/** The result of one part of `recover()`. */
export interface Tally {
  /** How many were taken up here. */
  readonly taken: number
  /** How many another worker took up at the same moment, or were put off. */
  readonly lost: number
  /** How many were taken out of the way of others. */
  readonly cleared: number
}

/** Counts outcomes; records that could not be committed (`failed`) do not count. */
export function tallyOf(outcomes: readonly TakenUp[], cleared = 0): Tally {
  const countOf = (counted: TakenUp): number => outcomes.filter((outcome) => outcome === counted).length
  return { taken: countOf('taken'), lost: countOf('lost'), cleared }
}

/**
 * What the call resolves with. What other workers took up first, or was put off, counts too, but only if this call got
 * anything itself.
 */
export function resolvedWith(...tallies: readonly Tally[]): number {
  const own = tallies.reduce((sum, { taken, cleared }) => sum + taken + cleared, 0)
  return own > 0 ? tallies.reduce((sum, { lost }) => sum + lost, own) : 0
}
