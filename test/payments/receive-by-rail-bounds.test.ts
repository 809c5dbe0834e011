import type { TransferOutcome } from 'open-payments-server'
import { describe, expect, it } from 'vitest'
import { idOf } from '../../src/testing/ledger-case.ts'
import { BASE, BOB, usd } from '../support/test-wallet.ts'
import { eventsOf, HOUR, inAnHour } from './money-world.ts'
import {
  checkReceived,
  incomingOf,
  MOST,
  PEER,
  type RailWorld,
  railWorld,
  recoverReceiptsUntilQuiet,
  transferOf,
} from './receive-by-rail-world.ts'

describe('INC-7 money for a payment that takes none', () => {
  const causes: Readonly<Record<string, (world: RailWorld, id: string) => unknown>> = {
    'that is completed': (world, id) =>
      world.wallet.send('POST', `${BASE}/incoming-payments/${id}/complete`, { token: world.tokens.receiving }),
    'that has expired': async (world) => {
      world.wallet.clock.advance(HOUR + 1)
      await world.wallet.openPayments.sweep()
    },
    'that has expired by the clock': (world) => world.wallet.clock.advance(HOUR + 1),
    'that expires while its ledger is asked about the account': ({ wallet, ledger }) => {
      wallet.clock.advance(HOUR - 1)
      ledger.account = async () => {
        wallet.clock.advance(2)
        return { assetCode: 'USD', assetScale: 2, canSend: true, canReceive: true }
      }
    },
    'whose wallet address is gone': (world) => world.wallet.directory.delete(BOB),
    'whose wallet address is not active': (world) =>
      world.wallet.directory.set(BOB, { account: 'bob', assetCode: 'USD', assetScale: 2, isActive: false }),
    'whose wallet address has another asset': (world) =>
      world.wallet.directory.set(BOB, { account: 'bob', assetCode: 'EUR', assetScale: 4 }),
    'whose account in the ledger takes none': (world) =>
      world.ledger.setPermissions('bob', { canSend: true, canReceive: false }),
    'whose account in the ledger is unknown': ({ ledger }) => {
      ledger.account = async () => undefined
    },
    'whose account in the ledger has another asset': ({ ledger }) => {
      ledger.account = async () => ({ assetCode: 'EUR', assetScale: 4, canSend: true, canReceive: true })
    },
  }

  const ownMistakes: Readonly<Record<string, readonly string[]>> = {
    'whose account in the ledger is unknown': ['the directory names an account that the ledger does not have'],
    'whose account in the ledger has another asset': ['the directory and the ledger give an account different assets'],
  }

  it.each(Object.keys(causes))('%s is not taken, and not later either', async (name) => {
    const world = await railWorld()
    const id = await world.incoming({ expiresAt: inAnHour(world) })
    await causes[name]?.(world, id)
    expect(await world.receive(world.rail, transferOf(1, id, 5n))).toBe('not_payable')
    const faults = eventsOf(world, 'fault').map(({ message }) => message)
    expect(faults).toEqual(ownMistakes[name] ?? [])
    world.wallet.directory.set(BOB, { account: 'bob', assetCode: 'USD', assetScale: 2 })
    await world.ledger.setPermissions('bob', { canSend: true, canReceive: true })
    expect(['refused', 'not_payable']).toContain(await world.receive(world.rail, transferOf(1, id, 5n)))
    await world.wallet.openPayments.drain()
    expect(await world.ledger.balance('bob')).toMatchObject({ total: 0n })
    await checkReceived(world)
  })

  it('INC-13 whose wallet address has another account is not taken now: its next transfer may be', async () => {
    const world = await railWorld()
    const id = await world.incoming()
    expect(await world.receive(world.rail, transferOf(1, id, 2n))).toBe('received')
    world.wallet.directory.set(BOB, { account: 'emil', assetCode: 'USD', assetScale: 2 })
    expect(await world.receive(world.rail, transferOf(2, id, 3n))).toBe('not_now')
    // What another account keeps says nothing about this payment.
    world.wallet.directory.set(BOB, { account: 'emil', assetCode: 'EUR', assetScale: 4 })
    expect(await world.receive(world.rail, transferOf(4, id, 3n))).toBe('not_now')
    // What was taken before is answered as it was; and of what was refused the rail has told its peer.
    expect(await world.receive(world.rail, transferOf(1, id, 2n))).toBe('received')
    world.wallet.directory.set(BOB, { account: 'bob', assetCode: 'USD', assetScale: 2 })
    expect(await world.receive(world.rail, transferOf(2, id, 3n))).toBe('refused')
    expect(await world.receive(world.rail, transferOf(3, id, 3n))).toBe('received')
    await world.wallet.openPayments.drain()
    expect(await world.ledger.balance('bob')).toMatchObject({ total: 5n })
    const faults = eventsOf(world, 'fault').map(({ message, cause }) => [message, String(cause)])
    const cause = `Error: ${BOB}: account "bob" before, "emil" in the directory`
    expect(faults).toEqual(Array(2).fill(['a wallet address now has a different account', cause]))
    await checkReceived(world)
  })

  it('that expires while the wallet is asked is not taken', async () => {
    const world = await railWorld()
    const id = await world.incoming({ expiresAt: new Date(world.wallet.clock.now() + 1000).toISOString() })
    const process = world.startRail()
    process.ports.plan = ({ name }) => {
      if (name === 'account') world.wallet.clock.advance(1001)
      return undefined
    }
    expect(await world.receive(process.rail, transferOf(1, id, 5n))).toBe('not_payable')
    await checkReceived(world)
  })

  it('that does not exist is not taken', async () => {
    const world = await railWorld()
    expect(await world.receive(world.rail, transferOf(1, idOf(99), 5n))).toBe('not_payable')
    expect(await world.receive(world.rail, transferOf(1, 'no payment', 5n))).toBe('not_payable')
    expect(await world.storage.all('receipt')).toEqual([])
  })
})

describe('INC-8 money above the remainder', () => {
  // Of 10 that are asked for, 6 are there already.
  it.each<['accept' | 'cap' | 'refuse', bigint, bigint, TransferOutcome, bigint, bigint]>([
    ['accept', 4n, 4n, 'received', 10n, 0n],
    ['cap', 4n, 4n, 'received', 10n, 0n],
    ['refuse', 4n, 4n, 'received', 10n, 0n],
    ['accept', 5n, 5n, 'received', 11n, 0n],
    ['cap', 5n, 5n, 'over_remainder', 6n, 0n],
    ['cap', 5n, 4n, 'received', 10n, 1n],
    ['cap', 5n, 0n, 'received', 10n, 1n],
    ['refuse', 5n, 0n, 'over_remainder', 6n, 0n],
    ['accept', MOST, 0n, 'over_remainder', 6n, 0n],
    ['refuse', MOST, 0n, 'over_remainder', 6n, 0n],
    ['cap', MOST, 0n, 'received', 10n, MOST - 4n],
  ])(
    'under %s, %i of which its sender insists on %i: %s',
    async (excessReceipt, value, least, outcome, sum, excess) => {
      const world = await railWorld({ settings: { policies: { excessReceipt } } })
      const id = await world.incoming({ incomingAmount: usd('10') })
      await world.receive(world.rail, transferOf(1, id, 6n))
      expect(await world.receive(world.rail, transferOf(2, id, value, { least }))).toBe(outcome)
      await world.wallet.openPayments.drain()
      expect((await incomingOf(world, id))?.received.value).toBe(sum)
      expect((await world.storage.all('receipt')).map(({ value: receipt }) => receipt.excess ?? 0n)).toEqual([
        0n,
        excess,
      ])
      await checkReceived(world)
    },
  )

  it('is not taken where nothing remains, whatever its sender insists on', async () => {
    const world = await railWorld()
    const id = await world.incoming({ incomingAmount: usd('10') })
    // The ledger does not answer, so that all of it stays reserved.
    const process = world.startRail()
    process.ports.plan = ({ name }) => (name === 'credit' ? 'hangs' : undefined)
    expect(await world.receive(process.rail, transferOf(1, id, 10n))).toBe('received')
    expect(await world.receive(world.rail, transferOf(2, id, 1n, { least: 0n }))).toBe('over_remainder')
    await process.openPayments.drain()
    // Once room has come back the refused one stays refused.
    await world.ledger.setPermissions('bob', { canSend: true, canReceive: false })
    await recoverReceiptsUntilQuiet(world)
    await world.ledger.setPermissions('bob', { canSend: true, canReceive: true })
    expect(await world.receive(world.rail, transferOf(2, id, 1n, { least: 0n }))).toBe('refused')
    expect(await world.receive(world.rail, transferOf(3, id, 1n))).toBe('received')
    await world.wallet.openPayments.drain()
    await checkReceived(world)
  })

  it('LIM-11 is all that a payment without an amount cannot add up', async () => {
    const world = await railWorld()
    const id = await world.incoming()
    expect(await world.receive(world.rail, transferOf(1, id, MOST - 1n))).toBe('received')
    expect(await world.receive(world.rail, transferOf(2, id, 2n, { least: 0n }))).toBe('over_remainder')
    expect(await world.receive(world.rail, transferOf(3, id, 1n))).toBe('received')
    await world.wallet.openPayments.drain()
    expect((await incomingOf(world, id))?.received.value).toBe(MOST)
    await checkReceived(world)
  })
})

describe('what a rail may have received more than it has sent', () => {
  it('is not exceeded, and a transfer that would exceed it is refused for good', async () => {
    const world = await railWorld()
    const id = await world.incoming()
    expect(await world.receive(world.rail, transferOf(1, id, 10n, { most: 10n }))).toBe('received')
    expect(await world.receive(world.rail, transferOf(2, id, 1n, { most: 10n }))).toBe('over_limit')
    expect(await world.receive(world.rail, transferOf(2, id, 1n, { most: 11n }))).toBe('refused')
    expect(await world.receive(world.rail, transferOf(3, id, 1n, { most: 11n }))).toBe('received')
    expect(await world.receive(world.rail, transferOf(1, id, 10n, { most: 0n }))).toBe('received')
    expect(await world.receive(world.rail, transferOf(4, id, 1n, { most: 1n, account: 'test.other' }))).toBe('received')
    await world.wallet.openPayments.drain()
    await checkReceived(world)
  })

  it('counts less what it has sent, but for what may not have left', async () => {
    const world = await railWorld()
    const id = await world.incoming()
    const account = { id: `ilp:${PEER}`, assetCode: 'USD', assetScale: 2, sent: 9n, inFlight: 2n, received: 0n }
    await world.storage.commit([{ action: 'insert', kind: 'rail-account', value: account }])
    expect(await world.receive(world.rail, transferOf(1, id, 11n, { most: 3n }))).toBe('over_limit')
    expect(await world.receive(world.rail, transferOf(2, id, 10n, { most: 3n }))).toBe('received')
    expect(await world.rail.balance(PEER)).toEqual({ sent: 9n, received: 10n })
    expect(await world.rail.balance('test.unknown')).toEqual({ sent: 0n, received: 0n })
  })
})
