import { createOpenPayments } from 'open-payments-server'
import { describe, expect, it } from 'vitest'
import { clientKeys } from '../properties/seeded-cryptography.ts'
import { LEAST } from './coverage.ts'
import { createSimulation, type Report } from './run.ts'
import { FIRST_SEED, HAS_KNOWN_RUNS, RUNS } from './settings.ts'

const simulation = createSimulation(createOpenPayments, await clientKeys())

const LAST_STEPS = 60

/** The end of a run that went wrong, and how to play it again. */
async function explain({ seed, violations }: Report): Promise<string> {
  const { trace, hash } = await simulation.run(seed, { isTraced: true })
  const lines = process.env['SIMULATION_TRACE'] === undefined ? trace.slice(-LAST_STEPS) : trace
  return [
    `seed ${seed} found:`,
    ...violations.map((one) => `  ${one}`),
    ...lines.map((line) => line.slice(0, 400)),
    `trace of ${trace.length} lines, SHA-256 ${hash}`,
    'play it again, with the whole trace:',
    `  SIMULATION_SEED=${seed} SIMULATION_RUNS=1 SIMULATION_TRACE=1 npx vitest run test/simulation/simulation.test.ts`,
  ].join('\n')
}

describe('simulated runs', () => {
  it(`keep every invariant, ${RUNS} seeds from ${FIRST_SEED}`, { timeout: 60_000 + RUNS * 1_000 }, async () => {
    const counts = new Map<string, number>()
    for (let seed = FIRST_SEED; seed < FIRST_SEED + RUNS; seed++) {
      const report = await simulation.run(seed)
      if (report.violations.length > 0) expect.fail(await explain(report))
      for (const [what, count] of report.counts) counts.set(what, (counts.get(what) ?? 0) + count)
    }
    // Else the runs could become harmless, and nobody would know.
    const rare = Object.entries(LEAST).filter(([what, least]) => (counts.get(what) ?? 0) < least)
    if (HAS_KNOWN_RUNS) expect(rare.map(([what, least]) => `${what}: ${counts.get(what) ?? 0} of ${least}`)).toEqual([])
  })

  it('are the same again for the same seed, and others for another', { timeout: 60_000 }, async () => {
    const hashes = new Set<string>()
    const lengths: number[] = []
    for (const seed of [FIRST_SEED, FIRST_SEED + 7, FIRST_SEED + 23]) {
      const [first, second] = [
        await simulation.run(seed, { isTraced: true }),
        await simulation.run(seed, { isTraced: true }),
      ]
      lengths.push(first.trace.length)
      expect(second.hash).toBe(first.hash)
      hashes.add(first.hash)
      // Being watched changes nothing.
      const unseen = await simulation.run(seed)
      expect([unseen.steps, [...unseen.counts]]).toEqual([first.steps, [...first.counts]])
    }
    expect(hashes.size).toBe(3)
    // A single run may be short.
    expect(Math.max(...lengths)).toBeGreaterThan(100)
  })
})
