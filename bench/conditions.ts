import { cpus, loadavg, release, type as systemOf, totalmem } from 'node:os'

/** Under what figures were made: without it they say nothing. */
export interface Conditions {
  readonly at: string
  readonly processor: string
  readonly processors: number
  readonly memoryBytes: number
  readonly system: string
  /** How busy the machine was in the minute before, in processors. */
  readonly load: number
}

/** The machine as it is now. */
export function conditionsNow(): Conditions {
  const all = cpus()
  return {
    at: new Date().toISOString(),
    processor: all[0]?.model ?? 'unknown',
    processors: all.length,
    memoryBytes: totalmem(),
    system: `${systemOf()} ${release()}`,
    load: loadavg()[0] ?? 0,
  }
}
