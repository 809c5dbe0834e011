import type { RecordKind, Storage } from '../../src/ports/storage.ts'
import { type BrokenStore, withMember } from './contract-broken.ts'

const ONE_ANOTHER =
  'ids of any kind that differ in a letter, its case, a sign, a space or late in a long text are not taken for another'

const LONGEST =
  'receipts whose ids are the longest there are, and differ in their last character, are not taken for another'

/** A store that takes what it makes of an id for the id. */
function naming(storage: Storage, nameOf: (id: string, kind: RecordKind) => string): Storage {
  const renamed = <T extends object>(named: T, kind: RecordKind): T =>
    withMember(named, 'id', (id) => nameOf(String(id), kind))
  return {
    ...storage,
    get: (keys) => storage.get(keys.map((key) => renamed(key, key.kind))),
    commit: (changes) =>
      storage.commit(
        changes.map((change) =>
          withMember(renamed(change, change.kind), 'value', (value) => renamed(Object(value), change.kind)),
        ),
      ),
  }
}

/** Stores that take one id for another. */
export const BROKEN_IDS: readonly BrokenStore[] = [
  {
    does: 'folds the case of ids',
    breaks: [ONE_ANOTHER],
    breakStore: (storage) => naming(storage, (id) => id.toLowerCase()),
  },
  {
    does: 'drops spaces at the end of ids',
    breaks: [ONE_ANOTHER],
    breakStore: (storage) => naming(storage, (id) => id.replace(/ +$/, '')),
  },
  {
    does: 'cuts ids at 64 characters',
    breaks: [ONE_ANOTHER],
    breakStore: (storage) => naming(storage, (id) => id.slice(0, 64)),
  },
  {
    does: 'cuts ids at 255 characters',
    breaks: [ONE_ANOTHER],
    breakStore: (storage) => naming(storage, (id) => id.slice(0, 255)),
  },
  {
    does: 'cuts the ids of receipts at 64 characters',
    breaks: [ONE_ANOTHER],
    breakStore: (storage) => naming(storage, (id, kind) => (kind === 'receipt' ? id.slice(0, 64) : id)),
  },
  {
    does: 'normalises ids',
    breaks: [ONE_ANOTHER],
    breakStore: (storage) => naming(storage, (id) => id.normalize('NFC')),
  },
  {
    does: 'leaves quotation marks and backslashes out of ids',
    breaks: [ONE_ANOTHER],
    breakStore: (storage) => naming(storage, (id) => id.replaceAll(/['"\\]/g, '')),
  },
  {
    does: 'writes ids into its statements',
    breaks: [ONE_ANOTHER],
    rejects: 'unterminated quoted string',
    breakStore: (storage) =>
      naming(storage, (id) => {
        if (id.includes("'")) throw new Error('unterminated quoted string')
        return id
      }),
  },
  {
    does: 'reads an id up to its second colon',
    breaks: [ONE_ANOTHER],
    breakStore: (storage) => naming(storage, (id) => id.split(':').slice(0, 2).join(':')),
  },
  {
    does: 'makes its keys of a kind and an id, with a # between them, and reads the id up to the next one',
    breaks: [ONE_ANOTHER],
    breakStore: (storage) => naming(storage, (id) => id.replace(/#.*$/, '')),
  },
  {
    does: 'makes names of files of its ids',
    breaks: [ONE_ANOTHER],
    breakStore: (storage) => naming(storage, (id) => id.replaceAll('/', '_')),
  },
  {
    does: 'decodes its ids as parts of a URL',
    breaks: [ONE_ANOTHER],
    breakStore: (storage) => naming(storage, (id) => id.replaceAll('%2F', '/')),
  },
  {
    does: 'takes a line feed in an id for a space',
    breaks: [ONE_ANOTHER],
    breakStore: (storage) => naming(storage, (id) => id.replaceAll('\n', ' ')),
  },
  {
    does: 'cuts ids at 300 characters',
    breaks: [LONGEST],
    breakStore: (storage) => naming(storage, (id) => id.slice(0, 300)),
  },
  {
    does: 'cuts ids at 512 characters',
    breaks: [LONGEST],
    breakStore: (storage) => naming(storage, (id) => id.slice(0, 512)),
  },
  {
    does: 'cuts ids at 1024 bytes',
    breaks: [LONGEST],
    breakStore: (storage) => naming(storage, (id) => Buffer.from(id).subarray(0, 1024).toString()),
  },
]
