import { expect, it } from 'vitest'
import { layoutOf } from '../../adapters/storage/sql/layout.ts'
import { createTable } from '../../adapters/storage/sql/statements.ts'
import { changeStatements } from '../../adapters/storage/sqlite/changes.ts'
import { joinReads } from '../../adapters/storage/sqlite/joined-read.ts'
import { openSqlite, sqliteStorage } from '../../adapters/storage/sqlite.ts'
import type { ListableKind, ListQuery } from '../../src/ports/storage.ts'
import { KINDS } from '../../src/testing/storage-case.ts'

const LISTABLE: readonly ListableKind[] = ['grant', 'incoming-payment', 'outgoing-payment']
const AFTER = { createdAt: 500, id: 'a' }

/** Every statement of a kind that looks for records. */
function statementsFor(kind: (typeof KINDS)[number]): readonly string[] {
  const { layout, due, list } = createTable(kind)
  const { replaceInPlace, replaceAll, remove, check } = changeStatements(layout)
  const queries = LISTABLE.filter((listable) => listable === kind).flatMap((listable) =>
    [{}, { client: 'c' }, { after: AFTER }, { client: 'c', after: AFTER }].flatMap((more) =>
      (['older', 'newer'] as const).map(
        (direction): ListQuery => ({ kind: listable, walletAddress: 'w', limit: 20, direction, ...more }),
      ),
    ),
  )
  return [replaceInPlace.sql, replaceAll, remove, check, due, ...queries.map((query) => list(query).sql)]
}

it.each(KINDS)('every statement about a %s finds its rows by an index, and sorts nothing', async (kind) => {
  const handle = await openSqlite(':memory:')
  sqliteStorage(handle)
  const planOf = (sql: string): string => {
    const parameters = [...sql].filter((letter) => letter === '?').map(() => 1)
    return JSON.stringify(handle.prepare(`EXPLAIN QUERY PLAN ${sql}`).all(...parameters))
  }
  for (const sql of statementsFor(kind)) {
    expect(planOf(sql), sql).toContain('SEARCH')
    expect(planOf(sql), sql).not.toMatch(/SCAN|TEMP B-TREE/)
  }
  for (const count of [1, 2]) {
    const { sql } = joinReads(
      Array.from({ length: count }, () => kind),
      createTable,
    )
    for (let index = 0; index < count; index++) expect(planOf(sql)).toContain(`SEARCH r${index} USING INDEX`)
    // The one row that the others stand beside.
    expect(planOf(sql).replace(/SCAN (\(subquery-1\)|\d* ?CONSTANT ROW)/g, ''), sql).not.toMatch(
      /SCAN|TEMP B-TREE|AUTOMATIC/,
    )
  }
  // What a table without the right index would say.
  expect(planOf(`SELECT id FROM ${layoutOf(kind).table} WHERE schema_version = ?`)).toContain('SCAN')
  handle.close()
})
