import type { RailTransfer, TransferOutcome } from 'open-payments-server'
import { describe, expect, it } from 'vitest'
import { sealAddress } from '../../src/payments/rail/seal-address.ts'
import { derivedSecrets } from '../../src/runtime/derived-secrets.ts'
import { BASE, BOB, cryptography, SECRET, usd, usdAmount } from '../support/test-wallet.ts'
import { eventsOf, HOUR } from './money-world.ts'
import {
  checkReceived,
  inAnHour,
  incomingOf,
  PEER,
  type RailWorld,
  railWorld,
  recoverReceiptsUntilQuiet,
  transferId,
  transferOf,
} from './receive-by-rail-world.ts'

const MOST = 18_446_744_073_709_551_615n

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
    expect(await received(id, usdAmount(30n), transferId(1))).toMatchObject({ ok: true, accepted: 30n })
    expect(await received(small, usdAmount(9n), transferId(2))).toMatchObject({ ok: true, accepted: 5n, excess: 4n })
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
    expect(await received(id, usdAmount(30n), transferId(1))).toEqual({ ok: true, accepted: 30n, excess: 0n })
    expect(await received(id, usdAmount(29n), transferId(1))).toEqual({ ok: false, reason: 'conflict' })
    expect(await received(other, usdAmount(30n), transferId(1))).toEqual({ ok: false, reason: 'conflict' })
    expect(await everything(world)).toEqual(before)
    await checkReceived(world)
  })

  it('INC-5 that was refused does not keep the wallet from reporting its money', async () => {
    const world = await railWorld()
    const { received } = world.wallet.openPayments.incomingPayments
    const id = await world.incoming()
    expect(await world.rail.receive(transferOf(1, id, 30n, { isRefused: true }))).toBe('refused')
    expect(await received(id, usdAmount(30n), transferId(1))).toEqual({ ok: true, accepted: 30n, excess: 0n })
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
          id: transferId(7),
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
    const unknown = transferOf(2, transferId(99), 5n, { isRefused: true })
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

describe('INC-7 money for a payment that takes none', () => {
  const causes: Readonly<Record<string, (world: RailWorld, id: string) => unknown>> = {
    'that is completed': (world, id) =>
      world.wallet.send('POST', `${BASE}/incoming-payments/${id}/complete`, { token: world.tokens.receiving }),
    'that has expired': async (world) => {
      world.wallet.clock.advance(HOUR + 1)
      await world.wallet.openPayments.sweep()
    },
    'that has expired by the clock': (world) => world.wallet.clock.advance(HOUR + 1),
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
    expect(await world.receive(world.rail, transferOf(1, transferId(99), 5n))).toBe('not_payable')
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

/** What others know of an incoming payment: what its rail made of what it was given. */
async function publishedOf({ wallet, tokens }: RailWorld, id: string) {
  const token = tokens.receiving
  const [method] = (await wallet.send('GET', `${BASE}/incoming-payments/${id}`, { token })).body.methods
  return { address: method?.ilpAddress.replace(/^test\.here\./, '') ?? '', sharedSecret: method?.sharedSecret }
}

describe('what a rail is told of an incoming payment', () => {
  it('is what it needs to take money for it', async () => {
    const world = await railWorld()
    const id = await world.incoming({ incomingAmount: usd('10') })
    const { address, sharedSecret } = await publishedOf(world, id)
    const found = { id, address, walletAddress: BOB, sharedSecret }
    expect(await world.rail.findPayable(address)).toEqual({
      ...found,
      asset: expect.objectContaining({ assetCode: 'USD', assetScale: 2 }),
      remainder: 10n,
    })
    await world.receive(world.rail, transferOf(1, id, 4n))
    expect(await world.rail.findPayable(address)).toMatchObject({ ...found, remainder: 6n })
    await world.wallet.openPayments.drain()
    expect(await world.rail.findPayable(address)).toMatchObject({ ...found, remainder: 6n })
    const unbounded = await publishedOf(world, await world.incoming())
    expect(await world.rail.findPayable(unbounded.address)).not.toHaveProperty('remainder')
    // By the same secret, but stored elsewhere.
    const other = await railWorld()
    const elsewhere = await publishedOf(other, await other.incoming())
    for (const unknown of [elsewhere.address, id, transferId(99), 'no payment', ''])
      expect(await world.rail.findPayable(unknown)).toBeUndefined()
  })

  it('INC-4 is found by no address that another of the secrets has sealed', async () => {
    const world = await railWorld()
    const id = await world.incoming()
    const { address, sharedSecret } = await publishedOf(world, id)
    const old = 'a secret that was rotated out, because others have it'
    const { rail } = world.startRail({ secrets: [SECRET, old] })
    expect(await rail.findPayable(address)).toMatchObject({ id, sharedSecret })
    const secrets = derivedSecrets([old], cryptography)
    const forged = await sealAddress(secrets, { id, secretId: await secrets.currentId() })
    expect(await rail.findPayable(forged.address)).toBeUndefined()
  })

  it('is its secret also afterwards, and that nothing remains: a repeat is answered by it', async () => {
    const world = await railWorld()
    const [completed, expired, closed] = [
      await world.incoming({ incomingAmount: usd('10') }),
      await world.incoming({ expiresAt: inAnHour(world) }),
      await world.incoming(),
    ]
    const published = await Promise.all([completed, expired, closed].map((id) => publishedOf(world, id)))
    await world.receive(world.rail, transferOf(1, completed, 10n))
    await world.wallet.openPayments.drain()
    world.wallet.clock.advance(HOUR + 1)
    world.wallet.directory.delete(BOB)
    for (const { address, sharedSecret } of published)
      expect(await world.rail.findPayable(address)).toMatchObject({ remainder: 0n, address, sharedSecret })
  })
})

describe('what a rail brings in another asset', () => {
  const eur = (value: bigint) => ({ value, assetCode: 'EUR', assetScale: 4 })

  it('QUO-8 is worth what the wallet gives for it, rounded down, without the fee of a payer', async () => {
    const asked: unknown[] = []
    const price = async (request: unknown) => {
      asked.push(request)
      return { rate: '1.08', fee: { basisPoints: 100, fixed: 5n } }
    }
    const { rail } = await railWorld({ pricing: { price } })
    expect(await rail.exchange(eur(10_000n), usdAmount(0n), BOB)).toEqual(usdAmount(108n))
    expect(await rail.exchange(eur(10_092n), usdAmount(0n), BOB)).toEqual(usdAmount(108n))
    expect(await rail.exchange(eur(92n), usdAmount(0n), BOB)).toEqual(usdAmount(0n))
    const to = { assetCode: 'USD', assetScale: 2 }
    expect(asked[0]).toEqual({ walletAddress: BOB, from: { assetCode: 'EUR', assetScale: 4 }, to })
    asked.length = 0
    expect(await rail.exchange(usdAmount(7n), to, BOB)).toEqual(usdAmount(7n))
    expect(asked).toEqual([])
  })

  it('QUO-8 is worth nothing that is known where the wallet does not exchange it, or what it says is no rate', async () => {
    const none = await railWorld()
    expect(await none.rail.exchange(eur(100n), usdAmount(0n), BOB)).toBeUndefined()
    const wrong = await railWorld({ pricing: { price: async () => ({ rate: 'many' }) } })
    await expect(wrong.rail.exchange(eur(100n), usdAmount(0n), BOB)).rejects.toThrow(
      'not a positive decimal as a string',
    )
    const failing = await railWorld({ pricing: { price: () => Promise.reject(new Error('no market')) } })
    await expect(failing.rail.exchange(eur(100n), usdAmount(0n), BOB)).rejects.toThrow('the pricing failed')
  })
})
