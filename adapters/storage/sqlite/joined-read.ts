import type { Key, RecordKind, StoredRecord } from '../../../src/ports/storage.ts'
import { makeOnce } from '../make-once.ts'
import type { TableLayout } from '../sql/layout.ts'
import { decodeRecord, isStorable, type Row } from '../sql/rows.ts'
import { selectedColumns, type Table } from '../sql/statements.ts'
import type { AtOneMoment, SqliteRunner } from './handle.ts'

// A request typically reads a token and one other record. Two records fit into the 100 columns that a Durable Object
// allows; and each combination of kinds is a statement that stays prepared.
const MOST_JOINED = 2

/** Reads records by their keys, as of one moment: in one statement, or in a transaction if there are more than two. */
export function createReader(
  runner: SqliteRunner,
  tableOf: (kind: RecordKind) => Table,
  atOneMoment: AtOneMoment,
): (keys: readonly Key[]) => readonly (StoredRecord | undefined)[] {
  const joinedRead = makeOnce((kinds: readonly RecordKind[]) => joinReads(kinds, tableOf), String)
  const readFew = (keys: readonly Key[]): readonly (StoredRecord | undefined)[] => {
    const { sql, parts } = joinedRead(keys.map(({ kind }) => kind))
    const ids = keys.map(({ id }) => id)
    const row: Row = runner.first(sql, ids) ?? []
    return parts.map(({ kind, layout, from }) =>
      row[from] === null ? undefined : decodeRecord(kind, layout, row.slice(from)),
    )
  }
  const readAll = (keys: readonly Key[]): readonly (StoredRecord | undefined)[] => {
    if (keys.length <= MOST_JOINED) return keys.length === 0 ? [] : readFew(keys)
    return atOneMoment(() => {
      const found: (StoredRecord | undefined)[] = []
      for (let at = 0; at < keys.length; at += MOST_JOINED) found.push(...readFew(keys.slice(at, at + MOST_JOINED)))
      return found
    })
  }
  return (keys) => {
    // Some handles replace characters that UTF-8 cannot hold, so another record would be found.
    const storable = keys.filter(({ id }) => isStorable(id))
    const found = readAll(storable)
    return storable.length === keys.length ? found : keys.map((key) => found[storable.indexOf(key)])
  }
}

/** One row with a record of each of some kinds side by side, each found by an id: NULLs if there is none. */
interface JoinedRead {
  readonly sql: string
  readonly parts: readonly { readonly kind: RecordKind; readonly layout: TableLayout; readonly from: number }[]
}

/** The statement that reads one record of each of these kinds. Parameters: their ids. */
export function joinReads(kinds: readonly RecordKind[], tableOf: (kind: RecordKind) => Table): JoinedRead {
  const columns: string[] = []
  const parts = kinds.map((kind, index) => {
    const { layout } = tableOf(kind)
    const from = columns.length
    // Unique column names, for a handle that returns a row as an object.
    columns.push(...selectedColumns(layout).map((column) => `r${index}.${column} AS r${index}_${column}`))
    return { kind, layout, from }
  })
  const joins = parts.map(({ layout }, index) => `LEFT JOIN ${layout.table} r${index} ON r${index}.id = ?`)
  return { sql: `SELECT ${columns.join(', ')} FROM (SELECT 1) ${joins.join(' ')}`, parts }
}
