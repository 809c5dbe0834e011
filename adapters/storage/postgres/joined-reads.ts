import type { Key, RecordKind, StoredRecord } from '../../../src/ports/storage.ts'
import { decodeRecord, isStorable } from '../sql/rows.ts'
import { selectedColumns, type Table } from '../sql/statements.ts'
import type { Parameter } from './database.ts'
import { createJoinedCalls } from './joined-calls.ts'
import type { Statement } from './statements.ts'

type Query = (statement: Statement) => Promise<readonly (readonly Parameter[])[]>

type Records = readonly (StoredRecord | undefined)[]

/** The statement that reads records of these kinds. Parameters: the ids of each, as JSON. A row: a position in `kinds`, a record. */
function readText(kinds: readonly RecordKind[], tableOf: (kind: RecordKind) => Table): string {
  const parts = kinds.map((kind, position) => {
    const { layout } = tableOf(kind)
    // In one column: the columns of an answer are described to the client each time.
    const record = `CAST(json_build_array(${selectedColumns(layout).join(', ')}) AS TEXT)`
    // Id by id: however many PostgreSQL counts on, it looks each of them up.
    const ids = `json_array_elements_text(CAST(CAST($${position + 1} AS TEXT) AS JSON)) AS asked (key)`
    return `SELECT ${position}, record FROM ${ids}, LATERAL (SELECT ${record} AS record FROM ${layout.table} WHERE id = key LIMIT 1) AS found`
  })
  return parts.join(' UNION ALL ')
}

function cellsOf(record: Parameter | undefined): readonly unknown[] {
  const cells: unknown = JSON.parse(record ?? '')
  if (!Array.isArray(cells)) throw new TypeError('a row holds no record')
  return cells
}

/** Reads records by their keys, at one moment, in one statement, which reads of the same kinds share. */
export function createReader(
  query: Query,
  tableOf: (kind: RecordKind) => Table,
): (keys: readonly Key[]) => Promise<Records> {
  const known = new Map<string, { readonly kinds: readonly RecordKind[]; readonly text: string }>()
  /** Names the kinds of some keys. */
  const sortOf = (keys: readonly Key[]): string => {
    const kinds = [...new Set(keys.map(({ kind }) => kind))].sort()
    const sort = kinds.join(' ')
    if (!known.has(sort)) known.set(sort, { kinds, text: readText(kinds, tableOf) })
    return sort
  }

  const read = createJoinedCalls<readonly Key[], Records>(async (sort, calls) => {
    const { kinds, text } = known.get(sort) ?? { kinds: [], text: '' }
    const ids = new Map(kinds.map((kind) => [kind, new Set<string>()]))
    for (const { call } of calls) for (const { kind, id } of call) ids.get(kind)?.add(id)
    const found = new Map<string, StoredRecord>()
    const parameters = Array.from(ids.values(), (asked) => JSON.stringify([...asked]))
    for (const [position, row] of await query({ text, parameters })) {
      const kind = kinds[Number(position)]
      if (kind === undefined) throw new TypeError('a row of no kind')
      const record = decodeRecord(kind, tableOf(kind).layout, cellsOf(row))
      found.set(`${kind} ${record.value.id}`, record)
    }
    for (const { call, resolve } of calls) resolve(call.map(({ kind, id }) => found.get(`${kind} ${id}`)))
  })

  return async (keys) => {
    const storable = keys.filter(({ id }) => isStorable(id))
    if (storable.length === 0) return keys.map(() => undefined)
    const found = await read(sortOf(storable), storable)
    return storable.length === keys.length ? found : keys.map((key) => found[storable.indexOf(key)])
  }
}
