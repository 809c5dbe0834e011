import { describe, expect, it } from 'vitest'
import { buildBrokenPackage } from '../crashes/broken-packages.ts'
import { openProgram } from '../crashes/wallet-program.ts'
import { payOverBadNetwork } from './campaign.ts'
import { RAIL_MISTAKES } from './rail-mistakes.ts'
import { openTally } from './tally.ts'
import type { ProcessOptions } from './wallet-process/main.ts'
import { RAIL_PROGRAM } from './wallet-server.ts'
import { STORM } from './weather.ts'

// Where a process is killed is a matter of chance, and on a busy machine few kills hit what is in flight.
const MOST_RUNS = 8

const { RAIL_PAYMENTS = '60' } = process.env

/** Two of them, or in a long run all. */
const MISTAKES = Object.entries(RAIL_MISTAKES).slice(0, Number(RAIL_PAYMENTS) < 1000 ? 2 : undefined)
const LEFT_OUT = Object.entries(RAIL_MISTAKES).slice(MISTAKES.length)

// The code moves on, and a mistake that it has no place for any more would only be missed by a long run.
it.each(LEFT_OUT)('a mistake for a long run can still be made: %s', async (_name, edits) => {
  const broken = await buildBrokenPackage(edits)
  broken.remove()
})

describe.each(MISTAKES)('T-31 two wallets with a mistake: %s', (_name, edits) => {
  it('are found out', async () => {
    const broken = await buildBrokenPackage(edits)
    const program = await openProgram<ProcessOptions>(broken.folder, RAIL_PROGRAM)
    const found: string[] = []
    try {
      for (let run = 0; run < MOST_RUNS && found.length === 0; run++) {
        const rail = { assets: ['USD', 'EUR'], maxPacketUnits: 10, isIdempotent: true } as const
        const terms = { payments: 30, kills: 5, climate: STORM, tally: openTally(), seed: 1, run }
        found.push(...(await payOverBadNetwork({ program, rail, ...terms })))
      }
    } finally {
      program.end()
      broken.remove()
    }
    expect(found).not.toEqual([])
  }, 240_000)
})
