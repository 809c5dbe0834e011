import type { ListQuery, Storage } from '../ports/storage.ts'
import { AssertionError, assertSame } from './assertions.ts'
import { CLIENT, MOMENT, sampleGrant, sampleIncomingPayment, sampleSpending, WALLET_ADDRESS } from './sample-records.ts'
import { claim, idsOf, insertClaim, mustCommit, replaceClaim, type StorageCase } from './storage-case.ts'

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
]

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
    name: 'wallet addresses and clients that differ in one letter, its case, a space or late are not taken for one another',
    async run(makeStorage) {
      const storage = await makeStorage()
      const long = 'x'.repeat(240)
      const names = [
        ...['alice', 'Alice', 'alice ', 'alic_', 'alic%', 'alice2', 'alice/2', 'al%C3%AFce', '%'],
        ...[`${long}/a`, `${long}/b`],
      ].map((name) => `https://wallet.example/${name}`)
      const kind = 'incoming-payment'
      for (const [index, name] of names.entries()) {
        const owned = sampleIncomingPayment(`a${index}`, { walletAddress: name })
        const made = sampleIncomingPayment(`b${index}`, { client: name })
        await mustCommit(storage, { action: 'insert', kind, value: owned, isListed: true })
        await mustCommit(storage, { action: 'insert', kind, value: made, isListed: true })
      }
      for (const [index, name] of names.entries()) {
        const query = { kind, direction: 'older', limit: 100 } as const
        const own = await storage.list({ ...query, walletAddress: name })
        // The wallet address of the samples is the first of the names: what the clients made is in its list.
        const ids = idsOf(own).filter((id) => id.startsWith('a'))
        assertSame(ids, [`a${index}`], `the list of ${name}`)
        const made = await storage.list({ ...query, walletAddress: WALLET_ADDRESS, client: name })
        assertSame(idsOf(made), [`b${index}`], `the list of the client ${name}`)
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

/** What the store promises of `get`, `list` and `due`. */
export const READ_CASES: readonly StorageCase[] = [...READING, ...LISTS, ...WORK]
