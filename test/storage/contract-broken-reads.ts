import type { Storage, StoredRecord } from '../../src/ports/storage.ts'
import { type BrokenStore, keyOf, writing } from './contract-broken.ts'

const NEWEST_FIRST =
  'a list of any kind is newest first, by id where the moment is the same, and shows nothing hidden or foreign'
const PAGES = 'pages of any kind and size, in both directions, show every record once'
const ONE_CLIENT = 'a list of one client, of any kind, shows only its records'
const DUE = 'due finds what is due at a moment or before it, the longest due first, up to the limit'
const MANY = 'get, list and due give as many records as are asked for, also more than a hundred'
const THOUSANDS = 'due finds two thousand and one records, as late as 2^53 - 1, where it is asked for so many'
const ONE_ANOTHER =
  'wallet addresses and clients that differ in one letter, its case, a space or late are not taken for one another'

/** A store that finds the wallet address and the client of a list by a comparison of its own. */
function listingBy(storage: Storage, isSame: (text: string, wanted: string) => boolean): Storage {
  const known = new Set<string>()
  return {
    ...writing(storage, (change) => {
      if (change.kind === 'incoming-payment') known.add(change.value.walletAddress)
      return change
    }),
    async list({ client, ...query }) {
      const alike = [...known].filter((walletAddress) => isSame(walletAddress, query.walletAddress))
      const found = await Promise.all(
        alike.map((walletAddress) => storage.list({ ...query, walletAddress, limit: 100 })),
      )
      return found
        .flat()
        .filter(({ value }) => client === undefined || ('client' in value && isSame(value.client, client)))
        .slice(0, query.limit)
    },
  }
}

/** Stores that answer `get`, `list` or `due` wrongly. */
export const BROKEN_READS: readonly BrokenStore[] = [
  {
    does: 'answers only the records that there are',
    breaks: ['get answers in the order of the keys, and undefined where there is no record'],
    breakStore: (storage) => ({
      ...storage,
      get: async (keys) => (await storage.get(keys)).filter((record) => record !== undefined),
    }),
  },
  {
    does: 'answers in the order of its index',
    breaks: ['get answers in the order of the keys, and undefined where there is no record'],
    breakStore: (storage) => ({
      ...storage,
      get: (keys) => storage.get(keys.toSorted((a, b) => (a.id < b.id ? -1 : 1))),
    }),
  },
  {
    does: 'shows hidden records',
    breaks: [NEWEST_FIRST],
    breakStore: (storage) => writing(storage, (change) => ({ ...change, isListed: true })),
  },
  {
    does: 'lists the oldest first, whoever asks',
    breaks: [NEWEST_FIRST],
    breakStore: (storage) => ({ ...storage, list: (query) => storage.list({ ...query, direction: 'newer' }) }),
  },
  {
    does: 'orders ids as a dictionary does',
    breaks: [NEWEST_FIRST],
    breakStore: (storage) => ({
      ...storage,
      async list(query) {
        const sign = query.direction === 'newer' ? 1 : -1
        return (await storage.list(query)).toSorted(({ value: a }, { value: b }) => {
          if (!('createdAt' in a && 'createdAt' in b)) return 0
          return sign * (a.createdAt - b.createdAt || a.id.localeCompare(b.id, 'en'))
        })
      },
    }),
  },
  {
    does: 'begins every page of grants at the start',
    breaks: [PAGES],
    breakStore: (storage) => ({
      ...storage,
      list: ({ after, ...query }) =>
        storage.list(query.kind === 'grant' || after === undefined ? query : { ...query, after }),
    }),
  },
  {
    does: 'skips the records of one moment when it turns a page',
    breaks: [PAGES],
    breakStore: (storage) => ({
      ...storage,
      list: async (query) => {
        const records = await storage.list({ ...query, limit: 100 })
        const { after } = query
        return records
          .filter(({ value }) => after === undefined || ('createdAt' in value && value.createdAt !== after.createdAt))
          .slice(0, query.limit)
      },
    }),
  },
  {
    does: 'lists the records of all clients',
    breaks: [ONE_CLIENT],
    breakStore: (storage) => ({ ...storage, list: ({ client: _, ...query }) => storage.list(query) }),
  },
  {
    does: 'lists the outgoing payments of all clients',
    breaks: [ONE_CLIENT],
    breakStore: (storage) => ({
      ...storage,
      list: ({ client, ...query }) =>
        storage.list(query.kind === 'outgoing-payment' || client === undefined ? query : { ...query, client }),
    }),
  },
  {
    does: 'compares text without regard to case',
    breaks: [ONE_ANOTHER],
    breakStore: (storage) => listingBy(storage, (text, wanted) => text.toLowerCase() === wanted.toLowerCase()),
  },
  {
    does: 'compares text without regard to spaces at its end',
    breaks: [ONE_ANOTHER],
    breakStore: (storage) => listingBy(storage, (text, wanted) => text.trimEnd() === wanted.trimEnd()),
  },
  {
    does: 'compares the first 255 characters of text',
    breaks: [ONE_ANOTHER],
    breakStore: (storage) => listingBy(storage, (text, wanted) => text.slice(0, 255) === wanted.slice(0, 255)),
  },
  {
    does: 'leaves quotation marks out of text',
    breaks: [ONE_ANOTHER],
    breakStore: (storage) =>
      listingBy(storage, (text, wanted) => text.replaceAll("'", '') === wanted.replaceAll("'", '')),
  },
  {
    does: 'writes the name of a client into its statements',
    breaks: [ONE_ANOTHER],
    rejects: 'unterminated quoted string',
    breakStore: (storage) => ({
      ...storage,
      async list(query) {
        if (query.client?.includes("'")) throw new Error('unterminated quoted string')
        return storage.list(query)
      },
    }),
  },
  {
    does: 'compares text as a pattern',
    breaks: [ONE_ANOTHER],
    breakStore: (storage) =>
      listingBy(storage, (text, wanted) =>
        new RegExp(`^${wanted.replaceAll(/[./]/g, '\\$&').replaceAll('%', '.*').replaceAll('_', '.')}$`).test(text),
      ),
  },
  {
    does: 'looks up the record after which a page begins',
    breaks: ['a page may begin after a record that is gone'],
    breakStore: (storage) => ({
      ...storage,
      async list(query) {
        const { after, kind } = query
        const [found] = after === undefined ? [] : await storage.get([{ kind, id: after.id }])
        return after !== undefined && found === undefined ? [] : storage.list(query)
      },
    }),
  },
  {
    does: 'keeps the oldest work for last',
    breaks: [DUE],
    breakStore: (storage) => ({
      ...storage,
      due: async (kind, now, limit) => (await storage.due(kind, now, 100)).toReversed().slice(0, limit),
    }),
  },
  {
    does: 'finds what is due a moment late',
    breaks: [DUE],
    breakStore: (storage) => ({ ...storage, due: (kind, now, limit) => storage.due(kind, now - 1, limit) }),
  },
  {
    does: 'orders moments as text',
    breaks: [DUE],
    breakStore: (storage) => ({
      ...storage,
      due: async (kind, now) =>
        (await storage.due(kind, now, 100)).toSorted((a, b) => (String(a.dueAt) < String(b.dueAt) ? -1 : 1)),
    }),
  },
  {
    does: 'takes the moment 0 for none',
    breaks: [DUE],
    breakStore: (storage) => ({
      ...storage,
      due: async (...parameters) => (await storage.due(...parameters)).filter(({ dueAt }) => dueAt),
    }),
  },
  {
    does: 'lists fifty records at most',
    breaks: [MANY],
    breakStore: (storage) => ({
      ...storage,
      list: (query) => storage.list({ ...query, limit: Math.min(query.limit, 50) }),
    }),
  },
  {
    does: 'finds a hundred records at most that are due',
    breaks: [MANY],
    breakStore: (storage) => ({
      ...storage,
      due: (kind, now, limit) => storage.due(kind, now, Math.min(limit, 100)),
    }),
  },
  {
    does: 'finds two thousand records at most that are due',
    breaks: [THOUSANDS],
    breakStore: (storage) => ({
      ...storage,
      due: (kind, now, limit) => storage.due(kind, now, Math.min(limit, 2000)),
    }),
  },
  {
    does: 'keeps moments up to the year 9999',
    breaks: [THOUSANDS],
    breakStore: (storage) =>
      writing(storage, (change) => ({ ...change, dueAt: Math.min(change.dueAt ?? 0, Date.UTC(9999, 11, 31)) })),
  },
  {
    does: 'reads the first hundred records',
    breaks: [MANY],
    breakStore: (storage) => ({ ...storage, get: (keys) => storage.get(keys.slice(0, 100)) }),
  },
  {
    does: 'finds work that is done',
    breaks: ['a replacement and a deletion end what was due'],
    breakStore(storage) {
      const found = new Map<string, StoredRecord>()
      return {
        ...storage,
        async commit(changes) {
          const result = await storage.commit(changes)
          for (const record of await storage.get(changes.map(keyOf))) {
            if (record?.dueAt !== undefined) found.set(record.value.id, record)
          }
          return result
        },
        due: async () => [...found.values()],
      }
    },
  },
]
