import { openSqlite } from 'open-payments-server/storage/sqlite'
import { commitText } from '../adapters/storage/postgres/commit-statement.ts'
import { layoutOf, type TableLayout } from '../adapters/storage/sql/layout.ts'
import { createTable } from '../adapters/storage/sql/statements.ts'
import { changeStatements } from '../adapters/storage/sqlite/changes.ts'
import type { ListableKind, RecordKind } from '../src/ports/storage.ts'
import { connectPostgres } from './postgres.ts'
import { BASE } from './wallet.ts'

/** A database beside the server that works on it. */
export interface FilledDatabase {
  /** Copies the records of some kinds under new ids, until there are so many of each. */
  fill(kinds: readonly RecordKind[], count: number): Promise<void>
  /** Ids of incoming payments from all over the table, on the wallet address of the shop. */
  incomingPayments(): Promise<readonly string[]>
  /** How each statement of the storage is carried out, line by line. */
  plans(): Promise<readonly (readonly [statement: string, plan: string])[]>
  close(): Promise<void>
}

/** How many copies keep the wallet address of their original, however many there are: spread over all of them. */
const KEPT_TOGETHER = 10_000

const KINDS: readonly RecordKind[] = ['incoming-payment', 'grant', 'access-token', 'outgoing-payment', 'replay-claim']
const LISTED: readonly ListableKind[] = ['incoming-payment', 'grant', 'outgoing-payment']

interface Dialect {
  readonly randomId: string
  /** The time of so many milliseconds as an id begins with it. */
  timeDigits(milliseconds: string): string
  /** A table `n (n)` of the numbers from 1 to a count. */
  numbers(count: number): string
  /** The statements that look for the records that they change. */
  changes(layout: TableLayout): readonly string[]
}

const SQLITE: Dialect = {
  randomId: 'lower(hex(randomblob(16)))',
  timeDigits: (milliseconds) => `printf('%012x', ${milliseconds})`,
  numbers: (count) =>
    `(WITH RECURSIVE c (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c WHERE n < ${count}) SELECT n FROM c) AS n`,
  changes: (layout) => {
    const { replaceInPlace, replaceAll, remove, check } = changeStatements(layout)
    return [replaceInPlace.sql, replaceAll, remove, check]
  },
}

const POSTGRES: Dialect = {
  randomId: `replace(gen_random_uuid()::text, '-', '')`,
  timeDigits: (milliseconds) => `lpad(to_hex(${milliseconds}), 12, '0')`,
  numbers: (count) => `generate_series(1, ${count}) AS n (n)`,
  changes: (layout) => (['replace', 'delete', 'check'] as const).map((action) => commitText([{ action, layout }])),
}

/** An id like those that the library gives to records of a kind. */
function idOfCopy(kind: RecordKind, milliseconds: string, { randomId, timeDigits }: Dialect): string {
  if (kind === 'outgoing-payment') return randomId
  // 128 random bits, or the 256 of a digest.
  const isDigest = kind === 'access-token' || kind === 'replay-claim'
  return [timeDigits(milliseconds), randomId, ...(isDigest ? [randomId] : [])].join(' || ')
}

/** Copies a record of a kind. Those of one moment are spread over the seconds before it. */
function fillStatement(kind: RecordKind, count: number, dialect: Dialect): string {
  const { table } = layoutOf(kind)
  const columns = [...layoutOf(kind).columns, 'version']
  const earlier = `CAST(${Date.now()} AS bigint) - n.n * 7`
  const values = columns.map((column) => {
    if (column === 'id') return idOfCopy(kind, earlier, dialect)
    if (column === 'created_at') return 'created_at - n.n * 7'
    if (column !== 'wallet_address') return column
    return `CASE WHEN n.n % ${Math.ceil(count / KEPT_TOGETHER)} = 0 THEN wallet_address ELSE '${BASE}/' || n.n END`
  })
  const original = `(SELECT * FROM ${table} ORDER BY id LIMIT 1) AS original`
  return `INSERT INTO ${table} (${columns.join(', ')}) SELECT ${values.join(', ')} FROM ${original}, ${dialect.numbers(count)}`
}

const SAMPLE = `SELECT id FROM op_incoming_payment WHERE wallet_address = '${BASE}/shop' ORDER BY substr(id, 13) LIMIT 5000`

const idOf = (row: unknown): string => (typeof row === 'object' && row !== null ? String(Reflect.get(row, 'id')) : '')

function statementsToPlan({ changes }: Dialect): readonly string[] {
  return KINDS.flatMap((kind) => {
    const { layout, due, list } = createTable(kind)
    const query = { walletAddress: 'w', limit: 11, direction: 'older' } as const
    const after = { createdAt: 1, id: 'i' }
    const lists = LISTED.filter((listed) => listed === kind).flatMap((listed) =>
      [{}, { client: 'c' }, { after }, { client: 'c', after }].map((more) => list({ ...query, kind: listed, ...more })),
    )
    return [...changes(layout), due, ...lists.map(({ sql }) => sql)]
  })
}

/** Opens the file of a server on SQLite once more. */
export async function openFilledSqlite(place: string): Promise<FilledDatabase> {
  const database = await openSqlite(place)
  database.exec('PRAGMA busy_timeout = 60000')
  database.exec('PRAGMA synchronous = OFF')
  // Every row of millions goes to a page of its own in each index: with a small cache each page is read and written each time.
  database.exec('PRAGMA cache_size = -2000000')
  return {
    async fill(kinds, count) {
      for (const kind of kinds) database.exec(fillStatement(kind, count, SQLITE))
      database.exec('PRAGMA wal_checkpoint(TRUNCATE)')
    },
    incomingPayments: async () => database.prepare(SAMPLE).all().map(idOf),
    plans: async () =>
      statementsToPlan(SQLITE).map((sql) => {
        const parameters = [...sql].filter((letter) => letter === '?').map(() => 1)
        const rows = database.prepare(`EXPLAIN QUERY PLAN ${sql}`).all(...parameters)
        return [sql, rows.map((row) => JSON.stringify(row)).join('\n')]
      }),
    close: async () => database.close(),
  }
}

/** Connects to the database of a server once more. */
export async function openFilledPostgres(place: string): Promise<FilledDatabase> {
  const pool = await connectPostgres(place)
  return {
    async fill(kinds, count) {
      for (const kind of kinds) await pool.query(fillStatement(kind, count, POSTGRES))
      await pool.query('VACUUM ANALYZE')
    },
    incomingPayments: async () => (await pool.query(SAMPLE)).rows.map(idOf),
    plans: () =>
      Promise.all(
        statementsToPlan(POSTGRES).map(async (sql) => {
          let number = 0
          const text = sql.replaceAll('?', () => `$${++number}`)
          const { rows } = await pool.query(`EXPLAIN (GENERIC_PLAN) ${text}`)
          return [sql, rows.map((row: object) => Object.values(row).join()).join('\n')] as const
        }),
      ),
    close: () => pool.end(),
  }
}
