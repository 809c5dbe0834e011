/** How long something may be in flight: what is younger is not judged yet. */
export const IN_FLIGHT_MILLISECONDS = 15 * 60_000

/**
 * Whether what happened at a time is judged. A time that is far ahead was named by a wrong clock; waiting for it could take a
 * year.
 */
export function isJudged(at: number, now: number): boolean {
  return Math.abs(now - at) >= IN_FLIGHT_MILLISECONDS
}

/**
 * The differences that two runs agree on: what happens while one of them reads may show up in it, but not in both. There is a
 * second run only if the first one has found something.
 */
export async function inTwoRuns(run: () => Promise<readonly string[]>): Promise<readonly string[]> {
  const first = new Set(await run())
  const second = first.size === 0 ? [] : await run()
  return second.filter((difference) => first.has(difference))
}
