import type { Change, RecordKind } from '../../../src/ports/storage.ts'
import { makeOnce } from '../make-once.ts'
import type { TableLayout } from '../sql/layout.ts'
import { type Cell, encodeRecord } from '../sql/rows.ts'
import type { Table } from '../sql/statements.ts'
import type { SqliteRunner } from './handle.ts'

/** Makes a change if it fits, in the transaction that is under way; tells whether it did. */
export type BoundChange = () => boolean

/** Binds changes with their values as they are now. Throws if a value cannot be stored. */
export function createBinding(
  runner: SqliteRunner,
  tableOf: (kind: RecordKind) => Table,
): (change: Change) => BoundChange {
  const statementsFor = makeOnce(changeStatements)
  return (change) => {
    const { layout } = tableOf(change.kind)
    const statements = statementsFor(layout)
    switch (change.action) {
      case 'insert': {
        const cells = [...encodeRecord(layout, change.value, change), change.version ?? 1]
        return () => runner.run(statements.insert, cells) === 1
      }
      case 'replace': {
        const { sql, places, fixed } = statements.replaceInPlace
        const cells = encodeRecord(layout, change.value, change)
        const at = [change.value.id, change.version]
        const pick = (place: number): Cell => cells[place] ?? null
        const inPlace = [...places.map(pick), ...at, ...fixed.map(pick)]
        const moves = (): boolean => runner.run(statements.replaceAll, [...cells.slice(1), ...at]) === 1
        return () => runner.run(sql, inPlace) === 1 || (layout.isListable && moves())
      }
      case 'delete':
        return () => runner.run(statements.remove, [change.id, change.version]) === 1
      case 'check':
        return () => runner.first(statements.check, [change.id, change.version]) !== undefined
    }
  }
}

/** The statements that change the records of a table: one row each if the change fits, and none if it does not. */
export interface ChangeStatements {
  /** Parameters: the cells of the record, version. */
  readonly insert: string
  readonly replaceInPlace: ReplaceInPlace
  /** Replaces a record that may move in the lists. Parameters: the cells of the record except its id; then id, version. */
  readonly replaceAll: string
  /** Parameters: id, version. */
  readonly remove: string
  /**
   * Finds a record at its version. A transaction holds the lock of the whole file from its start: what is only checked need
   * not be written to be locked, which would be a page for each. Parameters: id, version.
   */
  readonly check: string
}

/** These statements of a table. */
export function changeStatements(layout: TableLayout): ChangeStatements {
  const { table, columns } = layout
  const placeholders = columns.map(() => '?').join(', ')
  const setting = columns.slice(1).map((column) => `${column} = ?`)
  const atVersion = 'WHERE id = ? AND version = ?'
  return {
    insert: `INSERT INTO ${table} (${columns.join(', ')}, version) VALUES (${placeholders}, ?) ON CONFLICT (id) DO NOTHING`,
    replaceInPlace: replaceInPlace(layout),
    replaceAll: `UPDATE ${table} SET ${setting.join(', ')}, version = version + 1 ${atVersion}`,
    remove: `DELETE FROM ${table} ${atVersion}`,
    check: `SELECT 1 FROM ${table} ${atVersion}`,
  }
}

/** The columns of the two indexes that a list is read by. */
const LIST_COLUMNS: readonly string[] = ['wallet_address', 'client', 'created_at', 'is_listed']

/** Replaces a record that stays where it is in the lists. Parameters: the cells at `places`, id, version, the cells at `fixed`. */
export interface ReplaceInPlace {
  readonly sql: string
  readonly places: readonly number[]
  /** The cells by which it is listed, which it does not set; none if nothing lists this kind. */
  readonly fixed: readonly number[]
}

/**
 * SQLite writes an index anew whenever an update names one of its columns, even if the value stays, and most indexes
 * lie on pages of their own. So a replacement leaves the columns of lists out; all are named only if it moves its record in
 * them, as the one that lists a payment does: it takes two statements.
 */
function replaceInPlace({ table, columns, isListable }: TableLayout): ReplaceInPlace {
  const listed = isListable ? LIST_COLUMNS : []
  const set = columns.filter((column) => column !== 'id' && !listed.includes(column))
  const setting = set.map((column) => `${column} = ?`).join(', ')
  const unmoved = listed.map((column) => ` AND ${column} IS ?`).join('')
  const placesOf = (names: readonly string[]): readonly number[] => names.map((name) => columns.indexOf(name))
  return {
    sql: `UPDATE ${table} SET ${setting}, version = version + 1 WHERE id = ? AND version = ?${unmoved}`,
    places: placesOf(set),
    fixed: placesOf(listed),
  }
}
