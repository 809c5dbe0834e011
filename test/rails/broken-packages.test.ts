import { describe, expect, it } from 'vitest'
import { buildBrokenPackage } from '../crashes/broken-packages.ts'
import { openProgram } from '../crashes/wallet-program.ts'
import { type Found, payAtEveryWrite } from './every-write.ts'
import { RAIL_MISTAKES } from './rail-mistakes.ts'
import type { ProcessOptions } from './wallet-process/main.ts'
import { RAIL_PROGRAM } from './wallet-server.ts'

/** Half a minute at most, and on a machine that does much else many times as long. */
const TIMEOUT = 600_000

async function payOn(packageFolder?: string): Promise<Found> {
  const program = await openProgram<ProcessOptions>(packageFolder, RAIL_PROGRAM)
  try {
    return await payAtEveryWrite(program)
  } finally {
    program.end()
  }
}

describe('T-31 two wallets of which one is killed before and after each of its writes', () => {
  it(
    'bring every payment to its one end',
    async () => {
      expect(await payOn()).toEqual({ unharmed: [], killed: [] })
    },
    TIMEOUT,
  )

  it.each(Object.entries(RAIL_MISTAKES))(
    'are found out, and only then, with a mistake: %s',
    async (_name, edits) => {
      const broken = await buildBrokenPackage(edits)
      try {
        const { unharmed, killed } = await payOn(broken.folder)
        expect(unharmed).toEqual([])
        expect(killed).not.toEqual([])
      } finally {
        broken.remove()
      }
    },
    TIMEOUT,
  )
})
