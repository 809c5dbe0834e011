import type { Change, RecordKind } from '../../../src/ports/storage.ts'
import type { TableLayout } from '../sql/layout.ts'
import { type Cell, encodeRecord } from '../sql/rows.ts'
import { bindChange, type Table } from '../sql/statements.ts'
import type { SqliteRunner } from './handle.ts'

/** The columns of the two indexes that a list is read by. */
const LIST_COLUMNS: readonly string[] = ['wallet_address', 'client', 'created_at', 'is_listed']

/** A statement about one record. Parameters: the cells at `places`, then what its text says. */
interface ColumnStatement {
  readonly sql: string
  readonly places: readonly number[]
}

/** What SQLite does otherwise than by the statements that it shares with PostgreSQL. */
export interface ChangeStatements {
  /** Sets the columns that no index has. More parameters: id, version. */
  readonly replace: ColumnStatement
  /** Each sets the columns of an index where one of them changes. More parameters: id, the same cells again. */
  readonly indexed: readonly ColumnStatement[]
  /** Finds a row where a check fits. Parameters: id, version. */
  readonly check: string
}

/**
 * SQLite writes an index anew whenever an update names one of its columns, also where the value stays, and most indexes
 * lie on pages of their own. So a replacement names those columns apart, in statements that find nothing to do where
 * they stay; the id stays always. And a check only reads: whoever commits holds the lock of the whole file.
 */
export function changeStatementsOf({ table, columns, isListable }: TableLayout): ChangeStatements {
  const isIndexed = (column: string): boolean =>
    column === 'id' || column === 'due_at' || (isListable && LIST_COLUMNS.includes(column))
  const setting = (names: readonly string[]): string => names.map((name) => `${name} = ?`).join(', ')
  const placesOf = (names: readonly string[]): readonly number[] => names.map((name) => columns.indexOf(name))
  const others = columns.filter((column) => !isIndexed(column))
  return {
    replace: {
      sql: `UPDATE ${table} SET ${setting(others)}, version = version + 1 WHERE id = ? AND version = ?`,
      places: placesOf(others),
    },
    indexed: [['due_at'], ...(isListable ? [LIST_COLUMNS] : [])].map((names) => ({
      sql: `UPDATE ${table} SET ${setting(names)} WHERE id = ? AND (${names.join(', ')}) IS NOT (${names.map(() => '?').join(', ')})`,
      places: placesOf(names),
    })),
    check: `SELECT 1 FROM ${table} WHERE id = ? AND version = ?`,
  }
}

/** Makes a change where it fits, in the transaction that is under way; tells whether it did. */
export type BoundChange = () => boolean

/** Gives the changes of a commit with their values as they are now. Throws where a value cannot be stored. */
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
  const bindReplace = (
    id: string,
    version: number,
    cells: readonly Cell[],
    statements: ChangeStatements,
  ): BoundChange => {
    const pick = ({ places }: ColumnStatement): readonly Cell[] => places.map((place) => cells[place] ?? null)
    const { replace, indexed } = statements
    return () => {
      if (runner.run(replace.sql, [...pick(replace), id, version]) !== 1) return false
      for (const statement of indexed) {
        const picked = pick(statement)
        runner.run(statement.sql, [...picked, id, ...picked])
      }
      return true
    }
  }
  return (change) => {
    const table = tableOf(change.kind)
    switch (change.action) {
      case 'replace': {
        const { value, version } = change
        return bindReplace(value.id, version, encodeRecord(table.layout, value, change), statementsOf(change.kind))
      }
      case 'check': {
        const { check } = statementsOf(change.kind)
        return () => runner.first(check, [change.id, change.version]) !== undefined
      }
      default: {
        const { sql, parameters } = bindChange(change, table)
        return () => runner.run(sql, parameters) === 1
      }
    }
  }
}
