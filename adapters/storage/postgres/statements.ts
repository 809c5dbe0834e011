import type { Change, RecordKind } from '../../../src/ports/storage.ts'
import type { Cell } from '../sql/rows.ts'
import { type BoundStatement, bindChange, idOfChange, type Table } from '../sql/statements.ts'
import type { Parameter } from './database.ts'
import { sqlState } from './retry.ts'

/** A statement with `$n` parameters, and their values as text. */
export interface Statement {
  readonly text: string
  readonly parameters: readonly Parameter[]
}

function toParameter(cell: Cell): Parameter {
  return cell === null ? null : String(cell)
}

/** Numbers the `?` of a statement, from `first` on. */
function numberParameters(sql: string, first: number): string {
  let next = first
  return sql.replaceAll('?', () => `$${next++}`)
}

/** A statement of the common SQL as PostgreSQL takes it. */
export function toStatement({ sql, parameters }: BoundStatement): Statement {
  return { text: numberParameters(sql, 1), parameters: parameters.map(toParameter) }
}

/** A commit in one statement. */
export interface CommitStatement extends Statement {
  /** The indexes of the changes, in the order in which the statement makes them. */
  readonly order: readonly number[]
}

function compare(a: string, b: string): number {
  return a === b ? 0 : a < b ? -1 : 1
}

const CONFLICTS = 'op_conflicts'

// A database may be set to answer before a transaction is on its disk. A commit waits all the same.
const DURABLE = `CASE current_setting('synchronous_commit') WHEN 'off' THEN set_config('synchronous_commit', 'on', true) END`

/**
 * All changes of a commit in one statement: one transaction, one round trip. Where a change does not fit the statement
 * ends in an error, which undoes all of it, and `conflictsIn` reads from that error which changes they are.
 */
export function bindCommit(changes: readonly Change[], tableOf: (kind: RecordKind) => Table): CommitStatement {
  // Every commit takes its rows in one order: of two that want the same rows one waits for the other, never each for
  // the other. A change begins once the one before it has ended, since its condition asks how many rows that changed.
  const steps = changes
    .map((change, index) => {
      const table = tableOf(change.kind)
      return { index, place: table.layout.table, id: idOfChange(change), bound: bindChange(change, table) }
    })
    .sort((a, b) => compare(a.place, b.place) || compare(a.id, b.id))
  const parameters: Parameter[] = []
  const parts = steps.map(({ bound }, position) => {
    const condition = position === 0 ? 'TRUE' : `(SELECT count(*) FROM c${position - 1}) >= 0`
    const text = numberParameters(bound.sql, parameters.length + 1).replace('WHERE TRUE', `WHERE ${condition}`)
    parameters.push(...bound.parameters.map(toParameter))
    return `c${position} AS (${text} RETURNING 1)`
  })
  const misfits = steps.map(
    (_, position) => `CASE (SELECT count(*) FROM c${position}) WHEN 1 THEN '' ELSE ' ${position}' END`,
  )
  // No integer begins like this, so the cast fails, and its message quotes what it was given.
  const outcome = `CAST('${CONFLICTS}' || NULLIF(${misfits.join(' || ')}, '') AS INTEGER)`
  const text = `WITH ${parts.join(', ')} SELECT ${outcome}, ${DURABLE}`
  return { text, parameters, order: steps.map(({ index }) => index) }
}

const QUOTED_CONFLICTS = new RegExp(`${CONFLICTS}((?: \\d+)+)`)

/**
 * The indexes of the changes that did not fit, where an error says so; `undefined` for every other error. Every value
 * in a commit that is cast is an integer already, so nothing else fails like this, in whatever language.
 */
export function conflictsIn(error: unknown, { order }: CommitStatement): readonly number[] | undefined {
  if (sqlState(error) !== '22P02' || !(error instanceof Error)) return undefined
  const positions = QUOTED_CONFLICTS.exec(error.message)?.[1]?.trim().split(' ')
  const conflicts = positions?.flatMap((position) => order[Number(position)] ?? [])
  return conflicts?.sort((a, b) => a - b)
}
