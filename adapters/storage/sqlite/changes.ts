import type { Change, RecordKind } from '../../../src/ports/storage.ts'
import type { TableLayout } from '../sql/layout.ts'
import { type Cell, encodeRecord } from '../sql/rows.ts'
import { bindChange, type Table } from '../sql/statements.ts'
import type { SqliteRunner } from './handle.ts'

/** The columns of the two indexes that a list is read by. */
const LIST_COLUMNS: readonly string[] = ['wallet_address', 'client', 'created_at', 'is_listed']

/** What SQLite does otherwise than by the statements that it shares with PostgreSQL. */
export interface ChangeStatements {
  /** Replaces a record that stays where it is in the lists. Parameters: the cells at `places`, id, version, the cells at `fixed`. */
  readonly replaceInPlace: string
  readonly places: readonly number[]
  /** The cells by which it is listed, which it does not set; none where nothing lists this kind. */
  readonly fixed: readonly number[]
  /** Finds a row where a check fits. Parameters: id, version. */
  readonly check: string
}

/**
 * SQLite writes an index anew whenever an update names one of its columns, also where the value stays, and most indexes
 * lie on pages of their own. So a replacement leaves the columns of lists out, and only where it moves
 * its record in them, as few do, all columns are named. And a check only reads: whoever commits holds the lock
 * of the whole file.
 */
export function changeStatementsOf({ table, columns, isListable }: TableLayout): ChangeStatements {
  const listed = isListable ? LIST_COLUMNS : []
  const set = columns.filter((column) => column !== 'id' && !listed.includes(column))
  const setting = set.map((column) => `${column} = ?`).join(', ')
  const isInPlace = listed.map((column) => ` AND ${column} IS ?`).join('')
  const placesOf = (names: readonly string[]): readonly number[] => names.map((name) => columns.indexOf(name))
  return {
    replaceInPlace: `UPDATE ${table} SET ${setting}, version = version + 1 WHERE id = ? AND version = ?${isInPlace}`,
    places: placesOf(set),
    fixed: placesOf(listed),
    check: `SELECT 1 FROM ${table} WHERE id = ? AND version = ?`,
  }
}

/** Makes a change where it fits, in the transaction that is under way; tells whether it did. */
export type BoundChange = () => boolean

/** Binds changes with their values as they are now. Throws where a value cannot be stored. */
export function createBinding(
  runner: SqliteRunner,
  tableOf: (kind: RecordKind) => Table,
): (change: Change) => BoundChange {
  const known = new Map<RecordKind, ChangeStatements>()
  const statementsOf = (kind: RecordKind): ChangeStatements => {
    const statements = known.get(kind) ?? changeStatementsOf(tableOf(kind).layout)
    known.set(kind, statements)
    return statements
  }
  return (change) => {
    const { layout, statements } = tableOf(change.kind)
    if (change.action === 'check') {
      const { check } = statementsOf(change.kind)
      return () => runner.first(check, [change.id, change.version]) !== undefined
    }
    if (change.action === 'replace') {
      const { replaceInPlace, places, fixed } = statementsOf(change.kind)
      const cells = encodeRecord(layout, change.value, change)
      const pick = (place: number): Cell => cells[place] ?? null
      const inPlace = [...places.map(pick), change.value.id, change.version, ...fixed.map(pick)]
      const all = [...cells, change.value.id, change.version]
      return () =>
        runner.run(replaceInPlace, inPlace) === 1 || (fixed.length > 0 && runner.run(statements.replace, all) === 1)
    }
    const { sql, parameters } = bindChange(change, tableOf(change.kind))
    return () => runner.run(sql, parameters) === 1
  }
}
