import type { KeyResolver, Storage } from 'open-payments-server'
import { memoryStorage } from 'open-payments-server/storage/memory'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { BASE, BOB, usd, usdAmount } from '../support/test-wallet.ts'
import {
  askPayment,
  askQuote,
  CHANGED_RECEIVER,
  createIncoming,
  ELSEWHERE_RECEIVER,
  ENDED_RECEIVER,
  EXPIRED_QUOTE,
  expectRefusal,
  expectStatus,
  FILLED_RECEIVER,
  INACTIVE_RECEIVER,
  idOf,
  NOTHING_SPENT,
  type Refusal,
  type Shop,
  shop,
  spent,
  spentOf,
  UNKNOWN_RECEIVER,
} from './observed-wallet.ts'

// Without a payment method a receiver elsewhere is refused from its URL alone. What a receiver here has become since its
// quote is looked at again when the quote is paid.

const ELSEWHERE = [
  'https://example.com/incoming-payments/1',
  'https://example.com/op/incoming-payments/00000000000000000000000000000000',
  'https://wallet.example.evil.example/incoming-payments/00000000000000000000000000000000',
  'https://wallet.example:8443/incoming-payments/00000000000000000000000000000000',
  'http://wallet.example/incoming-payments/00000000000000000000000000000000',
  'http://127.0.0.1/incoming-payments/1',
  'http://169.254.169.254/incoming-payments/1',
  'http://[::ffff:10.0.0.1]/incoming-payments/1',
  'https://0x7f000001/incoming-payments/1',
  'https://localhost/incoming-payments/1',
  'https://auth.wallet.example/incoming-payments/1',
]

describe('a receiver on another server, where no payment method is configured', () => {
  afterEach(() => {
    vi.unstubAllGlobals()
  })

  it.each(ELSEWHERE)('QUO-9 T-1 is refused without a request going out: %s', async (receiver) => {
    const asked: string[] = []
    const keyResolver: KeyResolver = {
      keySet: async (walletAddress) => {
        asked.push(walletAddress)
        return { ok: false, reason: 'unreachable' }
      },
      publicName: async (walletAddress) => {
        asked.push(walletAddress)
        return undefined
      },
    }
    vi.stubGlobal('fetch', async (url: unknown) => {
      asked.push(String(url))
      throw new Error('no network')
    })
    const { wallet, spending } = await shop({ overrides: { keyResolver } })
    await expectRefusal(wallet, ELSEWHERE_RECEIVER, () =>
      askQuote(wallet, spending, { receiver, debitAmount: usd('1') }),
    )
    await expectRefusal(wallet, ELSEWHERE_RECEIVER, () => askQuote(wallet, spending, { receiver }))
    await expectRefusal(wallet, ELSEWHERE_RECEIVER, () =>
      askPayment(wallet, spending, { incomingPayment: receiver, debitAmount: usd('1') }),
    )
    expect(asked).toEqual([])
    expect(await spentOf(wallet, spending)).toEqual(NOTHING_SPENT)
  })
})

describe('a receiver on this server', () => {
  it('RS-10 is unknown if its id is longer than any that a storage takes', async () => {
    const inner = memoryStorage()
    const storage: Storage = {
      ...inner,
      get: async (keys) => {
        if (keys.some(({ id }) => id.length > 517)) throw new RangeError('an id has up to 517 characters')
        return inner.get(keys)
      },
    }
    const { wallet, spending } = await shop({ overrides: { storage } })
    const receiver = `${BASE}/incoming-payments/${'0'.repeat(518)}`
    await expectRefusal(wallet, UNKNOWN_RECEIVER, () => askQuote(wallet, spending, { receiver, debitAmount: usd('1') }))
    await expectRefusal(wallet, UNKNOWN_RECEIVER, () =>
      askPayment(wallet, spending, { incomingPayment: receiver, debitAmount: usd('1') }),
    )
    expect(wallet.events.filter(({ type }) => type === 'fault')).toEqual([])
  })
})

/** What becomes of a receiver between its quote for 60 of 100 and the payment. */
const CHANGES: readonly (readonly [string, Refusal, (rig: Shop) => Promise<unknown>])[] = [
  [
    'completed by its client',
    ENDED_RECEIVER,
    ({ wallet, receiving, incoming }) => wallet.send('POST', `${incoming.id}/complete`, { token: receiving }),
  ],
  ['filled by another payer', ENDED_RECEIVER, (rig) => payDirectly(rig, '100')],
  ['left with less than was quoted by another payer', FILLED_RECEIVER, (rig) => payDirectly(rig, '41')],
  [
    'left with less than was quoted by a rail of the wallet',
    FILLED_RECEIVER,
    ({ wallet, incoming }) => wallet.openPayments.incomingPayments.received(idOf(incoming), usdAmount(41n), 't1'),
  ],
  [
    'in another asset',
    CHANGED_RECEIVER,
    async ({ wallet }) => wallet.directory.set(BOB, { account: 'bob', assetCode: 'EUR', assetScale: 2 }),
  ],
  [
    'in another scale',
    CHANGED_RECEIVER,
    async ({ wallet }) => wallet.directory.set(BOB, { account: 'bob', assetCode: 'USD', assetScale: 4 }),
  ],
  [
    'inactive',
    INACTIVE_RECEIVER,
    async ({ wallet }) =>
      wallet.directory.set(BOB, { account: 'bob', assetCode: 'USD', assetScale: 2, isActive: false }),
  ],
  ['gone', INACTIVE_RECEIVER, async ({ wallet }) => wallet.directory.delete(BOB)],
]

async function payDirectly(
  { wallet, spending, incoming }: Pick<Shop, 'wallet' | 'spending' | 'incoming'>,
  value: string,
) {
  await expectStatus(201, askPayment(wallet, spending, { incomingPayment: incoming.id, debitAmount: usd(value) }))
  await wallet.openPayments.drain()
}

describe('a receiver that has changed since its quote', () => {
  it.each(CHANGES)('T-45 OUT-4 is refused: %s', async (_, refusal, change) => {
    const rig = await shop({ incoming: { incomingAmount: usd('100') } })
    const { wallet, spending, incoming } = rig
    const quote = await expectStatus(201, askQuote(wallet, spending, { receiver: incoming.id, debitAmount: usd('60') }))
    await change(rig)
    await expectRefusal(wallet, refusal, () => askPayment(wallet, spending, { quoteId: quote.body.id }))
    await expectStatus(200, wallet.send('GET', quote.body.id, { token: spending }))
  })

  it('T-45 OUT-2 has expired: so has its quote', async () => {
    const { wallet, spending, receiving } = await shop()
    const expiresAt = new Date(wallet.clock.now() + 100_000).toISOString()
    const { id } = await createIncoming(wallet, receiving, { expiresAt })
    const quote = await expectStatus(201, askQuote(wallet, spending, { receiver: id, debitAmount: usd('1') }))
    wallet.clock.advance(100_000)
    await expectRefusal(wallet, EXPIRED_QUOTE, () => askPayment(wallet, spending, { quoteId: quote.body.id }))
    wallet.clock.advance(1)
    await expectRefusal(wallet, ENDED_RECEIVER, () =>
      askPayment(wallet, spending, { incomingPayment: id, debitAmount: usd('1') }),
    )
  })

  it('T-45 QUO-5 is paid what was quoted where it still takes that', async () => {
    const rig = await shop({ incoming: { incomingAmount: usd('100') } })
    const { wallet, spending, incoming } = rig
    const quote = await expectStatus(201, askQuote(wallet, spending, { receiver: incoming.id, debitAmount: usd('60') }))
    await payDirectly(rig, '40')
    const payment = await expectStatus(201, askPayment(wallet, spending, { quoteId: quote.body.id }))
    expect(payment.body).toMatchObject({ debitAmount: usd('60'), receiveAmount: usd('60') })
    await wallet.openPayments.drain()
    expect((await wallet.send('GET', incoming.id)).body.receivedAmount).toEqual(usd('100'))
    expect(await wallet.ledger.balance('bob')).toMatchObject({ total: 100n })
    expect(await wallet.ledger.balance('alice')).toMatchObject({ total: 99_900n, held: 0n })
    expect(await spentOf(wallet, spending)).toEqual(spent('100'))
  })
})
