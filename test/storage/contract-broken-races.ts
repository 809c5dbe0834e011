import type { Change, CommitResult, Storage, StoredRecord } from '../../src/ports/storage.ts'
import { turn } from '../support/turns.ts'
import { type BrokenStore, changeOf, conflictsOf, idOf, keyOf } from './contract-broken.ts'

/** Forces changes in, whatever the versions are by now. */
async function force(storage: Storage, changes: readonly Change[]): Promise<void> {
  const now = await storage.get(changes.map(keyOf))
  for (const [index, change] of changes.entries()) {
    const version = now[index]?.version
    if (version !== undefined && change.action === 'insert') {
      await storage.commit([{ action: 'delete', ...keyOf(change), version }])
    }
    await storage.commit([change.action === 'insert' ? change : { ...change, version: version ?? 0 }])
  }
}

/** Reads, compares, waits a turn, and then writes what `isForced` lets through; the rest is compared once more. */
function checkingFirst(storage: Storage, isForced: (change: Change) => boolean): Storage {
  return {
    ...storage,
    async commit(changes) {
      const conflicts = await conflictsOf(storage, changes)
      if (conflicts.length > 0) return { conflicts }
      await turn()
      const certain = changes.flatMap((change, index) => (isForced(change) ? [] : [index]))
      const result = await storage.commit(certain.flatMap((index) => changes[index] ?? []))
      if (result !== 'committed') return { conflicts: result.conflicts.flatMap((index) => certain[index] ?? []) }
      await force(storage, changes.filter(isForced))
      return 'committed'
    },
  }
}

/** What undoes a change that was made to a record as it was; it is inserted again where that is the only way back. */
function undoing(change: Change, before: StoredRecord | undefined): readonly (readonly Change[])[] {
  if (change.action === 'check') return []
  const version = 'version' in change ? change.version + 1 : 1
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

/** Stores that are right while one caller waits for the other, and wrong when two come at once. */
export const BROKEN_RACES: readonly BrokenStore[] = [
  {
    does: 'compares versions in one step and writes in another',
    breaks: [
      'of two writers of one version exactly one succeeds',
      'fifty writers that read, add one and try again lose no addition',
      'of fifty payments that spend one limit, which admits ten, exactly ten succeed',
      'of fifty payments with one quote exactly one succeeds, and the quote names it',
      'of two continuations of one grant one gives a token, and the grant names it',
      'of fifty transfers to one incoming payment that asks for ten exactly ten are counted, and the last completes it',
      'of fifty transfers through an account that may take ten, each for a payment of its own, exactly ten are taken',
      'of two rotations of one token one succeeds, and token and grant name its successor',
      'of a rotation and a cancellation one succeeds, and no token outlives its grant',
    ],
    breakStore: (storage) => checkingFirst(storage, ({ action }) => action === 'replace'),
  },
  {
    does: 'looks whether an id is there before it inserts it',
    breaks: [
      'of two inserts of one id exactly one succeeds',
      'of fifty payments with one signed request and one key exactly one succeeds, and the key names it',
      'of fifty reports of one transfer, to either of two incoming payments, exactly one is counted',
    ],
    breakStore: (storage) => checkingFirst(storage, ({ action }) => action === 'insert'),
  },
  {
    does: 'compares what it checks before the others write',
    breaks: ['of two commits that each check what the other replaces at most one succeeds'],
    breakStore: (storage) => checkingFirst(storage, ({ action }) => action === 'check'),
  },
  {
    does: 'lets the last writer win',
    breaks: [
      'of two transfers that each complete an incoming payment one is counted, and it is completed once',
      'of two writers of one version exactly one succeeds',
      'fifty writers that read, add one and try again lose no addition',
    ],
    breakStore: (storage) => ({
      ...storage,
      async commit(changes) {
        await force(storage, changes)
        return 'committed'
      },
    }),
  },
  {
    does: 'locks records in the order in which they are named, and gives up where two wait for each other',
    breaks: ['of commits that name the same records in opposite orders exactly one succeeds, and none waits for ever'],
    rejects: 'deadlock detected',
    breakStore(storage) {
      const locked = new Map<string, object>()
      return {
        ...storage,
        async commit(changes) {
          const owner = {}
          try {
            for (const change of changes) {
              const held = () => [...locked.values()].includes(owner)
              while (locked.has(idOf(change))) {
                if (held()) throw new Error('deadlock detected')
                await turn()
              }
              locked.set(idOf(change), owner)
              await turn()
            }
            return await storage.commit(changes)
          } finally {
            for (const [id, holder] of locked) if (holder === owner) locked.delete(id)
          }
        },
      }
    },
  },
  {
    does: 'compares all versions first and then writes change by change, as long as they fit',
    breaks: [
      'a commit that half fails leaves nothing, while one that took its record from it stays whole',
      'of two transfers that each complete an incoming payment one is counted, and it is completed once',
    ],
    breakStore: (storage) => ({
      ...storage,
      async commit(changes) {
        const conflicts = await conflictsOf(storage, changes)
        if (conflicts.length > 0) return { conflicts }
        for (const [index, change] of changes.entries()) {
          await turn()
          if ((await storage.commit([change])) !== 'committed') return { conflicts: [index] }
        }
        return 'committed'
      },
    }),
  },
  {
    does: 'undoes all commits of a group where one meets a conflict',
    breaks: ['a commit that conflicts does not touch those made at the same time'],
    breakStore(storage) {
      let group: Change[] = []
      return {
        ...storage,
        async commit(changes) {
          const mine = group
          mine.push(...changes)
          await turn()
          group = []
          const isWhole = (await conflictsOf(storage, mine)).length === 0
          return isWhole || mine.length === changes.length ? storage.commit(changes) : { conflicts: [0] }
        },
      }
    },
  },
]

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
    does: 'reads record by record',
    breaks: ['one get sees a commit whole or not at all'],
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
]
