import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { memoryLedger } from 'open-payments-server/ledger/memory'
import { memoryStorage } from 'open-payments-server/storage/memory'
import { afterAll, inject } from 'vitest'
import { createSchema, openStorage, type Place } from './places.ts'
import { type RaceWorld, worldInProcess } from './race-world.ts'
import { describeRaces } from './races.ts'

const folder = mkdtempSync(join(tmpdir(), 'races-'))
const socket = inject('postgresSocket')

afterAll(() => rmSync(folder, { recursive: true }))

/** A server for each place, on a storage of its own. */
async function worldAt(...places: readonly Place[]): Promise<RaceWorld> {
  const opened = await Promise.all(places.map(openStorage))
  const world = await worldInProcess(
    opened.map(({ storage }) => storage),
    memoryLedger(),
  )
  return {
    ...world,
    async close() {
      await world.close()
      for (const { close } of opened) await close()
    },
  }
}

let worlds = 0

async function postgresWorld(...drivers: readonly ('pg' | 'postgres')[]): Promise<RaceWorld> {
  const schema = `races_in_process_${++worlds}`
  await createSchema(socket, schema)
  return worldAt(...drivers.map((driver): Place => ({ driver, socket, schema })))
}

function sqliteWorld(): Promise<RaceWorld> {
  const place: Place = { driver: 'sqlite', file: join(folder, `${++worlds}.db`) }
  return worldAt(place, place)
}

function memoryWorld(): Promise<RaceWorld> {
  const storage = memoryStorage()
  return worldInProcess([storage, storage], memoryLedger())
}

describeRaces('memory, two servers', memoryWorld)
describeRaces('SQLite, two servers', sqliteWorld)
describeRaces('PostgreSQL, two servers with a driver each', () => postgresWorld('pg', 'postgres'))
