import { expect, it, vi } from 'vitest'
import { connectionsOf } from '../../adapters/storage/postgres/database.ts'
import { migrate } from '../../adapters/storage/postgres/migrate.ts'
import { type PgClient, type PgPool, type PostgresDatabase, postgresStorage } from '../../adapters/storage/postgres.ts'
import { STORAGE_MIGRATIONS } from '../../adapters/storage/sql/schema.ts'
import { sampleInserts } from '../../src/testing/sample-records.ts'
import { insertClaim, mustCommit } from '../../src/testing/storage-case.ts'
import { useDatabases } from './postgres-databases.ts'

// A process of a newer release that starts while a long transaction, such as a backup, has read a table that it changes.

const { newSchema, openPool, openSql, run, whileLocked } = useDatabases()

const NEWER = [...STORAGE_MIGRATIONS, ['ALTER TABLE op_grant ADD COLUMN note TEXT']]

const takeSteps = (database: PostgresDatabase): Promise<void> =>
  migrate(connectionsOf(database, {}), 'storage', NEWER, 1)

it.each<[string, (schema: string) => PostgresDatabase]>([
  ['pg', (schema) => openPool(schema)],
  ['postgres', (schema) => openSql(schema)],
])('holds up no other process for long, and takes its step once it can, through %s', async (_name, open) => {
  const schema = await newSchema()
  const storage = await postgresStorage(openPool(schema))
  // What waits for as long as the transaction is open is an error of the read.
  const reader = openPool(schema, { statement_timeout: '4s' })
  await whileLocked(
    schema,
    'LOCK TABLE op_grant IN ACCESS SHARE MODE',
    () => takeSteps(open(schema)),
    () => reader.query('SELECT id FROM op_grant'),
  )
  await mustCommit(storage, ...sampleInserts())
  expect(await run(schema, 'SELECT version FROM op_meta')).toEqual([{ version: NEWER.length }])
})

it('waits for another process that takes the step, however long that takes', async () => {
  const schema = await newSchema()
  const storage = await postgresStorage(openPool(schema))
  const watcher = openPool(schema, {}, { application_name: 'watcher' })
  const isWaiting = async (): Promise<boolean> => {
    const text = `SELECT now() - query_start > '700ms' AS long FROM pg_stat_activity
      WHERE application_name = '${schema}' AND wait_event_type = 'Lock'`
    return (await watcher.query(text)).rows[0]?.long === true
  }
  await whileLocked(
    schema,
    `UPDATE op_meta SET version = version WHERE name = 'storage'`,
    () => takeSteps(openPool(schema)),
    () => expect.poll(isWaiting, { interval: 20 }).toBe(true),
  )
  await mustCommit(storage, ...sampleInserts())
})

it('makes the tables once, where processes start at the same time and the role waits for no lock', async () => {
  for (let round = 0; round < 3; round++) {
    const schema = await newSchema()
    const start = () => postgresStorage(openPool(schema, { lock_timeout: '1ms' }, { max: 1 }))
    const storages = await Promise.all(Array.from({ length: 6 }, start))
    for (const [index, storage] of storages.entries()) await mustCommit(storage, insertClaim(`a${index}`))
  }
})

it('gives up after a minute or so, and says what it has waited for', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'], now: 0 })
  try {
    const locked = Object.assign(new Error('canceling statement due to lock timeout'), { code: '55P03' })
    const opened = postgresStorage(answering((text) => (text.includes('lock_timeout') ? locked : STATE)))
    const refused = expect(opened).rejects.toMatchObject({
      message: expect.stringMatching(/^the storage schema .* version 1: another transaction, .* pg_blocking_pids/),
      cause: locked,
    })
    await vi.runAllTimersAsync()
    await refused
    expect(Date.now()).toBeGreaterThan(30_000)
    expect(Date.now()).toBeLessThan(90_000)
  } finally {
    vi.useRealTimers()
  }
})

it('reads the state again where the database has undone that, as a standby does for what it replays', async () => {
  const undone = Object.assign(new Error('canceling statement due to conflict with recovery'), { code: '40001' })
  const complete = STORAGE_MIGRATIONS.length.toString()
  const answers = [undone, [complete, complete, ...STATE.slice(2)]]
  await postgresStorage(answering(() => answers.shift() ?? new Error('asked again')))
  expect(answers).toEqual([])
})

/** What the start reads of a schema that has taken no step. */
const STATE: readonly (string | null)[] = ['0', '0', 'UTF8', 'public', 'public', null, null]

/** A pool that answers every statement with one row, or an error. */
function answering(answerTo: (text: string) => Error | readonly (string | null)[]): PgPool {
  const client: PgClient = {
    query: async ({ text }) => {
      const answer = answerTo(text)
      if (answer instanceof Error) throw answer
      return { rows: [answer] }
    },
    on: () => undefined,
    removeListener: () => undefined,
    release: () => undefined,
  }
  return { connect: (callback) => callback(undefined, client) }
}
