import type { Ledger } from 'open-payments-server'
import { type SqliteHandle, sqliteLedger } from 'open-payments-server/ledger/sqlite'
import { creditIdOf, type LoggedCall, repeatCalls } from 'open-payments-server/reconciliation'
import { openSqlite } from 'open-payments-server/storage/sqlite'
import { describe, expect, it } from 'vitest'
import { lastSegment } from '../support/last-segment.ts'
import { ALICE, BASE, incomingPayment, spendingToken, usd, usdAmount } from '../support/test-wallet.ts'
import { repeatLog } from './log-to.ts'
import {
  copyOf,
  endingBefore,
  FOR_NO_PAYMENT,
  logOf,
  openLedger,
  openWallet,
  order,
  paymentsOf,
  reconcileNow,
  recoverAll,
  tell,
} from './restored-wallet.ts'

// What docs/production.md says of the log of a ledger that was restored together with its storage.

const OPEN = { canSend: true, canReceive: true }
const CLOSED = { canSend: false, canReceive: false }

it.each([
  ['settled', (ledger: Ledger) => ledger],
  ['not settled yet', (ledger: Ledger) => endingBefore(ledger, 'settle')],
] as const)(
  'a hold that is refused now has a payee who is paid, and only its answer says so: %s',
  async (_, ending) => {
    const file = await openSqlite(':memory:')
    const { ledger } = await openLedger(file)
    const { log, lines, logged } = logOf(ledger)
    const lost = await openWallet(file, ending(logged))
    const { payment } = await incomingPayment(lost.wallet, { incomingAmount: usd('500') })
    const token = await spendingToken(lost.wallet)
    const backup = await copyOf(file)
    const id = await order(lost.wallet, token, payment.id)

    const restored = sqliteLedger(backup)
    await restored.setPermissions('alice', { canSend: false, canReceive: true })
    const refused = await repeatLog(restored, lines)
    expect(refused[0]).toBe(`hold ${id}: not_allowed`)
    const { wallet } = await openWallet(backup, restored)
    await recoverAll(wallet)
    const credit = await creditIdOf(id)
    expect(await reconcileNow(wallet, backup)).toEqual([`${credit}: ${FOR_NO_PAYMENT}`])
    await wallet.openPayments.incomingPayments.received(lastSegment(payment.id), usdAmount(500n), credit)
    expect(await reconcileNow(wallet, backup, { noted: [credit] })).toEqual([])
    expect(await restored.balance('alice')).toMatchObject({ total: 100_000n })
    expect(await restored.balance('bob')).toMatchObject({ total: 500n })
    // So its payer is charged by hand, as the log has the credit of this hold, settled or not.
    expect(log.some(({ name, argument }) => name === 'credit' && argument.id === credit)).toBe(true)
    const own = crypto.randomUUID().replaceAll('-', '')
    const counterparty = { kind: 'local', account: 'bob', incomingPayment: lastSegment(payment.id) } as const
    await restored.setPermissions('alice', OPEN)
    await restored.hold({ id: own, account: 'alice', amount: usdAmount(500n), counterparty })
    await restored.settle({ id: own, amount: usdAmount(500n), fee: usdAmount(0n) })
    expect(await reconcileNow(wallet, backup, { noted: [credit, own] })).toEqual([])
    expect(await restored.balance('alice')).toMatchObject({ total: 99_500n, held: 0n })
  },
)

it('a hold that needed the money of another one is not refused if each is ended at once', async () => {
  const { books, ledger } = await openLedger()
  const backup = await copyOf(books)
  const { log, logged } = logOf(ledger)
  const counterparty = { kind: 'local', account: 'bob', incomingPayment: 'a'.repeat(32) } as const
  const [a, b] = ['a'.repeat(32), 'b'.repeat(32)] as const
  const hold = (id: string) => logged.hold({ id, account: 'alice', amount: usdAmount(100_000n), counterparty })
  await hold(a)
  await logged.release({ id: a })
  expect(await hold(b)).toEqual({ ok: true })
  // The line of a call is written after its answer, so two of them may change places.
  const [first, release, second] = log
  if (first === undefined || release === undefined || second === undefined) throw new Error('a line is missing')
  const mixed = [first, second, release]
  const asLogged = sqliteLedger(await copyOf(backup))
  const answers = []
  for (const { name, argument } of mixed) if (name === 'hold') answers.push(await asLogged.hold(argument))
  expect(answers).toEqual([{ ok: true }, { ok: false, reason: 'insufficient_funds' }])
  expect(await repeatCalls(sqliteLedger(await copyOf(backup)), mixed)).toEqual([])
  // The same with the lines of several processes, one file after the other.
  const lineOf = (call: LoggedCall, at: number) =>
    JSON.stringify({ ...call, at }, (_, value: unknown) => (typeof value === 'bigint' ? `${value}` : value))
  const files = [lineOf(second, 3), lineOf(first, 1), lineOf(release, 2)]
  expect(await repeatLog(sqliteLedger(await copyOf(backup)), files)).toEqual([])
  // The same if the first was held before the backup.
  const later = await openLedger()
  await later.ledger.hold({ id: a, account: 'alice', amount: usdAmount(100_000n), counterparty })
  expect(await repeatCalls(later.ledger, [second, release])).toEqual([])
})

it.each(['storage', 'ledger'] as const)(
  'both are older, the %s more so: the log is repeated, then the audit',
  async (older) => {
    const storage = await openSqlite(':memory:')
    const { books, ledger } = await openLedger()
    const { lines, logged } = logOf(ledger)
    const lost = await openWallet(storage, logged)
    const { payment } = await incomingPayment(lost.wallet)
    const token = await spendingToken(lost.wallet)
    const [first, second] = older === 'storage' ? [storage, books] : [books, storage]
    const earlier = await copyOf(first)
    const between = await order(lost.wallet, token, payment.id)
    const later = await copyOf(second)
    lost.wallet.clock.advance(1000)
    const forgotten = await order(lost.wallet, token, payment.id)

    const [storageBackup, booksBackup] = older === 'storage' ? [earlier, later] : [later, earlier]
    const restored = sqliteLedger(booksBackup)
    const { wallet } = await openWallet(storageBackup, restored)
    expect(await repeatLog(restored, lines)).toEqual([])
    expect(await tell(wallet, restored)).toEqual([])
    await recoverAll(wallet)
    for (const account of ['alice', 'bob'])
      expect(await restored.balance(account)).toEqual(await ledger.balance(account))
    const unknown = older === 'storage' ? [between, forgotten] : [forgotten]
    const noted = [...unknown, ...(await Promise.all(unknown.map(creditIdOf)))]
    const found = await reconcileNow(wallet, booksBackup)
    expect(found.toSorted()).toEqual(noted.map((id) => `${id}: ${FOR_NO_PAYMENT}`).toSorted())
    expect(await reconcileNow(wallet, booksBackup, { noted })).toEqual([])
  },
)

describe('an order that was refused since the backup, and sent anew', () => {
  /** The backup is of the moment between the order and its hold. */
  async function refusedSince() {
    const file = await openSqlite(':memory:')
    const { ledger } = await openLedger(file)
    const backups: SqliteHandle[] = []
    const { log, lines, logged } = logOf({
      ...ledger,
      hold: async (hold) => {
        if (backups.length === 0) {
          backups.push(await copyOf(file))
          await ledger.setPermissions('alice', CLOSED)
        }
        return ledger.hold(hold)
      },
    })
    const lost = await openWallet(file, logged)
    const { payment } = await incomingPayment(lost.wallet, { incomingAmount: usd('1000') })
    const token = await spendingToken(lost.wallet)
    const json = { walletAddress: ALICE, incomingPayment: payment.id, debitAmount: usd('500') }
    const refused = await lost.wallet.send('POST', `${BASE}/outgoing-payments`, { token, json })
    expect(refused.status).toBe(403)
    await ledger.setPermissions('alice', OPEN)
    lost.wallet.clock.advance(1000)
    const id = await order(lost.wallet, token, payment.id)
    const [backup] = backups
    if (backup === undefined) throw new Error('there is no backup')

    const restored = sqliteLedger(backup)
    expect(await repeatLog(restored, lines)).toEqual([])
    const { wallet } = await openWallet(backup, restored)
    wallet.clock.advance(lost.wallet.clock.now() - wallet.clock.now())
    return { backup, log, id, restored, wallet }
  }

  it('is paid as well', async () => {
    const { restored, wallet } = await refusedSince()
    await recoverAll(wallet)
    expect(await paymentsOf(wallet.openPayments)).toMatchObject([{ state: 'completed' }])
    expect(await restored.balance('alice')).toMatchObject({ total: 99_000n, held: 0n })
  })

  it('is refused again by hand, as the log has no hold of it', async () => {
    const { backup, log, id, restored, wallet } = await refusedSince()
    // It is in no audit yet.
    const { id: forgotten, ...row } = backup
      .prepare('SELECT id, payee_account, incoming_payment_id FROM op_outgoing_payment')
      .all()[0] as { id: string; payee_account: string; incoming_payment_id: string }
    expect(log.some(({ argument }) => argument.id === forgotten)).toBe(false)
    await restored.setPermissions('alice', CLOSED)
    const counterparty = {
      kind: 'local',
      account: row.payee_account,
      incomingPayment: row.incoming_payment_id,
    } as const
    const hold = { id: forgotten, account: 'alice', amount: usdAmount(500n), counterparty }
    expect(await restored.hold(hold)).toEqual({ ok: false, reason: 'account_closed' })
    await restored.setPermissions('alice', OPEN)
    await recoverAll(wallet)
    expect(await paymentsOf(wallet.openPayments)).toMatchObject([{ state: 'failed' }])
    expect(await reconcileNow(wallet, backup, { noted: [id, await creditIdOf(id)] })).toEqual([])
    expect(await restored.balance('alice')).toMatchObject({ total: 99_500n, held: 0n })
    expect(await restored.balance('bob')).toMatchObject({ total: 500n })
  })
})
