import type { Storage } from '../ports/storage.ts'
import { AssertionError, assertSame } from './assertions.ts'
import { MOMENT, sampleSpending } from './sample-records.ts'
import {
  claim,
  deleteClaim,
  insertClaim,
  insertEveryKind,
  mustCommit,
  ROUNDS,
  race,
  readValues,
  readVersions,
  replaceClaim,
  type StorageCase,
  withMembers,
} from './storage-case.ts'

/** What the store promises of commits that are made at the same time. */
export const RACE_CASES: readonly StorageCase[] = [
  {
    name: 'of two writers of one version exactly one succeeds',
    async run(makeStorage) {
      const storage = await makeStorage()
      for (let round = 0; round < ROUNDS; round++) {
        const id = `a${round}`
        await mustCommit(storage, insertClaim(id))
        const won = await race(storage, [replaceClaim(id, 1, 1)], [replaceClaim(id, 1, 2)])
        assertSame([...won].sort(), [false, true], 'who succeeded')
        assertSame(await readValues(storage, claim(id)), [{ id, expiresAt: won[0] ? 1 : 2 }], 'the value')
      }
    },
  },
  {
    name: 'of two inserts of one id exactly one succeeds',
    async run(makeStorage) {
      const storage = await makeStorage()
      for (let round = 0; round < ROUNDS; round++) {
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
    name: 'of two commits that each check what the other replaces at most one succeeds, whatever kind it is',
    async run(makeStorage) {
      const storage = await makeStorage()
      await mustCommit(storage, ...insertEveryKind('a'), ...insertEveryKind('b'))
      for (const insert of insertEveryKind('a')) {
        const { kind } = insert
        const won = await race(
          storage,
          [
            { action: 'check', kind, id: 'a', version: 1 },
            { ...withMembers(insert, { id: 'b' }), action: 'replace', version: 1 },
          ],
          [
            { action: 'check', kind, id: 'b', version: 1 },
            { ...insert, action: 'replace', version: 1 },
          ],
        )
        assertSame([...won].sort(), [false, true], `who succeeded with records of the kind ${kind}`)
      }
    },
  },
  {
    name: 'of commits that name the same records in opposite orders exactly one succeeds, and none waits for ever',
    async run(makeStorage) {
      const storage = await makeStorage()
      for (let round = 0; round < ROUNDS; round++) {
        const ids = ['a', 'b', 'c', 'd'].map((name) => `${name}${round}`)
        await mustCommit(storage, ...ids.map((id) => insertClaim(id)))
        const replacements = (value: number) => ids.map((id) => replaceClaim(id, 1, value))
        const won = await race(storage, replacements(0), replacements(1).reverse(), replacements(2))
        assertSame([...won].sort(), [false, false, true], 'who succeeded')
        const expected = ids.map((id) => ({ id, expiresAt: won.indexOf(true) }))
        assertSame(await readValues(storage, ...ids.map(claim)), expected, 'the values')
      }
    },
  },
  {
    name: 'a commit that half fails leaves nothing, while one that took its record from it stays whole',
    async run(makeStorage) {
      const storage = await makeStorage()
      for (let round = 0; round < ROUNDS; round++) {
        const id = (name: string): string => `${name}${round}`
        await mustCommit(storage, insertClaim(id('contested')), insertClaim(id('mine')), insertClaim(id('yours')))
        const commits = [
          [insertClaim(id('p')), replaceClaim(id('mine'), 1, 1), replaceClaim(id('contested'), 1, 1)],
          [insertClaim(id('q')), deleteClaim(id('yours'), 1), deleteClaim(id('contested'), 1)],
        ] as const
        const [first, second] = round % 2 === 0 ? commits : [commits[1], commits[0]]
        const won = await race(storage, first, second)
        assertSame([...won].sort(), [false, true], 'who succeeded')
        const isReplaced = won[0] === (round % 2 === 0)
        const expected = isReplaced ? [2, 1, 2, undefined, 1] : [undefined, undefined, 1, 1, undefined]
        const keys = ['contested', 'p', 'mine', 'q', 'yours'].map((name) => claim(id(name)))
        assertSame(await readVersions(storage, ...keys), expected, 'the versions')
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
      // Readers beside them: what a read leaves behind must not mislead a writer who has already judged.
      const readers = Array.from({ length: 20 }, () => readTenTimes(storage))
      await Promise.all([...Array.from({ length: 50 }, () => addOne(storage)), ...readers])
      const [record] = await storage.get([{ kind: 'spending', id: 'sum' }])
      assertSame([record?.version, record?.value], [51, sampleSpending('sum', 2n ** 64n + 50n)], 'the sum')
    },
  },
]

async function readTenTimes(storage: Storage): Promise<void> {
  for (let times = 0; times < 10; times++) {
    await storage.get([{ kind: 'spending', id: 'sum' }])
    await storage.due('spending', MOMENT, 10)
  }
}

async function addOne(storage: Storage): Promise<void> {
  // In each round at least one of the fifty writers succeeds, so even the unluckiest succeeds by the fiftieth try.
  for (let attempt = 0; attempt < 50; attempt++) {
    const [record] = await storage.get([{ kind: 'spending', id: 'sum' }])
    if (record === undefined || !('debit' in record.value)) throw new AssertionError('the sum: there is no record')
    const value = sampleSpending('sum', record.value.debit.value + 1n)
    const result = await storage.commit([{ action: 'replace', kind: 'spending', version: record.version, value }])
    if (result === 'committed') return
  }
  throw new AssertionError('the sum: no writer came through')
}
