import type { Change, Storage } from '../ports/storage.ts'
import { assertSame } from './assertions.ts'
import { MOMENT, sampleGrant, sampleSpending } from './sample-records.ts'
import {
  assertConflicts,
  claim,
  insertClaim,
  mustCommit,
  race,
  readVersions,
  replaceClaim,
  type StorageCase,
} from './storage-case.ts'

const COMMITS: readonly StorageCase[] = [
  {
    name: 'versions start at 1 and grow by 1 with each write, and a check is none',
    async run(makeStorage) {
      const storage = await makeStorage()
      await mustCommit(storage, insertClaim('a'))
      await mustCommit(storage, replaceClaim('a', 1, 5))
      await mustCommit(storage, { action: 'check', kind: 'replay-claim', id: 'a', version: 2 })
      await mustCommit(storage, replaceClaim('a', 2, 6))
      const [record] = await storage.get([claim('a')])
      assertSame([record?.version, record?.value], [3, { id: 'a', expiresAt: 6 }], 'the record')
    },
  },
  {
    name: 'an insert of an id that exists is refused and changes nothing',
    async run(makeStorage) {
      const storage = await makeStorage()
      await mustCommit(storage, insertClaim('a'))
      const value = { id: 'a', expiresAt: 9 }
      const again = await storage.commit([{ action: 'insert', kind: 'replay-claim', value }])
      assertConflicts(again, [0], 'the second insert')
      assertSame((await storage.get([claim('a')]))[0]?.value, { id: 'a', expiresAt: MOMENT }, 'the value')
    },
  },
  {
    name: 'one id in two kinds names two records',
    async run(makeStorage) {
      const storage = await makeStorage()
      await mustCommit(storage, insertClaim('a'), { action: 'insert', kind: 'grant', value: sampleGrant('a') })
      await mustCommit(storage, { action: 'delete', kind: 'replay-claim', id: 'a', version: 1 })
      assertSame(await readVersions(storage, claim('a'), { kind: 'grant', id: 'a' }), [undefined, 1], 'the versions')
    },
  },
  {
    name: 'a change at another version, older or newer, or of a record that is not there, is refused',
    async run(makeStorage) {
      const storage = await makeStorage()
      await mustCommit(storage, insertClaim('a'))
      await mustCommit(storage, replaceClaim('a', 1, 5))
      for (const version of [1, 3]) {
        const at = { kind: 'replay-claim', id: 'a', version } as const
        assertConflicts(await storage.commit([replaceClaim('a', version, 7)]), [0], `replace at ${version}`)
        assertConflicts(await storage.commit([{ action: 'delete', ...at }]), [0], `delete at ${version}`)
        assertConflicts(await storage.commit([{ action: 'check', ...at }]), [0], `check at ${version}`)
      }
      const none = { kind: 'replay-claim', id: 'none', version: 1 } as const
      assertConflicts(await storage.commit([replaceClaim('none', 1, 7)]), [0], 'replace of nothing')
      assertConflicts(await storage.commit([{ action: 'delete', ...none }]), [0], 'delete of nothing')
      assertConflicts(await storage.commit([{ action: 'check', ...none }]), [0], 'check of nothing')
      assertSame((await storage.get([claim('a')]))[0]?.value, { id: 'a', expiresAt: 5 }, 'the value')
      assertSame(await readVersions(storage, claim('a'), claim('none')), [2, undefined], 'the versions')
    },
  },
  {
    name: 'all changes of a commit happen or none, wherever the conflict is',
    async run(makeStorage) {
      const storage = await makeStorage()
      await mustCommit(storage, insertClaim('replaced'), insertClaim('deleted'), insertClaim('taken'))
      const good: readonly Change[] = [
        insertClaim('new'),
        replaceClaim('replaced', 1, 5),
        { action: 'delete', kind: 'replay-claim', id: 'deleted', version: 1 },
      ]
      const bad: readonly Change[] = [
        insertClaim('taken'),
        replaceClaim('taken', 2, 5),
        { action: 'delete', kind: 'replay-claim', id: 'taken', version: 2 },
        { action: 'check', kind: 'replay-claim', id: 'taken', version: 2 },
      ]
      for (const conflict of bad) {
        for (const at of [0, 1, 2, 3]) {
          const result = await storage.commit([...good.slice(0, at), conflict, ...good.slice(at)])
          assertConflicts(result, [at], `${conflict.action} at ${at}`)
        }
      }
      const keys = ['new', 'replaced', 'deleted', 'taken'].map(claim)
      assertSame(await readVersions(storage, ...keys), [undefined, 1, 1, 1], 'the versions')
      await mustCommit(storage, ...good)
      assertSame(await readVersions(storage, ...keys), [1, 2, undefined, 1], 'the versions after a commit that fits')
    },
  },
  {
    name: 'a deleted id can be inserted again, at version 1',
    async run(makeStorage) {
      const storage = await makeStorage()
      await mustCommit(storage, insertClaim('a'))
      await mustCommit(storage, replaceClaim('a', 1, 5))
      await mustCommit(storage, { action: 'delete', kind: 'replay-claim', id: 'a', version: 2 })
      await mustCommit(storage, insertClaim('a'))
      assertSame(await readVersions(storage, claim('a')), [1], 'the version')
    },
  },
]

const RACES: readonly StorageCase[] = [
  {
    name: 'of two writers of one version exactly one succeeds',
    async run(makeStorage) {
      const storage = await makeStorage()
      for (let round = 0; round < 20; round++) {
        const id = `a${round}`
        await mustCommit(storage, insertClaim(id))
        const won = await race(storage, [replaceClaim(id, 1, 1)], [replaceClaim(id, 1, 2)])
        assertSame([...won].sort(), [false, true], 'who succeeded')
        assertSame((await storage.get([claim(id)]))[0]?.value, { id, expiresAt: won[0] ? 1 : 2 }, 'the value')
      }
    },
  },
  {
    name: 'of two inserts of one id exactly one succeeds',
    async run(makeStorage) {
      const storage = await makeStorage()
      for (let round = 0; round < 20; round++) {
        const id = `a${round}`
        const won = await race(
          storage,
          [insertClaim(id), insertClaim(`${id}-0`)],
          [insertClaim(id), insertClaim(`${id}-1`)],
        )
        assertSame([...won].sort(), [false, true], 'who succeeded')
        const expected = [1, won[0] ? 1 : undefined, won[1] ? 1 : undefined]
        assertSame(await readVersions(storage, claim(id), claim(`${id}-0`), claim(`${id}-1`)), expected, 'the versions')
      }
    },
  },
  {
    name: 'of two commits that each check what the other replaces at most one succeeds',
    async run(makeStorage) {
      const storage = await makeStorage()
      for (let round = 0; round < 20; round++) {
        const [a, b] = [`a${round}`, `b${round}`]
        await mustCommit(storage, insertClaim(a), insertClaim(b))
        const won = await race(
          storage,
          [{ action: 'check', kind: 'replay-claim', id: a, version: 1 }, replaceClaim(b, 1, 5)],
          [{ action: 'check', kind: 'replay-claim', id: b, version: 1 }, replaceClaim(a, 1, 5)],
        )
        assertSame([...won].sort(), [false, true], 'who succeeded')
      }
    },
  },
  {
    name: 'a commit that conflicts does not touch those made at the same time',
    async run(makeStorage) {
      const storage = await makeStorage()
      await mustCommit(storage, insertClaim('taken'))
      const won = await race(
        storage,
        [insertClaim('a')],
        [insertClaim('lost'), insertClaim('taken')],
        [insertClaim('b')],
        [replaceClaim('none', 1, 5)],
        [replaceClaim('taken', 1, 5)],
      )
      assertSame(won, [true, false, true, false, true], 'who succeeded')
      const versions = await readVersions(storage, claim('a'), claim('lost'), claim('b'), claim('taken'))
      assertSame(versions, [1, undefined, 1, 2], 'the versions')
    },
  },
  {
    name: 'fifty writers that read, add one and try again lose no addition',
    async run(makeStorage) {
      const storage = await makeStorage()
      await mustCommit(storage, { action: 'insert', kind: 'spending', value: sampleSpending('sum', 2n ** 64n) })
      await Promise.all(Array.from({ length: 50 }, () => addOne(storage)))
      const [record] = await storage.get([{ kind: 'spending', id: 'sum' }])
      assertSame([record?.version, record?.value], [51, sampleSpending('sum', 2n ** 64n + 50n)], 'the sum')
    },
  },
]

async function addOne(storage: Storage): Promise<void> {
  // Of the writers in one round at least one succeeds, so the fiftieth try of the unluckiest one does.
  for (let attempt = 0; attempt < 50; attempt++) {
    const [record] = await storage.get([{ kind: 'spending', id: 'sum' }])
    if (record === undefined || !('debit' in record.value)) throw new Error('the sum: there is no record')
    const value = sampleSpending('sum', record.value.debit.value + 1n)
    const result = await storage.commit([{ action: 'replace', kind: 'spending', version: record.version, value }])
    if (result === 'committed') return
  }
  throw new Error('the sum: no writer came through')
}

/** What the store promises of `commit`, alone and against others. */
export const COMMIT_CASES: readonly StorageCase[] = [...COMMITS, ...RACES]
