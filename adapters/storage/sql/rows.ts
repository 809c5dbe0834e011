import type { RecordKind, RecordMarks, RecordTypes, StoredRecord } from '../../../src/ports/storage.ts'
import { isObject } from '../../../src/protocol/is-object.ts'
import type { Member, TableLayout } from './layout.ts'

/**
 * What a column holds; a database may hand integers back as `bigint` or as text.
 * @inline
 */
export type Cell = string | number | bigint | null

/** A row: its cells, in the order in which its statement names them. */
export type Row = readonly unknown[]

function refuse(what: string, value: unknown): never {
  throw new TypeError(`cannot store ${what}: unexpected ${value === null ? 'null' : typeof value}`)
}

/**
 * Whether a text column would return a text unchanged. PostgreSQL refuses a NUL, and an unpaired surrogate has no form
 * in UTF-8: it would come back as another character.
 */
export function isStorable(text: string): boolean {
  return text.isWellFormed() && !text.includes('\0')
}

const NOT_STORABLE = 'holds a NUL or half a surrogate pair'

function textCell(value: unknown, what: string): string {
  if (typeof value !== 'string') return refuse(what, value)
  if (!isStorable(value)) throw new TypeError(`cannot store ${what}: it ${NOT_STORABLE}`)
  return value
}

function integerCell(value: unknown, what: string): number {
  return typeof value === 'number' && Number.isSafeInteger(value) ? value : refuse(what, value)
}

function bigintCell(value: unknown, what: string): string {
  return typeof value === 'bigint' ? value.toString() : refuse(what, value)
}

function pushAmount(cells: Cell[], name: string, amount: Readonly<Record<string, unknown>>): void {
  const { value, assetCode, assetScale } = amount
  cells.push(bigintCell(value, name), textCell(assetCode, name), integerCell(assetScale, name))
}

function pushDecision(cells: Cell[], name: string, decision: Readonly<Record<string, unknown>>): void {
  const { action, amount, fee, reason } = decision
  if (action === 'settle') cells.push('settle', bigintCell(amount, name), bigintCell(fee, name), null)
  else cells.push('release', null, null, textCell(reason, name))
}

/** Appends the cells of a member. */
function pushMember(cells: Cell[], { name, type, columns, isOptional }: Member, value: unknown): void {
  if (value === undefined && isOptional) {
    for (const _ of columns) cells.push(null)
    return
  }
  switch (type) {
    case 'text':
      cells.push(textCell(value, name))
      return
    case 'integer':
      cells.push(integerCell(value, name))
      return
    case 'boolean':
      cells.push(typeof value === 'boolean' ? Number(value) : refuse(name, value))
      return
    case 'bigint':
      cells.push(bigintCell(value, name))
      return
    case 'json':
      cells.push(value === undefined ? refuse(name, value) : JSON.stringify(value))
      return
    case 'amount':
      pushAmount(cells, name, isObject(value) ? value : refuse(name, value))
      return
    case 'decision':
      pushDecision(cells, name, isObject(value) ? value : refuse(name, value))
  }
}

/**
 * The cells of a record, in the order of `layout.columns`. Throws if the value is not of its kind, so that nothing
 * is written that could not be read back.
 */
export function encodeRecord(layout: TableLayout, value: object, marks: RecordMarks): readonly Cell[] {
  if (!isObject(value)) return refuse(layout.table, value)
  const cells: Cell[] = []
  for (const member of layout.members) pushMember(cells, member, value[member.name])
  cells.push(marks.dueAt === undefined ? null : integerCell(marks.dueAt, 'dueAt'))
  cells.push(integerCell(marks.schemaVersion ?? 1, 'schemaVersion'))
  if (layout.isListable) cells.push(Number(marks.isListed ?? false))
  return cells
}

/** A cell that does not hold what it must; `at` is its place in the row. */
class UnreadableCell extends TypeError {
  readonly at: number
  readonly problem: string

  constructor(at: number, problem: string) {
    super(`cell ${at} ${problem}`)
    this.at = at
    this.problem = problem
  }
}

/** The text in a cell; throws if the cell does not hold text. */
export function readText(row: Row, at: number): string {
  const cell = row[at]
  if (typeof cell !== 'string') throw new UnreadableCell(at, 'does not hold text')
  return cell
}

/** An integer as text. `Number` and `BigInt` would also read an empty text, as 0, and `0x10`. */
const DECIMAL = /^-?\d+$/

/** The integer in a cell, in whatever form the database returns it; throws if it is not one. */
export function readInteger(row: Row, at: number): number {
  const cell = row[at] ?? Number.NaN
  const value = typeof cell === 'string' && !DECIMAL.test(cell) ? Number.NaN : Number(cell)
  if (!Number.isSafeInteger(value)) throw new UnreadableCell(at, 'holds no integer')
  return value
}

/** The exact integer that a cell holds as decimal text; throws if it holds none. */
export function readBigint(row: Row, at: number): bigint {
  const text = readText(row, at)
  if (!DECIMAL.test(text)) throw new UnreadableCell(at, 'holds no integer')
  return BigInt(text)
}

/** No member is ever null: an absent one is a NULL of the database. */
function readJson(row: Row, at: number): unknown {
  const value = parseJson(readText(row, at))
  if (value === null) throw new UnreadableCell(at, 'holds no JSON, or null')
  return value
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}

function readMember({ type, at }: Member, row: Row): unknown {
  switch (type) {
    case 'text':
      return readText(row, at)
    case 'integer':
      return readInteger(row, at)
    case 'boolean':
      return readInteger(row, at) !== 0
    case 'bigint':
      return readBigint(row, at)
    case 'json':
      return readJson(row, at)
    case 'amount':
      return { value: readBigint(row, at), assetCode: readText(row, at + 1), assetScale: readInteger(row, at + 2) }
    case 'decision':
      return row[at] === 'settle'
        ? { action: 'settle', amount: readBigint(row, at + 1), fee: readBigint(row, at + 2) }
        : { action: 'release', reason: readText(row, at + 3) }
  }
}

// `encodeRecord` wrote the row member by member under the layout that the compiler checked against the kind, so a
// value with every member that must be there is one of that kind.
function isValueOf<K extends RecordKind>(_kind: K, layout: TableLayout, value: object): value is RecordTypes[K] {
  return layout.members.every(({ name, isOptional }) => isOptional || name in value)
}

function readRow<K extends RecordKind>(kind: K, layout: TableLayout, row: Row): StoredRecord<K> {
  const value: Record<string, unknown> = {}
  for (const member of layout.members) {
    const isAbsent = member.isOptional && row[member.at] === null
    if (!isAbsent) value[member.name] = readMember(member, row)
  }
  if (!isValueOf(kind, layout, value)) throw new TypeError('a member is missing')
  const { columns, isListable, marksAt } = layout
  return {
    kind,
    version: readInteger(row, columns.length),
    value,
    schemaVersion: readInteger(row, marksAt + 1),
    ...(row[marksAt] !== null && { dueAt: readInteger(row, marksAt) }),
    ...(isListable && readInteger(row, marksAt + 2) === 1 && { isListed: true }),
  }
}

/**
 * Reads a row of the columns that `selectedColumns` names; an absent member is absent again. Throws if a cell does
 * not hold what it must, or, with `mustBeStorable`, holds a text that could not be written again.
 */
export function decodeRecord<K extends RecordKind>(
  kind: K,
  layout: TableLayout,
  row: Row,
  mustBeStorable = false,
): StoredRecord<K> {
  try {
    if (mustBeStorable) refuseUnstorable(row)
    return readRow(kind, layout, row)
  } catch (cause) {
    const id = String(row[0])
    const what = `the row ${isStorable(id) ? id : JSON.stringify(id)} of ${layout.table} holds no ${kind}`
    if (!(cause instanceof UnreadableCell)) throw new TypeError(what, { cause })
    throw new TypeError(`${what}: ${layout.columns[cause.at] ?? 'version'} ${cause.problem}`)
  }
}

/** A text that SQLite hands out but that could not be written again: its record could never be moved on. */
function refuseUnstorable(row: Row): void {
  const at = row.findIndex((cell) => typeof cell === 'string' && !isStorable(cell))
  if (at !== -1) throw new UnreadableCell(at, NOT_STORABLE)
}

/**
 * Reads rows. If a row is unreadable, or could not be written again, it is left out and reported to `onUnreadable`;
 * without that function, this throws if a row is unreadable.
 */
export function decodeRecords<K extends RecordKind>(
  kind: K,
  layout: TableLayout,
  rows: readonly Row[],
  onUnreadable?: (cause: unknown) => void,
): readonly StoredRecord<K>[] {
  return rows.flatMap((row) => {
    try {
      return [decodeRecord(kind, layout, row, onUnreadable !== undefined)]
    } catch (cause) {
      if (onUnreadable === undefined) throw cause
      onUnreadable(cause)
      return []
    }
  })
}
