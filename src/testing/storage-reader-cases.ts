import type { Change, Key, RecordTypes, Storage, StoredRecord } from '../ports/storage.ts'
import { AssertionError, assertSame } from './assertions.ts'
import { MOMENT, sampleAmount, sampleIncomingPayment, sampleSpending, WALLET_ADDRESS } from './sample-records.ts'
import {
  assertConflicts,
  claim,
  deleteClaim,
  idsOf,
  insertClaim,
  mustCommit,
  readVersions,
  replaceClaim,
  type StorageCase,
} from './storage-case.ts'

const INCOMING = 'incoming-payment'
const LIST = { kind: INCOMING, walletAddress: WALLET_ADDRESS, direction: 'newer', limit: 100 } as const
type Incoming = RecordTypes['incoming-payment']

const READERS = 3
/**
 * With a storage that answers at once, a reader in a loop never lets a writer go on, so readers must stop by
 * themselves.
 */
const MOST_READS = 10

/** Makes some writes, one after the other; readers read again and again during each, and once more when it has ended. */
async function readDuring(
  storage: Storage,
  writes: readonly (() => Promise<unknown>)[],
  read: () => Promise<void>,
): Promise<void> {
  for (const [index, write] of writes.entries()) {
    let isOver = false
    const reader = async (): Promise<void> => {
      for (let reads = 0; reads < MOST_READS && !isOver; reads++) await read()
    }
    const writer = async (): Promise<void> => {
      try {
        // Some reads before: then the readers are in the midst of theirs when it writes, however long a read takes. Not always
        // as many: where all calls take as long as one another, none might ever be halfway when it writes.
        for (let reads = 0; reads <= index % 3; reads++) await storage.get([claim('a')])
        await write()
      } finally {
        isOver = true
      }
    }
    await Promise.all([...Array.from({ length: READERS }, reader), writer()])
    await read()
  }
}

function versionOf(record: StoredRecord | undefined): number {
  return record?.version ?? 0
}

/** Three records of three kinds that are always written together, so that their versions are one. */
const TOGETHER: readonly Key[] = [claim('a'), { kind: 'spending', id: 'b' }, { kind: INCOMING, id: 'c' }]

function insertTogether(): readonly Change[] {
  return [
    insertClaim('a'),
    { action: 'insert', kind: 'spending', value: sampleSpending('b', 0n) },
    { action: 'insert', kind: INCOMING, value: sampleIncomingPayment('c'), isListed: true, dueAt: MOMENT },
  ]
}

function replaceTogether(version: number): readonly Change[] {
  const value = sampleIncomingPayment('c', { received: sampleAmount(BigInt(version)) })
  return [
    replaceClaim('a', version, version),
    { action: 'replace', kind: 'spending', version, value: sampleSpending('b', BigInt(version)) },
    { action: 'replace', kind: INCOMING, version, value, isListed: true, dueAt: MOMENT },
  ]
}

/** Writes the three again and again, and takes one more record for another each time. */
function writesTogether(storage: Storage): readonly (() => Promise<void>)[] {
  return Array.from({ length: 20 }, (_, index) => () => {
    const [from, to] = index % 2 === 0 ? (['odd', 'even'] as const) : (['even', 'odd'] as const)
    return mustCommit(storage, ...replaceTogether(index + 1), deleteClaim(from, 1), insertClaim(to))
  })
}

/** What the store promises of reading while others commit. */
export const READER_CASES: readonly StorageCase[] = [
  {
    name: 'a commit that has resolved is seen by every call that is made afterwards',
    async run(makeStorage) {
      const storage = await makeStorage()
      await mustCommit(storage, ...insertTogether())
      for (let version = 1; version <= 10; version++) {
        await mustCommit(storage, ...replaceTogether(version))
        const reads = [storage.get(TOGETHER), storage.list(LIST), storage.due(INCOMING, MOMENT, 10)]
        const found = (await Promise.all([...reads, ...reads.map(() => storage.get(TOGETHER))])).flat()
        const expected = found.map(() => version + 1)
        assertSame([found.length, found.map(versionOf)], [14, expected], 'the versions that were read')
      }
    },
  },
  {
    name: 'one get sees a commit whole or not at all',
    async run(makeStorage) {
      const storage = await makeStorage()
      await mustCommit(storage, ...insertTogether(), insertClaim('odd'))
      const read = async (): Promise<void> => {
        const [odd, first, even, second, third] = await storage.get([
          claim('odd'),
          ...TOGETHER.slice(0, 1),
          claim('even'),
          ...TOGETHER.slice(1),
        ])
        const version = versionOf(first)
        assertSame([versionOf(second), versionOf(third)], [version, version], 'the versions in one get')
        const expected = version % 2 === 1 ? [1, 0] : [0, 1]
        assertSame([versionOf(odd), versionOf(even)], expected, 'which of two records was there in one get')
      }
      await readDuring(storage, writesTogether(storage), read)
    },
  },
  {
    name: 'one get of two hundred and fifty records sees a commit to a hundred of them whole or not at all',
    async run(makeStorage) {
      const storage = await makeStorage()
      const ids = Array.from({ length: 250 }, (_, index) => `a${index}`)
      // From the first to the last, so that no part of the keys has all of them.
      const written = ids.filter((_id, index) => index % 5 < 2)
      for (let first = 0; first < ids.length; first += 50) {
        await mustCommit(storage, ...ids.slice(first, first + 50).map((id) => insertClaim(id)))
      }
      const read = async (): Promise<void> => {
        const versions = await readVersions(storage, ...ids.map(claim))
        const [first] = versions
        assertSame(
          versions,
          ids.map((_id, index) => (index % 5 < 2 ? first : 1)),
          'the versions in one get',
        )
      }
      const writes = Array.from({ length: 5 }, (_, index) => {
        const replacements = written.map((id) => replaceClaim(id, index + 1, index))
        return () => mustCommit(storage, ...replacements)
      })
      await readDuring(storage, writes, read)
    },
  },
  {
    name: 'one list, and one due, sees a commit to several of its records whole or not at all',
    async run(makeStorage) {
      const storage = await makeStorage()
      const records = Array.from({ length: 100 }, (_, dueAt) => {
        return { kind: INCOMING, value: sampleIncomingPayment(`a${100 + dueAt}`), isListed: true, dueAt } as const
      })
      await mustCommit(storage, ...records.map((record): Change => ({ ...record, action: 'insert' })))
      // From the first to the last, so that no part of an answer has all of them; and at the same places in either order.
      const isWritten = ({ dueAt }: { readonly dueAt: number }): boolean => dueAt % 33 === 0
      let turn = 0
      const read = async (): Promise<void> => {
        const isList = turn++ % 2 === 0
        const found = await (isList ? storage.list(LIST) : storage.due(INCOMING, MOMENT, LIST.limit))
        const versions = found.map(versionOf)
        const [first = 0] = versions
        const expected = records.map((record) => (isWritten(record) ? first : 1))
        assertSame(versions, expected, `the versions in one ${isList ? 'list' : 'due'}`)
      }
      const written = records.filter(isWritten)
      const writes = Array.from({ length: 5 }, (_, index) => () => {
        const version = index + 1
        return mustCommit(storage, ...written.map((record): Change => ({ ...record, action: 'replace', version })))
      })
      await readDuring(storage, writes, read)
    },
  },
  {
    name: 'who has seen a part of a commit finds all of it from then on',
    async run(makeStorage) {
      const storage = await makeStorage()
      await mustCommit(storage, ...insertTogether(), insertClaim('odd'))
      const seen: readonly (() => Promise<readonly (StoredRecord | undefined)[]>)[] = [
        ...TOGETHER.map((key) => () => storage.get([key])),
        () => storage.list(LIST),
        () => storage.due(INCOMING, MOMENT, 10),
      ]
      let reads = 0
      const read = async (): Promise<void> => {
        const turn = reads++
        const first = await seen[turn % seen.length]?.()
        const later = await seen[Math.floor(turn / seen.length) % seen.length]?.()
        const [least, found] = [versionOf(first?.[0]), versionOf(later?.[0])]
        if (found < least)
          throw new AssertionError(`a later read: expected version ${least} or newer, got version ${found}`)
      }
      await readDuring(storage, writesTogether(storage), read)
    },
  },
  {
    name: 'nobody ever sees anything of a commit that meets a conflict',
    async run(makeStorage) {
      const storage = await makeStorage()
      await mustCommit(storage, ...insertTogether(), insertClaim('odd'))
      const changes = [insertClaim('even'), ...replaceTogether(1), deleteClaim('odd', 1), replaceClaim('none', 1, 1)]
      const keys = [claim('even'), ...TOGETHER, claim('odd')]
      const commit = async (): Promise<void> => assertConflicts(await storage.commit(changes), [5], 'the commit')
      const read = async (): Promise<void> => {
        assertSame((await storage.get(keys)).map(versionOf), [0, 1, 1, 1, 1], 'the versions')
        assertSame((await storage.list(LIST)).map(versionOf), [1], 'the version in the list')
      }
      await readDuring(
        storage,
        Array.from({ length: 10 }, () => commit),
        read,
      )
    },
  },
  {
    name: 'list and due leave nothing out and repeat nothing while others write it',
    async run(makeStorage) {
      const storage = await makeStorage()
      const ids = ['a', 'b', 'c', 'd', 'e', 'f']
      const value = (id: string, received: number) =>
        sampleIncomingPayment(id, { received: sampleAmount(BigInt(received)) })
      for (const id of ids) {
        await mustCommit(storage, { action: 'insert', kind: INCOMING, value: value(id, 0), isListed: true, dueAt: 1 })
      }
      const writes = Array.from({ length: 10 }, (_, index) => () => {
        const marks = { isListed: true, dueAt: 1 + (index % 3) }
        const write = async (id: string): Promise<void> => {
          const version = index + 1
          await mustCommit(storage, { action: 'replace', kind: INCOMING, version, value: value(id, version), ...marks })
        }
        return Promise.all(ids.map(write))
      })
      const read = async (): Promise<void> => {
        assertSame(idsOf(await storage.list(LIST)), ids, 'the list')
        const due = await storage.due(INCOMING, MOMENT, 100)
        assertSame([...idsOf(due)].sort(), ids, 'what is due, by its id')
        const moments = due.map(({ dueAt = 0 }) => dueAt)
        assertSame(
          moments,
          moments.toSorted((a, b) => a - b),
          'when it is due',
        )
      }
      await readDuring(storage, writes, read)
    },
  },
  {
    // Or two workers would take up the same work: who finds it due at the version of another's lease takes that over.
    name: 'list and due give a record as it was while it was listed or due, and none as another commit has left it since',
    async run(makeStorage) {
      const storage = await makeStorage()
      const ids = ['a', 'b', 'c', 'd', 'e', 'f']
      const open = { isListed: true, dueAt: 1 }
      const writeAll = (write: (record: { readonly kind: typeof INCOMING; readonly value: Incoming }) => Change) =>
        Promise.all(ids.map((id) => mustCommit(storage, write({ kind: INCOMING, value: sampleIncomingPayment(id) }))))
      await writeAll((record) => ({ ...record, action: 'insert', ...open }))
      const writes = Array.from({ length: 20 }, (_, index) => () => {
        const marks = index % 2 === 0 ? { dueAt: MOMENT + 1 } : open
        return writeAll((record) => ({ ...record, action: 'replace', version: index + 1, ...marks }))
      })
      const read = async (): Promise<void> => {
        const [listed, due] = await Promise.all([storage.list(LIST), storage.due(INCOMING, MOMENT, 100)])
        for (const { isListed, version } of listed)
          assertSame([isListed, version % 2], [true, 1], 'whether a record in a list is listed, and its version is odd')
        for (const { dueAt, version } of due)
          assertSame(
            [dueAt, version % 2],
            [1, 1],
            'when a record is due that due gives, and whether its version is odd',
          )
      }
      await readDuring(storage, writes, read)
    },
  },
]
