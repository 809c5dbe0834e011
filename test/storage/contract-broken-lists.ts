import type { Storage, StoredRecord } from '../../src/ports/storage.ts'
import { turn } from '../support/turns.ts'
import { type BrokenStore, idOf, replacing, writing } from './contract-broken.ts'

const RELISTED =
  'what a replacement lists is in the lists, those of its client too, until it is deleted, and no other record for it'
const REPLACEMENT =
  'a replacement of any kind takes the place of all that was there, and get, list and due give the whole of it'
const LONG = 'get, list and due give all that is asked for of the longest records, 57 kB each'

/** A store that answers lists of one client with other records than it should. */
function listingClients(
  storage: Storage,
  alter: (records: readonly StoredRecord[]) => readonly StoredRecord[],
): Storage {
  return {
    ...storage,
    async list(query) {
      const records = await storage.list(query)
      return query.client === undefined ? records : alter(records)
    },
  }
}

/** The first of some records that one answer of the database has room for. */
function firstOf<T extends StoredRecord | undefined>(records: readonly T[], mostBytes: number): readonly T[] {
  let bytes = 0
  return records.filter((record) => {
    const text = JSON.stringify(record, (_name, member: unknown) => (typeof member === 'bigint' ? `${member}` : member))
    bytes += Buffer.byteLength(text ?? '')
    return bytes <= mostBytes
  })
}

/** Stores whose index of clients goes its own way, or whose pages end where their database ends them. */
export const BROKEN_LISTS: readonly BrokenStore[] = [
  {
    does: 'adds to its index of clients what is inserted only',
    breaks: [RELISTED],
    breakStore(storage) {
      const inserted = new Set<string>()
      const noted = writing(storage, (change) => {
        if (change.action === 'insert' && change.isListed === true) inserted.add(change.value.id)
        return change
      })
      return listingClients(noted, (records) => records.filter(({ value }) => inserted.has(value.id)))
    },
  },
  {
    does: 'takes a record out of its index of clients when it is listed again',
    breaks: [RELISTED, REPLACEMENT],
    breakStore(storage) {
      const lost = new Set<string>()
      const noted = replacing(storage, (change, before) => {
        if (before.isListed === true) lost.add(idOf(change))
        return change
      })
      return listingClients(noted, (records) => records.filter(({ value }) => !lost.has(value.id)))
    },
  },
  {
    does: 'keeps in its index of clients what is no longer listed',
    breaks: [REPLACEMENT],
    breakStore(storage) {
      const listed = new Map<string, StoredRecord>()
      return listingClients(storage, (records) => {
        for (const record of records) listed.set(record.kind, record)
        return records.length > 0 ? records : [...listed.values()]
      })
    },
  },
  {
    does: 'keeps in its index of clients what is deleted',
    breaks: [RELISTED],
    breakStore(storage) {
      const deleted = new Set<string>()
      return {
        ...storage,
        commit(changes) {
          for (const change of changes) if (change.action === 'delete') deleted.add(change.id)
          return storage.commit(changes)
        },
        // What is there under the id is shown to the client that once had it.
        async list({ client, ...query }) {
          const all = await storage.list(query)
          return all.filter(
            ({ value }) =>
              client === undefined || ('client' in value && value.client === client) || deleted.has(value.id),
          )
        },
      }
    },
  },
  {
    does: 'ends a list at 1 MB',
    breaks: [LONG],
    breakStore: (storage) => ({ ...storage, list: async (query) => firstOf(await storage.list(query), 1_000_000) }),
  },
  {
    does: 'ends what is due at 1 MB',
    breaks: [LONG],
    breakStore: (storage) => ({
      ...storage,
      due: async (...parameters) => firstOf(await storage.due(...parameters), 1_000_000),
    }),
  },
  {
    does: 'leaves out what it has not read after 1 MB',
    breaks: [LONG],
    breakStore: (storage) => ({
      ...storage,
      async get(keys) {
        const found = await storage.get(keys)
        const read = new Set(firstOf(found, 1_000_000))
        return found.map((record) => (read.has(record) ? record : undefined))
      },
    }),
  },
  {
    does: 'reads each record of a list by itself',
    breaks: ['one list, and one due, sees a commit to several of its records whole or not at all'],
    breakStore(storage) {
      const get: Storage['get'] = async (keys) => {
        await turn()
        return storage.get(keys)
      }
      return {
        ...storage,
        get,
        async commit(changes) {
          await turn()
          return storage.commit(changes)
        },
        async list(query) {
          const found: (StoredRecord | undefined)[] = []
          for (const { kind, value } of await storage.list(query)) found.push(...(await get([{ kind, id: value.id }])))
          return found.filter((record) => record !== undefined)
        },
      }
    },
  },
]
