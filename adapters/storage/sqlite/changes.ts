import type { Change, RecordKind } from '../../../src/ports/storage.ts'
import type { TableLayout } from '../sql/layout.ts'
import { type Cell, encodeRecord } from '../sql/rows.ts'
import { bindChange, type Table } from '../sql/statements.ts'
import type { SqliteRunner } from './handle.ts'

/** The columns of the two indexes that a list is read by. */
const LIST_COLUMNS: readonly string[] = ['wallet_address', 'client', 'created_at', 'is_listed']

/** Replaces a record that stays where it is in the lists. Parameters: the cells at `places`, id, version, the cells at `fixed`. */
export interface ReplaceInPlace {
  readonly sql: string
  readonly places: readonly number[]
  /** The cells by which it is listed, which it does not set; none where nothing lists this kind. */
  readonly fixed: readonly number[]
}

/**
 * SQLite writes an index anew whenever an update names one of its columns, also where the value stays, and most indexes
 * lie on pages of their own. So a replacement leaves the columns of lists out; all are named only where it moves
 * its record in them, as few do.
 */
export function replaceInPlace({ table, columns, isListable }: TableLayout): ReplaceInPlace {
  const listed = isListable ? LIST_COLUMNS : []
  const set = columns.filter((column) => column !== 'id' && !listed.includes(column))
  const setting = set.map((column) => `${column} = ?`).join(', ')
  const isInPlace = listed.map((column) => ` AND ${column} IS ?`).join('')
  const placesOf = (names: readonly string[]): readonly number[] => names.map((name) => columns.indexOf(name))
  return {
    sql: `UPDATE ${table} SET ${setting}, version = version + 1 WHERE id = ? AND version = ?${isInPlace}`,
    places: placesOf(set),
    fixed: placesOf(listed),
  }
}

/** Makes a change where it fits, in the transaction that is under way; tells whether it did. */
export type BoundChange = () => boolean

/** Binds changes with their values as they are now. Throws where a value cannot be stored. */
export function createBinding(
  runner: SqliteRunner,
  tableOf: (kind: RecordKind) => Table,
): (change: Change) => BoundChange {
  const known = new Map<RecordKind, ReplaceInPlace>()
  const replaceOf = (kind: RecordKind): ReplaceInPlace => {
    const statement = known.get(kind) ?? replaceInPlace(tableOf(kind).layout)
    known.set(kind, statement)
    return statement
  }
  return (change) => {
    const { layout, statements } = tableOf(change.kind)
    if (change.action === 'replace') {
      const { sql, places, fixed } = replaceOf(change.kind)
      const cells = encodeRecord(layout, change.value, change)
      const pick = (place: number): Cell => cells[place] ?? null
      const inPlace = [...places.map(pick), change.value.id, change.version, ...fixed.map(pick)]
      const all = [...cells, change.value.id, change.version]
      return () => runner.run(sql, inPlace) === 1 || runner.run(statements.replace, all) === 1
    }
    const { sql, parameters } = bindChange(change, tableOf(change.kind))
    return () => runner.run(sql, parameters) === 1
  }
}
