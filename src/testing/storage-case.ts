import type { Change, CommitResult, Key, RecordMarks, Storage, StoredRecord } from '../ports/storage.ts'
import { AssertionError, assertSame } from './assertions.ts'
import { MOMENT } from './sample-records.ts'

/** One promise of the `Storage` port. */
export interface StorageCase {
  readonly name: string
  /** Rejects with an `Error` that says what was expected and what came instead, if the store breaks the promise. */
  run(makeStorage: () => Promise<Storage>): Promise<void>
}

/** Inserts a record of the smallest kind. */
export function insertClaim(id: string, marks: RecordMarks = {}): Change {
  return { action: 'insert', kind: 'replay-claim', value: { id, expiresAt: MOMENT }, ...marks }
}

/** Replaces a record of the smallest kind, at a version. */
export function replaceClaim(id: string, version: number, expiresAt: number, marks: RecordMarks = {}): Change {
  return { action: 'replace', kind: 'replay-claim', version, value: { id, expiresAt }, ...marks }
}

/** The key of a record of the smallest kind. */
export function claim(id: string): Key {
  return { kind: 'replay-claim', id }
}

/** Commits changes that fit; rejects if the store does not accept them. */
export async function mustCommit(storage: Storage, ...changes: readonly Change[]): Promise<void> {
  assertSame(await storage.commit(changes), 'committed', 'a commit that fits')
}

/** Asserts a refusal that names at least one conflict, and none that fits. */
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

/** Which of some commits made at the same time succeeded. */
export async function race(storage: Storage, ...commits: readonly (readonly Change[])[]): Promise<readonly boolean[]> {
  const results = await Promise.all(commits.map((changes) => storage.commit(changes)))
  return results.map((result) => result === 'committed')
}

/** The ids of some records, in their order. */
export function idsOf(records: readonly StoredRecord[]): readonly string[] {
  return records.map(({ value }) => value.id)
}
