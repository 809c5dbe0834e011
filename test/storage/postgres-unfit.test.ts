import { randomUUID } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { type PostgresDatabase, postgresStorage } from '../../adapters/storage/postgres.ts'
import { claim, insertClaim, mustCommit } from '../../src/testing/storage-case.ts'
import { type Settings, useDatabases } from './postgres-databases.ts'

// Databases that would lose, mix up or refuse records later are refused at the start.

const { newSchema, openPool, openSql, run } = useDatabases()

type Open = (schema: string, settings?: Settings, more?: Readonly<Record<string, string>>) => PostgresDatabase
const DRIVERS: readonly (readonly [string, Open])[] = [
  ['pg', openPool],
  ['postgres', openSql],
]

describe.each(DRIVERS)('through %s', (_name, open) => {
  it.each(['LATIN1', 'SQL_ASCII'])('a database whose encoding is %s is refused', async (encoding) => {
    const database = `d_${randomUUID().replaceAll('-', '')}`
    await run('public', `CREATE DATABASE ${database} ENCODING '${encoding}' LOCALE 'C' TEMPLATE template0`)
    const started = postgresStorage(open('public', {}, { database }))
    await expect(started).rejects.toThrow(`the server_encoding of this database is ${encoding}: make one with`)
  })

  it('the tables of another schema, further back in the search_path, are refused', async () => {
    const [first, second] = [await newSchema(), await newSchema()]
    await postgresStorage(open(first))
    await expect(postgresStorage(open('', { search_path: `${second}, ${first}` }))).rejects.toThrow(
      `search_path begins with the schema ${second}, but finds op_meta in ${first}`,
    )
    await postgresStorage(open('', { search_path: `none_of_that_name, ${first}, ${second}` }))
  })

  it.each(['op_meta', 'op_access_token'])('a role from which row level security hides %s is refused', async (table) => {
    const schema = await newSchema()
    await postgresStorage(openPool(schema))
    const as = async (more: string) => open(schema, {}, { user: await makeRole(schema, more), password: 'secret' })
    const [bare, spared] = [await as(''), await as('BYPASSRLS')]
    await postgresStorage(bare)
    await run(schema, `ALTER TABLE ${table} ENABLE ROW LEVEL SECURITY`)
    await expect(postgresStorage(bare)).rejects.toThrow(`row level security applies to ${table}`)
    await postgresStorage(spared)
  })

  it.each(['SELECT', 'INSERT', 'UPDATE', 'DELETE'])(
    'a role that lacks only %s on one table is refused',
    async (right) => {
      const schema = await newSchema()
      await postgresStorage(openPool(schema))
      const role = await makeRole(schema, '')
      const database = open(schema, {}, { user: role, password: 'secret' })
      await postgresStorage(database)
      await run(schema, `REVOKE ${right} ON op_quote FROM ${role}`)
      await expect(postgresStorage(database)).rejects.toThrow(
        `this role lacks a right to op_quote: GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA ${schema} to it`,
      )
    },
  )

  it('an owner of the tables is refused only where row level security is forced', async () => {
    const schema = await newSchema()
    const role = await makeRole(schema, '')
    await run(schema, `GRANT CREATE ON SCHEMA ${schema} TO ${role}`)
    const database = open(schema, {}, { user: role, password: 'secret' })
    await postgresStorage(database)
    await run(schema, 'ALTER TABLE op_event ENABLE ROW LEVEL SECURITY')
    await postgresStorage(database)
    await run(schema, 'ALTER TABLE op_event FORCE ROW LEVEL SECURITY')
    await expect(postgresStorage(database)).rejects.toThrow('row level security applies to op_event')
    await postgresStorage(open(schema, {}, { user: await makeRole(schema, 'SUPERUSER'), password: 'secret' }))
  })
})

async function makeRole(schema: string, more: string): Promise<string> {
  const role = `r_${randomUUID().replaceAll('-', '')}`
  await run(
    schema,
    `CREATE ROLE ${role} LOGIN PASSWORD 'secret' ${more}; GRANT USAGE ON SCHEMA ${schema} TO ${role};
     GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA ${schema} TO ${role}`,
  )
  return role
}

it('with row_security off, as docs/storage.md sets it, a read says that rows were hidden meanwhile', async () => {
  const schema = await newSchema()
  await mustCommit(await postgresStorage(openPool(schema)), insertClaim('a'))
  const role = await makeRole(schema, '')
  await run(schema, `ALTER ROLE ${role} SET row_security = off`)
  const storage = await postgresStorage(openPool(schema, {}, { user: role, password: 'secret' }))
  expect(await storage.get([claim('a')])).toMatchObject([{ version: 1 }])
  await run(schema, 'ALTER TABLE op_replay_claim ENABLE ROW LEVEL SECURITY')
  await expect(storage.get([claim('a')])).rejects.toMatchObject({ code: '42501' })
})
