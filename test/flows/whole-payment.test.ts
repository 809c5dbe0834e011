import { describe, expect, it } from 'vitest'
import {
  ALICE,
  AUTH,
  BASE,
  BOB,
  grantAtOnce,
  incomingPayment,
  spendingToken,
  testWallet,
  usd,
} from '../support/test-wallet.ts'

describe('the overall flow of the specification', () => {
  it('pays from one wallet address to another: incoming payment, quote, outgoing payment, received amount', async () => {
    const wallet = await testWallet()
    const { payment, token } = await incomingPayment(wallet, { incomingAmount: usd('1000') })
    const spending = await spendingToken(wallet, { debitAmount: usd('2000') })
    const quote = await wallet.send('POST', `${BASE}/quotes`, {
      token: spending,
      json: { walletAddress: ALICE, receiver: payment.id, method: 'ilp' },
    })
    expect(quote.status).toBe(201)
    expect(quote.body).toMatchObject({ debitAmount: usd('1000'), receiveAmount: usd('1000') })
    const outgoing = await wallet.send('POST', `${BASE}/outgoing-payments`, {
      token: spending,
      json: { walletAddress: ALICE, quoteId: quote.body.id, metadata: { order: 7 } },
    })
    expect(outgoing.status).toBe(201)
    expect(outgoing.body).toMatchObject({ failed: false, sentAmount: usd('0'), grantSpentDebitAmount: usd('1000') })
    await wallet.openPayments.drain()
    const sent = await wallet.send('GET', outgoing.body.id, { token: spending })
    expect(sent.body).toMatchObject({ failed: false, sentAmount: usd('1000'), metadata: { order: 7 } })
    const received = await wallet.send('GET', payment.id, { token })
    expect(received.body).toMatchObject({ completed: true, receivedAmount: usd('1000'), methods: [] })
    expect(await wallet.ledger.balance('bob')).toMatchObject({ total: 1000n })
    expect(await wallet.ledger.balance('alice')).toMatchObject({ total: 99_000n, held: 0n })
    expect(await wallet.ledger.totals()).toContainEqual({ value: 100_000n, assetCode: 'USD', assetScale: 2 })
  })

  it('pays straight from an incoming payment and a debit amount', async () => {
    const wallet = await testWallet()
    const { payment } = await incomingPayment(wallet)
    const spending = await spendingToken(wallet)
    const outgoing = await wallet.send('POST', `${BASE}/outgoing-payments`, {
      token: spending,
      json: { walletAddress: ALICE, incomingPayment: payment.id, debitAmount: usd('250') },
    })
    expect(outgoing.status).toBe(201)
    await wallet.openPayments.drain()
    expect((await wallet.sendRaw(publicGet(payment.id))).body).toEqual({ authServer: AUTH, receivedAmount: usd('250') })
  })

  it('answers the wallet address and its keys', async () => {
    const wallet = await testWallet()
    const address = await wallet.sendRaw(publicGet(ALICE))
    expect(address.body).toEqual({
      id: ALICE,
      publicName: 'Alice',
      assetCode: 'USD',
      assetScale: 2,
      authServer: AUTH,
      resourceServer: BASE,
    })
    const keys = await wallet.sendRaw(publicGet(`${BASE}/client/jwks.json`))
    expect(keys.body.keys).toEqual([wallet.client.key.jwk])
  })

  it('grants incoming-payment rights at once', async () => {
    const wallet = await testWallet()
    const grant = await grantAtOnce(wallet, [{ type: 'incoming-payment', actions: ['create'], identifier: BOB }])
    expect(grant.status).toBe(200)
  })
})

function publicGet(url: string) {
  return {
    method: 'GET',
    target: new URL(url).pathname,
    headerLines: () => [],
    bytes: async () => new Uint8Array(),
  }
}
