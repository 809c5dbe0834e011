import type { RailTransfer } from 'open-payments-server'
import { describe, expect, it } from 'vitest'
import { idOf } from '../../src/testing/ledger-case.ts'
import { BOB, usd, usdAmount } from '../support/test-wallet.ts'
import { HOUR } from './money-world.ts'
import {
  checkReceived,
  incomingOf,
  MOST,
  PEER,
  type RailWorld,
  railWorld,
  transferOf,
} from './receive-by-rail-world.ts'

/** Everything that the storage holds of receiving. */
async function everything(world: RailWorld): Promise<unknown> {
  const kinds = ['receipt', 'incoming-payment', 'rail-account', 'event'] as const
  return Promise.all(kinds.map((kind) => world.storage.all(kind)))
}

describe('a transfer', () => {
  it('INC-5 is taken, credited and counted once, however often it is told', async () => {
    const world = await railWorld()
    const id = await world.incoming({ incomingAmount: usd('30') })
    expect(await world.receive(world.rail, transferOf(1, id, 10n))).toBe('received')
    await world.wallet.openPayments.drain()
    expect(await incomingOf(world, id)).toMatchObject({ state: 'processing', received: { value: 10n } })
    await world.receive(world.rail, transferOf(2, id, 20n))
    await world.wallet.openPayments.drain()
    expect(await incomingOf(world, id)).toMatchObject({ state: 'completed', received: { value: 30n } })
    await checkReceived(world)
    const before = await everything(world)
    world.wallet.directory.delete(BOB)
    world.wallet.clock.advance(100 * 24 * HOUR)
    for (const isRefused of [false, true]) {
      for (const [number, value] of [
        [1, 10n],
        [2, 20n],
      ] as const)
        expect(await world.rail.receive(transferOf(number, id, value, { isRefused }))).toBe('received')
    }
    expect(await everything(world)).toEqual(before)
    expect(await world.rail.balance(PEER)).toEqual({ sent: 0n, received: 30n })
    expect(await world.ledger.balance('bob')).toMatchObject({ total: 30n })
  })

  it('INC-5 that the wallet has reported itself, by its id, was taken before, and is not counted again', async () => {
    const world = await railWorld()
    const { received } = world.wallet.openPayments.incomingPayments
    const [id, other, small] = [
      await world.incoming(),
      await world.incoming(),
      await world.incoming({ incomingAmount: usd('5') }),
    ]
    expect(await received(id, usdAmount(30n), idOf(1))).toMatchObject({ ok: true, accepted: 30n })
    expect(await received(small, usdAmount(9n), idOf(2))).toMatchObject({ ok: true, accepted: 5n, excess: 4n })
    await world.wallet.openPayments.drain()
    const before = await everything(world)
    for (const isRefused of [false, true]) {
      expect(await world.rail.receive(transferOf(1, id, 30n, { isRefused }))).toBe('received')
      expect(await world.rail.receive(transferOf(1, id, 29n, { isRefused }))).toBe('taken_otherwise')
      expect(await world.rail.receive(transferOf(1, other, 30n, { isRefused }))).toBe('taken_otherwise')
      expect(await world.rail.receive(transferOf(2, small, 9n, { isRefused }))).toBe('received')
      // Only what was accepted of a transfer is in the ledger, and so reported.
      expect(await world.rail.receive(transferOf(1, id, 31n, { isRefused }))).toBe('received')
    }
    // What it was worth then counts, whatever the rate is now.
    const euros = { account: 'test.peer/EUR/4', accountAmount: { value: 400n, assetCode: 'EUR', assetScale: 4 } }
    expect(await world.rail.receive(transferOf(1, id, 12n, euros))).toBe('received')
    expect(await world.rail.findReceived(transferOf(1, id, 12n, euros))).toEqual(usdAmount(30n))
    expect(await world.rail.findReceived(transferOf(1, other, 12n, euros))).toBeUndefined()
    // A number of another asset that is smaller than what was reported is not less.
    const few = { account: 'test.peer/EUR/2', accountAmount: { value: 28n, assetCode: 'EUR', assetScale: 2 } }
    expect(await world.rail.receive(transferOf(1, id, 30n, few))).toBe('received')
    const without = world.startRail({
      walletAddresses: { find: () => Promise.reject(new Error('the directory is down')) },
    })
    expect(await without.rail.receive(transferOf(1, id, 30n))).toBe('received')
    expect(await everything(world)).toEqual(before)
    expect(await world.ledger.balance('bob')).toMatchObject({ total: 0n })
  })

  it('INC-5 that was taken is not counted again if the wallet reports it by its id', async () => {
    const world = await railWorld()
    const { received } = world.wallet.openPayments.incomingPayments
    const [id, other] = [await world.incoming({ incomingAmount: usd('60') }), await world.incoming()]
    await world.receive(world.rail, transferOf(1, id, 30n))
    await world.wallet.openPayments.drain()
    const before = await everything(world)
    expect(await received(id, usdAmount(30n), idOf(1))).toEqual({ ok: true, accepted: 30n, excess: 0n })
    expect(await received(id, usdAmount(29n), idOf(1))).toEqual({ ok: false, reason: 'conflict' })
    expect(await received(other, usdAmount(30n), idOf(1))).toEqual({ ok: false, reason: 'conflict' })
    expect(await everything(world)).toEqual(before)
    await checkReceived(world)
  })

  it('INC-5 that was refused does not keep the wallet from reporting its money', async () => {
    const world = await railWorld()
    const { received } = world.wallet.openPayments.incomingPayments
    const id = await world.incoming()
    expect(await world.rail.receive(transferOf(1, id, 30n, { isRefused: true }))).toBe('refused')
    expect(await received(id, usdAmount(30n), idOf(1))).toEqual({ ok: true, accepted: 30n, excess: 0n })
  })

  it('INC-5 is credited as what it is in the books', async () => {
    const world = await railWorld()
    const process = world.startRail()
    const id = await world.incoming()
    await world.receive(process.rail, transferOf(7, id, 5n))
    await process.openPayments.drain()
    const credits = process.ports.calls.filter(({ name }) => name === 'credit')
    expect(credits.map((call) => call.arguments)).toEqual([
      [
        {
          id: idOf(7),
          account: 'bob',
          amount: usdAmount(5n),
          counterparty: { kind: 'rail', method: 'ilp', address: PEER },
        },
      ],
    ])
  })

  it.each<[string, Partial<RailTransfer>]>([
    ['through another account', { account: 'test.other/USD/2' }],
    ['of more', { amount: usdAmount(6n), accountAmount: usdAmount(6n) }],
    ['of less', { amount: usdAmount(4n), accountAmount: usdAmount(4n), least: 4n }],
    ['that is late, and of more', { accountAmount: usdAmount(6n), isRefused: true }],
  ])('INC-5 T-49 that was taken is not taken again %s, nor called refused', async (_what, members) => {
    const world = await railWorld()
    const id = await world.incoming()
    await world.receive(world.rail, transferOf(1, id, 5n))
    await world.wallet.openPayments.drain()
    const before = await everything(world)
    expect(await world.rail.receive(transferOf(1, id, 5n, members))).toBe('taken_otherwise')
    expect(await world.rail.findReceived(transferOf(1, id, 5n, members))).toBeUndefined()
    expect(await everything(world)).toEqual(before)
    await checkReceived(world)
  })

  it('INC-5 T-49 that was taken is not taken again for another payment, nor called refused', async () => {
    const world = await railWorld()
    await world.receive(world.rail, transferOf(1, await world.incoming(), 5n))
    const other = await world.incoming()
    await world.wallet.openPayments.drain()
    const before = await everything(world)
    for (const isRefused of [false, true])
      expect(await world.rail.receive(transferOf(1, other, 5n, { isRefused }))).toBe('taken_otherwise')
    expect(await everything(world)).toEqual(before)
    await checkReceived(world)
  })

  it('INC-5 is the same where its worth has changed since', async () => {
    const world = await railWorld()
    const id = await world.incoming()
    const accountAmount = { value: 400n, assetCode: 'EUR', assetScale: 4 }
    const transfer = transferOf(1, id, 5n, { account: 'test.peer/EUR/4', accountAmount })
    expect(await world.rail.receive(transfer)).toBe('received')
    expect(await world.rail.receive({ ...transfer, amount: usdAmount(9n), least: 0n })).toBe('received')
    expect(await world.rail.findReceived(transfer)).toEqual(usdAmount(5n))
    await world.wallet.openPayments.drain()
    expect(await world.ledger.balance('bob')).toMatchObject({ total: 5n })
    expect(await world.rail.balance('test.peer/EUR/4')).toEqual({ sent: 0n, received: 400n })
  })

  it('INC-8 is said to have brought all that came, with what was above the remainder', async () => {
    const world = await railWorld({ settings: { policies: { excessReceipt: 'cap' } } })
    const transfer = transferOf(1, await world.incoming({ incomingAmount: usd('3') }), 5n, { least: 2n })
    expect(await world.rail.findReceived(transfer)).toBeUndefined()
    expect(await world.receive(world.rail, transfer)).toBe('received')
    expect(await world.rail.findReceived(transfer)).toEqual(usdAmount(5n))
    await world.wallet.openPayments.drain()
    expect(await world.rail.findReceived(transfer)).toEqual(usdAmount(5n))
    const refused = transferOf(2, transfer.incomingPayment, 5n)
    expect(await world.receive(world.rail, refused)).toBe('not_payable')
    expect(await world.rail.findReceived(refused)).toBeUndefined()
    await checkReceived(world)
  })

  it('INC-5 that comes late is refused for good', async () => {
    const world = await railWorld()
    const id = await world.incoming()
    const transfer = transferOf(1, id, 5n)
    expect(await world.receive(world.rail, { ...transfer, isRefused: true })).toBe('refused')
    expect(await world.receive(world.startRail().rail, transfer)).toBe('refused')
    expect(await world.receive(world.rail, { ...transfer, isRefused: true })).toBe('refused')
    expect(await world.storage.all('receipt')).toMatchObject([{ value: { state: 'dropped', amount: { value: 0n } } }])
    expect(await incomingOf(world, id)).toMatchObject({ state: 'pending', reserved: { value: 0n } })
    const unknown = transferOf(2, idOf(99), 5n, { isRefused: true })
    expect(await world.receive(world.rail, unknown)).toBe('refused')
    await checkReceived(world)
  })

  const NO_AMOUNT = 'the value of a transfer must be a positive unsigned 64-bit integer'
  const WRONG_LEAST = 'least of a transfer must be from 0 to its amount'
  const NO_MOMENT = 'notAfter of a transfer must be an integer, in milliseconds'
  const OTHER_ASSET = 'a transfer is in another asset than its incoming payment'

  it.each<[string, Partial<RailTransfer>, string]>([
    [
      'an id for which ledgers have no room',
      { id: '019ca945311f'.padEnd(44, '0') },
      'the id of a transfer must be 32 lower-case hexadecimal digits',
    ],
    ['an id that is none', { id: 'transfer' }, 'the id of a transfer must be 32 lower-case hexadecimal digits'],
    ['nothing', { amount: usdAmount(0n), least: 0n }, NO_AMOUNT],
    ['more than an amount holds', { amount: usdAmount(MOST + 1n) }, NO_AMOUNT],
    ['nothing at the account', { accountAmount: usdAmount(0n) }, NO_AMOUNT],
    ['more at the account than an amount holds', { accountAmount: usdAmount(MOST + 1n) }, NO_AMOUNT],
    ['a sender who insists on more than it is', { least: 6n }, WRONG_LEAST],
    ['a sender who insists on less than nothing', { least: -1n }, WRONG_LEAST],
    ['a moment that is none', { notAfter: Number.NaN }, NO_MOMENT],
    ['a moment that is not exact', { notAfter: 2 ** 53 }, NO_MOMENT],
    ['no moment, also where it is refused', { isRefused: true, notAfter: Number.POSITIVE_INFINITY }, NO_MOMENT],
    ['another scale than the payment', { amount: { ...usdAmount(5n), assetScale: 3 } }, OTHER_ASSET],
    ['another asset than the payment', { amount: { ...usdAmount(5n), assetCode: 'EUR' } }, OTHER_ASSET],
  ])('is a mistake of the rail with %s', async (_what, members, message) => {
    const world = await railWorld()
    const id = await world.incoming()
    await expect(world.rail.receive(transferOf(1, id, 5n, members))).rejects.toThrow(message)
    expect(await world.storage.all('receipt')).toEqual([])
    expect(await world.rail.receive(transferOf(1, id, 5n))).toBe('received')
  })

  it.each([undefined, null, 7, {}])('is a mistake of the rail with a member that is %j', async (wrong) => {
    const world = await railWorld()
    const transfer = transferOf(1, await world.incoming(), 5n)
    const wrongs: readonly object[] = [
      { id: wrong },
      { incomingPayment: wrong },
      { account: wrong },
      { amount: { ...transfer.amount, value: wrong } },
      { accountAmount: { ...transfer.amount, value: wrong } },
      { accountAmount: { ...transfer.amount, assetCode: wrong } },
      { accountAmount: { ...transfer.amount, assetScale: wrong === 7 ? '7' : wrong } },
      { least: wrong },
      { notAfter: wrong === 7 ? '7' : wrong },
      ...(wrong === undefined ? [] : [{ most: wrong }]),
    ]
    for (const members of wrongs)
      await expect(
        world.rail.receive({ ...transfer, ...members }),
        JSON.stringify(Object.keys(members)),
      ).rejects.toThrow(/a transfer/)
    expect(await world.storage.all('receipt')).toEqual([])
    expect(await world.storage.all('rail-account')).toEqual([])
  })

  it('is a mistake of the rail in another asset than its account', async () => {
    const world = await railWorld()
    const id = await world.incoming()
    await world.receive(world.rail, transferOf(1, id, 5n))
    const accountAmount = { ...usdAmount(5n), assetScale: 3 }
    await expect(world.rail.receive(transferOf(2, id, 5n, { accountAmount }))).rejects.toThrow('in another asset')
    await world.wallet.openPayments.drain()
    await checkReceived(world)
  })
})

describe('T-49 a transfer that may be taken until a moment', () => {
  it('is taken at that moment, and refused for good after it', async () => {
    const world = await railWorld()
    const id = await world.incoming()
    const now = world.wallet.clock.now()
    expect(await world.receive(world.rail, transferOf(1, id, 5n, { notAfter: now }))).toBe('received')
    expect(await world.receive(world.rail, transferOf(2, id, 5n, { notAfter: now - 1 }))).toBe('refused')
    expect(await world.receive(world.rail, transferOf(2, id, 5n))).toBe('refused')
    world.wallet.clock.advance(1)
    expect(await world.receive(world.rail, transferOf(1, id, 5n, { notAfter: now }))).toBe('received')
    await world.wallet.openPayments.drain()
    await checkReceived(world)
  })

  it('is refused where that passes while the wallet is asked', async () => {
    const world = await railWorld()
    const id = await world.incoming()
    const process = world.startRail()
    process.ports.plan = ({ name }) => {
      if (name === 'account') world.wallet.clock.advance(2000)
      return undefined
    }
    const transfer = transferOf(1, id, 5n, { notAfter: world.wallet.clock.now() + 1999 })
    expect(await world.receive(process.rail, transfer)).toBe('refused')
    expect(await world.receive(world.rail, transferOf(1, id, 5n))).toBe('refused')
    expect(await incomingOf(world, id)).toMatchObject({ state: 'pending', reserved: { value: 0n } })
    await checkReceived(world)
  })

  it('is refused where that passes while it meets another writer', async () => {
    const world = await railWorld()
    const id = await world.incoming()
    const process = world.startRail()
    let commits = 0
    process.ports.plan = async ({ name }) => {
      if (name !== 'commit' || ++commits > 1) return undefined
      expect(await world.receive(world.rail, transferOf(2, id, 7n))).toBe('received')
      world.wallet.clock.advance(2000)
      return undefined
    }
    const transfer = transferOf(1, id, 5n, { notAfter: world.wallet.clock.now() + 1999 })
    expect(await world.receive(process.rail, transfer)).toBe('refused')
    expect(commits).toBe(2)
    await world.wallet.openPayments.drain()
    expect(await incomingOf(world, id)).toMatchObject({ received: { value: 7n }, reserved: { value: 0n } })
    await checkReceived(world)
  })

  it('is taken where the commit starts in time, however long that takes', async () => {
    const world = await railWorld()
    const id = await world.incoming()
    const process = world.startRail()
    process.ports.plan = ({ name }) => {
      if (name === 'commit') world.wallet.clock.advance(2000)
      return undefined
    }
    const transfer = transferOf(1, id, 5n, { notAfter: world.wallet.clock.now() })
    expect(await world.receive(process.rail, transfer)).toBe('received')
    await process.openPayments.drain()
    expect(await world.ledger.balance('bob')).toMatchObject({ total: 5n })
    await checkReceived(world)
  })
})
