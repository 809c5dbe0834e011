import { join } from 'node:path'
import { sqliteLedger } from 'open-payments-server/ledger/sqlite'
import { openSqlite } from 'open-payments-server/storage/sqlite'
import { afterAll, beforeAll, inject } from 'vitest'
import { type BundledProgram, bundleProgram } from './bundled-program.ts'
import { createSchema, openStorage, type Place } from './places.ts'
import { type RaceWorld, worldOfProcesses } from './race-world.ts'
import { describeRaces } from './races.ts'

const socket = inject('postgresSocket')
let program: BundledProgram

beforeAll(async () => {
  program = await bundleProgram('test/flows/races/server-process.ts')
})
afterAll(() => program.remove())

/** A process for each place. The money is in a SQLite file, whatever the records are in. */
async function worldAt(name: string, ...places: readonly Place[]): Promise<RaceWorld> {
  const [first] = places
  if (first === undefined) throw new TypeError('a world has a place')
  const ledgerFile = join(program.folder, `${name}-ledger.db`)
  const handle = await openSqlite(ledgerFile)
  const { storage, close } = await openStorage(first)
  const world = await worldOfProcesses(program, { places, ledgerFile }, storage, sqliteLedger(handle))
  return {
    ...world,
    async close() {
      await world.close()
      await close()
      handle.close()
    },
  }
}

describeRaces('SQLite, three processes', () => {
  const place: Place = { driver: 'sqlite', file: join(program.folder, 'records.db') }
  return worldAt('sqlite', place, place, place)
})

describeRaces('PostgreSQL, three processes', async () => {
  const schema = 'races_of_processes'
  await createSchema(socket, schema)
  const at = (driver: 'pg' | 'postgres'): Place => ({ driver, socket, schema })
  return worldAt('postgres', at('pg'), at('postgres'), at('pg'))
})
