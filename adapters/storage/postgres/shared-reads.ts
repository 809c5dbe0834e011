import type { Key, RecordKind, StoredRecord } from '../../../src/ports/storage.ts'
import { gatherBatch } from '../../batches.ts'
import { makeOnce } from '../make-once.ts'
import { decodeRecord, isStorable } from '../sql/rows.ts'
import { selectedColumns, type Table } from '../sql/statements.ts'
import type { Connections, Parameter } from './database.ts'

type Records = readonly (StoredRecord | undefined)[]

/** Records as JSON, by kind and id. */
type Found = ReadonlyMap<string, Parameter>

/** Resolves with the records found for these keys and for all others that were requested in the same turn. */
type SharedRead = (keys: readonly Key[]) => Promise<Found>

interface Asked {
  readonly keys: readonly Key[]
  resolve(found: Promise<Found>): void
}

const nameOf = (kind: RecordKind, id: string): string => `${kind} ${id}`

/** The statement that reads records of these kinds. Parameters: the ids of each, as JSON. A row: a position in `kinds`, an id, a record. */
function readText(kinds: readonly RecordKind[], tableOf: (kind: RecordKind) => Table): string {
  const parts = kinds.map((kind, position) => {
    const { layout } = tableOf(kind)
    // A single column, because the server describes every column of an answer to the client each time.
    const record = `CAST(json_build_array(${selectedColumns(layout).join(', ')}) AS TEXT)`
    // Joined id by id, so that PostgreSQL looks each of them up, however many it expects.
    const ids = `json_array_elements_text(CAST(CAST($${position + 1} AS TEXT) AS JSON)) AS asked (key)`
    return `SELECT ${position}, key, record FROM ${ids}, LATERAL (SELECT ${record} AS record FROM ${layout.table} WHERE id = key LIMIT 1) AS found`
  })
  return parts.join(' UNION ALL ')
}

function cellsOf(record: Parameter): readonly unknown[] {
  const cells: unknown = JSON.parse(record ?? '')
  if (!Array.isArray(cells)) throw new TypeError('a row holds no record')
  return cells
}

/** Reads records of these kinds; all that are requested in one turn share a statement. */
function shareReads(query: Connections['query'], kinds: readonly RecordKind[], text: string): SharedRead {
  const readAll = async (keys: readonly Key[]): Promise<Found> => {
    const idsOf = (wanted: RecordKind): Set<string> =>
      new Set(keys.flatMap(({ kind, id }) => (kind === wanted ? [id] : [])))
    const parameters = kinds.map((kind) => JSON.stringify([...idsOf(kind)]))
    const rows = await query({ text, parameters, isRepeated: true })
    return new Map(
      rows.map(([position, id, record]) => {
        const kind = kinds[Number(position)]
        if (kind === undefined) throw new TypeError('a row of an unknown kind')
        return [nameOf(kind, id ?? ''), record ?? null]
      }),
    )
  }
  const gather = gatherBatch<Asked>((all) => {
    const found = readAll(all.flatMap(({ keys }) => keys))
    for (const { resolve } of all) resolve(found)
  })
  return (keys) => new Promise((resolve) => gather({ keys, resolve }))
}

/**
 * Reads records by their keys, as of one moment, in one statement, which reads of the same kinds share if they are made
 * in one turn of the event loop. No read waits for a statement that is under way. Each caller decodes its own records,
 * so that an unreadable record is a fault only for those who asked for it.
 */
export function createReader(
  query: Connections['query'],
  tableOf: (kind: RecordKind) => Table,
): (keys: readonly Key[]) => Promise<Records> {
  const sharedRead = makeOnce(
    (kinds: readonly RecordKind[]) => shareReads(query, kinds, readText(kinds, tableOf)),
    String,
  )
  return async (keys) => {
    const storable = keys.filter(({ id }) => isStorable(id))
    if (storable.length === 0) return keys.map(() => undefined)
    const kinds = [...new Set(storable.map(({ kind }) => kind))].sort()
    const found = await sharedRead(kinds)(storable)
    return keys.map(({ kind, id }) => {
      const record = found.get(nameOf(kind, id))
      return record === undefined ? undefined : decodeRecord(kind, tableOf(kind).layout, cellsOf(record))
    })
  }
}
