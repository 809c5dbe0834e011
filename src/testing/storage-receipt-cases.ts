import type { Change, Key, RecordTypes, Storage, StoredRecord } from '../ports/storage.ts'
import { amountToWire } from '../protocol/amount.ts'
import { AssertionError, assertSame } from './assertions.ts'
import { MOMENT, sampleAmount, sampleIncomingPayment } from './sample-records.ts'
import { assertConflicts, FIFTY, mustCommit, ROUNDS, readValues, type StorageCase } from './storage-case.ts'

type IncomingPayment = RecordTypes['incoming-payment']

function receiptOf(transfer: string, incomingPaymentId: string): RecordTypes['receipt'] {
  return { id: `rail:${transfer}`, incomingPaymentId, state: 'credited', amount: sampleAmount(100n), createdAt: MOMENT }
}

/** An incoming payment that has received so much, and is completed if that is all it asks for. */
function incomingOf(id: string, received: bigint, asked?: bigint): IncomingPayment {
  return sampleIncomingPayment(id, {
    received: sampleAmount(received),
    state: received === asked ? 'completed' : received > 0n ? 'processing' : 'pending',
    ...(asked !== undefined && { incomingAmount: sampleAmount(asked) }),
  })
}

function completionOf({ id, walletAddress, received }: IncomingPayment): RecordTypes['event'] {
  const eventId = `${id}:2`
  const receivedAmount = amountToWire(received)
  const type = 'incoming_payment.completed'
  return { id: eventId, event: { type, id: eventId, at: MOMENT, incomingPayment: id, walletAddress, receivedAmount } }
}

/** The commit that counts a transfer: the receipt, its sum, and the event if that completes it. */
function counting(transfer: string, version: number, value: IncomingPayment): readonly Change[] {
  return [
    { action: 'insert', kind: 'receipt', value: receiptOf(transfer, value.id) },
    { action: 'replace', kind: 'incoming-payment', version, value, isListed: true },
    ...(value.state === 'completed' ? [{ action: 'insert', kind: 'event', value: completionOf(value) } as const] : []),
  ]
}

function insertIncoming(value: IncomingPayment): Change {
  return { action: 'insert', kind: 'incoming-payment', value, isListed: true }
}

async function readIncoming(storage: Storage, id: string): Promise<readonly [version: number, value: IncomingPayment]> {
  const [record] = await storage.get([{ kind: 'incoming-payment', id }])
  return foundIncoming(id, record)
}

function foundIncoming(
  id: string,
  record: StoredRecord | undefined,
): readonly [version: number, value: IncomingPayment] {
  if (record === undefined || !('reserved' in record.value)) throw new AssertionError(`${id}: there is no record`)
  return [record.version, record.value]
}

/** Counts 100 for a transfer, until that is written or the transfer is known or nothing more is asked for. */
async function count(storage: Storage, transfer: string, id: string): Promise<boolean> {
  // Of the writers that conflict at least one succeeds each time, so even the unluckiest succeeds by the fiftieth try.
  for (let attempt = 0; attempt < FIFTY.length; attempt++) {
    const [incoming, known] = await storage.get([
      { kind: 'incoming-payment', id },
      { kind: 'receipt', id: `rail:${transfer}` },
    ])
    const [version, { state, received, incomingAmount }] = foundIncoming(id, incoming)
    if (known !== undefined || state === 'completed') return false
    const value = incomingOf(id, received.value + 100n, incomingAmount?.value)
    const result = await storage.commit(counting(transfer, version, value))
    if (result === 'committed') return true
    assertConflicts(result, [0, 1, 2], 'a transfer that met another one')
  }
  throw new AssertionError(`transfer ${transfer}: expected at most 49 conflicts, got 50`)
}

async function assertReceipts(storage: Storage, expected: Readonly<Record<string, string | undefined>>): Promise<void> {
  const transfers = Object.entries(expected)
  const keys = transfers.map(([transfer]): Key => ({ kind: 'receipt', id: `rail:${transfer}` }))
  const receipts = transfers.map(([transfer, id]) => id && receiptOf(transfer, id))
  assertSame(await readValues(storage, ...keys), receipts, 'the receipts')
}

/** What the store promises of the commits that count money which came by a rail. */
export const RECEIPT_CASES: readonly StorageCase[] = [
  {
    name: 'of fifty reports of one transfer, to either of two incoming payments, exactly one is counted',
    async run(makeStorage) {
      const storage = await makeStorage()
      await mustCommit(storage, insertIncoming(incomingOf('a', 0n)), insertIncoming(incomingOf('b', 0n)))
      const toOf = (number: number): string => (number % 2 === 0 ? 'a' : 'b')
      const counted = await Promise.all(FIFTY.map((number) => count(storage, 'transfer', toOf(number))))
      assertSame(counted.filter(Boolean).length, 1, 'how many reports were counted')
      const winner = toOf(counted.indexOf(true))
      await assertReceipts(storage, { transfer: winner })
      for (const id of ['a', 'b']) {
        const expected = id === winner ? [2, incomingOf(id, 100n)] : [1, incomingOf(id, 0n)]
        assertSame(await readIncoming(storage, id), expected, `the incoming payment ${id}`)
      }
    },
  },
  {
    name: 'of two transfers that each complete an incoming payment one is counted, and it is completed once',
    async run(makeStorage) {
      const storage = await makeStorage()
      for (let round = 0; round < ROUNDS; round++) {
        const [id, one, other] = [`a${round}`, `one${round}`, `other${round}`]
        await mustCommit(storage, insertIncoming(incomingOf(id, 0n, 100n)))
        const counted = await Promise.all([count(storage, one, id), count(storage, other, id)])
        assertSame([...counted].sort(), [false, true], 'which transfers were counted')
        const completed = incomingOf(id, 100n, 100n)
        assertSame(await readIncoming(storage, id), [2, completed], 'the incoming payment')
        await assertReceipts(storage, { [one]: counted[0] ? id : undefined, [other]: counted[1] ? id : undefined })
        const events = await readValues(storage, { kind: 'event', id: `${id}:2` })
        assertSame(events, [completionOf(completed)], 'the event of its completion')
      }
    },
  },
  {
    name: 'of fifty transfers to one incoming payment that asks for ten exactly ten are counted, and the last completes it',
    async run(makeStorage) {
      const storage = await makeStorage()
      await mustCommit(storage, insertIncoming(incomingOf('a', 0n, 1000n)))
      const counted = await Promise.all(FIFTY.map((number) => count(storage, `transfer${number}`, 'a')))
      assertSame(counted.filter(Boolean).length, 10, 'how many of fifty transfers of a tenth were counted')
      const completed = incomingOf('a', 1000n, 1000n)
      assertSame(await readIncoming(storage, 'a'), [11, completed], 'the incoming payment')
      const receipts = FIFTY.map((number) => [`transfer${number}`, counted[number] ? 'a' : undefined])
      await assertReceipts(storage, Object.fromEntries(receipts))
      const events = await readValues(storage, { kind: 'event', id: 'a:2' })
      assertSame(events, [completionOf(completed)], 'the event of its completion')
    },
  },
]
