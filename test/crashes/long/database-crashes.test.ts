import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { killUnderLoad } from '../campaign.ts'
import { type DatabaseServer, startDatabase } from '../database-server.ts'
import { openTally, printTally } from '../kills.ts'
import { POSTGRES_THROUGH_PG } from '../stores.ts'
import { openProgram, type WalletProgram } from '../wallet-program.ts'

const { CRASH_KILLS = '12', CRASH_SEED = '1' } = process.env
const KILLS = Number(CRASH_KILLS)

describe('a wallet whose PostgreSQL is killed under load', () => {
  let program: WalletProgram
  let database: DatabaseServer
  const tally = openTally()
  beforeAll(async () => {
    database = await startDatabase()
    program = await openProgram()
  }, 60_000)
  afterAll(async () => {
    program?.end()
    await database?.stop()
    printTally('a PostgreSQL of its own', tally)
  })

  it.each(Array.from({ length: Math.ceil(KILLS / 12) }, (_, run) => run))(
    'run %s',
    async (run) => {
      const kinds = ['database killed', 'backend killed', 'connections cut', 'at a moment'] as const
      const place = POSTGRES_THROUGH_PG.newPlace(program, database.socketFolder)
      const found = await killUnderLoad({
        ...{ program, place, kinds, database, tally, run },
        ...{ seed: Number(CRASH_SEED), kills: 12, servers: 2 },
      })
      expect(found).toEqual([])
    },
    180_000,
  )
})
