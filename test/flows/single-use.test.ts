import { alterRequest, type InMemoryRequest, signedRequest } from 'open-payments-server/testing'
import { describe, expect, it } from 'vitest'
import { fetchKeyResolver } from '../../src/runtime/fetch-key-resolver.ts'
import { fakeClock } from '../support/fake-clock.ts'
import {
  ALICE,
  BASE,
  BOB,
  cryptography,
  incomingPayment,
  OWNER,
  referenceOf,
  requestConsent,
  spendingToken,
  type TestWallet,
  testWallet,
  usd,
} from '../support/test-wallet.ts'

async function paymentRequest(
  wallet: TestWallet,
  token: string,
  json: unknown,
  sign: { readonly label?: string; readonly tag?: string; readonly nonce?: string } = {},
): Promise<InMemoryRequest> {
  const created = Math.floor(wallet.clock.now() / 1000)
  const url = `${BASE}/outgoing-payments`
  return signedRequest({ method: 'POST', url, key: wallet.client.key, cryptography, created, token, json, ...sign })
}

describe('a signature is used once', () => {
  it('T-9 SIG-24 also where the request carries a second one', async () => {
    const wallet = await testWallet()
    const { payment } = await incomingPayment(wallet)
    const token = await spendingToken(wallet)
    const json = { walletAddress: ALICE, incomingPayment: payment.id, debitAmount: usd('100') }
    const one = await paymentRequest(wallet, token, json, { label: 'a' })
    const other = await paymentRequest(wallet, token, json, { label: 'b', tag: 'gnap', nonce: 'n-1' })
    const both = (name: string): readonly string[] => [...one.headerLines(name), ...other.headerLines(name)]
    const signed = alterRequest(one, {
      headers: { 'signature-input': both('signature-input'), signature: both('signature') },
    })
    expect((await wallet.sendRaw(signed)).status).toBe(201)
    for (const again of [signed, one, other]) {
      const answer = await wallet.sendRaw(again)
      expect([answer.status, answer.body.error.code]).toEqual([401, 'invalid_signature'])
    }
    await wallet.openPayments.drain()
    expect(await wallet.ledger.balance('bob')).toMatchObject({ total: 100n })
  })
})

describe('a consent page', () => {
  it('INT-12 that shows something else by now decides nothing', async () => {
    const wallet = await testWallet()
    const limits = { interval: 'R/2026-03-01T00:00:00Z/PT1M' }
    const pending = await requestConsent(wallet, [
      { type: 'outgoing-payment', actions: ['create'], identifier: ALICE, limits },
    ])
    const reference = referenceOf(pending)
    const { interactions } = wallet.openPayments
    const first = await interactions.find(reference, OWNER)
    wallet.clock.advance(60_000)
    const second = await interactions.find(reference, OWNER)
    if (!first.ok || !second.ok) throw new Error('not shown')
    expect(second.consent).not.toEqual(first.consent)
    expect(await interactions.approve(reference, { ...OWNER, csrf: first.csrf, access: 'all' })).toEqual({
      ok: false,
      reason: 'bad_csrf',
    })
    expect(await interactions.approve(reference, { ...OWNER, csrf: second.csrf, access: 'all' })).toMatchObject({
      ok: true,
    })
  })

  it('INT-11 T-19 shows the name of a client of this server as plainly as any other', async () => {
    const wallet = await testWallet()
    const shop = wallet.directory.get(`${BASE}/client`)
    if (shop === undefined) throw new Error('no client')
    wallet.directory.set(`${BASE}/client`, { ...shop, publicName: `Wallet\u202Esupport\n${'x'.repeat(5000)}` })
    const pending = await requestConsent(wallet, [{ type: 'outgoing-payment', actions: ['read'], identifier: BOB }])
    const shown = await wallet.openPayments.interactions.find(referenceOf(pending), OWNER)
    const name = shown.ok ? shown.consent.client.name : undefined
    expect(name).toHaveLength(100)
    expect(name).toMatch(/^Wallet support x+$/)
  })
})

describe('the budget of a host', () => {
  it('T-5 that strangers have spent leaves its known clients alone', async () => {
    const clock = fakeClock()
    const asked: string[] = []
    const body = async function* () {
      yield new TextEncoder().encode('{"keys":[]}')
    }
    const network = {
      resolveHost: async () => ['93.184.216.34'],
      dial: async ({ url }: { readonly url: URL }) => {
        asked.push(url.pathname)
        return { status: 200, contentType: 'application/json', contentEncoding: '', body: body() }
      },
    }
    const resolver = fetchKeyResolver({ clock, loopbackHttp: false, network })
    const known = 'https://bigwallet.example/known'
    expect(await resolver.keySet(known)).toMatchObject({ ok: true })
    for (let minute = 0; minute < 3; minute++) {
      clock.advance(60_000)
      for (let stranger = 0; stranger < 200; stranger++) {
        await resolver.keySet(`https://bigwallet.example/x${minute}-${stranger}`)
      }
      expect(await resolver.keySet(`https://bigwallet.example/new${minute}`)).toMatchObject({ reason: 'unreachable' })
      expect(await resolver.keySet(known)).toMatchObject({ ok: true })
    }
    expect(asked.filter((path) => path === '/known/jwks.json')).toHaveLength(4)
    expect(asked.length).toBeLessThan(4 + 3 * 101)
  })
})
