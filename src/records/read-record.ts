import type { Key, RecordKind, Storage, StoredRecord } from '../ports/storage.ts'
import { isIdentifier } from '../protocol/identifiers.ts'
import { nameOf } from './change.ts'

/** Whether there is a record and it is of this kind. */
export function isOfKind<K extends RecordKind>(record: StoredRecord | undefined, kind: K): record is StoredRecord<K> {
  return record !== undefined && record.kind === kind
}

/** Reads one record by its id; without an id there is none. */
export async function readRecord<K extends RecordKind>(
  storage: Storage,
  kind: K,
  id: string | undefined,
): Promise<StoredRecord<K> | undefined> {
  if (id === undefined) return undefined
  const [record] = await storage.get([{ kind, id }])
  return isOfKind(record, kind) ? record : undefined
}

/** The same for what somebody else wrote: a text that can be no id of this server's is not looked up. */
export function readNamed<K extends RecordKind>(
  storage: Storage,
  kind: K,
  text: string | undefined,
): Promise<StoredRecord<K> | undefined> {
  return readRecord(storage, kind, isIdentifier(text ?? '') ? text : undefined)
}

/** Reads the records of one kind that exist under these ids. */
export async function readRecords<K extends RecordKind>(
  storage: Storage,
  kind: K,
  ids: readonly string[],
): Promise<readonly StoredRecord<K>[]> {
  return recordsOfKind(await storage.get(ids.map((id) => ({ kind, id }))), kind)
}

/**
 * Reads a record for the attempts of `decide`: the first attempt uses the record that is already known, since the
 * commit checks whether it is still current; every further attempt reads it anew.
 */
export function knownAtFirst<K extends RecordKind>(
  storage: Storage,
  known: StoredRecord<K>,
): () => Promise<StoredRecord<K> | undefined> {
  let isFirst = true
  return async () => {
    if (!isFirst) return readRecord(storage, known.kind, known.value.id)
    isFirst = false
    return known
  }
}

/**
 * A storage whose first read of each of these keys is answered with what is known, if that is all that is asked for; every
 * other read is a read. For what a request has just read, and decides on as if it had read it only now.
 */
export function storageKnowing(
  storage: Storage,
  keys: readonly Key[],
  found: readonly (StoredRecord | undefined)[],
): Storage {
  if (keys.length === 0) return storage
  const known = new Map(keys.map(({ kind, id }, index) => [nameOf(kind, id), found[index]]))
  const get: Storage['get'] = async (asked) => {
    const names = asked.map(({ kind, id }) => nameOf(kind, id))
    const isKnown = names.every((name) => known.has(name))
    const answer = names.map((name) => known.get(name))
    for (const name of names) known.delete(name)
    return isKnown ? answer : storage.get(asked)
  }
  return { ...storage, get }
}

/** Keeps those records that exist and are of one kind, with their type. */
export function recordsOfKind<K extends RecordKind>(
  records: readonly (StoredRecord | undefined)[],
  kind: K,
): readonly StoredRecord<K>[] {
  return records.filter((record): record is StoredRecord<K> => isOfKind(record, kind))
}

/** The records of a kind that are due at a time, the longest due first: so many at most. */
export async function readDue<K extends RecordKind>(
  storage: Storage,
  kind: K,
  at: number,
  limit: number,
): Promise<readonly StoredRecord<K>[]> {
  return recordsOfKind(await storage.due(kind, at, limit), kind)
}
