import type {
  Change,
  CommitResult,
  Key,
  ListableKind,
  RecordKind,
  RecordMarks,
  Storage,
  StoredRecord,
} from '../ports/storage.ts'
import { AssertionError, assertSame } from './assertions.ts'
import { type Insert, MOMENT, sampleInserts } from './sample-records.ts'

/** A storage, and how its database is made to fail. */
export interface StorageUnderTest extends Storage {
  /**
   * Makes the database fail once, at the next commit: with an error instead of the commit, of which nothing stays, or with one
   * after it, as when the connection is lost before the answer. The error must leave open what happened: it is none that the
   * storage may try again, such as a serialization failure. A flag in the function that runs the storage's transactions is
   * enough, one for all the storages that are called `inTurns`. Optional: the cases that need it are to be skipped without it.
   */
  failNext?(moment: 'before commit' | 'after commit'): void | Promise<void>
}

/** One promise of the `Storage` port. */
export interface StorageCase {
  readonly name: string
  /**
   * Set if the case needs this member of `StorageUnderTest`. Without it `run` looks at nothing and resolves, so let your
   * runner skip the case.
   */
  readonly needs?: 'failNext'
  /**
   * Rejects with an `Error` that says what was expected and what came instead, if the store breaks the promise.
   * `makeStorage` is called once, and must give a storage that is empty.
   */
  run(makeStorage: () => Promise<StorageUnderTest>): Promise<void>
}

/** Every kind of record: each has samples. */
export const KINDS: readonly RecordKind[] = [...new Set(sampleInserts().map(({ kind }) => kind))]

type ListedInsert = Extract<Insert, { readonly kind: ListableKind }>

/** A sample of each kind that can be listed. */
export const LISTED_SAMPLES: readonly ListedInsert[] = sampleInserts().filter(
  (insert): insert is ListedInsert => insert.isListed === true,
)

/** An insert with some members of its value changed. */
export function withMembers<T extends Insert>(insert: T, members: Partial<T['value']>): T {
  return { ...insert, value: { ...insert.value, ...members } }
}

/** The samples of a kind, under one id and without marks. */
export function samplesOf(kind: RecordKind, id: string): readonly Insert[] {
  return sampleInserts().flatMap(({ isListed: _, dueAt: __, ...insert }) =>
    insert.kind === kind ? [withMembers(insert, { id })] : [],
  )
}

/** A record of every kind, all under one id. */
export function insertEveryKind(id: string): readonly Insert[] {
  return KINDS.flatMap((kind) => samplesOf(kind, id).slice(0, 1))
}

/** The kinds of which there is a record with that id. */
export async function kindsWith(storage: Storage, id: string): Promise<readonly RecordKind[]> {
  const found = await storage.get(KINDS.map((kind) => ({ kind, id })))
  return found.flatMap((record) => record?.kind ?? [])
}

/** Inserts a record of the smallest kind. */
export function insertClaim(id: string, marks: RecordMarks = {}): Change {
  return { action: 'insert', kind: 'replay-claim', value: { id, expiresAt: MOMENT }, ...marks }
}

/** Replaces a record of the smallest kind, at a version. */
export function replaceClaim(id: string, version: number, expiresAt: number, marks: RecordMarks = {}): Change {
  return { action: 'replace', kind: 'replay-claim', version, value: { id, expiresAt }, ...marks }
}

/** Deletes a record of the smallest kind, at a version. */
export function deleteClaim(id: string, version: number): Change {
  return { action: 'delete', kind: 'replay-claim', id, version }
}

/** Checks the version of a record of the smallest kind. */
export function checkClaim(id: string, version: number): Change {
  return { action: 'check', kind: 'replay-claim', id, version }
}

/** The key of a record of the smallest kind. */
export function claim(id: string): Key {
  return { kind: 'replay-claim', id }
}

/** Commits changes that fit; rejects if the store does not accept them. */
export async function mustCommit(storage: Storage, ...changes: readonly Change[]): Promise<void> {
  assertSame(await storage.commit(changes), 'committed', 'a commit that fits (if the case began with an empty storage)')
}

/** Asserts a refusal that names at least one conflict, and no change that fits. */
export function assertConflicts(result: CommitResult, conflicts: readonly number[], what: string): void {
  const found = result === 'committed' ? [] : result.conflicts
  const isExact = found.length > 0 && found.every((index) => conflicts.includes(index))
  if (!isExact) {
    const answer = result === 'committed' ? result : `conflicts of ${found.join()}`
    throw new AssertionError(`${what}: expected conflicts of ${conflicts.join()}, got ${answer}`)
  }
}

/** The versions of some records. */
export async function readVersions(
  storage: Storage,
  ...keys: readonly Key[]
): Promise<readonly (number | undefined)[]> {
  return (await storage.get(keys)).map((record) => record?.version)
}

/** The values of some records. */
export async function readValues(storage: Storage, ...keys: readonly Key[]): Promise<readonly unknown[]> {
  return (await storage.get(keys)).map((record) => record?.value)
}

/** The numbers of what is written at the same time. */
export const FIFTY: readonly number[] = Array.from({ length: 50 }, (_, index) => index)

/** How often two writers race each other: one race alone may go well by luck. */
export const ROUNDS = 10

/** Which of some commits made at the same time succeeded. */
export async function race(storage: Storage, ...commits: readonly (readonly Change[])[]): Promise<readonly boolean[]> {
  const results = await Promise.all(commits.map((changes) => storage.commit(changes)))
  return results.map((result) => result === 'committed')
}

/** The ids of some records, in their order. */
export function idsOf(records: readonly StoredRecord[]): readonly string[] {
  return records.map(({ value }) => value.id)
}
