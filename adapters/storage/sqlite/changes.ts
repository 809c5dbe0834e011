import type { Change, RecordKind } from '../../../src/ports/storage.ts'
import type { TableLayout } from '../sql/layout.ts'
import { type Cell, encodeRecord } from '../sql/rows.ts'
import type { Table } from '../sql/statements.ts'
import type { SqliteRunner } from './handle.ts'

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
 * lie on pages of their own. So a replacement leaves the columns of lists out; all are named only if it moves
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

/**
 * Inserts if there is no record of that id. `VALUES` takes a quarter less time than the `SELECT` by which PostgreSQL
 * inserts under a condition. Parameters: the cells of the record.
 */
function insertOnce({ table, columns }: TableLayout): string {
  const placeholders = columns.map(() => '?').join(', ')
  return `INSERT INTO ${table} (${columns.join(', ')}, version) VALUES (${placeholders}, 1) ON CONFLICT (id) DO NOTHING`
}

/**
 * Finds a record at its version. A transaction holds the lock of the whole file from its start: what is only checked need
 * not be written to be locked, which would be a page for each. Parameters: id, version.
 */
export function findVersion({ table }: TableLayout): string {
  return `SELECT 1 FROM ${table} WHERE id = ? AND version = ?`
}

/** The statements that SQLite has of its own for a table. */
interface OwnStatements {
  readonly insert: string
  readonly check: string
  readonly replace: ReplaceInPlace
}

/** Makes a change if it fits, in the transaction that is under way; tells whether it did. */
export type BoundChange = () => boolean

/** Binds changes with their values as they are now. Throws if a value cannot be stored. */
export function createBinding(
  runner: SqliteRunner,
  tableOf: (kind: RecordKind) => Table,
): (change: Change) => BoundChange {
  const known = new Map<RecordKind, OwnStatements>()
  const ownOf = (kind: RecordKind, layout: TableLayout): OwnStatements => {
    const found = known.get(kind)
    if (found !== undefined) return found
    const own = { insert: insertOnce(layout), check: findVersion(layout), replace: replaceInPlace(layout) }
    known.set(kind, own)
    return own
  }
  return (change) => {
    const { layout, statements } = tableOf(change.kind)
    const own = ownOf(change.kind, layout)
    switch (change.action) {
      case 'insert': {
        const cells = encodeRecord(layout, change.value, change)
        return () => runner.run(own.insert, cells) === 1
      }
      case 'replace': {
        const { sql, places, fixed } = own.replace
        const cells = encodeRecord(layout, change.value, change)
        const at = [change.value.id, change.version]
        const pick = (place: number): Cell => cells[place] ?? null
        const inPlace = [...places.map(pick), ...at, ...fixed.map(pick)]
        const moves = (): boolean => runner.run(statements.replace, [...cells.slice(1), ...at]) === 1
        return () => runner.run(sql, inPlace) === 1 || (layout.isListable && moves())
      }
      case 'delete':
        return () => runner.run(statements.remove, [change.id, change.version]) === 1
      case 'check':
        return () => runner.first(own.check, [change.id, change.version]) !== undefined
    }
  }
}
