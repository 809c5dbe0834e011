import { describe, expect, it } from 'vitest'
import { ALICE, BASE, BOB, CAROL, usd } from '../support/test-wallet.ts'
import {
  askIncoming,
  askPayment,
  askQuote,
  expectRefusal,
  expectStatus,
  INACTIVE_RECEIVER,
  INACTIVE_WALLET_ADDRESS,
  INSUFFICIENT_GRANT,
  OVER_DEBIT_LIMIT,
  observedWallet,
  receivingWallet,
  shop,
  tokenFor,
  UNKNOWN_WALLET_ADDRESS,
} from './observed-wallet.ts'

const COLLECTION = `${BASE}/incoming-payments`

describe('which wallet address', () => {
  const spellings = [`${BASE}/alice/`, 'https://WALLET.example/alice', 'https://Wallet.Example/alice/']
  const others = [
    'HTTPS://wallet.example/alice',
    `${BASE}/Alice`,
    `${BASE}/alice//`,
    `${BASE}//alice`,
    `${BASE}/./alice`,
    `${BASE}/bob/../alice`,
    `${BASE}/%61lice`,
    `${BASE}/alice?x=1`,
    `${BASE}/alice#x`,
    `${BASE}/alice;x`,
    `${BASE}/alice%2F`,
    `${BASE}/alice `,
    ` ${BASE}/alice`,
    `${BASE}/alice\\`,
    `${BASE}:443/alice`,
    `${BASE}./alice`,
    `${BASE}@evil.example/alice`,
    'https://user@wallet.example/alice',
    'http://wallet.example/alice',
    '//wallet.example/alice',
    '/alice',
    'alice',
    'https://evil.example/alice',
    'https://wallet.example.evil.example/alice',
    'https://wallet.example',
    '',
    `${BASE}/bob`,
  ]

  it.each(spellings)(
    'T-40 RS-4 takes %s for the wallet address of the token, and answers its one name',
    async (text) => {
      const wallet = await observedWallet()
      const token = await tokenFor(wallet, [
        { type: 'incoming-payment', actions: ['create', 'list'], identifier: ALICE },
      ])
      const created = await expectStatus(201, askIncoming(wallet, { token, json: { walletAddress: text } }))
      expect(created.body).toMatchObject({ walletAddress: ALICE })
      const listed = await wallet.send('GET', `${COLLECTION}?wallet-address=${encodeURIComponent(text)}`, { token })
      expect(listed.body.result).toHaveLength(1)
    },
  )

  it.each(spellings)(
    'T-40 RS-4 an identifier written as %s covers its wallet address and nothing else',
    async (text) => {
      const wallet = await observedWallet()
      const token = await tokenFor(wallet, [{ type: 'incoming-payment', actions: ['create'], identifier: text }])
      await expectStatus(201, askIncoming(wallet, { token, json: { walletAddress: ALICE } }))
      await expectRefusal(wallet, INSUFFICIENT_GRANT, () =>
        askIncoming(wallet, { token, json: { walletAddress: BOB } }),
      )
    },
  )

  it('T-40 RS-4 however it is written, a wallet address has one budget, one list and its own quotes', async () => {
    const { wallet, spending, incoming } = await shop({ limits: { debitAmount: usd('3') } })
    const ask = { receiver: incoming.id, debitAmount: usd('1') }
    for (const walletAddress of spellings) {
      const quote = await expectStatus(201, askQuote(wallet, spending, { ...ask, walletAddress }))
      expect(quote.body).toMatchObject({ walletAddress: ALICE })
      await expectStatus(201, askPayment(wallet, spending, { quoteId: quote.body.id }))
    }
    for (const walletAddress of [...spellings, ALICE]) {
      const quote = await expectStatus(201, askQuote(wallet, spending, ask))
      await expectRefusal(wallet, OVER_DEBIT_LIMIT, () =>
        askPayment(wallet, spending, { walletAddress, quoteId: quote.body.id }),
      )
      const query = `?wallet-address=${encodeURIComponent(walletAddress)}`
      const listed = await wallet.send('GET', `${BASE}/outgoing-payments${query}`, { token: spending })
      expect(listed.body.result).toHaveLength(3)
    }
  })

  it('T-40 RS-4 refuses every other wallet address under the token of one, known or not', async () => {
    const wallet = await observedWallet()
    const token = await tokenFor(wallet, [{ type: 'incoming-payment', actions: ['create', 'list'], identifier: ALICE }])
    for (const text of others) {
      await expectRefusal(wallet, INSUFFICIENT_GRANT, () =>
        askIncoming(wallet, { token, json: { walletAddress: text } }),
      )
      await expectRefusal(wallet, INSUFFICIENT_GRANT, () =>
        wallet.send('GET', `${COLLECTION}?wallet-address=${encodeURIComponent(text)}`, { token }),
      )
    }
  })

  it('RS-4 refuses to pay from another wallet address than that of the grant, with a quote or without', async () => {
    const { wallet, spending, incoming } = await shop()
    wallet.directory.set(`${BASE}/mallory`, { account: 'alice', assetCode: 'USD', assetScale: 2 })
    for (const walletAddress of [BOB, CAROL, `${BASE}/mallory`, `${BASE}/nobody`]) {
      await expectRefusal(wallet, INSUFFICIENT_GRANT, () =>
        askPayment(wallet, spending, { walletAddress, incomingPayment: incoming.id, debitAmount: usd('1') }),
      )
    }
    const quote = await expectStatus(201, askQuote(wallet, spending, { receiver: incoming.id, debitAmount: usd('1') }))
    await expectRefusal(wallet, INSUFFICIENT_GRANT, () =>
      askPayment(wallet, spending, { walletAddress: `${BASE}/mallory`, quoteId: quote.body.id }),
    )
    await expectStatus(201, askPayment(wallet, spending, { quoteId: quote.body.id }))
  })

  it('RS-5 an entry without identifier covers every wallet address of this server', async () => {
    const { wallet, token } = await receivingWallet()
    for (const walletAddress of [ALICE, BOB, CAROL]) {
      await expectStatus(201, askIncoming(wallet, { token, json: { walletAddress } }))
    }
    for (const walletAddress of [`${BASE}/nobody`, 'https://evil.example/alice', 'x']) {
      await expectRefusal(wallet, UNKNOWN_WALLET_ADDRESS, () => askIncoming(wallet, { token, json: { walletAddress } }))
    }
  })

  it('refuses an inactive wallet address where it is named', async () => {
    const { wallet, spending, receiving, incoming } = await shop()
    const quote = await expectStatus(201, askQuote(wallet, spending, { receiver: incoming.id, debitAmount: usd('1') }))
    const turn = (name: 'alice' | 'bob', isActive: boolean): void => {
      wallet.directory.set(`${BASE}/${name}`, { account: name, assetCode: 'USD', assetScale: 2, isActive })
    }
    turn('bob', false)
    await expectRefusal(wallet, INACTIVE_WALLET_ADDRESS, () => askIncoming(wallet, { token: receiving }))
    await expectRefusal(wallet, INACTIVE_WALLET_ADDRESS, () =>
      wallet.send('GET', `${COLLECTION}?wallet-address=${BOB}`, { token: receiving }),
    )
    await expectRefusal(wallet, INACTIVE_RECEIVER, () =>
      askQuote(wallet, spending, { receiver: incoming.id, debitAmount: usd('1') }),
    )
    await expectRefusal(wallet, INACTIVE_RECEIVER, () => askPayment(wallet, spending, { quoteId: quote.body.id }))
    turn('bob', true)
    turn('alice', false)
    await expectRefusal(wallet, INACTIVE_WALLET_ADDRESS, () =>
      askQuote(wallet, spending, { receiver: incoming.id, debitAmount: usd('1') }),
    )
    await expectRefusal(wallet, INACTIVE_WALLET_ADDRESS, () => askPayment(wallet, spending, { quoteId: quote.body.id }))
    turn('alice', true)
    await expectStatus(201, askPayment(wallet, spending, { quoteId: quote.body.id }))
  })
})
