import type { RecordKind, Storage } from '../../src/ports/storage.ts'
import { type BrokenStore, withMember } from './contract-broken.ts'

const ONE_ANOTHER =
  'ids of any kind that differ in a letter, in its case, in a space or late in a long text are not taken for another'

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
    does: 'asks for what UTF-8 makes of an id',
    breaks: ['an id that is no text finds nothing, and no record whose id it might be turned into'],
    breakStore: (storage) => naming(storage, (id) => Buffer.from(id).toString()),
  },
  {
    does: 'ends an id at a NUL',
    breaks: ['an id that is no text finds nothing, and no record whose id it might be turned into'],
    breakStore: (storage) => naming(storage, (id) => id.replace(/\0.*$/s, '')),
  },
]
