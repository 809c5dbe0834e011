import type { Change, Storage } from '../../src/ports/storage.ts'
import { type BrokenStore, reading, withMember, writing } from './contract-broken.ts'

const STRANGERS_TEXT = 'text that a stranger chose comes back as it was, also the longest request'
const STRANGERS_NAMES = 'names and metadata that a stranger chose come back as they were, even what is no character'
const ACCOUNTS = 'names of accounts come back as the wallet gave them, in every kind that has one'
const ADDRESSES = 'the longest addresses of receivers and of rails come back whole'

function textMember(alter: (text: string) => string): (value: Change) => Change {
  return (change) => {
    if (!('value' in change) || change.kind !== 'signed-request') return change
    return { ...change, value: { ...change.value, body: alter(change.value.body) } }
  }
}

/** A store that writes the name of an account in another form. */
function naming(storage: Storage, member: 'account' | 'payeeAccount', keep: (name: string) => string): Storage {
  return reading(storage, (record) => ({
    ...record,
    value: withMember(record.value, member, (name) => keep(String(name))),
  }))
}

/** Stores that lose or change text. */
export const BROKEN_TEXTS: readonly BrokenStore[] = [
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
  {
    does: 'has a column of 65,535 bytes for a body',
    breaks: [STRANGERS_TEXT],
    breakStore: (storage) =>
      writing(
        storage,
        textMember((text) => Buffer.from(text).subarray(0, 65_535).toString()),
      ),
  },
  {
    does: 'trims the names of accounts',
    breaks: [ACCOUNTS],
    breakStore: (storage) => naming(storage, 'account', (name) => name.trim()),
  },
  {
    does: 'keeps the names of payees without regard to case',
    breaks: [ACCOUNTS],
    breakStore: (storage) => naming(storage, 'payeeAccount', (name) => name.toLowerCase()),
  },
  {
    does: 'cuts the names of accounts at 255 characters',
    breaks: [ACCOUNTS],
    breakStore: (storage) => naming(storage, 'account', (name) => name.slice(0, 255)),
  },
  {
    does: 'cuts the URLs of receivers at 255 characters',
    breaks: [ADDRESSES],
    breakStore: (storage) =>
      reading(storage, (record) => ({
        ...record,
        value: withMember(record.value, 'receiver', (receiver) => String(receiver).slice(0, 255)),
      })),
  },
  {
    does: 'cuts the addresses of rails at 1,000 characters',
    breaks: [ADDRESSES],
    breakStore: (storage) =>
      reading(storage, (record) => ({
        ...record,
        value: withMember(record.value, 'rail', (rail) =>
          withMember(Object(rail), 'address', (address) => String(address).slice(0, 1000)),
        ),
      })),
  },
]
