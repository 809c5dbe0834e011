import { randomUUID } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { connectionsOf } from '../../adapters/storage/postgres/database.ts'
import { migrate } from '../../adapters/storage/postgres/migrate.ts'
import { type PgPool, type PostgresDatabase, postgresStorage } from '../../adapters/storage/postgres.ts'
import { layoutOf } from '../../adapters/storage/sql/layout.ts'
import { STORAGE_MIGRATIONS } from '../../adapters/storage/sql/schema.ts'
import type { ListQuery, Storage } from '../../src/ports/storage.ts'
import { CLIENT, sampleIncomingPayment, sampleInserts, WALLET_ADDRESS } from '../../src/testing/sample-records.ts'
import { claim, insertClaim, KINDS, mustCommit, replaceClaim } from '../../src/testing/storage-case.ts'
import { useDatabases, watchStatements, withQuery } from './postgres-databases.ts'

const { newSchema, openPool, openSql, run, whileLocked } = useDatabases()

const KNOWN = STORAGE_MIGRATIONS.length

const tablesIn = async (schema: string): Promise<readonly unknown[]> => {
  const tables = await run(schema, `SELECT tablename FROM pg_tables WHERE schemaname = '${schema}' ORDER BY tablename`)
  return tables.map(({ tablename }) => tablename)
}

describe('the tables', () => {
  it('have a column for each member of each kind, and no other', async () => {
    const schema = await newSchema()
    await postgresStorage(openPool(schema))
    expect(await tablesIn(schema)).toEqual([...KINDS.map((kind) => layoutOf(kind).table), 'op_meta'].toSorted())
    for (const kind of KINDS) {
      const layout = layoutOf(kind)
      const columns = await run(
        schema,
        `SELECT column_name, data_type FROM information_schema.columns
          WHERE table_schema = '${schema}' AND table_name = '${layout.table}'`,
      )
      const names = columns.map(({ column_name }) => column_name)
      expect(names.toSorted(), kind).toEqual([...layout.columns, 'version'].toSorted())
      for (const { data_type } of columns) expect(['text', 'bigint', 'integer']).toContain(data_type)
    }
  })

  it('compare text by bytes in a database that has another order', async () => {
    const database = `d_${randomUUID().replaceAll('-', '')}`
    await run('public', `CREATE DATABASE ${database} LOCALE_PROVIDER icu ICU_LOCALE 'en-US' TEMPLATE template0`)
    const pool = openPool('public', {}, { database })
    expect((await pool.query(`SELECT 'a' < 'B' AS foreign_order`)).rows).toEqual([{ foreign_order: true }])
    const storage = await postgresStorage(pool)
    const ids = ['-', '0', 'A', 'B', 'a', 'b', '\u00e4', '\ufffd', '\u{1f600}']
    for (const id of ids.toReversed()) {
      const change = { action: 'insert', kind: 'incoming-payment', value: sampleIncomingPayment(id) } as const
      await mustCommit(storage, { ...change, isListed: true, dueAt: 1 })
    }
    const query = { kind: 'incoming-payment', walletAddress: WALLET_ADDRESS, direction: 'newer', limit: 2 } as const
    const listed: string[] = []
    let after: ListQuery['after']
    do {
      const page = await storage.list({ ...query, ...(after && { after }) })
      listed.push(...page.map(({ value }) => value.id))
      const last = page.at(-1)?.value
      after = last && 'createdAt' in last ? last : undefined
    } while (after !== undefined)
    expect(listed).toEqual(ids)
    expect((await storage.due('incoming-payment', 1, 20)).map(({ value }) => value.id)).toEqual(ids)
  })

  it('leave the order to a database that has no other', async () => {
    const schema = await newSchema()
    await postgresStorage(asCockroach(openPool(schema)))
    const columns = `SELECT DISTINCT collation_name FROM information_schema.columns WHERE table_schema = '${schema}'`
    expect(await run(schema, columns)).toEqual([{ collation_name: null }])
  })
})

/** A pool whose database says that it is another one. */
function asCockroach(pool: PgPool): PgPool {
  return withQuery(pool, async (client, statement) =>
    statement.text === 'SELECT version()' ? { rows: [['CockroachDB CCL v25.2.0']] } : client.query(statement),
  )
}

describe('processes that start at the same time on an empty database', () => {
  it.each<[string, (schema: string) => PostgresDatabase]>([
    ['pg', (schema) => openPool(schema)],
    ['pg, serializable', (schema) => openPool(schema, { default_transaction_isolation: 'serializable' })],
    ['postgres', (schema) => openSql(schema)],
  ])('make the tables once, through %s', async (_name, open) => {
    const schema = await newSchema()
    const storages = await Promise.all(Array.from({ length: 6 }, () => postgresStorage(open(schema))))
    await Promise.all(storages.map((storage, index) => mustCommit(storage, insertClaim(`a${index}`))))
    expect(await run(schema, 'SELECT name, version FROM op_meta')).toEqual([{ name: 'storage', version: KNOWN }])
    expect(await tablesIn(schema)).toHaveLength(KINDS.length + 1)
  })

  it('take a step once, whatever is in it', async () => {
    const schema = await newSchema()
    const steps = [['CREATE TABLE op_steps (step INTEGER)'], ['INSERT INTO op_steps VALUES (2)']]
    const started = Array.from({ length: 6 }, () => migrate(connectionsOf(openPool(schema), {}), 'storage', steps, 0))
    await Promise.all(started)
    expect(await run(schema, 'SELECT step FROM op_steps')).toEqual([{ step: 2 }])
  })
})

describe('a process that dies while it makes the tables', () => {
  it('leaves none of a step behind, and the next one makes them', async () => {
    const schema = await newSchema()
    // Another transaction has a table of that name, so that the step comes half-way and waits.
    const migration = whileLocked(
      schema,
      'CREATE TABLE op_quote (id TEXT)',
      () => postgresStorage(openPool(schema)),
      (client, waiting) => client.query(`SELECT pg_terminate_backend(${waiting}); ROLLBACK`),
    )
    await expect(migration).rejects.toThrow()
    expect(await tablesIn(schema)).toEqual(['op_meta'])
    expect(await run(schema, 'SELECT version FROM op_meta')).toEqual([{ version: 0 }])
    await mustCommit(await postgresStorage(openPool(schema)), ...sampleInserts())
  })

  it('may leave a part behind where a database keeps one, and the next one makes the rest', async () => {
    const schema = await newSchema()
    const steps = [...STORAGE_MIGRATIONS, ['ALTER TABLE op_grant ADD COLUMN note TEXT']]
    await migrate(connectionsOf(openPool(schema), {}), 'storage', steps, 1)
    await run(schema, 'DROP TABLE op_event, op_quote; DROP INDEX op_grant_list; UPDATE op_meta SET version = 0')
    await migrate(connectionsOf(openPool(schema), {}), 'storage', steps, 1)
    await mustCommit(await postgresStorage(openPool(schema)), ...sampleInserts())
    expect(await run(schema, 'SELECT version FROM op_meta')).toEqual([{ version: steps.length }])
  })
})

describe('a role that may only read and write', () => {
  const asRole = async (schema: string): Promise<() => ReturnType<typeof openPool>> => {
    const role = `r_${randomUUID().replaceAll('-', '')}`
    await run(
      schema,
      `CREATE ROLE ${role} LOGIN PASSWORD 'secret';
       GRANT USAGE ON SCHEMA ${schema} TO ${role};
       GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA ${schema} TO ${role}`,
    )
    return () => openPool(schema, {}, { user: role, password: 'secret' })
  }

  it('works with tables that somebody else has made, and changes none', async () => {
    const schema = await newSchema()
    await postgresStorage(openPool(schema))
    const open = await asRole(schema)
    const statements: string[] = []
    const storage = await postgresStorage(watchStatements(open(), (text) => statements.push(text)))
    expect(statements).toEqual([expect.stringMatching(/^SELECT version, /)])
    await mustCommit(storage, ...sampleInserts())
    await mustCommit(storage, replaceClaim('claim', 1, 5))
    expect(await storage.get([claim('claim')])).toMatchObject([{ version: 2 }])
  })

  it('is told where there are none', async () => {
    const schema = await newSchema()
    const open = await asRole(schema)
    await expect(postgresStorage(open())).rejects.toMatchObject({ code: '42501' })
    expect(await tablesIn(schema)).toEqual([])
  })
})

describe('with many records', () => {
  const made = newSchema().then(async (schema) => {
    const statements: string[] = []
    const storage = await postgresStorage(watchStatements(openPool(schema), (text) => statements.push(text)))
    await mustCommit(storage, ...sampleInserts())
    const fill = KINDS.map((kind) => {
      const { table } = layoutOf(kind)
      const columns = [...layoutOf(kind).columns, 'version']
      const cells = columns.map((column) => {
        if (column === 'id') return `'id ' || n`
        if (column === 'due_at') return 'CASE WHEN n % 2 = 0 THEN n END'
        if (column === 'created_at') return 'n'
        if (column === 'client') return `'client ' || n % 10`
        if (column === 'wallet_address') return `'wallet ' || n % 20`
        return column
      })
      const some = `(SELECT * FROM ${table} ORDER BY id LIMIT 1) AS one, generate_series(1, 2000) AS n`
      return `INSERT INTO ${table} (${columns.join(', ')}) SELECT ${cells.join(', ')} FROM ${some}; ANALYZE ${table}`
    })
    await run(schema, fill.join(';'))
    return { schema, storage, statements }
  })

  const list: ListQuery = { kind: 'incoming-payment', walletAddress: WALLET_ADDRESS, direction: 'older', limit: 20 }
  const after = { createdAt: 500, id: 'a' }
  it.each<[string, (storage: Storage) => Promise<unknown>, RegExp]>([
    ['get of one', (storage) => storage.get([claim('a')]), /op_replay_claim_pkey/],
    [
      'get of many',
      (storage) => storage.get(KINDS.flatMap((kind) => [1, 2, 3].map((n) => ({ kind, id: `id ${n}` })))),
      /_pkey/,
    ],
    ['list', (storage) => storage.list(list), /op_incoming_payment_list/],
    ['list, newer', (storage) => storage.list({ ...list, direction: 'newer' }), /op_incoming_payment_list/],
    ['list, next page', (storage) => storage.list({ ...list, after }), /op_incoming_payment_list/],
    ['list of one client', (storage) => storage.list({ ...list, client: CLIENT }), /op_incoming_payment_client/],
    [
      'list of one client, next page',
      (storage) => storage.list({ ...list, client: CLIENT, after }),
      /op_incoming_payment_client/,
    ],
    ['due', (storage) => storage.due('receipt', 100, 20), /op_receipt_due/],
    [
      'commit',
      (storage) => storage.commit([insertClaim('new'), replaceClaim('id 1', 7, 5)]),
      /op_replay_claim_pkey[\s\S]*One-Time Filter/,
    ],
  ])('%s uses an index, reads no table from end to end, and sorts none of its rows', async (_name, act, index) => {
    const { schema, storage, statements } = await made
    statements.length = 0
    await act(storage)
    const [text = ''] = statements
    // As it is planned once it is prepared, whatever its parameters.
    const plan = await run(schema, `EXPLAIN (GENERIC_PLAN, FORMAT TEXT) ${text}`)
    const lines = plan.map((row) => String(row['QUERY PLAN'])).join('\n')
    expect(lines).toMatch(index)
    expect(lines).not.toMatch(/Seq Scan|Sort Key: (?!asked(_\d+)?\.id\b)/)
  })
})
