import type { Change, Storage, StoredRecord } from '../../src/ports/storage.ts'
import { type BrokenStore, idOf, reading, replacing, withMember, writing } from './contract-broken.ts'

const EVERY_KIND = 'every kind of record comes back as it was written: exact amounts, absent members absent, its marks'
const CALLERS = 'what a caller does to a value later does not reach the store'
const REPLACEMENT =
  'a replacement of any kind takes the place of all that was there, and get, list and due give the whole of it'

/** A store that makes something else of some texts in metadata. */
function reviving(storage: Storage, pattern: RegExp, revive: (text: string) => unknown): Storage {
  const revived = (member: unknown): unknown =>
    JSON.parse(JSON.stringify(member), (_name, value: unknown) =>
      typeof value === 'string' && pattern.test(value) ? revive(value) : value,
    )
  return reading(storage, (record) => ({ ...record, value: withMember(record.value, 'metadata', revived) }))
}

/** A store that marks a bigint as JSON, such as `{"$bigint":"1"}`, and takes whatever looks so for one. */
function marking(storage: Storage, mark: RegExp): Storage {
  const revived = (member: unknown): unknown =>
    JSON.parse(JSON.stringify(member), (_name, value: unknown) =>
      mark.test(JSON.stringify(value)) ? 'a bigint' : value,
    )
  return reading(storage, (record) => ({ ...record, value: withMember(record.value, 'metadata', revived) }))
}

const MARKS: readonly (readonly [string, RegExp])[] = [
  ['$bigint', /^\{"\$bigint":"1"\}$/],
  ['__bigint__', /^\{"__bigint__":/],
  ['bigint', /^\{"bigint":/],
  ['$numberLong', /^\{"\$numberLong":/],
  ['type', /^\{"type":"bigint"/],
  ['__type', /^\{"__type":"bigint"/],
  ['a list', /^\["bigint",/],
  ['BIGINT::', /^"BIGINT::/],
  ['~n', /^"~n/],
]

/** One object for each version of a record: whoever changes it changes what the next reader is given. */
function keeping(): (record: StoredRecord) => object {
  const kept = new Map<string, object>()
  return ({ kind, version, value }) => {
    const name = `${kind} ${value.id} ${version}`
    const own = kept.get(name) ?? structuredClone(value)
    kept.set(name, own)
    return own
  }
}

/** Stores that lose or change what they are given. */
export const BROKEN_VALUES: readonly BrokenStore[] = [
  {
    does: 'loses digits of amounts',
    breaks: [EVERY_KIND],
    breakStore: (storage) =>
      reading(storage, (record) => {
        const rounded = (amount: unknown): unknown =>
          withMember(Object(amount), 'value', (value) => BigInt(Number(value)))
        return { ...record, value: withMember(record.value, 'received', rounded) }
      }),
  },
  {
    does: 'merges metadata into an object of its own',
    breaks: [EVERY_KIND],
    breakStore: (storage) =>
      reading(storage, (record) => {
        const merged = (metadata: unknown): unknown => {
          const own: Record<string, unknown> = {}
          for (const [name, value] of Object.entries(Object(metadata))) own[name] = value
          return own
        }
        return { ...record, value: withMember(record.value, 'metadata', merged) }
      }),
  },
  {
    does: 'takes text that looks like a bigint for one',
    breaks: [EVERY_KIND],
    breakStore: (storage) => reviving(storage, /^-?\d+n$/, (text) => BigInt(text.slice(0, -1))),
  },
  {
    does: 'takes text that looks like a bigint above zero for one',
    breaks: [EVERY_KIND],
    breakStore: (storage) => reviving(storage, /^\d+n$/, (text) => BigInt(text.slice(0, -1))),
  },
  {
    does: 'takes text that names a bigint for one',
    breaks: [EVERY_KIND],
    breakStore: (storage) => reviving(storage, /^bigint:\d+$/, (text) => BigInt(text.slice(7))),
  },
  ...MARKS.map(
    ([name, mark]): BrokenStore => ({
      does: `takes what looks like its mark of a bigint for one: ${name}`,
      breaks: [EVERY_KIND],
      breakStore: (storage) => marking(storage, mark),
    }),
  ),
  {
    does: 'takes text that looks like a date for one, and writes it in its own form',
    breaks: [EVERY_KIND],
    breakStore: (storage) => reviving(storage, /^\d+-\d\d-\d\dT[\d:]+Z$/, (text) => new Date(text).toISOString()),
  },
  {
    does: 'takes no list in a list',
    breaks: [EVERY_KIND],
    rejects: 'nested arrays are not supported',
    breakStore: (storage) =>
      writing(storage, (change) => {
        const text = 'metadata' in change.value ? JSON.stringify(change.value.metadata) : ''
        if (text.includes('[[')) throw new Error('nested arrays are not supported')
        return change
      }),
  },
  {
    does: 'has no column for the schema version of one kind',
    breaks: [EVERY_KIND],
    breakStore: (storage) =>
      writing(storage, (change) => (change.kind === 'receipt' ? { ...change, schemaVersion: 1 } : change)),
  },
  {
    does: 'keeps a mark that was taken away',
    breaks: [REPLACEMENT],
    breakStore: (storage) => {
      const due = new Map<string, number>()
      return writing(storage, (change) => {
        const dueAt = change.dueAt ?? due.get(change.value.id)
        if (dueAt === undefined) return change
        due.set(change.value.id, dueAt)
        return { ...change, dueAt }
      })
    },
  },
  {
    does: 'merges a replacement into what was there',
    breaks: [REPLACEMENT],
    breakStore: (storage) =>
      replacing(storage, (change, { value }) => ({ ...change, value: { ...value, ...change.value } }) as Change),
  },
  {
    does: 'has forgotten a column where it replaces payments',
    breaks: [REPLACEMENT],
    breakStore: (storage) =>
      replacing(storage, (change, { value }) => {
        if (change.kind !== 'outgoing-payment' || !('attempts' in value)) return change
        return { ...change, value: { ...change.value, attempts: value.attempts } }
      }),
  },
  {
    does: 'keeps the due work of all kinds under one id',
    breaks: [REPLACEMENT],
    breakStore(storage) {
      const last = new Map<string, string>()
      return {
        ...writing(storage, (change) => {
          if (change.dueAt !== undefined) last.set(change.value.id, change.kind)
          return change
        }),
        due: async (kind, now, limit) =>
          (await storage.due(kind, now, limit)).filter(({ value }) => last.get(value.id) === kind),
      }
    },
  },
  {
    does: 'has no index of the work on payments',
    breaks: [REPLACEMENT],
    breakStore: (storage) => ({
      ...storage,
      due: async (kind, now, limit) => (kind === 'outgoing-payment' ? [] : storage.due(kind, now, limit)),
    }),
  },
  {
    does: 'moves work in its index, and never adds any to it when it replaces a record',
    breaks: [REPLACEMENT],
    breakStore: (storage) =>
      replacing(storage, ({ dueAt, ...change }, before) => ({
        ...change,
        ...(dueAt !== undefined && before.dueAt !== undefined && { dueAt }),
      })),
  },
  {
    does: 'lists what was listed when it was inserted',
    breaks: [REPLACEMENT],
    breakStore: (storage) => replacing(storage, (change, { isListed = false }) => ({ ...change, isListed })),
  },
  {
    does: 'keeps the schema version of the insert',
    breaks: ['a record has the schema version that it was last written with, or 1'],
    breakStore: (storage) => {
      const inserted = new Map<string, number>()
      return writing(storage, (change) => {
        if (change.action === 'insert') inserted.set(change.value.id, change.schemaVersion ?? 1)
        return { ...change, schemaVersion: inserted.get(change.value.id) ?? 1 }
      })
    },
  },
  {
    does: 'writes a record that is only checked anew, without its marks',
    breaks: ['a check leaves value and marks as they are'],
    breakStore(storage) {
      const checked = new Set<string>()
      const stripped = ({ kind, version, value, ...marks }: StoredRecord): StoredRecord =>
        Object.assign({ kind, version, value }, checked.has(value.id) ? {} : marks)
      return {
        ...reading(storage, stripped),
        commit(changes) {
          for (const change of changes) if (change.action === 'check') checked.add(idOf(change))
          return storage.commit(changes)
        },
      }
    },
  },
  {
    does: 'lists what its index knows, and not the whole record',
    breaks: [REPLACEMENT],
    breakStore: (storage) => ({
      ...storage,
      list: async (query) =>
        (await storage.list(query)).map((record) => ({
          ...record,
          value: withMember(record.value, 'metadata', () => ({})),
        })),
    }),
  },
  {
    does: 'finds work without saying when it was due',
    breaks: [REPLACEMENT],
    breakStore: (storage) => ({
      ...storage,
      due: async (kind, now, limit) => (await storage.due(kind, now, limit)).map(({ dueAt: _, ...record }) => record),
    }),
  },
  {
    does: 'copies what it keeps only one level deep for who reads it',
    breaks: [CALLERS],
    breakStore(storage) {
      const keptOf = keeping()
      return reading(storage, (record) => ({ ...record, value: Object({ ...keptOf(record) }) }))
    },
  },
  {
    does: 'copies what it keeps for who gets it, and not for who lists it or asks what is due',
    breaks: [CALLERS],
    breakStore(storage) {
      const keptOf = keeping()
      const own = (record: StoredRecord): StoredRecord => ({ ...record, value: Object(keptOf(record)) })
      return {
        ...reading(storage, own),
        get: async (keys) => (await storage.get(keys)).map((record) => record && structuredClone(own(record))),
      }
    },
  },
  {
    does: 'keeps the very objects that it is given',
    breaks: [CALLERS],
    breakStore(storage) {
      const given = new Map<string, object>()
      return {
        ...reading(storage, (record) => ({ ...record, value: Object(given.get(record.value.id)) })),
        commit(changes) {
          for (const change of changes) if ('value' in change) given.set(change.value.id, change.value)
          return storage.commit(changes)
        },
      }
    },
  },
]
