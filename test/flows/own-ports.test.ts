import type { Cryptography, Ledger } from 'open-payments-server'
import { consentPage } from 'open-payments-server/consent'
import { memoryStorage } from 'open-payments-server/storage/memory'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { fakeClock } from '../support/fake-clock.ts'
import { keyRegistry, remoteClient } from '../support/key-registry.ts'
import {
  ALICE,
  BASE,
  BOB,
  cryptography,
  grantWithConsent,
  OWNER,
  requestConsent,
  testWallet,
  usd,
} from '../support/test-wallet.ts'

afterEach(() => void vi.restoreAllMocks())

type RandomBytes = Cryptography['randomBytes']

/** A ledger that says yes to everything; one of the library would look at the time. */
const LEDGER: Ledger = {
  account: async () => ({ assetCode: 'USD', assetScale: 2, canSend: true, canReceive: true }),
  hold: async () => ({ ok: true }),
  settle: async () => ({ ok: true }),
  release: async () => ({ ok: true }),
  credit: async () => ({ ok: true }),
}

describe('a server with ports of its own', () => {
  it('EMB-5 takes time, chance, keys, prices, storage and ledger from its options, and nothing from its surroundings', async () => {
    const called = new Set<string>()
    const noted = <T extends object>(port: string, inner: T): T =>
      new Proxy(inner, {
        get(target, name) {
          called.add(`${port}.${String(name)}`)
          return Reflect.get(target, name)
        },
      })
    const registry = keyRegistry()
    const as = await remoteClient(registry)
    const surroundings = [
      vi.spyOn(globalThis, 'setTimeout'),
      vi.spyOn(globalThis, 'setInterval'),
      vi.spyOn(globalThis, 'fetch'),
      vi.spyOn(globalThis.crypto, 'getRandomValues'),
      vi.spyOn(Date, 'now'),
      vi.spyOn(Math, 'random'),
    ]
    let drawn = 0
    const randomBytes = (length: number): Uint8Array =>
      Uint8Array.from({ length }, () => {
        drawn = (drawn * 48_271 + 11) % 2_147_483_647
        return Math.trunc(drawn / 256) % 256
      })
    const clock = fakeClock()
    const wallet = await testWallet({
      clock: noted('clock', clock),
      cryptography: noted('cryptography', { ...cryptography, randomBytes }),
      keyResolver: noted('keyResolver', registry),
      storage: noted('storage', memoryStorage()),
      ledger: noted('ledger', LEDGER),
      pricing: noted('pricing', { price: async () => ({ rate: '1' }) }),
      consent: noted('consent', consentPage({ walletName: 'A Wallet', authenticate: async () => OWNER })),
    })
    for (const spy of surroundings) spy.mockClear()
    called.clear()
    const json = {
      access_token: { access: [{ type: 'incoming-payment', actions: ['create', 'list'] }] },
      client: as.client,
    }
    const granted = await wallet.send('POST', 'https://auth.wallet.example/', { as, json })
    const token = granted.body.access_token.value
    const created = await wallet.send('POST', `${BASE}/incoming-payments`, { as, token, json: { walletAddress: BOB } })
    const list = `${BASE}/incoming-payments?wallet-address=${encodeURIComponent(BOB)}`
    expect((await wallet.send('GET', list, { as, token })).status).toBe(200)
    const spending = await grantWithConsent({ ...wallet, clock }, [
      { type: 'outgoing-payment', actions: ['create'], identifier: ALICE },
    ])
    const paid = await wallet.send('POST', `${BASE}/outgoing-payments`, {
      token: spending.body.access_token.value,
      json: { walletAddress: ALICE, incomingPayment: created.body.id, debitAmount: usd('5') },
    })
    expect(paid.status).toBe(201)
    await wallet.openPayments.drain()
    await wallet.openPayments.recover()
    await wallet.openPayments.sweep()
    for (const spy of surroundings) expect([spy.getMockName(), spy.mock.calls]).toEqual([spy.getMockName(), []])
    const ports = [
      'clock.now',
      'clock.sleep',
      'cryptography.randomBytes',
      'cryptography.hmacSha256',
      'cryptography.verifyEd25519',
      'keyResolver.keySet',
      'storage.get',
      'storage.list',
      'storage.due',
      'storage.commit',
      'ledger.account',
      'ledger.hold',
      'ledger.credit',
      'ledger.settle',
      'pricing.price',
    ]
    expect(ports.filter((call) => !called.has(call))).toEqual([])
  })

  it('EMB-5 leaves no timer behind: what it waits for, its clock can stop', async () => {
    const running = new Set<AbortSignal>()
    const clock = fakeClock()
    const wallet = await testWallet({
      walletAddresses: {
        find: (url) => new Promise((resolve) => setImmediate(() => resolve(wallet.directory.get(url)))),
      },
      clock: {
        ...clock,
        sleep: (milliseconds, signal) => {
          if (signal !== undefined) running.add(signal)
          return clock.sleep(milliseconds, signal)
        },
      },
    })
    const granted = await wallet.send('POST', 'https://auth.wallet.example/', {
      json: { access_token: { access: [{ type: 'quote', actions: ['create'] }] }, client: wallet.client.client },
    })
    expect(granted.status).toBe(200)
    await wallet.openPayments.drain()
    expect(running.size).toBeGreaterThan(0)
    expect([...running].filter(({ aborted }) => !aborted)).toEqual([])
  })
})

describe('randomness of a wallet’s own', () => {
  it.each<readonly [string, (length: number) => unknown]>([
    ['text', (length) => 'ab'.repeat(length)],
    ['digits', (length) => '7'.repeat(length)],
    ['too few bytes', () => new Uint8Array(1)],
    ['larger integers', (length) => new Uint32Array(length).fill(256)],
    ['a promise', async (length) => cryptography.randomBytes(length)],
  ])('GRT-15 that is %s makes no id that could be guessed, but a fault', async (_, randomBytes) => {
    const wallet = await testWallet({ cryptography: { ...cryptography, randomBytes: randomBytes as RandomBytes } })
    const answer = await requestConsent(wallet, [{ type: 'outgoing-payment', actions: ['create'], identifier: ALICE }])
    expect(answer.status).toBe(500)
    expect(wallet.events).toContainEqual(expect.objectContaining({ type: 'fault', operation: 'post-request' }))
  })
})
