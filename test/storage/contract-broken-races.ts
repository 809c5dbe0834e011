import type { Change, Storage } from '../../src/ports/storage.ts'
import { turn } from '../support/turns.ts'
import { type BrokenStore, conflictsOf, idOf, keyOf } from './contract-broken.ts'

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
    breaks: ['of two commits that each check what the other replaces at most one succeeds, whatever kind it is'],
    breakStore: (storage) =>
      checkingFirst(storage, ({ action, kind }) => action === 'check' && kind === 'access-token'),
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
