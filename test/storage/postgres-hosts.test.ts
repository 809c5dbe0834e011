import pg from 'pg'
import postgres from 'postgres'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { connectionsOf } from '../../adapters/storage/postgres/database.ts'
import {
  type PgClient,
  type PostgresDatabase,
  type PostgresSql,
  postgresStorage,
} from '../../adapters/storage/postgres.ts'
import type { Storage } from '../../src/ports/storage.ts'
import { sampleInserts, WALLET_ADDRESS } from '../../src/testing/sample-records.ts'
import { claim, insertClaim, mustCommit, replaceClaim } from '../../src/testing/storage-case.ts'
import { useDatabases } from './postgres-databases.ts'

const { newSchema, openPool, openSql, run } = useDatabases()

/** Writes each kind of record, and reads it back in every way. */
async function expectRecordsKept(storage: Storage): Promise<void> {
  const inserts = sampleInserts()
  await mustCommit(storage, ...inserts)
  const found = await storage.get(inserts.map(({ kind, value }) => ({ kind, id: value.id })))
  expect(found.map((record) => record?.value)).toEqual(inserts.map(({ value }) => value))
  const query = { kind: 'outgoing-payment', walletAddress: WALLET_ADDRESS, direction: 'older', limit: 5 } as const
  expect(await storage.list(query)).toMatchObject([{ version: 1, value: { id: 'full', attempts: 7 }, dueAt: 0 }])
  expect(await storage.due('outgoing-payment', 5, 5)).toEqual(await storage.list(query))
  expect(await storage.commit([insertClaim('claim')])).toEqual({ conflicts: [0] })
}

const spoil = (): string => 'spoiled'

describe('what a host has set up for itself does not matter', () => {
  it.each<[string, (schema: string) => PostgresDatabase]>([
    ['pg: parsers of a pool', (schema) => openPool(schema, {}, { types: { getTypeParser: () => spoil } })],
    ['postgres: parsers and serializers', (schema) => openSql(schema, {}, { types: { bigint: postgres.BigInt } })],
    ['postgres: names in camel case', (schema) => openSql(schema, {}, { transform: postgres.camel })],
    ['postgres: transformed values', (schema) => openSql(schema, {}, { transform: { value: spoil, column: spoil } })],
    ['postgres: no types fetched', (schema) => openSql(schema, {}, { fetch_types: false })],
    ['a date style and a time zone', (schema) => openPool(schema, { datestyle: 'German', timezone: 'Asia/Kolkata' })],
    ['quotes with backslashes', (schema) => openPool(schema, { bytea_output: 'escape', extra_float_digits: '0' })],
  ])('%s', async (_name, open) => {
    await expectRecordsKept(await postgresStorage(open(await newSchema())))
  })

  it('pg: parsers of every pool', async () => {
    const INT8 = pg.types.builtins.INT8
    const before = pg.types.getTypeParser(INT8)
    pg.types.setTypeParser(INT8, () => Number.NaN)
    try {
      await expectRecordsKept(await postgresStorage(openPool(await newSchema())))
    } finally {
      pg.types.setTypeParser(INT8, before)
    }
  })

  it('but for a transform that makes something else of a row, which is refused', async () => {
    const schema = await newSchema()
    await postgresStorage(openPool(schema))
    const sql = openSql(schema, {}, { transform: { row: () => ({ spoiled: true }) } })
    await expect(postgresStorage(sql)).rejects.toThrow('a row is not an array: the host transforms rows')
  })

  it('but for rows in the binary format, which are refused', async () => {
    const schema = await newSchema()
    await postgresStorage(openPool(schema))
    const pool = openPool(schema, {}, { max: 1, ...{ binary: true } })
    await expect(postgresStorage(pool)).rejects.toThrow('holds no integer')
  })
})

it.each(['postgres://wallet:secret@localhost/wallet', {}, undefined, null, 7])(
  'what is neither a pool nor an instance is refused, and not told (%s)',
  async (database) => {
    const opened = postgresStorage(database as PostgresDatabase)
    await expect(opened).rejects.toThrow(
      'the database of postgresStorage must be a Pool of pg or an instance of postgres',
    )
  },
)

it('a single connection of pg is refused, whether or not it is open: it ends with its first error', async () => {
  const pool = openPool(await newSchema())
  const taken = await pool.connect()
  for (const client of [new pg.Client(), taken]) {
    const opened = postgresStorage(client as unknown as PostgresDatabase)
    await expect(opened).rejects.toThrow('must be a Pool of pg or an instance of postgres')
  }
  taken.release()
})

it('postgres: what follows a query that failed once it had answered some rows is answered in full', async () => {
  const sql = openSql(await newSchema(), {}, { max: 1 })
  const storage = await postgresStorage(sql)
  const failing = 'SELECT 1 / (3 - n) FROM generate_series(1, 4) AS n'
  await expect(sql.unsafe(failing, [], { prepare: true })).rejects.toThrow('division by zero')
  expect(await storage.commit([insertClaim('a')])).toBe('committed')
  await expect(sql.unsafe(failing, [], { prepare: true })).rejects.toThrow('division by zero')
  expect(await storage.get([claim('a')])).toMatchObject([{ version: 1 }])
})

describe('an instance of postgres', () => {
  const PLAIN = { parameters: [], isRepeated: false }
  const sent: string[] = []
  const failWith = (code: string): PostgresSql => ({
    unsafe: (text) => ({
      raw: async () => {
        sent.push(text)
        if (text === 'first') throw Object.assign(new Error(code), { code })
        return []
      },
    }),
  })
  beforeEach(() => {
    sent.splice(0)
    vi.useFakeTimers()
  })
  afterEach(() => {
    vi.useRealTimers()
  })

  it.each([
    ['after the error of a connection is asked for nothing for a little while, whoever asks', 'CONNECTION_CLOSED', 1],
    ['after a conflict is asked at once', '22P02', 2],
    ['after a transaction that the database has undone is asked at once', '40001', 2],
  ])('%s', async (_name, code, count) => {
    const { query } = connectionsOf(failWith(code), {})
    const failed = expect(query({ text: 'first', ...PLAIN })).rejects.toMatchObject({ code })
    await vi.advanceTimersByTimeAsync(0)
    const other = query({ text: 'other', ...PLAIN })
    await vi.advanceTimersByTimeAsync(0)
    expect(sent).toHaveLength(count)
    await vi.runAllTimersAsync()
    await Promise.all([failed, other])
    expect(sent).toEqual(['first', 'other'])
  })
})

it.each<[string, PostgresDatabase]>([
  ['pg', { connect: () => undefined }],
  ['postgres', { unsafe: () => ({ raw: () => new Promise(() => undefined) }) }],
])('an answer is waited for half a minute, through %s, where the host says nothing of it', async (_name, database) => {
  vi.useFakeTimers()
  try {
    const { query } = connectionsOf(database, {})
    const failed = expect(query({ text: 'SELECT 1', parameters: [], isRepeated: false })).rejects.toThrow('within 30 s')
    await vi.advanceTimersByTimeAsync(30_000)
    await failed
  } finally {
    vi.useRealTimers()
  }
})

const anHour = <T>(answer: T): Promise<T> => new Promise((resolve) => setTimeout(resolve, 3_600_000, answer))
const SLOW_CLIENT: PgClient = {
  query: () => anHour({ rows: [] }),
  on: () => undefined,
  removeListener: () => undefined,
  release: () => undefined,
}

it.each<[string, PostgresDatabase]>([
  ['pg', { connect: (callback) => callback(undefined, SLOW_CLIENT) }],
  ['postgres', { unsafe: () => ({ raw: () => anHour([]) }) }],
])('a step that brings the tables up to date takes as long as it needs, through %s', async (_name, database) => {
  vi.useFakeTimers()
  try {
    const { script } = connectionsOf(database, { answerSeconds: 1 })
    const taken = expect(script('SELECT 1')).resolves.toBeUndefined()
    await vi.advanceTimersByTimeAsync(3_600_000)
    await taken
  } finally {
    vi.useRealTimers()
  }
})

it('a record that cannot be read fails those reads of a turn alone that want it', async () => {
  const schema = await newSchema()
  const storage = await postgresStorage(openPool(schema, {}, { max: 1 }))
  await mustCommit(storage, insertClaim('a'), insertClaim('b'))
  await run(schema, "UPDATE op_replay_claim SET expires_at = 9007199254740993 WHERE id = 'a'")
  const reads = [storage.get([claim('a')]), storage.get([claim('b')]), storage.get([claim('c')])]
  const [broken, good, none] = await Promise.allSettled(reads)
  expect(broken?.status).toBe('rejected')
  expect(good).toMatchObject({ status: 'fulfilled', value: [{ value: { id: 'b' } }] })
  expect(none).toEqual({ status: 'fulfilled', value: [undefined] })
})

it('a record that is due and cannot be read is left out where somebody is told of it, and fails the read where not', async () => {
  const schema = await newSchema()
  const storage = await postgresStorage(openPool(schema, {}, { max: 1 }))
  await mustCommit(storage, insertClaim('a', { dueAt: 1 }), insertClaim('b', { dueAt: 2 }))
  await run(schema, "UPDATE op_replay_claim SET expires_at = 9007199254740993 WHERE id = 'a'")
  const told: unknown[] = []
  const due = await storage.due('replay-claim', 2, 10, (cause) => told.push(cause))
  expect(due).toMatchObject([{ value: { id: 'b' } }])
  expect(told).toMatchObject([
    { message: 'the row a of op_replay_claim holds no replay-claim: expires_at holds no integer' },
  ])
  await expect(storage.due('replay-claim', 2, 10)).rejects.toThrow('the row a of op_replay_claim')
})

describe('prepared statements', () => {
  const PREPARED = `SELECT count(*)::integer AS count FROM pg_prepared_statements WHERE statement LIKE '%op\\_%'`

  it.each([
    [true, 1],
    [false, 0],
  ])('stay on a connection of pg: %s', async (prepare, count) => {
    const schema = await newSchema()
    const pool = openPool(schema, {}, { max: 1 })
    const storage = await postgresStorage(pool, { prepare })
    for (const id of ['a', 'b', 'c']) await mustCommit(storage, insertClaim(id))
    expect((await pool.query(PREPARED)).rows).toEqual([{ count }])
    await expectRecordsKept(storage)
  })

  it.each([
    [true, 1],
    [false, 0],
  ])('stay on a connection of postgres: %s', async (prepare, count) => {
    const schema = await newSchema()
    const sql = openSql(schema, {}, { max: 1 })
    const storage = await postgresStorage(sql, { prepare })
    for (const id of ['a', 'b', 'c']) await mustCommit(storage, insertClaim(id))
    expect(Array.from(await sql.unsafe(PREPARED))).toEqual([{ count }])
    await expectRecordsKept(storage)
  })

  it.each<[string, (schema: string) => readonly [PostgresDatabase, (text: string) => Promise<unknown>]]>([
    [
      'pg',
      (schema) => {
        const pool = openPool(schema, {}, { max: 1 })
        return [pool, async (text) => (await pool.query(text)).rows[0]]
      },
    ],
    [
      'postgres',
      (schema) => {
        const sql = openSql(schema, {}, { max: 1 })
        return [sql, async (text) => (await sql.unsafe(text))[0]]
      },
    ],
  ])('are 64 on a connection of %s at most, however many there are to prepare', async (_name, open) => {
    const [database, query] = open(await newSchema())
    const storage = await postgresStorage(database)
    const keys = [...new Set(sampleInserts().map(({ kind }) => kind))].map((kind) => ({ kind, id: 'none' }))
    const pairs = keys.flatMap((one, index) => keys.slice(index + 1).map((other) => [one, other]))
    expect(pairs.length).toBeGreaterThan(64)
    for (const pair of pairs) expect(await storage.get(pair)).toEqual([undefined, undefined])
    expect(await query(PREPARED)).toEqual({ count: 64 })
    await expectRecordsKept(storage)
  })

  it('do not stand in the way of each other where two storages share a pool', async () => {
    const schema = await newSchema()
    const pool = openPool(schema, {}, { max: 1 })
    const storages = [await postgresStorage(pool), await postgresStorage(pool)] as const
    await mustCommit(storages[0], insertClaim('a'))
    await mustCommit(storages[1], replaceClaim('a', 1, 5))
    expect(await storages[0].get([claim('a')])).toEqual(await storages[1].get([claim('a')]))
    expect(await run(schema, 'SELECT version FROM op_replay_claim')).toEqual([{ version: '2' }])
  })
})
