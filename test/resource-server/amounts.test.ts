import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { BASE, BOB, usd } from '../support/test-wallet.ts'
import {
  askPayment,
  askQuote,
  expectRefusal,
  expectStatus,
  invalidRequest,
  type Shop,
  shop,
} from './observed-wallet.ts'

const vectors: { readonly valid: readonly string[]; readonly invalid: readonly unknown[] } = JSON.parse(
  readFileSync(new URL('../vectors/amounts.json', import.meta.url), 'utf8'),
)

/** Everywhere that a client gives an amount, with its name, which a refusal names. */
const PLACES = [
  ['incomingAmount', 'incomingAmount', (rig: Shop, amount: unknown) => createWith(rig, { incomingAmount: amount })],
  ['debitAmount of a quote', 'debitAmount', (rig: Shop, amount: unknown) => quoteWith(rig, { debitAmount: amount })],
  [
    'receiveAmount of a quote',
    'receiveAmount',
    (rig: Shop, amount: unknown) => quoteWith(rig, { receiveAmount: amount }),
  ],
  [
    'debitAmount of a payment',
    'debitAmount',
    ({ wallet, spending, incoming }: Shop, amount: unknown) =>
      askPayment(wallet, spending, { incomingPayment: incoming.id, debitAmount: amount }),
  ],
] as const

function createWith({ wallet, receiving }: Shop, members: Readonly<Record<string, unknown>>) {
  return wallet.send('POST', `${BASE}/incoming-payments`, {
    token: receiving,
    json: { walletAddress: BOB, ...members },
  })
}

function quoteWith({ wallet, spending, incoming }: Shop, members: Readonly<Record<string, unknown>>) {
  return askQuote(wallet, spending, { receiver: incoming.id, ...members })
}

function rich(): Promise<Shop> {
  return shop()
}

describe.each(PLACES)('the %s', (_, name, ask) => {
  const notWritten = (rig: Shop, amount: object, member: string) => {
    const mistake = invalidRequest(
      expect.stringMatching(new RegExp(`^${name}\\.${member}: (missing$|(invalid|must be|expected) )`)),
    )
    return expectRefusal(rig.wallet, mistake, () => ask(rig, amount))
  }

  it('AMT-1 takes its value as a string of plain digits, an unsigned 64-bit integer, and nothing else', async () => {
    const rig = await rich()
    const values = [
      ...vectors.invalid,
      '1'.repeat(100_00),
      '-0',
      '00',
      '1_0',
      '1,0',
      'NaN',
      '1n',
      '\u00001',
      '1\n',
      {},
      [],
    ]
    for (const value of values) await notWritten(rig, { ...usd('1'), value }, 'value')
    await notWritten(rig, { assetCode: 'USD', assetScale: 2 }, 'value')
    await expectStatus(201, ask(rig, usd('1')))
  })

  it('AMT-2 takes a scale from 0 to 255 and a code of 1 to 12 visible ASCII characters', async () => {
    const rig = await rich()
    for (const assetScale of [-1, 256, 1.5, '2', null, true, 1e300]) {
      await notWritten(rig, { ...usd('1'), assetScale }, 'assetScale')
    }
    for (const assetCode of ['', 'A'.repeat(13), 'US D', 'USD ', 'USDé', 'USD\n', 7, null]) {
      await notWritten(rig, { ...usd('1'), assetCode }, 'assetCode')
    }
  })

  it('AMT-6 drops members that the specification does not name', async () => {
    const rig = await rich()
    const answer = await expectStatus(201, ask(rig, { ...usd('1'), currency: 'EUR', scale: 9 }))
    expect(answer.text).not.toContain('currency')
  })
})

describe('amounts that are given back', () => {
  it.each(vectors.valid.filter((value) => value !== '0'))('AMT-3 %s comes back digit by digit', async (value) => {
    const rig = await rich()
    const created = await expectStatus(201, createWith(rig, { incomingAmount: usd(value) }))
    expect(created.text).toContain(`"incomingAmount":{"value":"${value}","assetCode":"USD","assetScale":2}`)
    const quote = await expectStatus(201, quoteWith(rig, { debitAmount: usd(value) }))
    expect(quote.body).toMatchObject({ debitAmount: usd(value), receiveAmount: usd(value) })
    expect((await rig.wallet.send('GET', quote.body.id, { token: rig.spending })).body).toEqual(quote.body)
  })

  it('AMT-3 a value beyond what a JavaScript number holds is paid exactly', async () => {
    const rig = await rich()
    const value = '9007199254740993'
    await rig.wallet.ledger.credit({
      id: 'e'.repeat(32),
      account: 'alice',
      amount: { value: BigInt(value), assetCode: 'USD', assetScale: 2 },
      counterparty: { kind: 'rail', method: 'card', address: 'top-up' },
    })
    await expectStatus(
      201,
      askPayment(rig.wallet, rig.spending, { incomingPayment: rig.incoming.id, debitAmount: usd(value) }),
    )
    await rig.wallet.openPayments.drain()
    const read = await rig.wallet.send('GET', rig.incoming.id)
    expect(read.body.receivedAmount).toEqual(usd(value))
    expect(await rig.wallet.ledger.balance('bob')).toMatchObject({ total: BigInt(value) })
    expect(await rig.wallet.ledger.balance('alice')).toMatchObject({ total: 100_000n })
  })
})
