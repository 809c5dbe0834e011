import { expect, it } from 'vitest'
import { postgresStorage } from '../../adapters/storage/postgres.ts'
import { unheardErrors, useDatabases } from './postgres-databases.ts'
import { startEndingServer } from './postgres-proxy.ts'

const { openPool } = useDatabases()

it('a connection of pg that is ended just as it is handed out is an error of that call, and ends no process', async () => {
  const server = await startEndingServer()
  try {
    const pool = openPool('none', {}, { host: server.host, port: server.port })
    const unheard = unheardErrors(pool)
    await expect(postgresStorage(pool)).rejects.toThrow('not queryable')
    expect(unheard).toEqual([])
  } finally {
    await server.close()
  }
})
