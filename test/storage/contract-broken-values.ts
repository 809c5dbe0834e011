import type { Change, StoredRecord } from '../../src/ports/storage.ts'
import { type BrokenStore, idOf, keyOf, reading, withMember, writing } from './contract-broken.ts'

const EVERY_KIND = 'every kind of record comes back as it was written: exact amounts, absent members absent, its marks'
const STRANGERS_TEXT = 'text that a stranger chose comes back as it was, also the longest request'
const STRANGERS_NAMES = 'names and metadata that a stranger chose come back as they were, even what is no character'

function textMember(alter: (text: string) => string): (value: Change) => Change {
  return (change) => {
    if (!('value' in change) || change.kind !== 'signed-request') return change
    return { ...change, value: { ...change.value, body: alter(change.value.body) } }
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
    does: 'has no column for the schema version of one kind',
    breaks: [EVERY_KIND],
    breakStore: (storage) =>
      writing(storage, (change) => (change.kind === 'receipt' ? { ...change, schemaVersion: 1 } : change)),
  },
  {
    does: 'keeps a mark that was taken away',
    breaks: ['a replacement takes members and marks away that it does not name'],
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
    breaks: ['a replacement takes members and marks away that it does not name'],
    breakStore: (storage) => ({
      ...storage,
      async commit(changes) {
        const found = await storage.get(changes.map(keyOf))
        const merged = changes.map((change, index) =>
          change.action === 'replace' ? { ...change, value: { ...found[index]?.value, ...change.value } } : change,
        )
        return storage.commit(merged as readonly Change[])
      },
    }),
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
    breaks: ['list and due give whole records back, as get does'],
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
    breaks: ['list and due give whole records back, as get does'],
    breakStore: (storage) => ({
      ...storage,
      due: async (kind, now, limit) => (await storage.due(kind, now, limit)).map(({ dueAt: _, ...record }) => record),
    }),
  },
  {
    does: 'keeps the very objects that it is given',
    breaks: ['what a caller does to a value later does not reach the store'],
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
  {
    does: 'trims text',
    breaks: [STRANGERS_TEXT],
    breakStore: (storage) =>
      writing(
        storage,
        textMember((text) => text.trim()),
      ),
  },
  {
    does: 'normalises text',
    breaks: [STRANGERS_TEXT],
    breakStore: (storage) =>
      writing(
        storage,
        textMember((text) => text.normalize('NFC')),
      ),
  },
  {
    does: 'has columns of three bytes for a character',
    breaks: [STRANGERS_TEXT],
    breakStore: (storage) =>
      writing(
        storage,
        textMember((text) => text.replaceAll(/[\u{10000}-\u{10ffff}]/gu, '\ufffd')),
      ),
  },
  {
    does: 'cuts text at 32 KiB',
    breaks: [STRANGERS_TEXT],
    breakStore: (storage) =>
      writing(
        storage,
        textMember((text) => text.slice(0, 32_768)),
      ),
  },
  {
    does: 'takes no NUL in JSON',
    breaks: [STRANGERS_NAMES],
    rejects: 'unsupported Unicode escape sequence',
    breakStore: (storage) =>
      writing(storage, (change) => {
        const hasNul = 'metadata' in change.value && JSON.stringify(change.value.metadata).includes('NUL \\u0000')
        if (hasNul) throw new Error('unsupported Unicode escape sequence')
        return change
      }),
  },
  {
    does: 'turns half a pair of code units into a replacement character',
    breaks: [STRANGERS_NAMES],
    breakStore: (storage) =>
      reading(storage, (record) => ({
        ...record,
        value: withMember(record.value, 'clientName', (name) => Buffer.from(String(name)).toString()),
      })),
  },
  {
    does: 'cuts the name of a client at 255 characters',
    breaks: ['a client whose name has 2048 characters, the most there are, is kept and listed'],
    breakStore: (storage) =>
      writing(storage, (change) => {
        if (change.kind !== 'incoming-payment') return change
        return { ...change, value: { ...change.value, client: change.value.client.slice(0, 255) } }
      }),
  },
]
