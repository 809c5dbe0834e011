import type { Storage } from '../ports/storage.ts'
import { assertSame } from './assertions.ts'
import { RAIL_TERMS, sampleRailAccount } from './sample-rail.ts'
import {
  INTERACTION,
  type Insert,
  OUTGOING_PAYMENT,
  QUOTE,
  SIGNED_REQUEST,
  sampleIncomingPayment,
  sampleInserts,
  WALLET_ADDRESS,
} from './sample-records.ts'
import { mustCommit, readValues, type StorageCase, withMembers } from './storage-case.ts'

const INCOMING = 'incoming-payment'
const LIST = { walletAddress: WALLET_ADDRESS, direction: 'older', limit: 10 } as const

// What trims, folds, normalises, escapes, counts in bytes or stops at a character would not give back.
const ODD_TEXTS: readonly string[] = [
  '',
  ' \t\r\n leading and trailing \n ',
  `'; DROP TABLE op_grant; --`,
  '" \\ ` % _ * ? $1 :id {} <b> &amp; \\n \\u0000 \\x00 \\',
  'null',
  '0123',
  '\u2028 \u2029 \u0085 \u00a0 \u200b \u202e \ufeff',
  '\u0001 \u001f \u007f \u0080 \ufffd \uffff',
  'e\u0301 is not \u00e9, \u00df not ss, \u0130 not i, \u212a not K',
  '\u{1f600} \u{1f469}\u200d\u{1f469}\u200d\u{1f467}\u200d\u{1f466} \u{10ffff} \ufdfd',
  '\u6f22'.repeat(1_500),
]

/** Bodies of as many bytes as the library lets in by default, 65,536. */
const LONGEST_BODIES: readonly string[] = [`${'\u6f22'.repeat(21_845)}x`, '"'.repeat(65_536)]

/** Names that a wallet may have given its accounts. */
const ACCOUNTS: readonly string[] = [
  ...['alice ', ' alice', 'Alice', 'alic\u00e9', 'alice\u0301', '007', 'null', 'alice\u{1f600}'],
  ...[`${'a'.repeat(64)}1`, `${'a'.repeat(300)}2`],
]

async function assertTextsKept(storage: Storage, texts: readonly string[], toInsert: ToInsert): Promise<void> {
  for (const [index, text] of texts.entries()) {
    const insert = toInsert(`text${index}`, text)
    await mustCommit(storage, insert)
    const found = await readValues(storage, { kind: insert.kind, id: insert.value.id })
    assertSame(found, [insert.value], `text ${index} in ${insert.kind}`)
  }
}

type ToInsert = (id: string, text: string) => Insert

/** What the store promises of text, whoever chose it. */
export const TEXT_CASES: readonly StorageCase[] = [
  {
    name: 'text that a stranger chose comes back as it was, also the longest request',
    async run(makeStorage) {
      const storage = await makeStorage()
      for (const texts of [ODD_TEXTS, LONGEST_BODIES]) {
        await assertTextsKept(storage, texts, (id, text) => ({
          action: 'insert',
          kind: 'signed-request',
          // Headers, which the base is made of, are shorter than bodies.
          value: { ...SIGNED_REQUEST, id: `${id} of ${texts.length}`, base: text.slice(0, 20_000), body: text },
        }))
      }
    },
  },
  {
    name: 'names and metadata that a stranger chose come back as they were, even what is no character',
    async run(makeStorage) {
      const storage = await makeStorage()
      const texts = [...ODD_TEXTS, 'NUL \u0000', 'half a pair \ud83d', '\udc00']
      await assertTextsKept(storage, texts, (id, text) => ({
        action: 'insert',
        kind: INCOMING,
        value: sampleIncomingPayment(id, { metadata: { [text]: [text, { [text]: text }] } }),
      }))
      await assertTextsKept(storage, texts, (id, text) => ({
        action: 'insert',
        kind: 'interaction',
        value: { ...INTERACTION, id, clientName: text },
      }))
    },
  },
  {
    name: 'a client whose name has 2048 characters, the most there are, is kept and listed',
    async run(makeStorage) {
      const storage = await makeStorage()
      const client = longClient()
      const value = sampleIncomingPayment('a', { client })
      await mustCommit(storage, { action: 'insert', kind: INCOMING, value, isListed: true })
      assertSame((await storage.list({ ...LIST, kind: INCOMING, client }))[0]?.value, value, 'the record')
    },
  },
  {
    name: 'names of accounts come back as the wallet gave them, in every kind that has one',
    async run(makeStorage) {
      const storage = await makeStorage()
      for (const [index, account] of ACCOUNTS.entries()) {
        const inserts = sampleInserts().flatMap((insert): readonly Insert[] => {
          const names = ['account', 'payeeAccount'].filter((name) => Object.hasOwn(insert.value, name))
          const members = Object.fromEntries(names.map((name) => [name, account]))
          const id = `${insert.value.id}${index}`
          return names.length > 0 ? [withMembers(insert, { ...members, id })] : []
        })
        await mustCommit(storage, ...inserts)
        const found = await readValues(storage, ...inserts.map(({ kind, value }) => ({ kind, id: value.id })))
        for (const [at, { kind, value }] of inserts.entries()) {
          const what = `a record of the kind ${kind}, whose account is ${JSON.stringify(account)}`
          assertSame(found[at], value, what)
        }
      }
    },
  },
  {
    name: 'the longest addresses of receivers and of rails come back whole',
    async run(makeStorage) {
      const storage = await makeStorage()
      const url = 'https://other-wallet.example/'.padEnd(2047, 'x')
      const ilp = 'g.other-wallet.'.padEnd(1022, 'x')
      // The account with a peer whose address leaves room for those below it.
      const peer = 'g.other-wallet.'.padEnd(977, 'x')
      const account = sampleRailAccount({ id: `ilp:${peer}` })
      const terms = { ...RAIL_TERMS, account: peer, address: `${ilp}b`, walletAddress: `${url}a` }
      const quote = { ...QUOTE, id: 'longest', receiver: `${url}b`, rail: { ...RAIL_TERMS, account: terms.account } }
      const payment = { ...OUTGOING_PAYMENT, id: 'longest', receiver: `${url}b`, rail: terms }
      const inserts: readonly Insert[] = [
        { action: 'insert', kind: 'outgoing-payment', value: payment },
        { action: 'insert', kind: 'quote', value: quote },
        { action: 'insert', kind: 'rail-account', value: account },
      ]
      await mustCommit(storage, ...inserts)
      const found = await readValues(storage, ...inserts.map(({ kind, value }) => ({ kind, id: value.id })))
      const values = inserts.map(({ value }) => value)
      assertSame(found, values, 'the values')
    },
  },
]

/** A wallet address that no index can compress. */
function longClient(): string {
  let state = 1
  let url = 'https://client.example/'
  while (url.length < 2048) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    url += state.toString(36)
  }
  return url.slice(0, 2048)
}
