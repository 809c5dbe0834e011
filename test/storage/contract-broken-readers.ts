import type { Change, CommitResult, Key, Storage, StoredRecord } from '../../src/ports/storage.ts'
import { turn, turns } from '../support/turns.ts'
import { type BrokenStore, changeOf, conflictsOf, idOf, keyOf } from './contract-broken.ts'

const ONE_GET = 'one get sees a commit whole or not at all'
const ONE_LIST = 'one list, and one due, sees a commit to several of its records whole or not at all'
const AS_IT_WAS =
  'list and due give a record as it was while it was listed or due, and none as another commit has left it since'

/** What undoes a change that was made to a record as it was; it is inserted again where that is the only way back. */
function undoing(change: Change, before: StoredRecord | undefined): readonly (readonly Change[])[] {
  if (change.action === 'check') return []
  const version = change.action === 'insert' ? (change.version ?? 1) : change.version + 1
  const remove: readonly Change[] = change.action === 'delete' ? [] : [{ action: 'delete', ...keyOf(change), version }]
  if (before === undefined) return [remove]
  const { version: _, ...marked } = changeOf(before)
  return [remove, [{ ...marked, action: 'insert' }]]
}

/** Writes change by change, a turn apart, and undoes by hand what it has written where one does not fit. */
async function commitByHand(storage: Storage, changes: readonly Change[]): Promise<CommitResult> {
  const done: (readonly (readonly Change[])[])[] = []
  for (const [index, change] of changes.entries()) {
    const [before] = await storage.get([keyOf(change)])
    if ((await storage.commit([change])) !== 'committed') {
      for (const undo of done.reverse()) for (const step of undo) await storage.commit(step)
      return { conflicts: [index] }
    }
    done.push(undoing(change, before))
    await turn()
  }
  return 'committed'
}

/** Runs one task after the other. */
function queue(): <T>(task: () => Promise<T>) => Promise<T> {
  let last: Promise<unknown> = Promise.resolve()
  return (task) => {
    const run = last.then(task, task)
    last = run.catch(() => undefined)
    return run
  }
}

/** The records as they are a turn later. */
async function readAgain(storage: Storage, records: readonly StoredRecord[]): Promise<readonly StoredRecord[]> {
  await turn()
  const found = await storage.get(records.map(({ kind, value }) => ({ kind, id: value.id })))
  return found.filter((record) => record !== undefined)
}

/** Fifty records, and a turn later the next fifty, as they are by then. */
async function readFifties(read: () => Promise<readonly StoredRecord[]>): Promise<readonly StoredRecord[]> {
  const first = (await read()).slice(0, 50)
  await turn()
  return [...first, ...(await read()).slice(50)]
}

/** A commit that takes a turn, as long as a read, or several. */
function committingLater(storage: Storage, count = 1): Storage['commit'] {
  return async (changes) => {
    await turns(count)
    return storage.commit(changes)
  }
}

/** Stores that show others what is not committed, or not yet. */
export const BROKEN_READERS: readonly BrokenStore[] = [
  {
    does: 'answers before it has committed',
    breaks: ['a commit that has resolved is seen by every call that is made afterwards'],
    breakStore: (storage) => ({
      ...storage,
      async commit(changes) {
        if ((await conflictsOf(storage, changes)).length > 0) return storage.commit(changes)
        void turn().then(() => storage.commit(changes))
        return 'committed'
      },
    }),
  },
  {
    does: 'lists from a copy that is one commit behind',
    breaks: ['a commit that has resolved is seen by every call that is made afterwards'],
    breakStore(storage) {
      let copied: readonly StoredRecord[] = []
      return {
        ...storage,
        async list(query) {
          const behind = copied
          copied = await storage.list(query)
          return behind
        },
      }
    },
  },
  {
    does: 'remembers what it has read, while another process writes it',
    breaks: ['a commit that has resolved is seen by every call that is made afterwards'],
    breakStore(storage) {
      const known = new Map<string, ReturnType<Storage['get']>>()
      return {
        ...storage,
        get(keys) {
          const name = JSON.stringify(keys)
          const found = known.get(name) ?? storage.get(keys)
          known.set(name, found)
          return found
        },
      }
    },
  },
  {
    does: 'reads a hundred records at a time',
    breaks: ['one get of two hundred and fifty records sees a commit to a hundred of them whole or not at all'],
    breakStore: (storage) => ({
      ...storage,
      async get(keys) {
        const found: (StoredRecord | undefined)[] = []
        for (let start = 0; start < keys.length; start += 100) {
          await turn()
          found.push(...(await storage.get(keys.slice(start, start + 100))))
        }
        return found
      },
    }),
  },
  {
    does: 'reads one kind after the other',
    breaks: [ONE_GET],
    breakStore: (storage) => ({
      ...storage,
      async get(keys) {
        const found = new Map<Key, StoredRecord | undefined>()
        for (const kind of new Set(keys.map((key) => key.kind))) {
          await turn()
          const ofKind = keys.filter((key) => key.kind === kind)
          const records = await storage.get(ofKind)
          for (const [index, key] of ofKind.entries()) found.set(key, records[index])
        }
        return keys.map((key) => found.get(key))
      },
      // After one read, of one kind, and these, a reader of three kinds has just done with them.
      commit: committingLater(storage, 2),
    }),
  },
  {
    does: 'lists fifty records at a time',
    breaks: [ONE_LIST],
    breakStore: (storage) => ({
      ...storage,
      list: (query) => readFifties(() => storage.list(query)),
      commit: committingLater(storage),
    }),
  },
  {
    does: 'reads what is due fifty records at a time',
    breaks: [ONE_LIST],
    breakStore: (storage) => ({
      ...storage,
      due: (...parameters) => readFifties(() => storage.due(...parameters)),
      commit: committingLater(storage),
    }),
  },
  {
    does: 'reads each record that is due by itself, and looks whether it still is',
    breaks: [ONE_LIST],
    breakStore: (storage) => ({
      ...storage,
      async due(kind, now, limit) {
        const found: (StoredRecord | undefined)[] = []
        for (const record of await storage.due(kind, now, limit)) found.push(...(await readAgain(storage, [record])))
        return found.filter((record) => record !== undefined).filter(({ dueAt }) => dueAt !== undefined && dueAt <= now)
      },
      commit: committingLater(storage),
    }),
  },
  {
    does: 'reads record by record',
    breaks: [ONE_GET],
    breakStore: (storage) => ({
      ...storage,
      async get(keys) {
        const found: (StoredRecord | undefined)[] = []
        for (const key of keys) {
          await turn()
          found.push(...(await storage.get([key])))
        }
        return found
      },
    }),
  },
  {
    does: 'writes change by change, where no other writer can come between',
    breaks: [
      'one get sees a commit whole or not at all',
      'who has seen a part of a commit finds all of it from then on',
    ],
    breakStore(storage) {
      const inTurn = queue()
      const slow = async (keys: Parameters<Storage['get']>[0]) => {
        await turn()
        return storage.get(keys)
      }
      return { ...storage, get: slow, commit: (changes) => inTurn(() => commitByHand(storage, changes)) }
    },
  },
  {
    does: 'undoes by hand what it wrote before a conflict',
    breaks: ['nobody ever sees anything of a commit that meets a conflict'],
    breakStore: (storage) => ({
      ...storage,
      async get(keys) {
        await turn()
        return storage.get(keys)
      },
      commit: (changes) => commitByHand(storage, changes),
    }),
  },
  {
    does: 'replaces a record by deleting it and inserting it',
    breaks: ['list and due leave nothing out and repeat nothing while others write it'],
    breakStore(storage) {
      const gone = new Set<string>()
      return {
        ...storage,
        list: async (query) => (await storage.list(query)).filter(({ value }) => !gone.has(value.id)),
        async commit(changes) {
          for (const change of changes) if (change.action === 'replace') gone.add(idOf(change))
          await turn()
          const result = await storage.commit(changes)
          for (const change of changes) gone.delete(idOf(change))
          return result
        },
      }
    },
  },
  {
    does: 'finds a record twice whose moment is being moved',
    breaks: ['list and due leave nothing out and repeat nothing while others write it'],
    breakStore(storage) {
      const moving = new Set<string>()
      return {
        ...storage,
        async due(kind, now, limit) {
          const found = await storage.due(kind, now, limit)
          return [...found, ...found.filter(({ value }) => moving.has(value.id))].slice(0, limit)
        },
        async commit(changes) {
          for (const change of changes) if (change.action === 'replace') moving.add(idOf(change))
          await turn()
          const result = await storage.commit(changes)
          for (const change of changes) moving.delete(idOf(change))
          return result
        },
      }
    },
  },
  {
    does: 'finds the ids of what is due, and then reads the records',
    breaks: [AS_IT_WAS],
    breakStore: (storage) => ({
      ...storage,
      due: async (kind, now, limit) => readAgain(storage, await storage.due(kind, now, limit)),
    }),
  },
  {
    does: 'finds the ids of a list in its index, and then reads the records',
    breaks: [AS_IT_WAS],
    breakStore: (storage) => ({ ...storage, list: async (query) => readAgain(storage, await storage.list(query)) }),
  },
]
