import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { AuditedPayment, Ledger, OpenPayments } from 'open-payments-server'
import { ilp } from 'open-payments-server/ilp'
import { readSqliteBooks, type SqliteHandle, sqliteLedger } from 'open-payments-server/ledger/sqlite'
import {
  type LoggedCall,
  loggedLedger,
  type Received,
  readReceived,
  reconcileAll,
  tellLedger,
} from 'open-payments-server/reconciliation'
import { openSqlite, sqliteStorage } from 'open-payments-server/storage/sqlite'
import { expect, onTestFinished } from 'vitest'
import { decodeIlpPacket, encodeAmountTooLarge } from '../../adapters/ilp/packet.ts'
import { PEER, peerRequest, TOKEN } from '../ilp/receiver-world.ts'
import { testPath } from '../ilp/sender-path.ts'
import { reject, type TestReceiver, testReceiver } from '../ilp/sender-receiver.ts'
import { fakeRemoteReceivers, REMOTE } from '../support/fake-remote-receivers.ts'
import { lastSegment } from '../support/last-segment.ts'
import { ALICE, BASE, BOB, type TestWallet, testWallet, usd } from '../support/test-wallet.ts'
import { logTo } from './log-to.ts'

// What docs/production.md says of backups is played on SQLite, whose files can be copied at any moment.

/** What reconciliation says after the id of a hold or an entry that no payment has. */
export const FOR_NO_PAYMENT = 'held or booked for no payment'

/** A backup of a database, restored beside it. */
export async function copyOf(handle: SqliteHandle): Promise<SqliteHandle> {
  const folder = mkdtempSync(join(tmpdir(), 'restored-'))
  handle.exec(`VACUUM INTO '${folder}/copy.db'`)
  const copy = await openSqlite(`${folder}/copy.db`)
  onTestFinished(() => {
    copy.close()
    rmSync(folder, { recursive: true })
  })
  return copy
}

/** A ledger in which Alice has 1000.00 and Bob nothing. */
export async function openLedger(handle?: SqliteHandle) {
  const books = handle ?? (await openSqlite(':memory:'))
  const ledger = sqliteLedger(books)
  const asset = { assetCode: 'USD', assetScale: 2 }
  await ledger.createAccount({ account: 'alice', ...asset, balance: 100_000n })
  await ledger.createAccount({ account: 'bob', ...asset })
  return { books, ledger }
}

/** A receiver at another wallet, which lives on whatever is restored here. */
export async function openElsewhere() {
  const receiver = await testReceiver({ isIdempotent: true })
  const remoteReceivers = fakeRemoteReceivers()
  const { ilpAddress: address, sharedSecret } = receiver.details
  const { url } = remoteReceivers.add({ walletAddress: `${REMOTE}/carol`, address, sharedSecret })
  return { receiver, remoteReceivers, url }
}

/** Of the next payment that is ordered no more than `part` arrives, until what is answered is called. */
export function letArrive({ receiver, remoteReceivers }: Awaited<ReturnType<typeof openElsewhere>>, part: bigint) {
  const { answer } = receiver
  let [room, reads] = [part, 0]
  // It is read when it is ordered, and again before anything leaves.
  remoteReceivers.before = async () => {
    reads += 1
    if (reads !== 2) return
    receiver.answer = async (prepare, amount, now) => {
      if (room === 0n) return reject('T01')
      if (amount > room) return reject('F08', encodeAmountTooLarge({ receivedAmount: amount, maximumAmount: room }))
      room -= amount
      return answer(prepare, amount, now)
    }
  }
  return (): void => {
    receiver.answer = answer
  }
}

/** A ledger of which a process that ends has made its last call: this one never arrives. */
export function endingBefore(ledger: Ledger, last: 'hold' | 'credit' | 'settle'): Ledger {
  return { ...ledger, [last]: () => Promise.reject(new Error('injected: the process has ended')) }
}

/** A wallet on a storage and a ledger, with a peer; `settled` says what its operator's books say at that moment. */
export async function openWallet(
  storage: SqliteHandle,
  ledger: Ledger,
  {
    elsewhere,
    settled = () => 0n,
  }: { readonly elsewhere?: Awaited<ReturnType<typeof openElsewhere>>; readonly settled?: () => bigint } = {},
) {
  const receiver: Pick<TestReceiver, 'answer'> = elsewhere?.receiver ?? (await testReceiver())
  let path: ReturnType<typeof testPath> | undefined
  const peer = { ...PEER, isDefault: true, isIdempotent: true, settled, limits: { sending: 1000n, receiving: 1000n } }
  const rail = ilp({
    address: 'test.wallet',
    peers: [peer],
    send: (request) => path?.send(request) ?? Promise.reject(new Error('there is no way yet')),
  })
  const wallet = await testWallet({
    storage: sqliteStorage(storage),
    ledger,
    paymentMethods: [rail],
    ...(elsewhere && { remoteReceivers: elsewhere.remoteReceivers }),
  })
  path = testPath(receiver, wallet.clock)
  return {
    wallet,
    owed: async () => (await rail.balance('test.peer')).owed,
    balance: () => rail.balance('test.peer'),
    /** Hands over a packet of the peer; answers the kind of its answer. */
    bring: async (bytes: Uint8Array): Promise<string | undefined> => {
      const request = peerRequest(bytes, { authorization: `Bearer ${TOKEN}` })
      const { status, body } = await wallet.openPayments.handle(request)
      expect(status).toBe(200)
      await wallet.openPayments.drain()
      return body instanceof Uint8Array ? decodeIlpPacket(body)?.type : undefined
    },
  }
}

/** Alice orders a payment of 5.00, and whatever comes of it by itself has come; answers its id. */
export async function order(wallet: TestWallet, token: string, incomingPayment: string): Promise<string> {
  const json = { walletAddress: ALICE, incomingPayment, debitAmount: usd('500') }
  const created = await wallet.send('POST', `${BASE}/outgoing-payments`, { token, json })
  expect(created.status).toBe(201)
  await wallet.openPayments.drain()
  return lastSegment(created.body.id)
}

/** Step by step until nothing is due. */
export async function recoverAll({ openPayments, clock }: TestWallet): Promise<void> {
  for (let round = 0; round < 8; round++) {
    await openPayments.recover()
    await openPayments.drain()
    clock.advance(3_600_000)
  }
}

export async function paymentsOf(openPayments: OpenPayments): Promise<readonly AuditedPayment[]> {
  const payments: AuditedPayment[] = []
  for await (const payment of openPayments.audit(ALICE)) payments.push(payment)
  return payments
}

/** What reconciliation says after a restore. */
export function reconcileNow(
  { openPayments }: TestWallet,
  books: SqliteHandle,
  { noted = [], received = [] }: { readonly noted?: readonly string[]; readonly received?: readonly Received[] } = {},
): Promise<readonly string[]> {
  return reconcileAll({
    openPayments,
    walletAddresses: [ALICE, BOB],
    readBooks: () => readSqliteBooks(books),
    readReceived: () => received,
    noted,
    isAfterRestore: true,
  })
}

/** What came from other wallets, in the tables of a storage. */
export function receivedIn(storage: SqliteHandle): Promise<readonly Received[]> {
  return readReceived((statement) => storage.prepare(statement).all())
}

/** What a ledger that is behind does not take. */
export function tell(
  { openPayments }: TestWallet,
  ledger: Ledger,
  received: readonly Received[] = [],
): Promise<readonly string[]> {
  return tellLedger({ ledger, openPayments, walletAddresses: [ALICE], readReceived: () => received })
}

/** A ledger that is logged, its lines, and the calls that they are; `beforeLine` may fail instead of a line. */
export function logOf(ledger: Ledger, beforeLine = (): void => undefined) {
  const lines: string[] = []
  const log: LoggedCall[] = []
  const logged = logTo(
    loggedLedger(ledger, (call) => {
      beforeLine()
      log.push(call)
    }),
    async (line) => {
      lines.push(line)
    },
  )
  return { log, lines, logged }
}
