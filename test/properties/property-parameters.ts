import fc from 'fast-check'

const { PROPERTY_RUNS = '1', PROPERTY_SEED = '20260301' } = process.env
const factor = Number(PROPERTY_RUNS)

/** How long a property may take: enough for every run on a busy machine, and for making a failure smaller. */
export const PROPERTY_MILLISECONDS = 180_000 * Math.max(1, factor)

/**
 * Checks a property: always over the same cases, unless the environment says otherwise. PROPERTY_RUNS multiplies the
 * number of runs, PROPERTY_SEED draws other cases; a failure prints the seed and the smallest case that fails.
 */
export async function checkProperty<T>(
  runs: number,
  cases: fc.Arbitrary<T>,
  check: (one: T) => Promise<void>,
): Promise<void> {
  await fc.assert(fc.asyncProperty(cases, check), {
    numRuns: Math.ceil(runs * factor),
    seed: Number(PROPERTY_SEED),
    // What was found so far is told before the test itself runs out of time.
    interruptAfterTimeLimit: PROPERTY_MILLISECONDS * 0.9,
    markInterruptAsFailure: true,
  })
}
