import type { Ledger } from 'open-payments-server'
import { readSqliteBooks, sqliteLedger } from 'open-payments-server/ledger/sqlite'
import { type ClosedDay, callsOf, creditIdOf, reconcileDay } from 'open-payments-server/reconciliation'
import { openSqlite } from 'open-payments-server/storage/sqlite'
import { describe, expect, it } from 'vitest'
import { detailsOf, packetFor } from '../ilp/packet-for.ts'
import { ALICE, incomingPayment, spendingToken, usdAmount } from '../support/test-wallet.ts'
import {
  endingBefore,
  FOR_NO_PAYMENT,
  letArrive,
  openElsewhere,
  openLedger,
  openWallet,
  order,
  paymentsOf,
  receivedIn,
  reconcileNow,
  recoverAll,
  tell,
} from './restored-wallet.ts'

// What docs/production.md says of a ledger that is behind its storage, and of a refusal by hand.

/** A ledger that calls whichever is `current`. */
interface Switch {
  current: Ledger
  readonly ledger: Ledger
}

function switchOf(current: Ledger): Switch {
  const behind: Switch = {
    current,
    ledger: {
      account: (account) => behind.current.account(account),
      hold: (hold) => behind.current.hold(hold),
      credit: (credit) => behind.current.credit(credit),
      settle: (settlement) => behind.current.settle(settlement),
      release: (release) => behind.current.release(release),
    },
  }
  return behind
}

describe('a ledger that is behind its storage', () => {
  it('is told by the audit, before `recover()`, what it has lost, in every state', async () => {
    const storage = await openSqlite(':memory:')
    const truth = await openLedger()
    const behind = switchOf(truth.ledger)
    const elsewhere = await openElsewhere()
    const { wallet, bring } = await openWallet(storage, behind.ledger, { elsewhere })
    const { payment } = await incomingPayment(wallet)
    const token = await spendingToken(wallet)
    const states: string[] = []
    const pay = async (ledger: Ledger, receiver: string = payment.id) => {
      behind.current = ledger
      await order(wallet, token, receiver)
      wallet.clock.advance(1000)
      states.push((await paymentsOf(wallet.openPayments))[0]?.state ?? '')
    }
    await pay(truth.ledger)
    await pay(truth.ledger, elsewhere.url)
    await pay(endingBefore(truth.ledger, 'credit'))
    await pay(endingBefore(truth.ledger, 'settle'))
    await pay({ ...truth.ledger, credit: async () => ({ ok: false, reason: 'account_closed' }) })
    expect(states).toEqual(['completed', 'completed', 'sending', 'decided', 'failed'])
    behind.current = truth.ledger
    await bring(await packetFor(detailsOf(payment), 300n, wallet.clock.now()))

    const restored = await openLedger()
    behind.current = restored.ledger
    // The backup is of a moment when the failed one was still held.
    const failed = (await paymentsOf(wallet.openPayments)).find(({ state }) => state === 'failed')
    if (failed !== undefined) expect(await restored.ledger.hold(callsOf(failed).hold)).toEqual({ ok: true })
    const received = await receivedIn(storage)
    // One that has lost nothing knows each call, by the very same arguments.
    expect(await tell(wallet, truth.ledger, received)).toEqual([])
    expect((await reconcileNow(wallet, restored.books, { received })).length).toBeGreaterThan(5)
    const tellRestored = () => tell(wallet, restored.ledger, received)
    expect(await tellRestored()).toEqual([])
    expect(await tellRestored()).toEqual([])
    await recoverAll(wallet)
    expect(await reconcileNow(wallet, restored.books, { received: await receivedIn(storage) })).toEqual([])
    expect(await restored.ledger.balance('alice')).toMatchObject({ total: 98_000n, held: 0n })
    expect(await restored.ledger.balance('bob')).toMatchObject({ total: 1800n })
  })

  it('pays a payee whose payer is not charged if `recover()` is first, until it is told', async () => {
    const storage = await openSqlite(':memory:')
    const truth = await openLedger()
    const behind = switchOf(endingBefore(truth.ledger, 'credit'))
    const { wallet } = await openWallet(storage, behind.ledger)
    const { payment } = await incomingPayment(wallet)
    const id = await order(wallet, await spendingToken(wallet), payment.id)

    const restored = await openLedger()
    behind.current = restored.ledger
    await recoverAll(wallet)
    expect(await restored.ledger.balance('bob')).toMatchObject({ total: 500n })
    expect(await restored.ledger.balance('alice')).toMatchObject({ total: 100_000n, held: 0n })
    expect(await reconcileNow(wallet, restored.books)).toContain(`${id}: still decided`)
    expect(await tell(wallet, restored.ledger)).toEqual([])
    await recoverAll(wallet)
    expect(await reconcileNow(wallet, restored.books)).toEqual([])
    expect(await restored.ledger.balance('alice')).toMatchObject({ total: 99_500n, held: 0n })
  })

  it('is found to agree by a reconciliation of days only if that begins again', async () => {
    const storage = await openSqlite(':memory:')
    const truth = await openLedger()
    const { wallet } = await openWallet(storage, truth.ledger)
    const { payment } = await incomingPayment(wallet)
    const id = await order(wallet, await spendingToken(wallet), payment.id)
    const restored = await openLedger()
    let books = truth.books
    const hours = (count: number): number => Date.now() + count * 3_600_000
    const reconcileAt = (endedAt: number, closed?: ClosedDay) =>
      reconcileDay({
        openPayments: wallet.openPayments,
        walletAddresses: [ALICE],
        readBooks: () => readSqliteBooks(books),
        closed,
        endedAt,
        clock: { now: () => endedAt + 3_600_000 },
      })
    const night = await reconcileAt(hours(1))
    expect(night.differences).toEqual([])
    expect((await reconcileAt(hours(3), night.closed)).differences).toEqual([])

    expect(await tell(wallet, restored.ledger)).toEqual([])
    restored.books.exec(`UPDATE ledger_entry SET created_at = ${hours(2)}`)
    books = restored.books
    const goingOn = await reconcileAt(hours(3), night.closed)
    expect(goingOn.differences.toSorted()).toEqual(
      [`${id}: ${FOR_NO_PAYMENT}`, `${await creditIdOf(id)}: ${FOR_NO_PAYMENT}`].toSorted(),
    )
    expect((await reconcileAt(hours(3))).differences).toEqual([])
  })

  it('says what it does not take: what the wallet itself had booked has to be there first', async () => {
    const storage = await openSqlite(':memory:')
    const truth = await openLedger()
    const { wallet } = await openWallet(storage, truth.ledger)
    const { payment } = await incomingPayment(wallet)
    const id = await order(wallet, await spendingToken(wallet), payment.id)
    const { ledger } = await openLedger()
    await ledger.setPermissions('alice', { canSend: false, canReceive: true })
    expect(await tell(wallet, ledger)).toEqual([`hold ${id} (charge 500): not_allowed`, `settle ${id}: conflict`])
  })
})

describe('an account that the wallet has opened or closed since the backup', () => {
  const asset = { assetCode: 'USD', assetScale: 2 }

  /** Bob has been paid; answers a ledger without him, and one in which he may be paid. */
  async function paid() {
    const truth = await openLedger()
    const { wallet } = await openWallet(await openSqlite(':memory:'), truth.ledger)
    const { payment } = await incomingPayment(wallet)
    const id = await order(wallet, await spendingToken(wallet), payment.id)
    const without = sqliteLedger(await openSqlite(':memory:'))
    await without.createAccount({ account: 'alice', ...asset, balance: 100_000n })
    const { ledger } = await openLedger()
    const close = () => ledger.setPermissions('bob', { canSend: false, canReceive: false })
    return { wallet, without, ledger, close, refused: [`credit ${await creditIdOf(id)}: account_closed`] }
  }

  it('is opened before the ledger is told: a credit that is refused stays refused', async () => {
    const { wallet, without, refused } = await paid()
    expect(await tell(wallet, without)).toEqual(refused)
    await without.createAccount({ account: 'bob', ...asset })
    expect(await tell(wallet, without)).toEqual(refused)
  })

  it('is closed after the ledger is told', async () => {
    const early = await paid()
    await early.close()
    expect(await tell(early.wallet, early.ledger)).toEqual(early.refused)
    const { wallet, ledger, close } = await paid()
    expect(await tell(wallet, ledger)).toEqual([])
    await close()
    expect(await tell(wallet, ledger)).toEqual([])
  })
})

describe('a hold that a ledger refuses to be told of', () => {
  /** Alice may send in the ledger that is lost, and not in the one that is restored. */
  async function refused(
    ending: (ledger: Ledger) => Ledger,
    { toElsewhere = false, part = 0n, hasMethod = true, canSend = false } = {},
  ) {
    const storage = await openSqlite(':memory:')
    const truth = await openLedger()
    const elsewhere = await openElsewhere()
    const behind = switchOf(ending(truth.ledger))
    const { wallet } = await openWallet(storage, behind.ledger, { elsewhere })
    const open = letArrive(elsewhere, part)
    const { payment } = await incomingPayment(wallet)
    const token = await spendingToken(wallet)
    const id = await order(wallet, token, toElsewhere ? elsewhere.url : payment.id)
    // A receiver that has no method any more ends the payment.
    for (const fake of elsewhere.remoteReceivers.all) fake.hasMethod = hasMethod
    wallet.clock.advance(60_000)
    if (!hasMethod) await wallet.openPayments.recover()
    await wallet.openPayments.drain()
    open()
    const restored = await openLedger()
    await restored.ledger.setPermissions('alice', { canSend, canReceive: true })
    behind.current = restored.ledger
    const payments = await paymentsOf(wallet.openPayments)
    const told = await tell(wallet, restored.ledger)
    return { id, wallet, payments, receiver: elsewhere.receiver, ...restored, told }
  }

  const sendingTo = (part: bigint) => refused((ledger) => ledger, { toElsewhere: true, part })

  it('is charged by hand if its payee is paid, and the answer says so', async () => {
    const { id, told } = await refused((ledger) => endingBefore(ledger, 'settle'))
    expect(told).toEqual([`hold ${id} (charge 500): not_allowed`])
  })

  it('is not charged if nobody is paid, although its payment waits for ever', async () => {
    const releasing = (ledger: Ledger): Ledger => ({ ...ledger, release: () => Promise.reject(new Error('ended')) })
    const { id, wallet, ledger, receiver, told } = await refused(releasing, { toElsewhere: true, hasMethod: false })
    expect(told).toEqual([`hold ${id} (charge 0): not_allowed`])
    await recoverAll(wallet)
    expect(await paymentsOf(wallet.openPayments)).toMatchObject([{ state: 'decided' }])
    expect(await ledger.balance('alice')).toMatchObject({ total: 100_000n, held: 0n })
    expect(receiver.total()).toBe(0n)
    // Where it is not refused, its payment ends.
    const allowed = await refused(releasing, { toElsewhere: true, hasMethod: false, canSend: true })
    expect(allowed.told).toEqual([])
    await recoverAll(allowed.wallet)
    expect(await paymentsOf(allowed.wallet.openPayments)).toMatchObject([{ state: 'failed' }])
    expect(await allowed.ledger.balance('alice')).toMatchObject({ total: 100_000n, held: 0n })
  })

  it('pays its payee all the same while it is `sending`, unless the credit is refused by hand', async () => {
    const { wallet, ledger } = await refused((ledger) => endingBefore(ledger, 'credit'))
    await recoverAll(wallet)
    expect(await ledger.balance('bob')).toMatchObject({ total: 500n })
    expect(await ledger.balance('alice')).toMatchObject({ total: 100_000n, held: 0n })

    const other = await refused((ledger) => endingBefore(ledger, 'credit'))
    expect(other.told).toEqual([`hold ${other.id} (sending): not_allowed`])
    const { credit } = callsOf(other.payments[0] ?? expect.fail())
    await other.ledger.setPermissions('bob', { canSend: false, canReceive: false })
    await other.ledger.credit(credit ?? expect.fail())
    await other.ledger.setPermissions('bob', { canSend: true, canReceive: true })
    await recoverAll(other.wallet)
    expect(await other.ledger.balance('bob')).toMatchObject({ total: 0n })
    expect(await other.ledger.balance('alice')).toMatchObject({ total: 100_000n, held: 0n })
  })

  it.each([0n, 100n])(
    'leaves for another wallet within its hour, all the same, where %s has left before',
    async (part) => {
      const early = await sendingTo(part)
      early.wallet.clock.advance(120_000)
      await recoverAll(early.wallet)
      expect(early.receiver.total()).toBe(500n)
      expect(await early.ledger.balance('alice')).toMatchObject({ total: 100_000n, held: 0n })

      const { id, wallet, ledger, receiver, told } = await sendingTo(part)
      expect(told).toEqual([`hold ${id} (sending): not_allowed`])
      wallet.clock.advance(3_600_000)
      await recoverAll(wallet)
      expect(receiver.total()).toBe(part)
      expect(await ledger.balance('alice')).toMatchObject({ total: 100_000n, held: 0n })
      // What its payer is to be charged is what has left.
      const payments = await paymentsOf(wallet.openPayments)
      expect(payments).toMatchObject([{ state: 'decided', rail: { sent: { value: `${part}` } } }])
      expect(await tell(wallet, ledger)).toEqual([`hold ${id} (charge ${part}): not_allowed`])
    },
  )
})

describe('a credit that is refused by hand', () => {
  it.each([
    ['ends its payment with the same arguments', 500n, 'failed', 0n],
    ['keeps it waiting with others', 400n, 'sending', 500n],
  ] as const)('%s', async (_, value, state, held) => {
    const storage = await openSqlite(':memory:')
    const { ledger } = await openLedger()
    const behind = switchOf(endingBefore(ledger, 'credit'))
    const { wallet } = await openWallet(storage, behind.ledger)
    const { payment } = await incomingPayment(wallet)
    await order(wallet, await spendingToken(wallet), payment.id)
    behind.current = ledger
    for (const sending of await paymentsOf(wallet.openPayments)) {
      const { credit } = callsOf(sending)
      if (credit === undefined) throw new Error('there is no credit')
      const { account } = credit
      await ledger.setPermissions(account, { canSend: false, canReceive: false })
      const refused = await ledger.credit({ ...credit, amount: usdAmount(value) })
      expect(refused).toEqual({ ok: false, reason: 'account_closed' })
      await ledger.setPermissions(account, { canSend: true, canReceive: true })
    }
    await recoverAll(wallet)
    expect((await paymentsOf(wallet.openPayments)).map((payment) => payment.state)).toEqual([state])
    expect(await ledger.balance('alice')).toMatchObject({ total: 100_000n, held })
    expect(await ledger.balance('bob')).toMatchObject({ total: 0n })
  })
})

it('a hold that is refused by hand ends its payment', async () => {
  const storage = await openSqlite(':memory:')
  const { ledger } = await openLedger()
  const behind = switchOf(endingBefore(ledger, 'hold'))
  const { wallet } = await openWallet(storage, behind.ledger)
  const { payment } = await incomingPayment(wallet)
  await order(wallet, await spendingToken(wallet), payment.id)
  behind.current = ledger
  const created = await paymentsOf(wallet.openPayments)
  expect(created).toMatchObject([{ state: 'created' }])
  await ledger.setPermissions('alice', { canSend: false, canReceive: false })
  for (const one of created)
    expect(await ledger.hold(callsOf(one).hold)).toEqual({ ok: false, reason: 'account_closed' })
  await ledger.setPermissions('alice', { canSend: true, canReceive: true })
  await recoverAll(wallet)
  expect(await paymentsOf(wallet.openPayments)).toMatchObject([{ state: 'failed' }])
  expect(await ledger.balance('alice')).toMatchObject({ total: 100_000n, held: 0n })
})
