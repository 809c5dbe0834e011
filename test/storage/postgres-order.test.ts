import { describe, expect, it } from 'vitest'
import { type PostgresSql, postgresStorage } from '../../adapters/storage/postgres.ts'
import type { Change } from '../../src/ports/storage.ts'
import { sampleSpending } from '../../src/testing/sample-records.ts'
import { checkClaim, deleteClaim, insertClaim, mustCommit, replaceClaim } from '../../src/testing/storage-case.ts'
import { isCommit, useDatabases } from './postgres-databases.ts'

const { newSchema, openSql, run, whileLocked } = useDatabases()

/** Has the database ask for the last part of a commit first: it promises no order in which it runs the parts. */
function lastPartFirst(sql: PostgresSql): PostgresSql {
  const turn = (text: string): string => {
    const [parts = '', ...outcome] = text.split(' SELECT CAST(')
    const last = parts.match(/c\d+(?= AS \()/g)?.at(-1)
    expect([last, outcome.length]).toEqual([expect.any(String), 1])
    return `${parts} SELECT CAST((SELECT count(*) FROM ${last}) AS TEXT), CAST(${outcome}`
  }
  return { unsafe: (text, ...rest) => sql.unsafe(isCommit(text) ? turn(text) : text, ...rest) }
}

/** Changes of each action, in the order in which they lock their rows: by table, then by action, then by id. */
const CHANGES: readonly Change[] = [
  checkClaim('c', 1),
  checkClaim('d', 1),
  deleteClaim('b', 1),
  replaceClaim('a', 1, 5),
  replaceClaim('e', 1, 5),
  { action: 'insert', kind: 'spending', value: sampleSpending('n', 1n) },
  { action: 'replace', kind: 'spending', version: 1, value: sampleSpending('A', 1n) },
]

/** Rows without which PostgreSQL would look for the others by their ids. */
const OTHERS = Array.from({ length: 20 }, (_, index) => `other ${index}`)

/** The rows that no transaction holds; one that is being inserted would have to be waited for. */
async function freeRows(schema: string): Promise<readonly unknown[]> {
  const claims = await run(
    schema,
    `SELECT id FROM op_replay_claim WHERE id NOT LIKE 'other %' ORDER BY id FOR UPDATE SKIP LOCKED`,
  )
  const spendings = await run(schema, 'SELECT id FROM op_spending FOR UPDATE SKIP LOCKED')
  const insert = `INSERT INTO op_spending SELECT (json_populate_record(one, '{"id":"n"}')).* FROM op_spending AS one`
  await run(schema, `BEGIN; SET LOCAL lock_timeout = '5s'; ${insert}; ROLLBACK`)
  return [...claims, ...spendings].map(({ id }) => id)
}

describe.each([
  ['as they come', (sql: PostgresSql) => sql],
  ['the last one first', lastPartFirst],
])('a commit of which PostgreSQL runs the parts %s', (_name, evaluate) => {
  const made = newSchema().then(async (schema) => {
    return { schema, storage: await postgresStorage(evaluate(openSql(schema))) }
  })

  it.each([
    ['c', ['a', 'b', 'd', 'e', 'A']],
    ['d', ['a', 'b', 'e', 'A']],
    ['b', ['a', 'e', 'A']],
    ['a', ['e', 'A']],
    ['e', ['A']],
  ])('holds no row behind the row %s that it waits for, in whatever order its changes stand', async (held, free) => {
    const { schema, storage } = await made
    for (const changes of [CHANGES, CHANGES.toReversed()]) {
      await run(schema, 'DELETE FROM op_replay_claim; DELETE FROM op_spending')
      const spending: Change = { action: 'insert', kind: 'spending', value: sampleSpending('A', 0n) }
      await mustCommit(storage, spending)
      // As the rows of a small table lie, so does a plan read them.
      for (const id of ['e', 'd', 'c', 'b', 'a', ...OTHERS]) await mustCommit(storage, insertClaim(id))
      await run(schema, 'ANALYZE op_replay_claim')
      let found: readonly unknown[] = []
      // Not shared with whoever only looks: two commits that held one row together would wait for each other to write it.
      const result = await whileLocked(
        schema,
        `SELECT FROM op_replay_claim WHERE id = '${held}' FOR SHARE`,
        () => storage.commit(changes),
        async () => {
          found = await freeRows(schema)
        },
      )
      expect(found).toEqual(free)
      expect(result).toBe('committed')
    }
  })

  it('inserts nothing behind the id that it waits for', async () => {
    const { schema, storage } = await made
    await run(schema, 'DELETE FROM op_replay_claim')
    const insert = (id: string): string => `INSERT INTO op_replay_claim VALUES ('${id}', 1, NULL, 1, 1)`
    const result = await whileLocked(
      schema,
      insert('m'),
      () => storage.commit([insertClaim('n'), insertClaim('m')]),
      async (client) => {
        await run(schema, `BEGIN; SET LOCAL lock_timeout = '5s'; ${insert('n')}; ROLLBACK`)
        await client.query('ROLLBACK')
      },
    )
    expect(result).toBe('committed')
  })
})
