import type { Policies } from 'open-payments-server'
import { createSigningKey } from 'open-payments-server/testing'
import { describe, expect, it } from 'vitest'
import { silence } from '../support/gate.ts'
import { keyRegistry, remoteClient, SHOP } from '../support/key-registry.ts'
import {
  ALICE,
  type Answer,
  AUTH,
  BASE,
  CLIENT,
  cryptography,
  grantAtOnce,
  incomingPayment,
  requestConsent,
  type Sending,
  spendingToken,
  type TestWallet,
  testLedger,
  testWallet,
  usd,
} from '../support/test-wallet.ts'
import { turn, turns } from '../support/turns.ts'

// The decisions D1 to D17 (docs/spec-gaps.md) are tested where their rule is. Here stand those that show only over
// several endpoints.

const QUOTES = [{ type: 'quote', actions: ['create'] }]

/** A grant request, and a request at the resource server, with one signature option. */
async function statusesOf(wallet: TestWallet, token: string, sending: Sending): Promise<readonly number[]> {
  const asked = await wallet.send('POST', `${AUTH}/`, {
    json: { access_token: { access: QUOTES }, client: wallet.client.client },
    ...sending,
  })
  const read = await wallet.send('GET', `${BASE}/outgoing-payment-grant`, { token, ...sending })
  return [asked.status, read.status]
}

describe('D1 the profile of signatures', () => {
  const tags = [undefined, 'gnap', 'web-bot-auth', '']
  const algs = [undefined, 'ed25519', 'rsa-pss-sha512', 'Ed25519']
  const accepted: Readonly<Record<Policies['signatureProfile'], (tag?: string, alg?: string) => boolean>> = {
    'open-payments': (tag, alg) => (tag === undefined || tag === 'gnap') && (alg === undefined || alg === 'ed25519'),
    gnap: (tag, alg) => tag === 'gnap' && alg === undefined,
  }

  it.each(['default', 'open-payments', 'gnap'] as const)('D1 SIG-21 SIG-22 %s: which tag and alg', async (name) => {
    const profile = name === 'default' ? 'open-payments' : name
    // The token comes from a server on the same storage that takes what this one may refuse.
    const lenient = await testWallet()
    const { storage, ledger, clock, client, directory } = lenient
    const token = await spendingToken(lenient)
    const wallet = await testWallet({
      storage,
      ledger,
      clock,
      walletAddresses: { find: async (url) => directory.get(url) },
      settings: { policies: name === 'default' ? {} : { signatureProfile: name } },
    })
    for (const tag of tags) {
      for (const alg of algs) {
        const sending = { as: client, ...(tag !== undefined && { tag }), ...(alg !== undefined && { alg }) }
        const status = accepted[profile](tag, alg) ? 200 : 401
        expect([tag, alg, await statusesOf({ ...wallet, client }, token, sending)]).toEqual([
          tag,
          alg,
          [status, status],
        ])
      }
    }
  })
})

describe('D4 an interval of no repetition', () => {
  const limits = { debitAmount: usd('10'), interval: 'R0/2026-03-01T00:00:00Z/P1D' }
  const access = [{ type: 'outgoing-payment', actions: ['create'], identifier: ALICE, limits }]

  it.each([
    [undefined, 200],
    ['additional', 200],
    ['total', 400],
  ] as const)('D4 IVL-6 GRT-10 R0 counted as %s is answered %d', async (intervalCounting, status) => {
    const policies = intervalCounting === undefined ? {} : { intervalCounting }
    const wallet = await testWallet({ settings: { policies } })
    const answer = await requestConsent(wallet, access)
    expect([answer.status, answer.body.error?.code]).toEqual([status, status === 400 ? 'invalid_request' : undefined])
  })
})

describe('D9 what a grant is bound to', () => {
  it.each([
    [undefined, 200],
    ['client', 200],
    ['key', 401],
  ] as const)('D9 KEY-11 with keyBinding %s another key of the client is answered %d', async (keyBinding, status) => {
    const keyResolver = keyRegistry()
    const policies = keyBinding === undefined ? {} : { keyBinding }
    const wallet = await testWallet({ keyResolver, settings: { policies } })
    const first = await remoteClient(keyResolver)
    const second = { ...first, key: await createSigningKey(cryptography, 'second-key') }
    const substitute = { ...first, key: await createSigningKey(cryptography, 'second-key') }
    const access = [{ type: 'incoming-payment', actions: ['list'], identifier: ALICE }]
    const { value: token } = (await grantAtOnce(wallet, access, first)).body.access_token
    const list = (as: typeof first): Promise<Answer> =>
      wallet.send('GET', `${BASE}/incoming-payments?wallet-address=${encodeURIComponent(ALICE)}`, { as, token })
    expect([(await list(first)).status, (await list(second)).status]).toEqual([200, 401])
    keyResolver.sets.set(SHOP, [first.key.jwk, second.key.jwk])
    expect([(await list(first)).status, (await list(second)).status]).toEqual([200, status])
    keyResolver.sets.set(SHOP, [first.key.jwk, substitute.key.jwk])
    expect((await list(substitute)).status).toBe(401)
    keyResolver.sets.set(SHOP, [second.key.jwk])
    expect((await list(first)).status).toBe(401)
  })
})

describe('D15 how long a request waits for the wallet', () => {
  it.each([
    [undefined, 3],
    [1, 1],
  ])('D15 with holdSeconds %s a payment is answered after %d s', async (holdSeconds, seconds) => {
    const { called, call } = silence()
    const limits = holdSeconds === undefined ? {} : { holdSeconds }
    const wallet = await testWallet({ ledger: { ...testLedger(), hold: call }, settings: { limits } })
    const { payment } = await incomingPayment(wallet)
    const token = await spendingToken(wallet)
    const json = { walletAddress: ALICE, incomingPayment: payment.id, debitAmount: usd('1') }
    let isAnswered = false
    const answer = wallet.send('POST', `${BASE}/outgoing-payments`, { token, json }).finally(() => {
      isAnswered = true
    })
    await called
    wallet.clock.advance(seconds * 1000 - 1)
    await turn()
    expect(isAnswered).toBe(false)
    wallet.clock.advance(1)
    expect((await answer).status).toBe(201)
  })

  it('D15 the time that the keys of the client take counts', async () => {
    const { called, call } = silence()
    let isSlow = false
    // This pause moves the clock on by itself.
    const find = async (url: string) => {
      if (isSlow && url === CLIENT) await wallet.clock.sleep(2500)
      return wallet.directory.get(url)
    }
    const wallet: TestWallet = await testWallet({
      ledger: { ...testLedger(), hold: call },
      walletAddresses: { find },
    })
    const { payment } = await incomingPayment(wallet)
    const token = await spendingToken(wallet)
    const json = { walletAddress: ALICE, incomingPayment: payment.id, debitAmount: usd('1') }
    isSlow = true
    let isAnswered = false
    const answer = wallet.send('POST', `${BASE}/outgoing-payments`, { token, json }).finally(() => {
      isAnswered = true
    })
    await called
    wallet.clock.advance(1999)
    await turns(20)
    expect(isAnswered).toBe(false)
    wallet.clock.advance(1)
    expect((await answer).status).toBe(201)
  })
})
