import type { Change, RecordKind } from '../../../src/ports/storage.ts'
import { idOf } from '../../../src/records/id-of.ts'
import { type Cell, encodeRecord } from '../sql/rows.ts'
import type { BoundStatement, Table } from '../sql/statements.ts'
import type { Parameter, Statement } from './database.ts'
import { sqlState } from './retry.ts'

function toParameter(cell: Cell): Parameter {
  return cell === null ? null : String(cell)
}

/** Numbers the `?` of a statement. */
function numberParameters(sql: string): string {
  let next = 1
  return sql.replaceAll('?', () => `$${next++}`)
}

/** A statement of the common SQL in PostgreSQL's form. */
export function toStatement({ sql, parameters }: BoundStatement): Statement {
  return { text: numberParameters(sql), parameters: parameters.map(toParameter), isRepeated: true }
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

// A database may be set to answer before a transaction is on its disk; a commit must wait nevertheless.
const DURABLE = `CASE current_setting('synchronous_commit') WHEN 'off' THEN set_config('synchronous_commit', 'on', true) END`

/**
 * The SQL that makes a change under a condition: it affects one row if the change fits, and none if it does not. A
 * check is an update too, because that locks the row.
 */
function changeText(action: Change['action'], { layout, statements }: Table, condition: string): string {
  const { table, columns } = layout
  switch (action) {
    case 'insert': {
      const cells = columns.map(() => '?').join(', ')
      return `INSERT INTO ${table} (${columns.join(', ')}, version) SELECT ${cells}, 1 WHERE ${condition} ON CONFLICT (id) DO NOTHING`
    }
    case 'replace':
      return `${statements.replace} AND ${condition}`
    case 'delete':
      return `${statements.remove} AND ${condition}`
    case 'check':
      return `UPDATE ${table} SET version = version WHERE id = ? AND version = ? AND ${condition}`
  }
}

/** The values for that SQL, as they are now. Throws if one cannot be stored. */
function cellsOf(change: Change, { layout }: Table): readonly Cell[] {
  switch (change.action) {
    case 'insert':
      return encodeRecord(layout, change.value, change)
    case 'replace':
      return [...encodeRecord(layout, change.value, change).slice(1), change.value.id, change.version]
    case 'delete':
    case 'check':
      return [change.id, change.version]
  }
}

/** The SQL of a commit of such changes: all of them in one statement, in this order. */
function commitText(changes: readonly Change[], tableOf: (kind: RecordKind) => Table): string {
  const parts = changes.map(({ action, kind }, position) => {
    // Each change waits for the one before it, because its condition reads that one's result. The subqueries use no
    // aggregates: PostgreSQL sets up every part of a statement each time, and aggregates cost most.
    const condition = position === 0 ? 'TRUE' : `coalesce((SELECT 1 FROM c${position - 1}), 0) >= 0`
    return `c${position} AS (${changeText(action, tableOf(kind), condition)} RETURNING 1)`
  })
  const misfits = changes.map((_, position) => `coalesce((SELECT '' FROM c${position}), ' ${position}')`)
  // No integer begins like this, so the cast fails, and the error message quotes the text.
  const outcome = `CAST('${CONFLICTS}' || NULLIF(${misfits.join(' || ')}, '') AS INTEGER)`
  return numberParameters(`WITH ${parts.join(', ')} SELECT ${outcome}, ${DURABLE}`)
}

/** How many forms of commits there are depends on the requests; only the first ones that recur are remembered. */
const MOST_FORMS = 64

// A request may have two claims, the first order of an interval makes two spending records, and a payment has two
// events.
const INSERTED_TWICE: readonly string[] = ['op_replay_claim', 'op_spending', 'op_event'].map(
  (table) => `insert ${table}`,
)

/**
 * Whether commits of this form recur. Joint commits of several orders, and deletions by `sweep()`, have thousands of
 * rare forms: they are recognised because they insert into one table twice, or delete from it.
 */
function isFormRepeated(steps: readonly string[]): boolean {
  const once = steps.filter((step) => /^(insert|delete) /.test(step) && !INSERTED_TWICE.includes(step))
  return new Set(once).size === once.length
}

/**
 * Makes one statement of all changes of a commit: one transaction, one round trip. If a change does not fit, the
 * statement fails, which undoes all of it, and `conflictsIn` reads from the error which changes conflicted.
 */
export function createCommits(tableOf: (kind: RecordKind) => Table): (changes: readonly Change[]) => CommitStatement {
  const texts = new Map<string, string>()
  return (changes) => {
    // Every commit locks its rows in the same order, so of two commits that want the same rows one waits for the other,
    // and never both.
    const steps = changes
      .map((change, index) => ({ change, index, place: tableOf(change.kind).layout.table, id: idOf(change) }))
      .sort((a, b) => compare(a.place, b.place) || compare(a.id, b.id))
    const ordered = steps.map(({ change }) => change)
    const actions = steps.map(({ change, place }) => `${change.action} ${place}`)
    const form = actions.join(', ')
    const known = texts.get(form)
    const text = known ?? commitText(ordered, tableOf)
    const isRepeated = known !== undefined || isFormRepeated(actions)
    if (isRepeated && texts.size < MOST_FORMS) texts.set(form, text)
    const parameters = ordered.flatMap((change) => cellsOf(change, tableOf(change.kind)).map(toParameter))
    return { text, parameters, isRepeated, order: steps.map(({ index }) => index) }
  }
}

const QUOTED_CONFLICTS = new RegExp(`${CONFLICTS}((?: \\d+)+)`)

/**
 * The indexes of the changes that did not fit, if an error says so; `undefined` for every other error. All other values
 * that a commit casts are already integers, so no other error looks like this one, in whatever language.
 */
export function conflictsIn(error: unknown, { order }: CommitStatement): readonly number[] | undefined {
  if (sqlState(error) !== '22P02' || !(error instanceof Error)) return undefined
  const positions = QUOTED_CONFLICTS.exec(error.message)?.[1]?.trim().split(' ')
  const conflicts = positions?.flatMap((position) => order[Number(position)] ?? [])
  return conflicts?.sort((a, b) => a - b)
}
