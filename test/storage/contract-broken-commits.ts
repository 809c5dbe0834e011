import type { Change, CommitResult, Key, Storage, StoredRecord } from '../../src/ports/storage.ts'
import { type BrokenStore, changeOf, conflictsOf, idOf, keyOf, reading, writing } from './contract-broken.ts'

const ALL_OR_NONE = 'all changes of a commit happen or none, wherever the conflict is'
const WHATEVER = 'all changes of a commit happen or none, whatever the change that conflicts and the kind of its record'
const NAMED_VERSION =
  'an insert that names a version starts there, and no change fits at a version that its id had before'
const OTHER_VERSION = 'a change at another version, older or newer, or of a record that is not there, is refused'

/** Commits each of some groups of changes by itself; the answer is that of all, its indexes as the store counts them. */
async function commitEach(storage: Storage, groups: readonly (readonly Change[])[]): Promise<CommitResult> {
  const conflicts: number[] = []
  for (const changes of groups) {
    const result = await storage.commit(changes)
    if (result !== 'committed') conflicts.push(...result.conflicts)
  }
  return conflicts.length > 0 ? { conflicts } : 'committed'
}

/** A store that counts versions by a rule of its own, and translates what it is given and what it answers. */
function counting(storage: Storage, toOwn: (key: Key, version: number) => number, ofOwn: typeof toOwn): Storage {
  const counted = (record: StoredRecord): StoredRecord => ({
    ...record,
    version: toOwn({ kind: record.kind, id: record.value.id }, record.version),
  })
  return {
    ...reading(storage, counted),
    commit: (changes) =>
      storage.commit(
        changes.map((change) =>
          change.action === 'insert' ? change : { ...change, version: ofOwn(keyOf(change), change.version) },
        ),
      ),
  }
}

/** A store in which one kind of change of one kind of record always fits, where the record is there. */
function lenient(storage: Storage, kind: Change['kind'], action: Change['action']): Storage {
  return {
    ...storage,
    async commit(changes) {
      const found = await storage.get(changes.map(keyOf))
      return storage.commit(
        changes.map((change, index): Change => {
          const version = found[index]?.version
          if (change.kind !== kind || change.action !== action || version === undefined) return change
          return change.action === 'insert' ? { ...change, action: 'replace', version } : { ...change, version }
        }),
      )
    },
  }
}

/** Stores whose commits are wrong, even where nobody else commits. */
export const BROKEN_COMMITS: readonly BrokenStore[] = [
  {
    does: 'counts versions from zero',
    breaks: ['versions start at 1 and grow by 1 with each write, and a check is none'],
    breakStore: (storage) =>
      counting(
        storage,
        (_key, version) => version - 1,
        (_key, version) => version + 1,
      ),
  },
  {
    does: 'counts a check as a write',
    breaks: ['versions start at 1 and grow by 1 with each write, and a check is none'],
    breakStore: (storage) => ({
      ...storage,
      async commit(changes) {
        const found = await storage.get(changes.map(keyOf))
        return storage.commit(
          changes.map((change, index): Change => {
            const record = found[index]
            if (change.action !== 'check' || record === undefined) return change
            return { ...changeOf(record), version: change.version }
          }),
        )
      },
    }),
  },
  {
    does: 'overwrites on insert',
    breaks: ['an insert of an id that exists is refused and changes nothing'],
    breakStore: (storage) => ({
      ...storage,
      async commit(changes) {
        for (const change of changes) {
          if (change.action !== 'insert') continue
          const [found] = await storage.get([keyOf(change)])
          if (found === undefined) continue
          await storage.commit([{ action: 'delete', ...keyOf(change), version: found.version }])
        }
        return storage.commit(changes)
      },
    }),
  },
  {
    does: 'takes a second insert for the first one, said again',
    breaks: ['an insert of an id that exists is refused and changes nothing'],
    breakStore: (storage) => ({
      ...storage,
      async commit(changes) {
        const found = await storage.get(changes.map(keyOf))
        return storage.commit(
          changes.filter((change, index) => change.action !== 'insert' || found[index] === undefined),
        )
      },
    }),
  },
  {
    does: 'keeps the records of all kinds under one id',
    breaks: ['one id in every kind names as many records'],
    breakStore(storage) {
      const kinds = new Map<string, Change['kind']>()
      return {
        ...storage,
        async commit(changes) {
          const conflicts = changes.flatMap((change, index) => {
            const kind = kinds.get(idOf(change))
            return kind === undefined || kind === change.kind ? [] : [index]
          })
          if (conflicts.length > 0) return { conflicts }
          for (const change of changes) kinds.set(idOf(change), change.kind)
          return storage.commit(changes)
        },
      }
    },
  },
  {
    does: 'takes a record that is newer for the one that was read',
    breaks: [OTHER_VERSION],
    breakStore: (storage) => ({
      ...storage,
      async commit(changes) {
        const found = await storage.get(changes.map(keyOf))
        return storage.commit(
          changes.map((change, index) => {
            const version = found[index]?.version ?? 0
            return change.action !== 'insert' && change.version < version ? { ...change, version } : change
          }),
        )
      },
    }),
  },
  {
    does: 'inserts what it should replace and does not have',
    breaks: [OTHER_VERSION],
    breakStore: (storage) => ({
      ...storage,
      async commit(changes) {
        const found = await storage.get(changes.map(keyOf))
        return storage.commit(
          changes.map((change, index): Change => {
            if (change.action !== 'replace' || found[index] !== undefined) return change
            const { version: _, ...insert } = change
            return { ...insert, action: 'insert' }
          }),
        )
      },
    }),
  },
  {
    does: 'commits its changes one by one',
    breaks: [ALL_OR_NONE],
    breakStore: (storage) => ({
      ...storage,
      commit: (changes) =>
        commitEach(
          storage,
          changes.map((change) => [change]),
        ),
    }),
  },
  {
    does: 'says that there was a conflict and has written all the same',
    breaks: [ALL_OR_NONE],
    breakStore: (storage) => ({
      ...storage,
      async commit(changes) {
        const conflicts = await conflictsOf(storage, changes)
        if (conflicts.length > 0) await storage.commit(changes.filter((_change, index) => !conflicts.includes(index)))
        return storage.commit(changes)
      },
    }),
  },
  {
    does: 'names no conflicts',
    breaks: [ALL_OR_NONE],
    breakStore: (storage) => ({
      ...storage,
      commit: async (changes) => ((await storage.commit(changes)) === 'committed' ? 'committed' : { conflicts: [] }),
    }),
  },
  {
    does: 'names all changes of a commit with a conflict',
    breaks: [ALL_OR_NONE],
    breakStore: (storage) => ({
      ...storage,
      commit: async (changes) =>
        (await storage.commit(changes)) === 'committed'
          ? 'committed'
          : { conflicts: changes.map((_change, index) => index) },
    }),
  },
  {
    does: 'commits each table by itself',
    breaks: [WHATEVER],
    breakStore: (storage) => ({
      ...storage,
      async commit(changes) {
        const conflicts = await conflictsOf(storage, changes)
        const kinds = [...new Set(changes.map(({ kind }) => kind))]
        await commitEach(
          storage,
          kinds.map((kind) => changes.filter((change) => change.kind === kind)),
        )
        return conflicts.length > 0 ? { conflicts } : 'committed'
      },
    }),
  },
  {
    does: 'compares no version where it checks a grant',
    breaks: [WHATEVER],
    breakStore: (storage) => lenient(storage, 'grant', 'check'),
  },
  {
    does: 'overwrites on insert in one table',
    breaks: [WHATEVER],
    breakStore: (storage) => lenient(storage, 'signed-request', 'insert'),
  },
  {
    does: 'commits at most twenty-five changes at once',
    breaks: ['a commit of a hundred changes happens or not, and names conflicts where they are'],
    breakStore: (storage) => ({
      ...storage,
      async commit(changes) {
        const conflicts = await conflictsOf(storage, changes)
        const batches = Array.from({ length: Math.ceil(changes.length / 25) }, (_, index) =>
          changes.slice(25 * index, 25 * index + 25),
        )
        await commitEach(storage, batches)
        return conflicts.length > 0 ? { conflicts } : 'committed'
      },
    }),
  },
  {
    does: 'goes on counting where a record was deleted',
    breaks: ['a deleted id can be inserted again, at version 1'],
    breakStore(storage) {
      const deleted = new Map<string, number>()
      const nameOf = ({ kind, id }: Key): string => `${kind} ${id}`
      const store = counting(
        storage,
        (key, version) => version + (deleted.get(nameOf(key)) ?? 0),
        (key, version) => version - (deleted.get(nameOf(key)) ?? 0),
      )
      return {
        ...store,
        async commit(changes) {
          const result = await store.commit(changes)
          for (const change of result === 'committed' ? changes : []) {
            if (change.action === 'delete') deleted.set(nameOf(change), change.version)
          }
          return result
        },
      }
    },
  },
  {
    does: 'starts every record at version 1',
    breaks: [NAMED_VERSION],
    breakStore: (storage) =>
      writing(storage, (change) => (change.action === 'insert' ? { ...change, version: 1 } : change)),
  },
  {
    does: 'has 32 bits for a version',
    breaks: [NAMED_VERSION],
    breakStore: (storage) => writing(storage, (change) => ({ ...change, version: (change.version ?? 1) % 2 ** 32 })),
  },
  {
    does: 'keeps the id of a deleted record for ever',
    breaks: ['a deleted id can be inserted again, at version 1'],
    breakStore(storage) {
      const deleted = new Set<string>()
      return {
        ...storage,
        async commit(changes) {
          const conflicts = changes.flatMap((change, index) => (deleted.has(idOf(change)) ? [index] : []))
          if (conflicts.length > 0) return { conflicts }
          for (const change of changes) if (change.action === 'delete') deleted.add(change.id)
          return storage.commit(changes)
        },
      }
    },
  },
]
