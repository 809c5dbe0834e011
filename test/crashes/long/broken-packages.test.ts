import { describe, expect, inject, it } from 'vitest'
import { buildBrokenPackage, MISTAKES, type Mistake } from '../broken-packages.ts'
import { DEEDS } from '../deeds.ts'
import { endDuring, type Relay, runRelay } from '../every-call.ts'
import { openTally } from '../kills.ts'
import { SQLITE_IN_ONE_FILE } from '../stores.ts'
import { WRITES } from '../wallet-process/watched-calls.ts'
import { openProgram } from '../wallet-program.ts'

/** Runs steps on a package with a mistake in it; answers what was wrong then. */
async function runBroken({ edits }: Mistake, steps: (relay: Relay) => Promise<void>): Promise<readonly string[]> {
  const broken = await buildBrokenPackage(edits)
  const program = await openProgram(broken.folder)
  try {
    const place = SQLITE_IN_ONE_FILE.newPlace(program, inject('postgresSocket'))
    return await runRelay(program, place, openTally(), steps)
  } finally {
    program.end()
    broken.remove()
  }
}

describe.each(Object.entries(MISTAKES))('T-31 a wallet in which %s', (_name, mistake) => {
  const deed = DEEDS[mistake.deed]

  it('is found out where it is killed after each of its writes', async () => {
    const found = await runBroken(mistake, async (relay) => {
      for (let nth = 1; ; nth++) {
        const fuse = { calls: WRITES, nth, when: 'after' } as const
        if ((await endDuring(relay, deed, { fuse, isClientFirst: nth % 2 === 0 })) === 'survived') return
      }
    })
    expect(found).not.toEqual([])
  }, 120_000)

  it('looks sound where it is never killed', async () => {
    const found = await runBroken(mistake, async ({ lane, world }) => {
      const act = await deed(lane)
      await act(lane)
      // Before any lease lapses: a worker that is overtaken finds most of these mistakes, too.
      for (const server of world.servers()) await server.recover()
    })
    expect(found).toEqual([])
  }, 60_000)
})
