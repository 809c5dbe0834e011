import type { RecordKind, RecordMarks, RecordTypes, StoredRecord } from '../../../src/ports/storage.ts'
import type { Member, TableLayout } from './layout.ts'

/**
 * What a column holds; a database may hand integers back as `bigint` or as text.
 * @inline
 */
export type Cell = string | number | bigint | null

/** A row by column name. */
export type Row = Readonly<Record<string, unknown>>

/** Whether something that a database returned is a row at all. */
export function isRow(value: unknown): value is Row {
  return typeof value === 'object' && value !== null
}

function memberOf(value: object, name: string): unknown {
  return Reflect.get(value, name)
}

function refuse(what: string, value: unknown): never {
  throw new TypeError(`cannot store ${what}: unexpected ${value === null ? 'null' : typeof value}`)
}

// PostgreSQL refuses a NUL, and half a surrogate pair has no form in UTF-8: it would come back as another character.
const NO_TEXT = /[\0\p{Surrogate}]/u

/** Whether a text column gives a text back as it was. */
export function isStorable(text: string): boolean {
  return !NO_TEXT.test(text)
}

function textCell(value: unknown, what: string): string {
  if (typeof value !== 'string') return refuse(what, value)
  if (!isStorable(value)) throw new TypeError(`cannot store ${what}: it holds a NUL or half a surrogate pair`)
  return value
}

function integerCell(value: unknown, what: string): number {
  return typeof value === 'number' && Number.isSafeInteger(value) ? value : refuse(what, value)
}

function bigintCell(value: unknown, what: string): string {
  return typeof value === 'bigint' ? value.toString() : refuse(what, value)
}

function memberCells({ name, type, columns, isOptional }: Member, value: unknown): readonly Cell[] {
  if (value === undefined && isOptional) return columns.map(() => null)
  switch (type) {
    case 'text':
      return [textCell(value, name)]
    case 'integer':
      return [integerCell(value, name)]
    case 'boolean':
      return [typeof value === 'boolean' ? Number(value) : refuse(name, value)]
    case 'bigint':
      return [bigintCell(value, name)]
    case 'json':
      return [value === undefined ? refuse(name, value) : JSON.stringify(value)]
    case 'amount':
      if (!isRow(value)) return refuse(name, value)
      return [
        bigintCell(value['value'], name),
        textCell(value['assetCode'], name),
        integerCell(value['assetScale'], name),
      ]
    case 'decision':
      if (!isRow(value)) return refuse(name, value)
      return value['action'] === 'settle'
        ? ['settle', bigintCell(value['amount'], name), bigintCell(value['fee'], name), null]
        : ['release', null, null, textCell(value['reason'], name)]
  }
}

/**
 * The cells of a record, in the order of `columnsOfLayout`. Throws where the value is not of its kind, so that nothing
 * is written that could not be read back.
 */
export function encodeRecord(layout: TableLayout, value: object, marks: RecordMarks): readonly Cell[] {
  const cells: Cell[] = []
  for (const member of layout.members) cells.push(...memberCells(member, memberOf(value, member.name)))
  cells.push(marks.dueAt === undefined ? null : integerCell(marks.dueAt, 'dueAt'))
  cells.push(integerCell(marks.schemaVersion ?? 1, 'schemaVersion'))
  if (layout.isListable) cells.push(Number(marks.isListed ?? false))
  return cells
}

/** The columns of a record but its version, in the order in which `encodeRecord` gives its cells. */
export function columnsOfLayout(layout: TableLayout): readonly string[] {
  const marks = ['due_at', 'schema_version', ...(layout.isListable ? ['is_listed'] : [])]
  return [...layout.members.flatMap(({ columns }) => columns), ...marks]
}

/** The text in a column; throws where there is none. */
export function readText(row: Row, column: string): string {
  const cell = row[column]
  if (typeof cell !== 'string') throw new TypeError(`column ${column} holds no text`)
  return cell
}

/** The integer in a column, however the database hands it over; throws where there is none. */
export function readInteger(row: Row, column: string): number {
  const cell = row[column]
  const value = cell === null || cell === undefined ? Number.NaN : Number(cell)
  if (!Number.isSafeInteger(value)) throw new TypeError(`column ${column} holds no integer`)
  return value
}

/** The exact integer that a column holds as decimal text; throws where there is none. */
export function readBigint(row: Row, column: string): bigint {
  return BigInt(readText(row, column))
}

function readMember({ type, columns }: Member, row: Row): unknown {
  const [first = '', second = '', third = '', fourth = ''] = columns
  switch (type) {
    case 'text':
      return readText(row, first)
    case 'integer':
      return readInteger(row, first)
    case 'boolean':
      return readInteger(row, first) !== 0
    case 'bigint':
      return readBigint(row, first)
    case 'json':
      return JSON.parse(readText(row, first))
    case 'amount':
      return {
        value: readBigint(row, first),
        assetCode: readText(row, second),
        assetScale: readInteger(row, third),
      }
    case 'decision':
      return row[first] === 'settle'
        ? {
            action: 'settle',
            amount: readBigint(row, second),
            fee: readBigint(row, third),
          }
        : { action: 'release', reason: readText(row, fourth) }
  }
}

// `encodeRecord` wrote the row member by member under the layout that the compiler checked against the kind, so a
// value with every member that must be there is one of that kind.
function isValueOf<K extends RecordKind>(_kind: K, layout: TableLayout, value: object): value is RecordTypes[K] {
  return layout.members.every(({ name, isOptional }) => isOptional || memberOf(value, name) !== undefined)
}

/** Reads a row back; an absent member is absent again. Throws where a column does not hold what it must. */
export function decodeRecord<K extends RecordKind>(kind: K, layout: TableLayout, row: Row): StoredRecord<K> {
  const value: Record<string, unknown> = {}
  for (const member of layout.members) {
    const isAbsent = member.isOptional && row[member.columns[0] ?? ''] === null
    if (!isAbsent) value[member.name] = readMember(member, row)
  }
  if (!isValueOf(kind, layout, value)) throw new TypeError(`table ${layout.table} holds no ${kind}`)
  return {
    kind,
    version: readInteger(row, 'version'),
    value,
    schemaVersion: readInteger(row, 'schema_version'),
    ...(row['due_at'] !== null && { dueAt: readInteger(row, 'due_at') }),
    ...(layout.isListable && Number(row['is_listed']) === 1 && { isListed: true }),
  }
}
