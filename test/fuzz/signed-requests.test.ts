import type { InMemoryRequest } from 'open-payments-server/testing'
import { describe, expect, it } from 'vitest'
import { campaign, type Draw, drawUntil, type Tally } from './campaign.ts'
import { mutatePlan } from './mutate-plan.ts'
import { FUZZ_TIMEOUT, inProportion, runs } from './random.ts'
import { SUBJECTS } from './subjects.ts'

/** Signs a changed plan. */
async function drawSigned({ random, world, plan }: Draw): Promise<InMemoryRequest> {
  const right = await plan()
  return drawUntil(() => world.sign(mutatePlan(right, world, random)))
}

const OPERATIONS = [...new Set(SUBJECTS.map(({ operation }) => operation))]
const ENOUGH = 1_000

const isDone = (tally: Tally, operation: string): boolean =>
  [...tally.keys()].some((row) => row.startsWith(`${operation} 2`) || row === `${operation} 303`)

describe('whatever is asked with a good signature', () => {
  it(
    'T-23 T-26 EMB-4 is done or refused as the protocol says, never a fault, and a refusal leaves all as it was',
    async () => {
      const count = runs(54)
      const tally = await campaign(count, 1, drawSigned)
      const undone = OPERATIONS.filter((operation) => !isDone(tally, operation))
      const done = OPERATIONS.length - undone.length
      expect(done, `never done: ${undone}`).toBeGreaterThanOrEqual(
        Math.floor(inProportion(OPERATIONS.length, count, ENOUGH)),
      )
      const refused = [...tally.keys()].filter((row) => / 4\d\d$/.test(row))
      expect(refused.length).toBeGreaterThan(inProportion(40, count, ENOUGH))
    },
    FUZZ_TIMEOUT,
  )
})
