import type { Change, ListQuery, RecordKind } from '../../../src/ports/storage.ts'
import { SCHEMA_VERSIONS } from '../../../src/protocol/schema-version.ts'
import { layoutOf, type TableLayout } from './layout.ts'
import { type Cell, encodeRecord } from './rows.ts'

/** A statement with positional `?` parameters, and their values. */
export interface BoundStatement {
  readonly sql: string
  readonly parameters: readonly Cell[]
}

/**
 * The statements of one table. `insert`, `replace`, `remove` and `check` change exactly one row where the change fits,
 * and none where it does not; `check` too, because an update is what locks a row on every database. Each of the four
 * holds `WHERE TRUE` once, in place of which a dialect may put a condition of its own. SQLite inserts, checks and first
 * tries to replace by statements of its own.
 */
export interface Statements {
  /** Parameters: the cells of the record. */
  readonly insert: string
  /** Parameters: the cells of the record but its id, which stays; id, version. */
  readonly replace: string
  /** Parameters: id, version. */
  readonly remove: string
  /** Parameters: id, version. */
  readonly check: string
  /** Parameters: moment, limit. Leaves out what a newer release wrote: this one may not even be able to read it. */
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

/** The statements of the table of a kind: static SQL that SQLite and PostgreSQL read alike. */
export function statementsOf(kind: RecordKind, layout: TableLayout): Statements {
  const { table, columns } = layout
  const select = `SELECT ${selectedColumns(layout).join(', ')} FROM ${table}`
  const placeholders = columns.map(() => '?').join(', ')
  const assignments = columns
    .slice(1)
    .map((column) => `${column} = ?`)
    .join(', ')
  const fits = 'WHERE TRUE AND id = ? AND version = ?'
  return {
    insert: `INSERT INTO ${table} (${columns.join(', ')}, version) SELECT ${placeholders}, 1 WHERE TRUE ON CONFLICT (id) DO NOTHING`,
    replace: `UPDATE ${table} SET ${assignments}, version = version + 1 ${fits}`,
    remove: `DELETE FROM ${table} ${fits}`,
    check: `UPDATE ${table} SET version = version ${fits}`,
    due: `${select} WHERE due_at <= ? AND schema_version <= ${SCHEMA_VERSIONS[kind]} ORDER BY due_at, id LIMIT ?`,
    list: (query) => bindList(select, query),
  }
}

/** The id of the record that a change is about. */
export function idOfChange(change: Change): string {
  return 'value' in change ? change.value.id : change.id
}

/** The table of a kind of record. */
export interface Table {
  readonly layout: TableLayout
  readonly statements: Statements
}

/** Gives the table of a kind, made on its first use. */
export function createTables(): (kind: RecordKind) => Table {
  const tables = new Map<RecordKind, Table>()
  return (kind) => {
    const known = tables.get(kind)
    if (known !== undefined) return known
    const layout = layoutOf(kind)
    const table = { layout, statements: statementsOf(kind, layout) }
    tables.set(kind, table)
    return table
  }
}

/** The statement that makes a change, with its values as they are now. Throws where a value cannot be stored. */
export function bindChange(change: Change, { layout, statements }: Table): BoundStatement {
  const id = idOfChange(change)
  switch (change.action) {
    case 'insert':
      return { sql: statements.insert, parameters: encodeRecord(layout, change.value, change) }
    case 'replace':
      return {
        sql: statements.replace,
        parameters: [...encodeRecord(layout, change.value, change).slice(1), id, change.version],
      }
    case 'delete':
      return { sql: statements.remove, parameters: [id, change.version] }
    case 'check':
      return { sql: statements.check, parameters: [id, change.version] }
  }
}
