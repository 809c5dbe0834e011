import { openSqlite } from 'open-payments-server/storage/sqlite'
import { describe, expect, it } from 'vitest'
import { spendingToken } from '../support/test-wallet.ts'
import {
  copyOf,
  letArrive,
  openElsewhere,
  openLedger,
  openWallet,
  order,
  paymentsOf,
  reconcileNow,
  recoverAll,
} from './restored-wallet.ts'

// What docs/production.md says of a payment to another wallet whose hold has ended since the backup.

describe.each([
  ['released', 0n],
  ['settled for a part', 100n],
] as const)('a payment to another wallet whose hold was %s since the backup', (_, part) => {
  /** What has left is as in the backup; since then its receiver took no more, for a moment. */
  async function failedSince() {
    const { books, ledger } = await openLedger()
    const storage = await openSqlite(':memory:')
    const elsewhere = await openElsewhere()
    const { remoteReceivers, receiver, url } = elsewhere
    const open = letArrive(elsewhere, part)
    const lost = await openWallet(storage, ledger, { elsewhere })
    const { clock } = lost.wallet
    await order(lost.wallet, await spendingToken(lost.wallet), url)
    const backup = await copyOf(storage)
    for (const fake of remoteReceivers.all) fake.hasMethod = false
    clock.advance(60_000)
    await lost.wallet.openPayments.recover()
    await lost.wallet.openPayments.drain()
    expect(await paymentsOf(lost.wallet.openPayments)).toMatchObject([{ state: 'failed' }])
    for (const fake of remoteReceivers.all) fake.hasMethod = true
    open()

    const { wallet, balance } = await openWallet(backup, ledger, { elsewhere })
    wallet.clock.advance(clock.now() + 60_000 - wallet.clock.now())
    // What the page tells to compare: no more has arrived than is recorded.
    expect(await paymentsOf(wallet.openPayments)).toMatchObject([
      { state: 'sending', rail: { received: { value: `${part}` } } },
    ])
    expect(receiver.total()).toBe(part)
    // And what it tells to look at: the ledger has ended the hold.
    expect((await ledger.balance('alice'))?.held).toBe(0n)
    return { books, ledger, receiver, wallet, balance }
  }

  it('leaves again within the hour after its order, and nobody is charged', async () => {
    const { ledger, receiver, wallet } = await failedSince()
    await recoverAll(wallet)
    expect(receiver.total()).toBe(500n)
    expect(await ledger.balance('alice')).toMatchObject({ total: 100_000n - part, held: 0n })
  })

  it('ends as it had ended if that hour was waited for', async () => {
    const { books, ledger, receiver, wallet, balance } = await failedSince()
    wallet.clock.advance(3_600_000)
    await recoverAll(wallet)
    expect(receiver.total()).toBe(part)
    expect(await balance()).toMatchObject({ sent: part })
    expect(await paymentsOf(wallet.openPayments)).toMatchObject([{ state: 'failed' }])
    expect(await ledger.balance('alice')).toMatchObject({ total: 100_000n - part, held: 0n })
    expect(await reconcileNow(wallet, books)).toEqual([])
  })
})
