import { unavailable } from '../errors/conditions.ts'
import type { Context } from '../ports/context.ts'
import type { Change, RecordKind, Storage, StoredRecord } from '../ports/storage.ts'
import { SCHEMA_VERSIONS } from '../protocol/schema-version.ts'
import { tellFault } from './tell-fault.ts'

const WRITTEN: Readonly<Record<RecordKind, number>> = SCHEMA_VERSIONS

/**
 * The host's storage, with its failures turned into ours: if a read fails, an event is emitted and "unavailable" is
 * thrown, since nothing is known and nothing has happened. The same if a storage in plain JavaScript throws instead of
 * rejecting, or does not answer with a list of records, one for each key. What a failed commit means is for `decide` to
 * find out. A read of no keys is not passed on: not every database accepts an empty batch.
 *
 * Every write is marked with the form (schema version) of its value. While an older and a newer release run together, a
 * record in a newer form is not guessed at: reading it is "unavailable", and background work leaves it to the newer
 * release. Background work also skips a damaged record, and reports it.
 */
export function guardStorage(storage: Storage, context: Pick<Context, 'clock' | 'emit'>): Storage {
  const guard = async <T extends StoredRecord | undefined>(
    read: () => Promise<readonly T[]>,
    { kind, count }: { readonly kind?: RecordKind; readonly count?: number } = {},
  ): Promise<readonly T[]> => {
    try {
      const found = await read()
      if (!Array.isArray(found)) throw new TypeError('the storage did not answer with a list')
      if (count !== undefined && found.length !== count)
        throw new TypeError(`the storage answered ${found.length} records for ${count} keys`)
      if (kind && found.some((record) => record?.kind !== kind))
        throw new TypeError(`a record that is due is not of kind ${kind}`)
      return found
    } catch (cause) {
      tellFault(context, 'the storage could not be read', cause)
      throw unavailable('the storage could not be read')
    }
  }
  const readable = <T extends StoredRecord | undefined>(records: readonly T[]): readonly T[] => {
    const newer = records.find((record) => record !== undefined && !isReadable(record))
    if (newer === undefined) return records
    tellFault(context, 'a newer release wrote a record', { kind: newer.kind, id: newer.value.id })
    throw unavailable('a newer release wrote a record')
  }
  return {
    get: async (keys) => {
      if (keys.length === 0) return []
      const found = await guard(() => storage.get(keys), { count: keys.length })
      return readable(found)
    },
    list: async (query) => readable(await guard(() => storage.list(query))),
    due: async (kind, at, limit) => {
      // Records of a newer release and unreadable ones stay due, and must not hide the records behind them.
      for (let asked = limit; ; asked *= 2) {
        const unreadable: unknown[] = []
        const found = await guard(() => storage.due(kind, at, asked, (cause) => unreadable.push(cause)), { kind })
        const own = found.filter(isReadable)
        if (own.length < limit && found.length + unreadable.length >= asked) continue
        // Reporting one is enough: if a whole table is damaged, the operator must not be flooded.
        if (unreadable.length > 0) tellFault(context, 'a record that is due could not be read', unreadable[0])
        return own.slice(0, limit)
      }
    },
    commit: async (changes) => storage.commit(changes.map(markSchema)),
  }
}

/** Whether a record is in a form that this release knows. */
function isReadable({ kind, schemaVersion = 1 }: StoredRecord): boolean {
  return schemaVersion <= WRITTEN[kind]
}

function markSchema(change: Change): Change {
  return 'value' in change ? { ...change, schemaVersion: WRITTEN[change.kind] } : change
}
