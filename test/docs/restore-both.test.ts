import { creditIdOf } from 'open-payments-server/reconciliation'
import { openSqlite } from 'open-payments-server/storage/sqlite'
import { expect, it } from 'vitest'
import { detailsOf, packetFor } from '../ilp/packet-for.ts'
import { lastSegment } from '../support/last-segment.ts'
import { BASE, incomingPayment, spendingToken, usd, usdAmount } from '../support/test-wallet.ts'
import { repeatLog } from './log-to.ts'
import { copyOf, FOR_NO_PAYMENT, logOf, openLedger, openWallet, order, reconcileNow } from './restored-wallet.ts'

// What docs/production.md says of a storage and a ledger that were restored to one moment.

/** One file with both, restored to before Alice paid 5.00 to Bob, and a peer 3.00; and the log of what the ledger did. */
async function restoredTogether(expected: { readonly incomingAmount?: object } = {}) {
  const file = await openSqlite(':memory:')
  const { ledger } = await openLedger(file)
  let isFull = true
  const {
    log: calls,
    lines,
    logged,
  } = logOf(ledger, () => {
    // A log that fails once delays the payment, and no more.
    if (!isFull) return
    isFull = false
    throw new Error('injected: the log is full')
  })
  const lost = await openWallet(file, logged)
  const { payment: within } = await incomingPayment(lost.wallet, { incomingAmount: usd('500') })
  const { payment: fromPeer, token } = await incomingPayment(lost.wallet, expected)
  const spending = await spendingToken(lost.wallet)
  const backup = await copyOf(file)
  const id = await order(lost.wallet, spending, within.id)
  const packet = await packetFor(detailsOf(fromPeer), 300n, lost.wallet.clock.now())
  expect(await lost.bring(packet)).toBe('fulfill')
  expect((await ledger.balance('bob'))?.total).toBe(800n)

  const { ledger: restored } = await openLedger(backup)
  let settled = 0n
  const books = {
    correct: (by: bigint) => {
      settled += by
    },
  }
  const { wallet, owed, bring } = await openWallet(backup, restored, { settled: () => settled })
  for (const [url, found] of lost.wallet.directory) wallet.directory.set(url, found)
  const { received } = wallet.openPayments.incomingPayments
  const receivedOf = async (url: string): Promise<string> => {
    const read = await wallet.send('GET', url, { token, as: lost.wallet.client })
    return read.body.receivedAmount.value
  }
  const read = async (url: string) =>
    (await wallet.send('GET', url, { token: spending, as: lost.wallet.client })).status
  return {
    backup,
    calls,
    lines,
    id,
    within,
    fromPeer,
    packet,
    restored,
    wallet,
    owed,
    bring,
    books,
    received,
    receivedOf,
    read,
  }
}

it('both restored to one moment have forgotten what was paid, and nothing here shows it', async () => {
  const { backup, id, restored, wallet, owed, read } = await restoredTogether()
  expect(await wallet.openPayments.recover()).toBe(0)
  expect(await reconcileNow(wallet, backup)).toEqual([])
  expect(await read(`${BASE}/outgoing-payments/${id}`)).toBe(404)
  expect(await restored.balance('alice')).toMatchObject({ total: 100_000n, held: 0n })
  expect(await restored.balance('bob')).toMatchObject({ total: 0n })
  expect(await owed()).toBe(0n)
})

it('the log of the ledger makes the ledger ahead again, and the first table does the rest', async () => {
  const { backup, calls, lines, id, within, fromPeer, restored, wallet, owed, books, received, receivedOf } =
    await restoredTogether()
  expect(await repeatLog(restored, lines)).toEqual([])
  expect(await wallet.openPayments.recover()).toBe(0)
  const credits = calls.flatMap(({ name, argument }) => (name === 'credit' ? [argument.id] : []))
  expect(credits[0]).toBe(await creditIdOf(id))
  const noted = [id, ...credits]
  const found = await reconcileNow(wallet, backup)
  expect(found.toSorted()).toEqual(noted.map((one) => `${one}: ${FOR_NO_PAYMENT}`).toSorted())
  expect(await received(lastSegment(within.id), usdAmount(500n), credits[0] ?? '')).toMatchObject({ accepted: 500n })
  expect(await received(lastSegment(fromPeer.id), usdAmount(300n), credits[1] ?? '')).toMatchObject({ accepted: 300n })
  books.correct(-300n)
  expect(await reconcileNow(wallet, backup, { noted })).toEqual([])
  expect(await restored.balance('alice')).toMatchObject({ total: 99_500n, held: 0n })
  expect(await restored.balance('bob')).toMatchObject({ total: 800n })
  expect(await owed()).toBe(300n)
  expect([await receivedOf(within.id), await receivedOf(fromPeer.id)]).toEqual(['500', '300'])
})

it('without that log a person books what a peer says it has sent', async () => {
  const { backup, fromPeer, restored, wallet, owed, books, received, receivedOf } = await restoredTogether()
  expect(await wallet.openPayments.recover()).toBe(0)
  const id = crypto.randomUUID().replaceAll('-', '')
  const counterparty = { kind: 'rail', method: 'ilp', address: 'test.peer/USD/2' } as const
  expect(await restored.credit({ id, account: 'bob', amount: usdAmount(300n), counterparty })).toEqual({ ok: true })
  expect(await received(lastSegment(fromPeer.id), usdAmount(300n), id)).toMatchObject({ ok: true, accepted: 300n })
  books.correct(-300n)
  expect(await restored.balance('bob')).toMatchObject({ total: 300n })
  expect(await receivedOf(fromPeer.id)).toBe('300')
  expect(await owed()).toBe(300n)
  expect(await reconcileNow(wallet, backup, { noted: [id] })).toEqual([])
})

it.each([{}, { incomingAmount: usd('300') }])(
  'a packet whose answer its peer never heard is fulfilled when it comes again, and counted once: %j',
  async (expected) => {
    const { backup, calls, lines, id, fromPeer, packet, restored, wallet, owed, bring, books, received, receivedOf } =
      await restoredTogether(expected)
    expect(await repeatLog(restored, lines)).toEqual([])
    const [within = '', fromRail = ''] = calls.flatMap(({ name, argument }) => (name === 'credit' ? [argument.id] : []))
    expect(await received(lastSegment(fromPeer.id), usdAmount(300n), fromRail)).toMatchObject({ accepted: 300n })
    books.correct(-300n)
    wallet.clock.advance(400_000)
    expect(await bring(packet)).toBe('fulfill')
    expect(await receivedOf(fromPeer.id)).toBe('300')
    expect(await restored.balance('bob')).toMatchObject({ total: 800n })
    expect(await owed()).toBe(300n)
    expect(await reconcileNow(wallet, backup, { noted: [id, within, fromRail] })).toEqual([])
  },
)
