import type { Change, CommitResult, Key, ListQuery, RecordMarks, Storage, StoredRecord } from '../ports/storage.ts'
import { assertSame } from './assertions.ts'
import {
  CLIENT,
  MOMENT,
  sampleAmount,
  sampleGrant,
  sampleIncomingPayment,
  sampleInserts,
  sampleMetadata,
  sampleSpending,
  WALLET_ADDRESS,
} from './sample-records.ts'

/** One promise of the `Storage` port. */
export interface StorageCase {
  readonly name: string
  /** Rejects with an `Error` that says what was expected and what came, where the store breaks the promise. */
  run(makeStorage: () => Promise<Storage>): Promise<void>
}

function insertClaim(id: string, marks: RecordMarks = {}): Change {
  return { action: 'insert', kind: 'replay-claim', value: { id, expiresAt: MOMENT }, ...marks }
}

function replaceClaim(id: string, version: number, expiresAt: number, marks: RecordMarks = {}): Change {
  return { action: 'replace', kind: 'replay-claim', version, value: { id, expiresAt }, ...marks }
}

function claim(id: string): Key {
  return { kind: 'replay-claim', id }
}

async function mustCommit(storage: Storage, ...changes: readonly Change[]): Promise<void> {
  assertSame(await storage.commit(changes), 'committed', 'a commit that fits')
}

/** Asserts a refusal that names at least one conflict, and none that fits. */
function assertConflicts(result: CommitResult, conflicts: readonly number[], what: string): void {
  if (result === 'committed') throw new Error(`${what}: committed`)
  const isExact = result.conflicts.length > 0 && result.conflicts.every((index) => conflicts.includes(index))
  if (!isExact) throw new Error(`${what}: conflicts of ${conflicts.join()} expected, got ${result.conflicts.join()}`)
}

async function readVersions(storage: Storage, ...keys: readonly Key[]): Promise<readonly (number | undefined)[]> {
  return (await storage.get(keys)).map((record) => record?.version)
}

/** Which of some commits made at the same time succeeded. */
async function race(storage: Storage, ...commits: readonly (readonly Change[])[]): Promise<readonly boolean[]> {
  const results = await Promise.all(commits.map((changes) => storage.commit(changes)))
  return results.map((result) => result === 'committed')
}

function idsOf(records: readonly StoredRecord[]): readonly string[] {
  return records.map(({ value }) => value.id)
}

const READING: readonly StorageCase[] = [
  {
    name: 'get answers in the order of the keys, and undefined where there is no record',
    async run(makeStorage) {
      const storage = await makeStorage()
      await mustCommit(storage, insertClaim('a'), insertClaim('b'))
      const found = await storage.get([claim('b'), claim('none'), { kind: 'event', id: 'a' }, claim('a'), claim('b')])
      assertSame(
        found.map((record) => record?.value.id),
        ['b', undefined, undefined, 'a', 'b'],
        'the ids of the records',
      )
    },
  },
  {
    name: 'every kind of record comes back as it was written: exact amounts, absent members absent',
    async run(makeStorage) {
      const storage = await makeStorage()
      const inserts = sampleInserts()
      await mustCommit(storage, ...inserts)
      const found = await storage.get(inserts.map(({ kind, value }) => ({ kind, id: value.id })))
      for (const [index, { kind, value, dueAt, isListed }] of inserts.entries()) {
        const record = found[index]
        assertSame(record?.kind, kind, `the kind of ${kind} ${value.id}`)
        assertSame(record?.version, 1, `the version of ${kind} ${value.id}`)
        assertSame(record?.value, value, `the value of ${kind} ${value.id}`)
        assertSame(record?.dueAt, dueAt, `dueAt of ${kind} ${value.id}`)
        assertSame(record?.isListed ?? false, isListed ?? false, `isListed of ${kind} ${value.id}`)
      }
    },
  },
  {
    name: 'a replacement takes members and marks away that it does not name',
    async run(makeStorage) {
      const storage = await makeStorage()
      const full = { metadata: sampleMetadata(), incomingAmount: sampleAmount(1n), expiresAt: MOMENT }
      const value = sampleIncomingPayment('a')
      const kind = 'incoming-payment'
      const marks = { isListed: true, dueAt: MOMENT }
      await mustCommit(storage, { action: 'insert', kind, value: sampleIncomingPayment('a', full), ...marks })
      await mustCommit(storage, { action: 'replace', kind, version: 1, value })
      const [record] = await storage.get([{ kind, id: 'a' }])
      assertSame([record?.value, record?.dueAt, record?.isListed ?? false], [value, undefined, false], 'the record')
      assertSame(await storage.due(kind, MOMENT, 10), [], 'what is due')
      const query = { kind, walletAddress: WALLET_ADDRESS, direction: 'older', limit: 10 } as const
      assertSame(await storage.list(query), [], 'what is listed')
    },
  },
  {
    name: 'what a caller does to a value later does not reach the store',
    async run(makeStorage) {
      const storage = await makeStorage()
      const metadata = { order: 1 }
      const value = sampleIncomingPayment('a', { metadata })
      await mustCommit(storage, { action: 'insert', kind: 'incoming-payment', value })
      metadata.order = 2
      const [first] = await storage.get([{ kind: 'incoming-payment', id: 'a' }])
      if (first !== undefined) Reflect.set(first.value, 'state', 'expired')
      const [second] = await storage.get([{ kind: 'incoming-payment', id: 'a' }])
      assertSame(second?.value, sampleIncomingPayment('a', { metadata: { order: 1 } }), 'the value')
    },
  },
]

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

/** Newest first: id, age in milliseconds, client. Several are of one moment, and were not inserted in this order. */
const LISTED: readonly (readonly [id: string, age: number, client: string])[] = [
  ['a', 0, CLIENT],
  ['z', 1, CLIENT],
  ['m', 1, 'jwk:other'],
  ['f', 1, CLIENT],
  ['b', 1, 'jwk:other'],
  ['y', 2, CLIENT],
  ['c', 1_000_000_000_000, CLIENT],
]

async function makeList(makeStorage: () => Promise<Storage>): Promise<Storage> {
  const storage = await makeStorage()
  const shuffled = [...LISTED].sort(([a], [b]) => (a < b ? -1 : 1))
  const kind = 'incoming-payment'
  for (const [id, age, client] of shuffled) {
    const value = sampleIncomingPayment(id, { createdAt: MOMENT - age, client })
    await mustCommit(storage, { action: 'insert', kind, value, isListed: true })
  }
  const elsewhere = sampleIncomingPayment('elsewhere', { walletAddress: `${WALLET_ADDRESS}/2` })
  await mustCommit(
    storage,
    { action: 'insert', kind, value: sampleIncomingPayment('hidden') },
    { action: 'insert', kind, value: elsewhere, isListed: true },
    { action: 'insert', kind: 'grant', value: sampleGrant('g', { walletAddress: WALLET_ADDRESS }), isListed: true },
    { action: 'insert', kind: 'grant', value: sampleGrant('h'), isListed: true },
  )
  return storage
}

async function readPages(storage: Storage, query: Omit<ListQuery, 'after'>): Promise<readonly string[]> {
  const ids: string[] = []
  let after: ListQuery['after']
  for (let page = 0; page < 10; page++) {
    const records = await storage.list({ ...query, ...(after && { after }) })
    if (records.length > query.limit) throw new Error(`a page of ${query.limit} holds ${records.length} records`)
    ids.push(...idsOf(records))
    const last = records.at(-1)?.value
    if (last === undefined) return ids
    if (!('createdAt' in last)) throw new Error('a page holds a record that has no createdAt')
    after = { createdAt: last.createdAt, id: last.id }
  }
  throw new Error(`the pages do not end: ${ids.join()}`)
}

const LISTS: readonly StorageCase[] = [
  {
    name: 'a list is newest first, by id where the moment is the same, and shows nothing hidden or foreign',
    async run(makeStorage) {
      const storage = await makeList(makeStorage)
      const query = { kind: 'incoming-payment', walletAddress: WALLET_ADDRESS, limit: 100 } as const
      const ids = LISTED.map(([id]) => id)
      assertSame(idsOf(await storage.list({ ...query, direction: 'older' })), ids, 'older')
      assertSame(idsOf(await storage.list({ ...query, direction: 'newer' })), ids.toReversed(), 'newer')
      assertSame(idsOf(await storage.list({ ...query, kind: 'grant', direction: 'older' })), ['g'], 'the grants')
    },
  },
  {
    name: 'pages of any size, in both directions, show every record once',
    async run(makeStorage) {
      const storage = await makeList(makeStorage)
      const query = { kind: 'incoming-payment', walletAddress: WALLET_ADDRESS } as const
      const ids = LISTED.map(([id]) => id)
      for (const limit of [1, 2, 3, 7]) {
        assertSame(await readPages(storage, { ...query, direction: 'older', limit }), ids, `older by ${limit}`)
        assertSame(
          await readPages(storage, { ...query, direction: 'newer', limit }),
          ids.toReversed(),
          `newer by ${limit}`,
        )
      }
    },
  },
  {
    name: 'a list of one client shows only its records',
    async run(makeStorage) {
      const storage = await makeList(makeStorage)
      const query = { kind: 'incoming-payment', walletAddress: WALLET_ADDRESS, limit: 1 } as const
      for (const client of [CLIENT, 'jwk:other', 'jwk:nobody']) {
        const ids = LISTED.filter((listed) => listed[2] === client).map(([id]) => id)
        assertSame(await readPages(storage, { ...query, client, direction: 'older' }), ids, `older of ${client}`)
        const reversed = await readPages(storage, { ...query, client, direction: 'newer' })
        assertSame(reversed, ids.toReversed(), `newer of ${client}`)
      }
    },
  },
  {
    name: 'a page may begin after a record that is gone',
    async run(makeStorage) {
      const storage = await makeList(makeStorage)
      await mustCommit(storage, { action: 'delete', kind: 'incoming-payment', id: 'f', version: 1 })
      const after = { createdAt: MOMENT - 1, id: 'f' }
      const query = { kind: 'incoming-payment', walletAddress: WALLET_ADDRESS, after, limit: 2 } as const
      assertSame(idsOf(await storage.list({ ...query, direction: 'older' })), ['b', 'y'], 'older')
      assertSame(idsOf(await storage.list({ ...query, direction: 'newer' })), ['m', 'z'], 'newer')
    },
  },
]

const WORK: readonly StorageCase[] = [
  {
    name: 'due finds what is due at a moment or before it, the longest due first, up to the limit',
    async run(makeStorage) {
      const storage = await makeStorage()
      await mustCommit(
        storage,
        insertClaim('now', { dueAt: MOMENT }),
        insertClaim('later', { dueAt: MOMENT + 1 }),
        insertClaim('long ago', { dueAt: 1 }),
        insertClaim('never'),
        insertClaim('before', { dueAt: MOMENT - 1 }),
        { action: 'insert', kind: 'spending', value: sampleSpending('other', 0n), dueAt: 2 },
      )
      assertSame(idsOf(await storage.due('replay-claim', MOMENT, 10)), ['long ago', 'before', 'now'], 'what is due')
      assertSame(idsOf(await storage.due('replay-claim', MOMENT, 2)), ['long ago', 'before'], 'what is due, up to two')
    },
  },
  {
    name: 'a replacement and a deletion end what was due',
    async run(makeStorage) {
      const storage = await makeStorage()
      await mustCommit(
        storage,
        insertClaim('a', { dueAt: 1 }),
        insertClaim('b', { dueAt: 2 }),
        insertClaim('c', { dueAt: 3 }),
      )
      await mustCommit(storage, replaceClaim('a', 1, 5), replaceClaim('b', 1, 5, { dueAt: 4 }), {
        action: 'delete',
        kind: 'replay-claim',
        id: 'c',
        version: 1,
      })
      const due = await storage.due('replay-claim', MOMENT, 10)
      const found = due.map(({ version, value, dueAt }) => [version, value, dueAt])
      assertSame(found, [[2, { id: 'b', expiresAt: 5 }, 4]], 'what is due')
    },
  },
]

/**
 * Everything that the `Storage` port promises, as cases for any test runner. Each case makes a fresh, empty store:
 *
 * `for (const { name, run } of storageContract()) test(name, () => run(makeStorage))`
 */
export function storageContract(): readonly StorageCase[] {
  return [...READING, ...COMMITS, ...RACES, ...LISTS, ...WORK]
}
