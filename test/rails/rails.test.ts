import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openProgram, type WalletProgram } from '../crashes/wallet-program.ts'
import { payOverBadNetwork } from './campaign.ts'
import { openTally, printTally } from './tally.ts'
import type { ProcessOptions, RailTerms } from './wallet-process/main.ts'
import { RAIL_PROGRAM } from './wallet-server.ts'
import { STORM } from './weather.ts'

const { RAIL_PAYMENTS = '60', RAIL_SEED = '1' } = process.env

/** How many payments there are in all; from 1000 on in worlds of 500. */
const PAYMENTS = Number(RAIL_PAYMENTS)
const SEED = Number(RAIL_SEED)
const IS_LONG = PAYMENTS >= 1000
const TIMEOUT = 60_000 + PAYMENTS * 1_000

const IN_DOLLARS: RailTerms = { assets: ['USD'], maxPacketUnits: 20, isIdempotent: true }
const IN_EUROS: RailTerms = { assets: ['EUR'], maxPacketUnits: 20, isIdempotent: true }
const IN_BOTH: RailTerms = { assets: ['USD', 'EUR'], maxPacketUnits: 20, isIdempotent: true }
const WITHIN_LIMITS: RailTerms = { ...IN_DOLLARS, limitUnits: 300 }
const WITHOUT_REPEATS: RailTerms = { ...IN_BOTH, isIdempotent: false }

const RAILS: readonly RailTerms[] = IS_LONG
  ? [IN_BOTH, WITHIN_LIMITS, IN_DOLLARS, IN_EUROS, WITHOUT_REPEATS]
  : [{ ...IN_BOTH, limitUnits: 100 }, WITHOUT_REPEATS]

const WORLDS = Array.from({ length: IS_LONG ? Math.ceil(PAYMENTS / 500) : RAILS.length }, (_, run) => {
  const rail = RAILS[(run + SEED - 1) % RAILS.length] ?? IN_BOTH
  const limits = rail.limitUnits === undefined ? 'without limits' : 'with limits'
  const peers = rail.isIdempotent ? 'can be asked again' : 'cannot be asked again'
  return [`${rail.assets.join(' and ')} ${limits}, peers ${peers}, run ${run}`, run, rail] as const
})

describe('two wallets in two processes that are killed, over a network that loses and alters what it carries', () => {
  let program: WalletProgram<ProcessOptions>
  const tally = openTally()
  beforeAll(async () => {
    program = await openProgram<ProcessOptions>(undefined, RAIL_PROGRAM)
  }, TIMEOUT)
  afterAll(() => {
    program?.end()
    if (IS_LONG) printTally(tally)
  })

  it.each(WORLDS)(
    'T-31 T-32 INC-5 pay each other: what one loses the other gains, packet by packet (%s)',
    async (_terms, run, rail) => {
      const payments = Math.ceil(PAYMENTS / WORLDS.length)
      const kills = Math.ceil(payments / (IS_LONG ? 25 : 10))
      const found = await payOverBadNetwork({
        ...{ program, seed: SEED, run, rail, climate: STORM, payments, kills, tally },
      })
      expect(found).toEqual([])
    },
    TIMEOUT,
  )
})
