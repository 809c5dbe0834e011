import type { Change, CommitResult, Key, Storage } from '../ports/storage.ts'
import { AssertionError, assertSame } from './assertions.ts'
import { ACCESS_TOKEN, MOMENT, OUTGOING_PAYMENT, QUOTE, SIGNED_REQUEST, sampleSpending } from './sample-records.ts'
import {
  assertConflicts,
  claim,
  FIFTY,
  insertClaim,
  mustCommit,
  readVersions,
  type StorageCase,
} from './storage-case.ts'

const TOKEN = { kind: 'access-token', id: ACCESS_TOKEN.id } as const
const SPENDING = { kind: 'spending', id: 'sum' } as const

/** What is written of every payment, whatever it uses up. */
function insertPayment(number: number, claimId: string): readonly Change[] {
  const id = `payment${number}`
  return [
    { action: 'insert', kind: 'outgoing-payment', value: { ...OUTGOING_PAYMENT, id }, dueAt: MOMENT },
    { action: 'insert', kind: 'signed-request', value: { ...SIGNED_REQUEST, id } },
    { action: 'check', ...TOKEN, version: 1 },
    insertClaim(claimId, { dueAt: MOMENT }),
  ]
}

/** The index, in a commit, of the change that uses something up: after the changes of `insertPayment`. */
const USED = 4
const CLAIM = 3

/** Asserts that of fifty payments, the successful ones are stored completely, and nothing of the others. */
async function assertPayments(storage: Storage, paid: readonly boolean[]): Promise<void> {
  const keys = FIFTY.flatMap((number): readonly Key[] => [
    { kind: 'outgoing-payment', id: `payment${number}` },
    { kind: 'signed-request', id: `payment${number}` },
  ])
  const versions = await readVersions(storage, ...keys)
  for (const number of FIFTY) {
    const version = paid[number] ? 1 : undefined
    assertSame(versions.slice(2 * number, 2 * number + 2), [version, version], `the records of payment ${number}`)
  }
}

/** Commits fifty payments at once, of which exactly one fits; answers its number. */
async function raceForOne(
  storage: Storage,
  changesOf: (number: number) => readonly Change[],
  conflicts: readonly number[],
): Promise<number> {
  const results: readonly CommitResult[] = await Promise.all(FIFTY.map((number) => storage.commit(changesOf(number))))
  const paid = results.map((result) => result === 'committed')
  assertSame(paid.filter(Boolean).length, 1, 'how many of fifty payments succeeded')
  for (const result of results) if (result !== 'committed') assertConflicts(result, conflicts, 'a payment that did not')
  await assertPayments(storage, paid)
  return paid.indexOf(true)
}

/** Charges 100 to the limit of 1000 together with a payment, until that is written or over the limit. */
async function pay(storage: Storage, number: number): Promise<boolean> {
  // Ten commits succeed in all, so each attempt can meet at most ten conflicts.
  for (let attempt = 0; attempt <= 10; attempt++) {
    const [record] = await storage.get([SPENDING])
    const spent = record !== undefined && 'debit' in record.value ? record.value.debit.value : 0n
    if (spent + 100n > 1000n) return false
    const value = sampleSpending('sum', spent + 100n)
    const charge: Change =
      record === undefined
        ? { action: 'insert', kind: 'spending', value }
        : { action: 'replace', kind: 'spending', version: record.version, value }
    const result = await storage.commit([...insertPayment(number, `claim${number}`), charge])
    if (result === 'committed') return true
    assertConflicts(result, [USED], 'a payment that met another one')
  }
  throw new AssertionError(`payment ${number}: expected at most ten conflicts, got eleven`)
}

/** What the store promises of the commits that payments are made of. */
export const PAYMENT_CASES: readonly StorageCase[] = [
  {
    name: 'of fifty payments that spend one limit, which admits ten, exactly ten succeed',
    async run(makeStorage) {
      const storage = await makeStorage()
      await mustCommit(storage, { action: 'insert', kind: 'access-token', value: ACCESS_TOKEN })
      const paid = await Promise.all(FIFTY.map((number) => pay(storage, number)))
      assertSame(paid.filter(Boolean).length, 10, 'how many payments succeeded')
      const [record] = await storage.get([SPENDING])
      assertSame([record?.version, record?.value], [10, sampleSpending('sum', 1000n)], 'what is spent')
      await assertPayments(storage, paid)
      const claims = FIFTY.map((number) => claim(`claim${number}`))
      const expected = paid.map((isPaid) => (isPaid ? 1 : undefined))
      assertSame(await readVersions(storage, ...claims), expected, 'the versions of the claims')
    },
  },
  {
    name: 'of fifty payments with one quote exactly one succeeds, and the quote names it',
    async run(makeStorage) {
      const storage = await makeStorage()
      const token: Change = { action: 'insert', kind: 'access-token', value: ACCESS_TOKEN }
      await mustCommit(storage, token, { action: 'insert', kind: 'quote', value: QUOTE })
      const winner = await raceForOne(
        storage,
        (number) => [
          ...insertPayment(number, `claim${number}`),
          { action: 'replace', kind: 'quote', version: 1, value: usedBy(number) },
        ],
        [USED],
      )
      const [record] = await storage.get([{ kind: 'quote', id: QUOTE.id }])
      assertSame([record?.version, record?.value], [2, usedBy(winner)], 'the quote')
    },
  },
  {
    name: 'of fifty payments with one signed request and one key exactly one succeeds, and the key names it',
    async run(makeStorage) {
      const storage = await makeStorage()
      await mustCommit(storage, { action: 'insert', kind: 'access-token', value: ACCESS_TOKEN })
      const keyOf = (number: number) => ({
        id: 'key',
        bodyHash: 'c0de',
        resourceId: `payment${number}`,
        answer: { id: `payment${number}` },
        expiresAt: MOMENT,
      })
      const winner = await raceForOne(
        storage,
        (number) => [
          ...insertPayment(number, 'claim'),
          { action: 'insert', kind: 'idempotency-key', value: keyOf(number), dueAt: MOMENT },
        ],
        [CLAIM, USED],
      )
      const [record] = await storage.get([{ kind: 'idempotency-key', id: 'key' }])
      assertSame([record?.version, record?.value], [1, keyOf(winner)], 'the key')
    },
  },
]

function usedBy(number: number) {
  return { ...QUOTE, state: 'used', outgoingPaymentId: `payment${number}` } as const
}
