import type { Change, RecordKind } from '../../../src/ports/storage.ts'
import { idOf } from '../../../src/records/change.ts'
import type { TableLayout } from '../sql/layout.ts'
import { type Cell, encodeRecord } from '../sql/rows.ts'
import { selectedColumns, type Table } from '../sql/statements.ts'
import { sqlState } from './retry.ts'

/** A change as a statement takes it. */
export interface Step {
  readonly action: Change['action']
  readonly layout: TableLayout
  readonly id: string
  /** JSON: all cells of the record that are not null, by column, or only the id and the version of what is deleted or checked. */
  readonly row: string
}

function rowOf(change: Change, layout: TableLayout): Readonly<Record<string, Cell>> {
  if (!('value' in change)) return { id: change.id, version: change.version }
  const row: Record<string, Cell> = { version: change.version ?? 1 }
  encodeRecord(layout, change.value, change).forEach((cell, place) => {
    const name = layout.columns[place]
    if (name !== undefined && cell !== null) row[name] = cell
  })
  return row
}

/** A change with its values as they are now. Throws if one cannot be stored. */
export function toStep(change: Change, tableOf: (kind: RecordKind) => Table): Step {
  const { layout } = tableOf(change.kind)
  return { action: change.action, layout, id: idOf(change), row: JSON.stringify(rowOf(change, layout)) }
}

/** A part of a statement: it makes all changes of one action in one table. */
export type Part = Pick<Step, 'action' | 'layout'>

/** Names a part, or the part that makes a change. */
export function nameOf({ action, layout }: Part): string {
  return `${layout.table} ${action}`
}

/** Some JSON, which travels as text: a parameter that is JSON itself would be encoded once more by `postgres`. */
const jsonParameter = (number: number): string => `CAST(CAST($${number} AS TEXT) AS JSON)`

/**
 * The SQL of a part, which begins once `condition` is known. It returns the ids of the changes that fit.
 *
 * Its rows are locked in the order of their ids, whatever the plan: a small table is read as its rows lie. One comparison is
 * always true, but makes PostgreSQL expect to be asked for a single row: so, unless it takes the table for a small one, it
 * looks each row up by its id.
 */
function partText({ action, layout }: Part, parameter: string, condition: string): string {
  const { table } = layout
  const asked = `json_populate_recordset(CAST(NULL AS ${table}), ${parameter}) AS asked`
  const fits = `found.id = asked.id AND found.version = asked.version AND asked.id = asked.id || '' AND ${condition}`
  const held = `(SELECT asked.* FROM ${asked}, ${table} AS found WHERE ${fits} ORDER BY asked.id FOR NO KEY UPDATE OF found) AS held`
  switch (action) {
    case 'insert': {
      const columns = selectedColumns(layout).join(', ')
      return `INSERT INTO ${table} (${columns}) SELECT ${columns} FROM ${asked} WHERE ${condition} ORDER BY id ON CONFLICT (id) DO NOTHING RETURNING id`
    }
    case 'replace': {
      const cells = layout.columns.slice(1).map((column) => `${column} = held.${column}`)
      return `UPDATE ${table} AS old SET ${cells.join(', ')}, version = held.version + 1 FROM ${held} WHERE old.id = held.id RETURNING old.id`
    }
    case 'delete':
      return `DELETE FROM ${table} AS old USING ${held} WHERE old.id = held.id RETURNING old.id`
    case 'check':
      return `SELECT id FROM ${held}`
  }
}

const CONFLICTS = 'op_conflicts'

// A database may be set to answer before a transaction is on its disk; a commit must wait nevertheless.
const DURABLE = `CASE current_setting('synchronous_commit') WHEN 'off' THEN set_config('synchronous_commit', 'on', true) END`

/**
 * The SQL that makes any number of changes, or none, by these parts, in this order. Parameters: the rows of each part, and
 * at last the keys of all changes. If a change does not fit, the statement fails, which undoes all of it, and `misfitsIn`
 * reads from the error which changes did not.
 */
export function commitText(parts: readonly Part[]): string {
  const made = parts.map((part, position) => {
    // Each part waits for the one before it, because its condition reads all rows of that one. Without an aggregate:
    // PostgreSQL sets up every part of a statement each time, and aggregates cost most.
    const condition = position === 0 ? 'TRUE' : `NOT EXISTS (SELECT 1 FROM c${position - 1} WHERE id IS NULL)`
    return `c${position} AS (${partText(part, jsonParameter(position + 1), condition)})`
  })
  const keys = `json_array_elements_text(${jsonParameter(parts.length + 1)}) WITH ORDINALITY AS changes (key, place)`
  const fitting = parts.map((_, position) => `SELECT '${keyOf(position, '')}' || id FROM c${position}`)
  const misfits = `SELECT string_agg(' ' || place, '') FROM ${keys} WHERE key NOT IN (${fitting.join(' UNION ALL ')})`
  // No integer begins like this, so the cast fails, and the error message quotes the text.
  return `WITH ${made.join(', ')} SELECT CAST('${CONFLICTS}' || (${misfits}) AS INTEGER), ${DURABLE}`
}

/** The key of a change: the position of its part, and its id. */
export function keyOf(position: number, id: string): string {
  return `${position} ${id}`
}

const QUOTED_CONFLICTS = new RegExp(`${CONFLICTS}((?: \\d+)+)`)

/**
 * The places (from 1) of the keys whose changes did not fit, if an error says so; none for every other error. Besides, a
 * commit casts only integers of ours, and JSON, which no error quotes in its message: so no other error looks like this one,
 * in whatever language.
 */
export function misfitsIn(error: unknown): readonly number[] {
  if (sqlState(error) !== '22P02' || !(error instanceof Error)) return []
  return QUOTED_CONFLICTS.exec(error.message)?.[1]?.trim().split(' ').map(Number) ?? []
}
