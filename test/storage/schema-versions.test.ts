import { describe, expect, it } from 'vitest'
import { connectionsOf } from '../../adapters/storage/postgres/database.ts'
import { migrate as migratePostgres } from '../../adapters/storage/postgres/migrate.ts'
import { postgresStorage } from '../../adapters/storage/postgres.ts'
import {
  META_TABLE,
  type Migration,
  STORAGE_MIGRATIONS,
  STORAGE_READABLE_FROM,
} from '../../adapters/storage/sql/schema.ts'
import { migrate as migrateSqlite } from '../../adapters/storage/sqlite/migrate.ts'
import { sqliteStorage } from '../../adapters/storage/sqlite.ts'
import type { Storage } from '../../src/ports/storage.ts'
import { SCHEMA_VERSIONS } from '../../src/protocol/schema-version.ts'
import { OUTGOING_PAYMENT, sampleInserts } from '../../src/testing/sample-records.ts'
import { claim, idsOf, mustCommit, replaceClaim } from '../../src/testing/storage-case.ts'
import { useDatabases } from './postgres-databases.ts'
import { useSqlite } from './sqlite-databases.ts'

const { newSchema, openPool, run } = useDatabases()
const { open } = useSqlite()

/** One empty database. */
interface Database {
  /** Opens it as this release does. */
  open(): Promise<Storage>
  /** Opens it as another release does, which knows other steps. */
  migrate(migrations: readonly Migration[], readableFrom: number): Promise<void>
  query(sql: string): Promise<readonly object[]>
}

const DATABASES: Readonly<Record<string, () => Promise<Database>>> = {
  SQLite: async () => {
    const handle = await open()
    return {
      open: async () => sqliteStorage(handle),
      migrate: async (...args) => migrateSqlite(handle, 'storage', ...args),
      query: async (sql) => handle.prepare(sql).all() as object[],
    }
  },
  PostgreSQL: async () => {
    const schema = await newSchema()
    const pool = openPool(schema)
    return {
      open: () => postgresStorage(pool),
      migrate: (...args) => migratePostgres(connectionsOf(pool, {}), 'storage', ...args),
      query: (sql) => run(schema, sql),
    }
  },
}

const KNOWN = STORAGE_MIGRATIONS.length
const STATE = 'SELECT name, version, readable_from FROM op_meta'

/** What a newer release might do: a column that older ones leave alone, and a table that they do not know. */
const ADDED: Migration = [
  `ALTER TABLE op_replay_claim ADD COLUMN note TEXT DEFAULT 'none'`,
  'CREATE TABLE op_novelty (id TEXT NOT NULL PRIMARY KEY)',
]

describe.each(Object.entries(DATABASES))('the schema of %s', (_name, make) => {
  it('is made once, however often it is opened', async () => {
    const database = await make()
    const storage = await database.open()
    await mustCommit(storage, ...sampleInserts())
    const keys = sampleInserts().map(({ kind, value }) => ({ kind, id: value.id }))
    const before = await storage.get(keys)
    expect(await (await database.open()).get(keys)).toEqual(before)
    const state = { name: 'storage', version: KNOWN, readable_from: STORAGE_READABLE_FROM }
    expect(await database.query(STATE)).toMatchObject([state])
  })

  it('is brought up to date from each earlier version, and loses nothing', async () => {
    const steps = [...STORAGE_MIGRATIONS, ADDED]
    for (let version = 0; version < steps.length; version++) {
      const database = await make()
      await database.migrate(steps.slice(0, version), Math.min(version, STORAGE_READABLE_FROM))
      if (version > 0) {
        await database.query(
          `INSERT INTO op_replay_claim (id, expires_at, schema_version, version) VALUES ('a', 5, 1, 3)`,
        )
      }
      await database.migrate(steps, STORAGE_READABLE_FROM)
      const state = { name: 'storage', version: steps.length, readable_from: STORAGE_READABLE_FROM }
      expect(await database.query(STATE)).toMatchObject([state])
      const storage = await database.open()
      await mustCommit(storage, ...sampleInserts())
      expect(await database.query(`SELECT note FROM op_replay_claim WHERE id = 'claim'`)).toMatchObject([
        { note: 'none' },
      ])
      const [kept] = await storage.get([claim('a')])
      const value = { id: 'a', expiresAt: 5 }
      expect(kept).toEqual(version > 0 ? { kind: 'replay-claim', version: 3, schemaVersion: 1, value } : undefined)
    }
  })

  it('is worked with, and left as it is, where newer releases have only added to it', async () => {
    const database = await make()
    await database.migrate([...STORAGE_MIGRATIONS, ADDED, ['CREATE TABLE op_more (id TEXT)']], STORAGE_READABLE_FROM)
    const state = [{ name: 'storage', version: KNOWN + 2, readable_from: STORAGE_READABLE_FROM }]
    expect(await database.query(STATE)).toMatchObject(state)
    await database.query(
      `INSERT INTO op_replay_claim (id, expires_at, schema_version, version, note) VALUES ('a', 5, 1, 1, 'new')`,
    )
    const storage = await database.open()
    await mustCommit(storage, ...sampleInserts(), replaceClaim('a', 1, 7))
    expect(await storage.get([claim('a')])).toMatchObject([{ version: 2, value: { id: 'a', expiresAt: 7 } }])
    expect(await database.query(`SELECT id, note FROM op_replay_claim ORDER BY id`)).toMatchObject([
      { id: 'a', note: 'new' },
      { id: 'claim', note: 'none' },
    ])
    expect(await database.query(STATE)).toMatchObject(state)
  })

  it('is refused, and left as it is, where a newer release has done more than add to it', async () => {
    const database = await make()
    await database.migrate([...STORAGE_MIGRATIONS, ADDED], KNOWN + 1)
    await expect(database.open()).rejects.toThrow(
      `the storage schema of this database is version ${KNOWN + 1}; this release knows ${KNOWN}`,
    )
    const state = { name: 'storage', version: KNOWN + 1, readable_from: KNOWN + 1 }
    expect(await database.query(STATE)).toMatchObject([state])
  })

  it('may hold records that a newer release wrote: what is due is told without them, however many and strange', async () => {
    const database = await make()
    const storage = await database.open()
    const insertDue = (id: string, dueAt: number) =>
      mustCommit(storage, { action: 'insert', kind: 'outgoing-payment', value: { ...OUTGOING_PAYMENT, id }, dueAt })
    await insertDue('interrupted', 200)
    await Promise.all(Array.from({ length: 100 }, (_, index) => insertDue(`newer ${index}`, index)))
    const newer = SCHEMA_VERSIONS['outgoing-payment'] + 1
    await database.query(
      `UPDATE op_outgoing_payment SET schema_version = ${newer}, debit_amount_value = '0x', states = '['
        WHERE id LIKE 'newer %'`,
    )
    expect(idsOf(await storage.due('outgoing-payment', 200, 100))).toEqual(['interrupted'])
  })

  it('is one of several in a database', async () => {
    const database = await make()
    await database.query(META_TABLE)
    await database.query(`INSERT INTO op_meta (name, version, readable_from) VALUES ('ledger', 9, 9)`)
    await database.open()
    expect(await database.query(`${STATE} ORDER BY name`)).toMatchObject([
      { name: 'ledger', version: 9 },
      { version: KNOWN },
    ])
  })
})
