import type { Change, RecordKind, RecordTypes, Storage } from '../ports/storage.ts'
import { AssertionError, assertSame } from './assertions.ts'
import { sampleRailAccount } from './sample-rail.ts'
import { MOMENT, sampleAmount, sampleIncomingPayment } from './sample-records.ts'
import { assertConflicts, FIFTY, mustCommit, readValues, type StorageCase } from './storage-case.ts'

const ACCOUNT = sampleRailAccount()
/** What may come through the account, of which each transfer is a tenth. */
const LIMIT = 1000n

function receiptOf(number: number): RecordTypes['receipt'] {
  const { id: railAccountId } = ACCOUNT
  const amount = sampleAmount(100n)
  const taken = { state: 'reserved', amount, createdAt: MOMENT, railAccountId, railAmount: 100n } as const
  return { id: `transfer${number}`, incomingPaymentId: `incoming${number}`, payeeAccount: 'bob', ...taken }
}

function incomingOf(number: number, reserved: bigint): RecordTypes['incoming-payment'] {
  return sampleIncomingPayment(`incoming${number}`, { reserved: sampleAmount(reserved) })
}

function accountOf(received: bigint): RecordTypes['rail-account'] {
  return sampleRailAccount({ sent: 0n, inFlight: 0n, received })
}

/** Takes a transfer for a payment of its own, until that is written or the account may take no more. */
async function take(storage: Storage, number: number): Promise<boolean> {
  // Ten commits succeed in all, so each attempt can meet at most ten conflicts.
  for (let attempt = 0; attempt <= 10; attempt++) {
    const [record] = await storage.get([{ kind: 'rail-account', id: ACCOUNT.id }])
    const received = record !== undefined && 'sent' in record.value ? record.value.received : 0n
    if (received + 100n > LIMIT) return false
    const value = accountOf(received + 100n)
    const moved: Change =
      record === undefined
        ? { action: 'insert', kind: 'rail-account', value }
        : { action: 'replace', kind: 'rail-account', version: record.version, value }
    const result = await storage.commit([
      { action: 'insert', kind: 'receipt', value: receiptOf(number), dueAt: MOMENT + number },
      { action: 'replace', kind: 'incoming-payment', version: 1, value: incomingOf(number, 100n) },
      moved,
    ])
    if (result === 'committed') return true
    assertConflicts(result, [2], 'a transfer that met another one')
  }
  throw new AssertionError(`transfer ${number}: expected at most ten conflicts, got eleven`)
}

/** What the store promises of the commits that take money through an account of a payment method. */
export const RAIL_CASES: readonly StorageCase[] = [
  {
    name: 'of fifty transfers through an account that may take ten, each for a payment of its own, exactly ten are taken',
    async run(makeStorage) {
      const storage = await makeStorage()
      await mustCommit(
        storage,
        ...FIFTY.map(
          (number): Change => ({ action: 'insert', kind: 'incoming-payment', value: incomingOf(number, 0n) }),
        ),
      )
      const taken = await Promise.all(FIFTY.map((number) => take(storage, number)))
      assertSame(taken.filter(Boolean).length, 10, 'how many of fifty transfers of a tenth were taken')
      const [account] = await storage.get([{ kind: 'rail-account', id: ACCOUNT.id }])
      assertSame([account?.version, account?.value], [10, accountOf(LIMIT)], 'the account')
      const valuesOf = (kind: RecordKind, name: string) =>
        readValues(storage, ...FIFTY.map((number) => ({ kind, id: `${name}${number}` })))
      const expected = FIFTY.map((number) => (taken[number] ? receiptOf(number) : undefined))
      assertSame(await valuesOf('receipt', 'transfer'), expected, 'the receipts')
      const payments = FIFTY.map((number) => incomingOf(number, taken[number] ? 100n : 0n))
      assertSame(await valuesOf('incoming-payment', 'incoming'), payments, 'the incoming payments')
      const due = await storage.due('receipt', MOMENT + FIFTY.length, FIFTY.length)
      assertSame(
        due.map(({ value }) => value),
        expected.filter((receipt) => receipt !== undefined),
        'the receipts that are due',
      )
    },
  },
]
