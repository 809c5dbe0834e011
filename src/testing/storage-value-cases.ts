import type { Change, Storage, StoredRecord } from '../ports/storage.ts'
import { assertSame } from './assertions.ts'
import {
  INTERACTION,
  MOMENT,
  SIGNED_REQUEST,
  sampleAmount,
  sampleIncomingPayment,
  sampleInserts,
  sampleMetadata,
  WALLET_ADDRESS,
} from './sample-records.ts'
import { claim, insertClaim, mustCommit, replaceClaim, type StorageCase } from './storage-case.ts'

const INCOMING = 'incoming-payment'

interface Marks {
  readonly dueAt: number | undefined
  readonly isListed: boolean
  readonly schemaVersion: number
}

/** The marks of a record, those written out that it has by default. */
function marksOf(record: StoredRecord | undefined): Marks {
  return {
    dueAt: record?.dueAt,
    isListed: record?.isListed ?? false,
    schemaVersion: record?.schemaVersion ?? 1,
  }
}

const VALUES: readonly StorageCase[] = [
  {
    name: 'every kind of record comes back as it was written: exact amounts, absent members absent, its marks',
    async run(makeStorage) {
      const storage = await makeStorage()
      const inserts = sampleInserts().map((insert, index) => ({ ...insert, schemaVersion: index + 2 }))
      await mustCommit(storage, ...inserts)
      const found = await storage.get(inserts.map(({ kind, value }) => ({ kind, id: value.id })))
      for (const [index, { kind, value, dueAt, isListed, schemaVersion }] of inserts.entries()) {
        const record = found[index]
        const name = `${kind} ${value.id}`
        assertSame([record?.kind, record?.version], [kind, 1], `kind and version of ${name}`)
        assertSame(record?.value, value, `the value of ${name}`)
        assertSame(marksOf(record), { dueAt, isListed: isListed ?? false, schemaVersion }, `the marks of ${name}`)
      }
    },
  },
  {
    name: 'a replacement takes members and marks away that it does not name',
    async run(makeStorage) {
      const storage = await makeStorage()
      const full = { metadata: sampleMetadata(), incomingAmount: sampleAmount(1n), expiresAt: MOMENT }
      const value = sampleIncomingPayment('a')
      const marks = { isListed: true, dueAt: MOMENT }
      const insert: Change = { action: 'insert', kind: INCOMING, value: sampleIncomingPayment('a', full), ...marks }
      await mustCommit(storage, insert)
      await mustCommit(storage, { action: 'replace', kind: INCOMING, version: 1, value })
      const [record] = await storage.get([{ kind: INCOMING, id: 'a' }])
      assertSame([record?.value, record?.dueAt, record?.isListed ?? false], [value, undefined, false], 'the record')
      assertSame(await storage.due(INCOMING, MOMENT, 10), [], 'what is due')
      const query = { kind: INCOMING, walletAddress: WALLET_ADDRESS, direction: 'older', limit: 10 } as const
      assertSame(await storage.list(query), [], 'what is listed')
    },
  },
  {
    name: 'a record has the schema version that it was last written with, or 1',
    async run(makeStorage) {
      const storage = await makeStorage()
      await mustCommit(storage, insertClaim('none'), insertClaim('one', { schemaVersion: 1 }))
      await mustCommit(storage, insertClaim('newer', { schemaVersion: 3, dueAt: 1 }))
      const versions = async (): Promise<readonly (number | undefined)[]> =>
        (await storage.get(['none', 'one', 'newer'].map(claim))).map((record) => marksOf(record).schemaVersion)
      assertSame(await versions(), [1, 1, 3], 'the schema versions')
      await mustCommit(storage, replaceClaim('none', 1, 5, { schemaVersion: 2 }))
      await mustCommit(storage, replaceClaim('newer', 1, 5, { dueAt: 1 }))
      assertSame(await versions(), [2, 1, 1], 'the schema versions of the replacements')
    },
  },
  {
    name: 'a check leaves value and marks as they are',
    async run(makeStorage) {
      const storage = await makeStorage()
      const value = sampleIncomingPayment('a')
      const marks = { dueAt: MOMENT, isListed: true, schemaVersion: 2 }
      await mustCommit(storage, { action: 'insert', kind: INCOMING, value, ...marks })
      await mustCommit(storage, { action: 'check', kind: INCOMING, id: 'a', version: 1 })
      const [record] = await storage.get([{ kind: INCOMING, id: 'a' }])
      assertSame([record?.version, record?.value, marksOf(record)], [1, value, marks], 'the record')
    },
  },
  {
    name: 'list and due give whole records back, as get does',
    async run(makeStorage) {
      const storage = await makeStorage()
      const value = sampleIncomingPayment('a', { metadata: sampleMetadata(), expiresAt: MOMENT })
      const marks = { dueAt: MOMENT, isListed: true, schemaVersion: 0 }
      await mustCommit(storage, { action: 'insert', kind: INCOMING, value: sampleIncomingPayment('a'), ...marks })
      await mustCommit(storage, { action: 'replace', kind: INCOMING, version: 1, value, ...marks })
      const query = { kind: INCOMING, walletAddress: WALLET_ADDRESS, direction: 'older', limit: 10 } as const
      for (const [name, found] of [
        ['list', await storage.list(query)],
        ['due', await storage.due(INCOMING, MOMENT, 10)],
        ['get', await storage.get([{ kind: INCOMING, id: 'a' }])],
      ] as const) {
        const [record] = found
        const expected = [INCOMING, 2, value, marks]
        assertSame([record?.kind, record?.version, record?.value, marksOf(record)], expected, `the record of ${name}`)
      }
    },
  },
  {
    name: 'what a caller does to a value later does not reach the store',
    async run(makeStorage) {
      const storage = await makeStorage()
      const metadata = { order: 1 }
      await mustCommit(storage, { action: 'insert', kind: INCOMING, value: sampleIncomingPayment('a', { metadata }) })
      metadata.order = 2
      const [first] = await storage.get([{ kind: INCOMING, id: 'a' }])
      if (first !== undefined) Reflect.set(first.value, 'state', 'expired')
      const [second] = await storage.get([{ kind: INCOMING, id: 'a' }])
      assertSame(second?.value, sampleIncomingPayment('a', { metadata: { order: 1 } }), 'the value')
    },
  },
]

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
  '\u6f22'.repeat(20_000),
  "'".repeat(60_000),
]

async function assertTextsKept(storage: Storage, texts: readonly string[], toInsert: ToInsert): Promise<void> {
  for (const [index, text] of texts.entries()) {
    const insert = toInsert(`text${index}`, text)
    await mustCommit(storage, insert)
    const [record] = await storage.get([{ kind: insert.kind, id: insert.value.id }])
    assertSame(record?.value, insert.value, `text ${index} in ${insert.kind}`)
  }
}

type ToInsert = (id: string, text: string) => Extract<Change, { readonly action: 'insert' }>

const TEXTS: readonly StorageCase[] = [
  {
    name: 'text that a stranger chose comes back as it was, also the longest request',
    async run(makeStorage) {
      await assertTextsKept(await makeStorage(), ODD_TEXTS, (id, text) => ({
        action: 'insert',
        kind: 'signed-request',
        value: { ...SIGNED_REQUEST, id, base: text, body: text },
      }))
    },
  },
  {
    name: 'names and metadata that a stranger chose come back as they were, even what is no character',
    async run(makeStorage) {
      const storage = await makeStorage()
      const texts = [...ODD_TEXTS.filter(({ length }) => length < 1000), 'NUL \u0000', 'half a pair \ud83d', '\udc00']
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
      const query = { kind: INCOMING, walletAddress: WALLET_ADDRESS, client, direction: 'older', limit: 10 } as const
      assertSame((await storage.list(query))[0]?.value, value, 'the record')
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

/** What the store promises of values and marks: they come back as they were written. */
export const VALUE_CASES: readonly StorageCase[] = [...VALUES, ...TEXTS]
