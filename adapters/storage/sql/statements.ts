import type { ListQuery, RecordKind } from '../../../src/ports/storage.ts'
import { SCHEMA_VERSIONS } from '../../../src/protocol/schema-version.ts'
import { layoutOf, type TableLayout } from './layout.ts'
import type { Cell } from './rows.ts'

/** A statement with positional `?` parameters, and their values. */
export interface BoundStatement {
  readonly sql: string
  readonly parameters: readonly Cell[]
}

/** The table of a kind of record, and the statements about it that databases have in common. */
export interface Table {
  readonly layout: TableLayout
  /**
   * Parameters: moment, limit. Leaves out records that a newer release wrote, which this one may not be able to read.
   */
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

/** The columns that a read selects, in order. */
export function selectedColumns(layout: TableLayout): readonly string[] {
  return [...layout.columns, 'version']
}

/** The table of a kind, with static SQL that SQLite and PostgreSQL understand alike. */
export function createTable(kind: RecordKind): Table {
  const layout = layoutOf(kind)
  const select = `SELECT ${selectedColumns(layout).join(', ')} FROM ${layout.table}`
  return {
    layout,
    due: `${select} WHERE due_at <= ? AND schema_version <= ${SCHEMA_VERSIONS[kind]} ORDER BY due_at, id LIMIT ?`,
    list: (query) => bindList(select, query),
  }
}
