import type { InMemoryRequest } from 'open-payments-server/testing'
import { describe, expect, it } from 'vitest'
import { campaign, type Draw } from './campaign.ts'
import { breakRequest } from './garbage.ts'
import { FUZZ_TIMEOUT, inProportion, runs } from './random.ts'

async function drawBroken({ random, world, plan }: Draw): Promise<InMemoryRequest> {
  return breakRequest(await world.sign(await plan()), world, random)
}

describe('whatever is sent', () => {
  it(
    'T-23 EMB-4 garbage is refused as the protocol says, never a fault, and leaves all as it was',
    async () => {
      const count = runs(36)
      const tally = await campaign(count, 2, drawBroken)
      expect(tally.size).toBeGreaterThan(inProportion(60, count, 1_000))
    },
    FUZZ_TIMEOUT,
  )
})
