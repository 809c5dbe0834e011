import { describe, expect, it } from 'vitest'
import { keyRegistry, remoteClient } from '../support/key-registry.ts'
import {
  ALICE,
  BASE,
  grantAtOnce,
  incomingPayment,
  spendingToken,
  testWallet,
  usd,
  usdAmount,
} from '../support/test-wallet.ts'

describe('owns()', () => {
  it('leaves the wallet its own pages, beside the endpoints on the same paths', async () => {
    const { openPayments } = await testWallet()
    const owned = ['/alice', '/alice/jwks.json', '/alice/?x=1', '/incoming-payments/7', '/wallet-address']
    for (const target of owned) expect([target, await openPayments.owns('GET', target)]).toEqual([target, true])
    const left = ['/', '/quotes', '/nobody', '/nobody/jwks.json', '/.well-known/jwks.json', '/jwks.json', '//alice']
    for (const target of left) expect([target, await openPayments.owns('GET', target)]).toEqual([target, false])
    expect(await openPayments.owns('POST', '/quotes')).toBe(true)
    expect(await openPayments.owns('POST', '/alice')).toBe(false)
  })

  it('takes every method under a base path of its own', async () => {
    const { openPayments } = await testWallet({ resourceServer: `${BASE}/op`, walletAddressServer: BASE })
    expect(await openPayments.owns('GET', '/op/quotes')).toBe(true)
    expect(await openPayments.owns('GET', '/op/nothing')).toBe(false)
  })
})

describe('a client whose host is down', () => {
  it('is told that the server is unavailable, not that its signature is wrong', async () => {
    const keys = keyRegistry()
    const client = await remoteClient(keys)
    const wallet = await testWallet({ keyResolver: keys })
    const granted = await grantAtOnce(wallet, [{ type: 'quote', actions: ['create', 'read'] }], client)
    const token = granted.body.access_token.value
    const url = `${BASE}/quotes/${'0'.repeat(32)}`
    expect((await wallet.send('GET', url, { as: client, token })).status).toBe(404)
    keys.sets.delete('https://shop.example/pay')
    const answer = await wallet.send('GET', url, { as: client, token })
    expect([answer.status, answer.body.error.code]).toEqual([503, 'unavailable'])
    expect(answer.headers['retry-after']).toBe('1')
  })
})

describe('onEvent', () => {
  it('may report money from within the event that asked for it', async () => {
    const wallet = await testWallet({
      onEvent: async (event) => {
        if (event.type !== 'incoming_payment.created') return
        await wallet.openPayments.incomingPayments.received(
          event.incomingPayment,
          usdAmount(5n),
          `for ${event.incomingPayment}`,
        )
      },
    })
    const { payment, token } = await incomingPayment(wallet, { incomingAmount: usd('5') })
    await wallet.openPayments.drain()
    const answer = await wallet.send('GET', payment.id, { token })
    expect(answer.body).toMatchObject({ completed: true, receivedAmount: usd('5') })
  })

  it('that never resolves holds up neither money nor drain()', async () => {
    const wallet = await testWallet({ onEvent: () => new Promise<void>(() => undefined) })
    const { payment } = await incomingPayment(wallet)
    const json = { walletAddress: ALICE, incomingPayment: payment.id, debitAmount: usd('10') }
    const token = await spendingToken(wallet)
    expect((await wallet.send('POST', `${BASE}/outgoing-payments`, { token, json })).status).toBe(201)
    const drained = wallet.openPayments.drain().then(() => 'drained')
    for (let turn = 0; turn < 400; turn++) {
      wallet.clock.advance(1000)
      await new Promise((resolve) => setImmediate(resolve))
    }
    expect(await drained).toBe('drained')
    expect(await wallet.ledger.balance('bob')).toMatchObject({ total: 10n })
  })
})
