import type { ListQuery } from '../../../src/ports/storage.ts'
import type { TableLayout } from './layout.ts'
import { type Cell, columnsOfLayout } from './rows.ts'

/** A statement with positional `?` parameters, and their values. */
export interface BoundStatement {
  readonly sql: string
  readonly parameters: readonly Cell[]
}

/**
 * The statements of one table. `insert`, `replace`, `remove` and `check` change exactly one row where the change fits,
 * and none where it does not; `check` too, because an update is what locks a row on every database.
 */
export interface Statements {
  readonly read: string
  /** Parameters: the cells of the record. */
  readonly insert: string
  /** Parameters: the cells of the record, id, version. */
  readonly replace: string
  /** Parameters: id, version. */
  readonly remove: string
  /** Parameters: id, version. */
  readonly check: string
  /** Parameters: moment, limit. */
  readonly due: string
  list(query: ListQuery): BoundStatement
}

function bindList(select: string, query: ListQuery): BoundStatement {
  const [order, comparison] = query.direction === 'older' ? ['DESC', '<'] : ['ASC', '>']
  const { client, after } = query
  const clauses = [
    `${select} WHERE is_listed = 1 AND wallet_address = ?`,
    ...(client === undefined ? [] : ['AND client = ?']),
    ...(after === undefined ? [] : [`AND (created_at, id) ${comparison} (?, ?)`]),
    `ORDER BY created_at ${order}, id ${order} LIMIT ?`,
  ]
  return {
    sql: clauses.join(' '),
    parameters: [
      query.walletAddress,
      ...(client === undefined ? [] : [client]),
      ...(after === undefined ? [] : [after.createdAt, after.id]),
      query.limit,
    ],
  }
}

/** The statements of one table: static SQL that SQLite and PostgreSQL read alike. */
export function statementsOf(layout: TableLayout): Statements {
  const { table } = layout
  const columns = columnsOfLayout(layout)
  const select = `SELECT ${columns.join(', ')}, version FROM ${table}`
  const placeholders = columns.map(() => '?').join(', ')
  return {
    read: `${select} WHERE id = ?`,
    insert: `INSERT INTO ${table} (${columns.join(', ')}, version) VALUES (${placeholders}, 1) ON CONFLICT (id) DO NOTHING`,
    replace: `UPDATE ${table} SET ${columns.map((column) => `${column} = ?`).join(', ')}, version = version + 1 WHERE id = ? AND version = ?`,
    remove: `DELETE FROM ${table} WHERE id = ? AND version = ?`,
    check: `UPDATE ${table} SET version = version WHERE id = ? AND version = ?`,
    due: `${select} WHERE due_at <= ? ORDER BY due_at, id LIMIT ?`,
    list: (query) => bindList(select, query),
  }
}
