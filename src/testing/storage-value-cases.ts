import type { Change, RecordKind, RecordMarks, Storage, StoredRecord } from '../ports/storage.ts'
import { assertSame } from './assertions.ts'
import { CLIENT, type Insert, MOMENT, sampleIncomingPayment, sampleInserts, WALLET_ADDRESS } from './sample-records.ts'
import {
  claim,
  insertClaim,
  KINDS,
  LISTED_SAMPLES,
  mustCommit,
  replaceClaim,
  type StorageCase,
  samplesOf,
  withMembers,
} from './storage-case.ts'

const INCOMING = 'incoming-payment'
const LIST = { walletAddress: WALLET_ADDRESS, direction: 'older', limit: 10 } as const

interface Marks {
  readonly dueAt: number | undefined
  readonly isListed: boolean
  readonly schemaVersion: number
}

/** The marks of a record, those written out that it has by default. */
function marksOf(record: RecordMarks | undefined): Marks {
  return {
    dueAt: record?.dueAt,
    isListed: record?.isListed ?? false,
    schemaVersion: record?.schemaVersion ?? 1,
  }
}

/** The lists of every kind, of all clients or of one. */
async function listEach(storage: Storage, client?: string): Promise<readonly StoredRecord[]> {
  const query = { ...LIST, ...(client !== undefined && { client }) }
  return (await Promise.all(LISTED_SAMPLES.map(({ kind }) => storage.list({ ...query, kind })))).flat()
}

/** All that a record is. */
function partsOf(record: StoredRecord | undefined): unknown {
  return { kind: record?.kind, version: record?.version, value: record?.value, marks: marksOf(record) }
}

/** Every mark that a record can have: a grant is listed once its owner has given it, and then has a wallet address. */
function marksAt({ kind, value }: Insert, dueAt: number): RecordMarks {
  const isListed = LISTED_SAMPLES.some((listed) => listed.kind === kind) && 'walletAddress' in value
  return { dueAt, isListed, schemaVersion: 0 }
}

/** Gives each number another value, however deep it is. */
function alterNumbers(value: object): void {
  for (const [name, member] of Object.entries(value)) {
    if (typeof member === 'number') Reflect.set(value, name, Math.abs(member - 1))
    else if (typeof member === 'bigint') Reflect.set(value, name, member ^ 1n)
    else if (typeof member === 'object' && member !== null) alterNumbers(member)
  }
}

/** The forms that a record of a kind takes in turn: the samples, and each of them with other numbers. */
function formsOf(kind: RecordKind): readonly Insert[] {
  return samplesOf(kind, 'a').flatMap((insert) => {
    const other = structuredClone(insert)
    alterNumbers(other.value)
    return [insert, other]
  })
}

/** What the store promises of values and marks: they come back as they were written. */
export const VALUE_CASES: readonly StorageCase[] = [
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
    name: 'a replacement of any kind takes the place of all that was there, and get, list and due give the whole of it',
    async run(makeStorage) {
      const storage = await makeStorage()
      const forms = KINDS.map(formsOf)
      const most = Math.max(...forms.map(({ length }) => length))
      for (let step = 0; step <= most; step++) {
        // Marked when it is inserted, then not; marked by a replacement, then moved by another.
        const isMarked = step % 3 !== 1
        const inserts = forms
          .flatMap((form) => form[step % form.length] ?? [])
          .map((insert): Insert => (isMarked ? { ...insert, ...marksAt(insert, MOMENT + step) } : insert))
        const replacements = inserts.map((insert): Change => ({ ...insert, action: 'replace', version: step }))
        await mustCommit(storage, ...(step === 0 ? inserts : replacements))
        const found = await storage.get(KINDS.map((kind) => ({ kind, id: 'a' })))
        const due = await Promise.all(KINDS.map((kind) => storage.due(kind, MOMENT + step, 10)))
        const listed = await listEach(storage)
        const ofClient = await listEach(storage, CLIENT)
        for (const [index, insert] of inserts.entries()) {
          const { kind, value } = insert
          const what = `${kind} after ${step} replacements`
          const whole = { kind, version: step + 1, value, marks: marksOf(insert) }
          const ofKind = (records: readonly StoredRecord[]) =>
            records.filter((record) => record.kind === kind).map(partsOf)
          assertSame(partsOf(found[index]), whole, `get of ${what}`)
          assertSame(ofKind(due.flat()), isMarked ? [whole] : [], `due of ${what}`)
          const shown = insert.isListed === true ? [whole] : []
          assertSame(ofKind(listed), shown, `list of ${what}`)
          assertSame(ofKind(ofClient), shown, `list of ${what}, of its client`)
        }
      }
    },
  },
  {
    name: 'what a replacement lists is in the lists, those of its client too, until it is deleted, and no other record for it',
    async run(makeStorage) {
      const storage = await makeStorage()
      const listed = LISTED_SAMPLES.map((insert) => withMembers(insert, { id: 'a' }))
      const assertListed = async (client: string | undefined, versions: readonly number[], when: string) => {
        const found = (await listEach(storage, client)).map(({ kind, version }) => [kind, version])
        const expected = listed.flatMap(({ kind }) => versions.map((version) => [kind, version]))
        assertSame(found, expected, `kinds and versions in the lists of ${client ?? 'all clients'} ${when}`)
      }
      await mustCommit(storage, ...listed.map((insert) => ({ ...insert, isListed: false })))
      for (const version of [1, 2]) {
        await mustCommit(storage, ...listed.map((insert): Change => ({ ...insert, action: 'replace', version })))
        await assertListed(undefined, [version + 1], `after ${version} replacements`)
        await assertListed(CLIENT, [version + 1], `after ${version} replacements`)
      }
      await mustCommit(storage, ...listed.map(({ kind }) => ({ action: 'delete', kind, id: 'a', version: 3 }) as const))
      await assertListed(undefined, [], 'after the deletion')
      await assertListed(CLIENT, [], 'after the deletion')
      await mustCommit(storage, ...listed.map((insert) => withMembers(insert, { client: 'jwk:other' })))
      await assertListed('jwk:other', [1], 'after another client has inserted the ids')
      await assertListed(CLIENT, [], 'after another client has inserted the ids')
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
    name: 'what a caller does to a value later does not reach the store',
    async run(makeStorage) {
      const storage = await makeStorage()
      const metadata = { order: 1 }
      const value = sampleIncomingPayment('a', { metadata })
      await mustCommit(storage, { action: 'insert', kind: INCOMING, value, isListed: true, dueAt: MOMENT })
      metadata.order = 2
      const reads: Readonly<Record<string, () => Promise<readonly (StoredRecord | undefined)[]>>> = {
        get: () => storage.get([{ kind: INCOMING, id: 'a' }]),
        list: () => storage.list({ ...LIST, kind: INCOMING }),
        due: () => storage.due(INCOMING, MOMENT, 10),
      }
      const expected = sampleIncomingPayment('a', { metadata: { order: 1 } })
      for (const [from, readFirst] of Object.entries(reads)) {
        const [first] = await readFirst()
        assertSame(first?.value, expected, `the value by ${from}, after its writer altered what it wrote`)
        if (first !== undefined) {
          Reflect.set(first.value, 'state', 'expired')
          alterNumbers(first.value)
        }
        for (const [by, read] of Object.entries(reads))
          assertSame((await read())[0]?.value, expected, `the value by ${by}, after its caller altered that of ${from}`)
      }
    },
  },
]
