import { createOpenPayments } from 'open-payments-server'
import { describe, expect, it } from 'vitest'
import { clientKeys } from '../properties/seeded-cryptography.ts'
import { coreWith } from './core-without.ts'
import { prepareRecords } from './prepare.ts'
import type { Scenario } from './scenario.ts'
import { OF_COMMITS } from './scenarios-of-commits.ts'
import { OF_EVENTS } from './scenarios-of-events.ts'
import { OF_LEDGERS } from './scenarios-of-ledgers.ts'
import { OF_ORDERS } from './scenarios-of-orders.ts'
import { OF_PACKETS } from './scenarios-of-packets.ts'
import { OF_RAILS } from './scenarios-of-rails.ts'
import { OF_RECEIPTS } from './scenarios-of-receipts.ts'
import { OF_RIGHTS } from './scenarios-of-rights.ts'
import { OF_WORKERS } from './scenarios-of-workers.ts'
import { setStage } from './stage.ts'
import type { CreateOpenPayments } from './world.ts'

const keys = await clientKeys()
const prepared = await prepareRecords(createOpenPayments, keys, 10_000_000)

/** What a scenario finds with a library, and how it came to that. */
async function playWith(core: CreateOpenPayments, { play, shape, alterLedger }: Scenario): Promise<readonly string[]> {
  const options = { createOpenPayments: core, keys, isTraced: false, ...(alterLedger && { alterLedger }) }
  const stage = setStage(prepared, options, shape)
  await play(stage)
  return stage.end()
}

const SCENARIOS = [
  ...OF_WORKERS,
  ...OF_LEDGERS,
  ...OF_COMMITS,
  ...OF_ORDERS,
  ...OF_RIGHTS,
  ...OF_RECEIPTS,
  ...OF_EVENTS,
  ...OF_RAILS,
  ...OF_PACKETS,
]

// The first copy of the library is compiled from its source.
describe.each(SCENARIOS)('$name', { timeout: 60_000 }, (scenario) => {
  const { finds, without } = scenario

  it(finds === undefined ? 'is nothing to fear' : 'is noticed', async () => {
    const found = await playWith(createOpenPayments, scenario)
    if (finds === undefined) expect(found).toEqual([])
    else expect(found.join('\n')).toMatch(finds)
  })

  it.for(without)('is found without $what', async ({ edits, finds: expected }) => {
    const found = await playWith(coreWith(...edits), scenario)
    expect(found.join('\n')).toMatch(expected)
  })
})

describe('a copy of the library', { timeout: 60_000 }, () => {
  it('is the library where nothing was taken out', async () => {
    const copy = coreWith()
    for (const scenario of SCENARIOS.filter(({ finds }) => finds === undefined))
      expect([scenario.name, await playWith(copy, scenario)]).toEqual([scenario.name, []])
  })

  it('is refused where there is nothing to take out', () => {
    const edit = { file: 'src/records/decide.ts', find: 'something that is not there', put: '' }
    expect(() => coreWith(edit)).toThrow('0 times')
    expect(() => coreWith({ ...edit, find: 'const' })).toThrow('times')
  })
})
