import type { Change, ListableKind, ListQuery, Storage } from '../ports/storage.ts'
import { AssertionError, assertSame } from './assertions.ts'
import { DELIVERY } from './sample-rail.ts'
import {
  CLIENT,
  MOMENT,
  OUTGOING_PAYMENT,
  sampleIncomingPayment,
  sampleSpending,
  WALLET_ADDRESS,
} from './sample-records.ts'
import {
  claim,
  deleteClaim,
  idsOf,
  insertClaim,
  LISTED_SAMPLES,
  mustCommit,
  replaceClaim,
  type StorageCase,
  withMembers,
} from './storage-case.ts'

/**
 * Newest first: id, age in milliseconds, client. Several are of one moment, whose ids a dictionary would order in another
 * way, and were not inserted in this order.
 */
const LISTED: readonly (readonly [id: string, age: number, client: string])[] = [
  ['a', 0, CLIENT],
  ['z', 1, CLIENT],
  ['m', 1, 'jwk:other'],
  ['f', 1, CLIENT],
  ['b', 1, 'jwk:other'],
  ['Q', 1, CLIENT],
  ['9', 1, 'jwk:other'],
  ['10', 1, CLIENT],
  ['y', 2, CLIENT],
  ['c', 1_000_000_000_000, CLIENT],
]

/** A listed record of each kind that can be listed. */
function insertListed(id: string, members: Partial<(typeof LISTED_SAMPLES)[number]['value']>): readonly Change[] {
  return LISTED_SAMPLES.map((insert) => withMembers(insert, { ...members, id }))
}

async function makeLists(makeStorage: () => Promise<Storage>): Promise<Storage> {
  const storage = await makeStorage()
  const shuffled = [...LISTED].sort(([a], [b]) => (a < b ? -1 : 1))
  for (const [id, age, client] of shuffled) {
    await mustCommit(storage, ...insertListed(id, { createdAt: MOMENT - age, client }))
  }
  await mustCommit(
    storage,
    ...insertListed('hidden', {}).map((insert) => ({ ...insert, isListed: false })),
    ...insertListed('elsewhere', { walletAddress: `${WALLET_ADDRESS}/2` }),
  )
  return storage
}

/** Reads the lists of every kind at once, so that a slow store takes no longer for them than for one. */
async function ofEachKind(read: (kind: ListableKind) => Promise<void>): Promise<void> {
  await Promise.all(LISTED_SAMPLES.map(({ kind }) => read(kind)))
}

async function readPages(storage: Storage, query: Omit<ListQuery, 'after'>): Promise<readonly string[]> {
  const ids: string[] = []
  let after: ListQuery['after']
  for (let page = 0; page < 20; page++) {
    const records = await storage.list({ ...query, ...(after && { after }) })
    if (records.length > query.limit)
      throw new AssertionError(`a page of ${query.limit} holds ${records.length} records`)
    ids.push(...idsOf(records))
    const last = records.at(-1)?.value
    if (last === undefined) return ids
    if (!('createdAt' in last)) throw new AssertionError('a page holds a record that has no createdAt')
    after = { createdAt: last.createdAt, id: last.id }
  }
  throw new AssertionError(`the pages do not end: ${ids.join()}`)
}

/** Asserts that get gives all of some records, and list and due up to 101 of them, in this order. */
async function assertRead(storage: Storage, kind: ListableKind, ids: readonly string[]): Promise<void> {
  const found = await storage.get(ids.map((id) => ({ kind, id })))
  const got = found.map((record) => record?.value.id)
  assertSame(got, ids, `a get of ${ids.length} records`)
  const most = ids.slice(0, 101)
  const query = { kind, walletAddress: WALLET_ADDRESS, direction: 'newer', limit: 101 } as const
  assertSame(idsOf(await storage.list(query)), most, `a list of up to 101 of ${ids.length} records`)
  assertSame(idsOf(await storage.due(kind, MOMENT, 101)), most, `up to 101 of ${ids.length} records that are due`)
}

/** A payment method may note down so much, in whatever script. */
const LONG_DELIVERY = { ...DELIVERY, notes: '\u6f22'.repeat(16_384) }

/** What the store promises of `get`, `list` and `due`. */
export const READ_CASES: readonly StorageCase[] = [
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
    name: 'a list of any kind is newest first, by id where the moment is the same, and shows nothing hidden or foreign',
    async run(makeStorage) {
      const storage = await makeLists(makeStorage)
      const ids = LISTED.map(([id]) => id)
      await ofEachKind(async (kind) => {
        const query = { kind, walletAddress: WALLET_ADDRESS, limit: 100 }
        assertSame(idsOf(await storage.list({ ...query, direction: 'older' })), ids, `${kind}, older`)
        assertSame(idsOf(await storage.list({ ...query, direction: 'newer' })), ids.toReversed(), `${kind}, newer`)
      })
    },
  },
  {
    name: 'pages of any kind and size, in both directions, show every record once',
    async run(makeStorage) {
      const storage = await makeLists(makeStorage)
      const ids = LISTED.map(([id]) => id)
      await ofEachKind(async (kind) => {
        for (const limit of [1, 2, 3, 10]) {
          const query = { kind, walletAddress: WALLET_ADDRESS, limit }
          const older = await readPages(storage, { ...query, direction: 'older' })
          assertSame(older, ids, `${kind}, older by ${limit}`)
          const newer = await readPages(storage, { ...query, direction: 'newer' })
          assertSame(newer, ids.toReversed(), `${kind}, newer by ${limit}`)
        }
      })
    },
  },
  {
    name: 'a list of one client, of any kind, shows only its records',
    async run(makeStorage) {
      const storage = await makeLists(makeStorage)
      await ofEachKind(async (kind) => {
        for (const client of [CLIENT, 'jwk:other', 'jwk:nobody']) {
          const query = { kind, walletAddress: WALLET_ADDRESS, client, limit: 1 }
          const ids = LISTED.filter((listed) => listed[2] === client).map(([id]) => id)
          const older = await readPages(storage, { ...query, direction: 'older' })
          assertSame(older, ids, `${kind}, older of ${client}`)
          const newer = await readPages(storage, { ...query, direction: 'newer' })
          assertSame(newer, ids.toReversed(), `${kind}, newer of ${client}`)
        }
      })
    },
  },
  {
    name: 'wallet addresses and clients that differ in one letter, its case, a space or late are not taken for one another',
    async run(makeStorage) {
      const storage = await makeStorage()
      const long = 'x'.repeat(240)
      const names = [
        ...['alice', 'Alice', 'alice ', 'alic_', 'alic%', 'alice2', 'alice/2', 'al%C3%AFce', '%', "o'brien", 'obrien'],
        ...[`${long}/a`, `${long}/b`],
      ].map((name) => `https://wallet.example/${name}`)
      for (const [index, name] of names.entries()) {
        const owned = insertListed(`a${index}`, { walletAddress: name })
        await mustCommit(storage, ...owned, ...insertListed(`b${index}`, { client: name }))
      }
      await ofEachKind(async (kind) => {
        for (const [index, name] of names.entries()) {
          const query = { kind, direction: 'older', limit: 100 } as const
          const own = await storage.list({ ...query, walletAddress: name })
          // The wallet address of the samples is the first of the names: what the clients made is in its list.
          const ids = idsOf(own).filter((id) => id.startsWith('a'))
          assertSame(ids, [`a${index}`], `${kind}: the list of ${name}`)
          const made = await storage.list({ ...query, walletAddress: WALLET_ADDRESS, client: name })
          assertSame(idsOf(made), [`b${index}`], `${kind}: the list of the client ${name}`)
        }
      })
    },
  },
  {
    name: 'a page may begin after a record that is gone',
    async run(makeStorage) {
      const storage = await makeLists(makeStorage)
      const deletions = LISTED_SAMPLES.map(({ kind }) => ({ action: 'delete', kind, id: 'f', version: 1 }) as const)
      await mustCommit(storage, ...deletions)
      const after = { createdAt: MOMENT - 1, id: 'f' }
      await ofEachKind(async (kind) => {
        const query = { kind, walletAddress: WALLET_ADDRESS, after, limit: 3 }
        assertSame(idsOf(await storage.list({ ...query, direction: 'older' })), ['b', 'Q', '9'], `${kind}, older`)
        assertSame(idsOf(await storage.list({ ...query, direction: 'newer' })), ['m', 'z', 'a'], `${kind}, newer`)
      })
    },
  },
  {
    name: 'due finds what is due at a moment or before it, the longest due first, up to the limit',
    async run(makeStorage) {
      const storage = await makeStorage()
      await mustCommit(
        storage,
        insertClaim('now', { dueAt: MOMENT }),
        insertClaim('later', { dueAt: MOMENT + 1 }),
        insertClaim('long ago', { dueAt: 9 }),
        insertClaim('at the beginning', { dueAt: 0 }),
        insertClaim('never'),
        insertClaim('before', { dueAt: MOMENT - 1 }),
        { action: 'insert', kind: 'spending', value: sampleSpending('other', 0n), dueAt: 2 },
      )
      const due = ['at the beginning', 'long ago', 'before', 'now']
      assertSame(idsOf(await storage.due('replay-claim', MOMENT, 10)), due, 'what is due')
      assertSame(idsOf(await storage.due('replay-claim', MOMENT, 2)), due.slice(0, 2), 'what is due, up to two')
      const all = await storage.due('replay-claim', Number.MAX_SAFE_INTEGER, 10)
      assertSame(idsOf(all), [...due, 'later'], 'what is ever due')
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
      await mustCommit(storage, replaceClaim('a', 1, 5), replaceClaim('b', 1, 5, { dueAt: 4 }), deleteClaim('c', 1))
      const due = await storage.due('replay-claim', MOMENT, 10)
      const found = due.map(({ version, value, dueAt }) => [version, value, dueAt])
      assertSame(found, [[2, { id: 'b', expiresAt: 5 }, 4]], 'what is due')
    },
  },
  {
    name: 'due finds two thousand and one records, as late as 2^53 - 1, where it is asked for so many',
    async run(makeStorage) {
      const storage = await makeStorage()
      const ids = Array.from({ length: 2001 }, (_, index) => `a${1000 + index}`)
      const inserts = ids.map((id, index) => {
        return insertClaim(id, { dueAt: Number.MAX_SAFE_INTEGER - ids.length + index + 1 })
      })
      const commits = Array.from({ length: 21 }, (_, index) => inserts.slice(100 * index, 100 * (index + 1)))
      await Promise.all(commits.map((changes) => mustCommit(storage, ...changes)))
      const found = await storage.due('replay-claim', Number.MAX_SAFE_INTEGER, 3200)
      assertSame(idsOf(found), ids, 'what is due')
      assertSame(found.at(-1)?.dueAt, Number.MAX_SAFE_INTEGER, 'when the last of them is due')
    },
  },
  {
    name: 'get, list and due give as many records as are asked for, also more than a hundred',
    async run(makeStorage) {
      const storage = await makeStorage()
      const ids = Array.from({ length: 120 }, (_, index) => `a${1000 + index}`)
      const kind = 'incoming-payment'
      const inserts = ids.map((id, index): Change => {
        return { action: 'insert', kind, value: sampleIncomingPayment(id), isListed: true, dueAt: index }
      })
      await mustCommit(storage, ...inserts.slice(0, 60))
      await mustCommit(storage, ...inserts.slice(60))
      await assertRead(storage, kind, ids)
    },
  },
  {
    name: 'get, list and due give all that is asked for of the longest records, 57 kB each',
    async run(makeStorage) {
      const storage = await makeStorage()
      const kind = 'outgoing-payment'
      const ids = Array.from({ length: 50 }, (_, index) => `a${100 + index}`)
      const inserts = ids.map((id, index): Change => {
        const value = { ...OUTGOING_PAYMENT, id, metadata: { text: 'x'.repeat(8000) }, delivery: LONG_DELIVERY }
        return { action: 'insert', kind, value, isListed: true, dueAt: index }
      })
      for (let first = 0; first < inserts.length; first += 10) {
        await mustCommit(storage, ...inserts.slice(first, first + 10))
      }
      await assertRead(storage, kind, ids)
    },
  },
]
