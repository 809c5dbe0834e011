import { creditIdOf } from 'open-payments-server/reconciliation'
import { openSqlite } from 'open-payments-server/storage/sqlite'
import { describe, expect, it } from 'vitest'
import { detailsOf, packetFor } from '../ilp/packet-for.ts'
import { REMOTE } from '../support/fake-remote-receivers.ts'
import { lastSegment } from '../support/last-segment.ts'
import { incomingPayment, spendingToken, usd, usdAmount } from '../support/test-wallet.ts'
import { codeBlocksOf } from './markdown.ts'
import {
  copyOf,
  endingBefore,
  FOR_NO_PAYMENT,
  openElsewhere,
  openLedger,
  openWallet,
  order,
  paymentsOf,
  receivedIn,
  reconcileNow,
  recoverAll,
} from './restored-wallet.ts'

// What docs/production.md says of a storage that is behind its ledger: what its money comes to, step by step.

describe('a hold that the storage has forgotten', () => {
  /** Alice has ordered since the backup, and the process ended before that call of the ledger. */
  async function forgottenPayment(last: 'settle' | 'credit') {
    const { books, ledger } = await openLedger()
    const storage = await openSqlite(':memory:')
    const lost = await openWallet(storage, endingBefore(ledger, last))
    const { payment } = await incomingPayment(lost.wallet, { incomingAmount: usd('500') })
    const token = await spendingToken(lost.wallet)
    const backup = await copyOf(storage)
    const id = await order(lost.wallet, token, payment.id)
    const { wallet } = await openWallet(backup, ledger)
    return { books, ledger, payment, id, wallet }
  }

  it('is settled if its payee is paid, and reconciliation says so before and after a wrong release', async () => {
    const { books, ledger, payment, id, wallet } = await forgottenPayment('settle')
    expect((await ledger.balance('bob'))?.total).toBe(500n)

    await recoverAll(wallet)
    const credit = await creditIdOf(id)
    const found = await reconcileNow(wallet, books)
    expect(found.toSorted()).toEqual(
      [
        `${id}: ${FOR_NO_PAYMENT}`,
        `${credit}: ${FOR_NO_PAYMENT}`,
        `${id}: the payee is paid, and the payer is not charged`,
      ].toSorted(),
    )
    const [lookUp = ''] = codeBlocksOf('docs/production.md').flatMap(({ code }) =>
      code.includes('FROM ledger_transfer') ? [code] : [],
    )
    const inLedger = (of: string) => books.prepare(lookUp.replace('0123456789abcdef0123456789abcdef', of)).get()
    const counterparty = JSON.stringify(['local', 'bob', lastSegment(payment.id)])
    expect(inLedger(id)).toMatchObject({ type: 'hold', state: 'held', account: 'alice', amount: '500', counterparty })
    expect(inLedger(credit)).toMatchObject({ type: 'credit', state: 'credited', account: 'bob' })
    // Somebody who had released it, and noted both, would still be told.
    const branch = await copyOf(books)
    const { ledger: released } = await openLedger(branch)
    expect(await released.release({ id })).toEqual({ ok: true })
    expect(await reconcileNow(wallet, branch, { noted: [id, credit] })).toEqual([
      `${id}: the payee is paid, and the payer is not charged`,
    ])

    expect(await ledger.settle({ id, amount: usdAmount(500n), fee: usdAmount(0n) })).toEqual({ ok: true })
    const told = await wallet.openPayments.incomingPayments.received(lastSegment(payment.id), usdAmount(500n), credit)
    expect(told).toEqual({ ok: true, accepted: 500n, excess: 0n })
    expect(await reconcileNow(wallet, books, { noted: [id, credit] })).toEqual([])
    expect(await ledger.balance('alice')).toMatchObject({ total: 99_500n, held: 0n })
    expect(await ledger.balance('bob')).toMatchObject({ total: 500n })
  })

  it('is released if its payee is not paid', async () => {
    const { books, ledger, id, wallet } = await forgottenPayment('credit')
    await recoverAll(wallet)
    expect(await reconcileNow(wallet, books)).toEqual([`${id}: ${FOR_NO_PAYMENT}`])
    expect(await ledger.release({ id })).toEqual({ ok: true })
    expect(await reconcileNow(wallet, books, { noted: [id] })).toEqual([])
    expect(await ledger.balance('alice')).toMatchObject({ total: 100_000n, held: 0n })
  })

  it('is settled for what its peer has taken, which nothing here can tell', async () => {
    const { books, ledger } = await openLedger()
    const storage = await openSqlite(':memory:')
    const elsewhere = await openElsewhere()
    const lost = await openWallet(storage, endingBefore(ledger, 'settle'), { elsewhere })
    const token = await spendingToken(lost.wallet)
    const backup = await copyOf(storage)
    const id = await order(lost.wallet, token, elsewhere.url)
    expect(elsewhere.receiver.total()).toBe(500n)
    expect(await lost.owed()).toBe(-500n)

    let settled = 0n
    const { wallet, balance, owed } = await openWallet(backup, ledger, { elsewhere, settled: () => settled })
    await recoverAll(wallet)
    expect(await reconcileNow(wallet, books)).toEqual([`${id}: ${FOR_NO_PAYMENT}`])
    const [hold] = books.prepare('SELECT counterparty FROM ledger_transfer WHERE id = ?').all(id) as {
      counterparty: string
    }[]
    expect(hold?.counterparty).toBe(
      JSON.stringify(['rail', 'ilp', elsewhere.receiver.details.ilpAddress, `${REMOTE}/carol`]),
    )
    // What the peer has is asked there; this server has nothing of it.
    const missing = elsewhere.receiver.total() - (await balance()).sent
    expect(missing).toBe(500n)
    const branch = await copyOf(books)
    const { ledger: released } = await openLedger(branch)
    await released.release({ id })
    expect(await reconcileNow(wallet, branch, { noted: [id] })).toEqual([])

    expect(await ledger.settle({ id, amount: usdAmount(missing), fee: usdAmount(0n) })).toEqual({ ok: true })
    settled += missing
    expect(await owed()).toBe(-500n)
    expect(await reconcileNow(wallet, books, { noted: [id] })).toEqual([])
    expect(await ledger.balance('alice')).toMatchObject({ total: 99_500n, held: 0n })
  })
})

const [letWait = '', letGoOn = ''] = codeBlocksOf('docs/production.md').flatMap(({ language, code }) =>
  language === 'sql' && code.includes('9000000000000000') ? [code] : [],
)

describe('two payments to one incoming payment, of which the ledger has paid one since the backup', () => {
  async function rivals() {
    const { books, ledger } = await openLedger()
    const storage = await openSqlite(':memory:')
    const before = await openWallet(storage, endingBefore(ledger, 'hold'))
    const { payment } = await incomingPayment(before.wallet, { incomingAmount: usd('500') })
    const token = await spendingToken(before.wallet)
    const winner = await order(before.wallet, token, payment.id)
    before.wallet.clock.advance(1000)
    const loser = await order(before.wallet, token, payment.id)
    const backup = await copyOf(storage)
    await recoverAll((await openWallet(storage, ledger)).wallet)
    // The first row of the page's table: the ledger has released the hold, so its credit is refused by hand.
    await ledger.setPermissions('bob', { canSend: false, canReceive: false })
    const counterparty = { kind: 'local', account: 'alice', incomingPayment: lastSegment(payment.id) } as const
    const credit = { id: await creditIdOf(loser), account: 'bob', amount: usdAmount(500n), counterparty }
    expect(await ledger.credit(credit)).toEqual({ ok: false, reason: 'account_closed' })
    await ledger.setPermissions('bob', { canSend: true, canReceive: true })
    const { wallet } = await openWallet(backup, ledger)
    const delay = (id: string, dueAt: number): void => {
      backup.exec(`UPDATE op_outgoing_payment SET due_at = ${dueAt} WHERE id = '${id}'`)
    }
    const states = async () => {
      const payments = await paymentsOf(wallet.openPayments)
      return [winner, loser].map((id) => payments.find((one) => lastSegment(one.id) === id)?.state)
    }
    return { books, ledger, backup, wallet, winner, loser, delay, states }
  }

  it('end as they ended before if those whose credit the ledger has go first', async () => {
    const { books, ledger, backup, wallet, loser, states } = await rivals()
    backup.exec(letWait.replace('0123456789abcdef0123456789abcdef', loser))
    await recoverAll(wallet)
    expect(await states()).toEqual(['completed', 'created'])
    backup.exec(letGoOn)
    await recoverAll(wallet)
    expect(await states()).toEqual(['completed', 'failed'])
    expect(await reconcileNow(wallet, books)).toEqual([])
    expect(await ledger.balance('bob')).toMatchObject({ total: 500n })
  })

  it('do not end if the other one takes the room', async () => {
    const { wallet, winner, delay, states } = await rivals()
    delay(winner, wallet.clock.now() + 3_600_000)
    await recoverAll(wallet)
    expect(await states()).toEqual(['decided', 'failed'])
  })
})

it('a storage that is behind has its accounts with peers set right by `settled`: less what came, plus what left', async () => {
  const { books, ledger } = await openLedger()
  const storage = await openSqlite(':memory:')
  const elsewhere = await openElsewhere()
  const lost = await openWallet(storage, ledger, { elsewhere })
  const { payment } = await incomingPayment(lost.wallet)
  const token = await spendingToken(lost.wallet)
  const bringTo = async (to: typeof lost, amount: bigint, sequence: bigint) =>
    to.bring(await packetFor(detailsOf(payment), amount, to.wallet.clock.now(), sequence))
  await bringTo(lost, 300n, 1n)
  const backup = await copyOf(storage)
  await bringTo(lost, 600n, 2n)
  expect(await lost.balance()).toMatchObject({ received: 900n, owed: 900n })
  await order(lost.wallet, token, elsewhere.url)
  expect(await lost.balance()).toMatchObject({ sent: 500n, owed: 400n })

  let settled = 0n
  const restored = await openWallet(backup, ledger, { elsewhere, settled: () => settled })
  await recoverAll(restored.wallet)
  const { sent, received } = await restored.balance()
  expect([sent, received]).toEqual([0n, 300n])
  settled += elsewhere.receiver.total() - sent // what left
  settled -= 900n - received // what came, as the peer says
  expect(await restored.owed()).toBe(400n)
  // What the peer may still owe is bounded by that, too: 1000 in all.
  for (let sequence = 10n; sequence < 20n; sequence++) await bringTo(restored, 100n, sequence)
  expect(await restored.owed()).toBe(1000n)

  const found = await reconcileNow(restored.wallet, books, { received: await receivedIn(backup) })
  expect(found.length).toBe(2)
  expect(found.every((line) => line.endsWith(FOR_NO_PAYMENT))).toBe(true)
  const entries = (await ledger.entries('bob')).filter(({ amount }) => amount === 600n)
  const [{ transfer: credit = '' } = {}] = entries
  const told = await restored.wallet.openPayments.incomingPayments.received(
    lastSegment(payment.id),
    usdAmount(600n),
    credit,
  )
  expect(told).toEqual({ ok: true, accepted: 600n, excess: 0n })
})

describe('a payment to another wallet whose packets have left since the backup', () => {
  /** Alice has ordered; the backup is of the moment before the packets leave, which arrive. */
  async function leftSince(isSettled: boolean) {
    const { books, ledger } = await openLedger()
    const storage = await openSqlite(':memory:')
    const elsewhere = await openElsewhere()
    const { remoteReceivers, receiver, url } = elsewhere
    const lost = await openWallet(storage, isSettled ? ledger : endingBefore(ledger, 'settle'), { elsewhere })
    const token = await spendingToken(lost.wallet)
    const backups: Awaited<ReturnType<typeof copyOf>>[] = []
    remoteReceivers.before = async () => void backups.push(await copyOf(storage))
    const id = await order(lost.wallet, token, url)
    remoteReceivers.before = async () => undefined
    // It is read when it is ordered, and again before anything leaves.
    const backup = backups.at(-1)
    if (backup === undefined) throw new Error('there is no backup')
    const restored = await openWallet(backup, ledger, { elsewhere })
    restored.wallet.clock.advance(lost.wallet.clock.now() - restored.wallet.clock.now())
    expect(await paymentsOf(restored.wallet.openPayments)).toMatchObject([
      { state: 'sending', rail: { received: usd('0') } },
    ])
    expect(receiver.total()).toBe(500n)
    return { books, ledger, id, ...restored }
  }

  it('is released an hour after its order, although all has arrived, and reconciliation does not see it', async () => {
    const { books, ledger, wallet, balance } = await leftSince(false)
    wallet.clock.advance(3_600_001)
    await recoverAll(wallet)
    expect(await ledger.balance('alice')).toMatchObject({ total: 100_000n, held: 0n })
    expect(await balance()).toMatchObject({ sent: 0n })
    expect(await reconcileNow(wallet, books)).toEqual([])
  })

  it.each([
    ['settled by hand', false],
    ['settled before', true],
  ] as const)('keeps its money right if it was %s, and stays for a person to see', async (_, isSettled) => {
    const { books, ledger, id, wallet, balance } = await leftSince(isSettled)
    wallet.clock.advance(3_600_001)
    expect(await ledger.settle({ id, amount: usdAmount(500n), fee: usdAmount(0n) })).toEqual({ ok: true })
    await recoverAll(wallet)
    expect(await ledger.balance('alice')).toMatchObject({ total: 99_500n, held: 0n })
    // Nothing has left twice.
    expect(await balance()).toMatchObject({ sent: 0n })
    expect(await reconcileNow(wallet, books)).toEqual([`${id}: still decided`, `${id}: decided, settlement: other`])
    const stalled = wallet.events.filter(({ type }) => type === 'payment_stalled').at(-1)
    expect(stalled).toMatchObject({ reason: 'the ledger answered "conflict"' })
  })
})
