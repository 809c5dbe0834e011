import { createHash } from 'node:crypto'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { OpenPaymentsOptions, WalletAddress } from 'open-payments-server'
import { memoryLedger } from 'open-payments-server/ledger/memory'
import { memoryStorage } from 'open-payments-server/storage/memory'
import { openSqlite, sqliteStorage } from 'open-payments-server/storage/sqlite'
import { afterAll, describe, expect, it, vi } from 'vitest'
import { reportFaults } from '../../src/runtime/report-faults.ts'
import {
  type AuthWallet,
  approvedGrant,
  authWallet,
  CONSENT_REQUEST,
  cancel,
  INCOMING,
  PLAIN_REQUEST,
  resume,
  revoke,
  rotate,
} from '../auth-server/auth-wallet.ts'
import { ALICE, type Answer, AUTH, BASE, BOB, CLIENT, decideAs, FINISH, SECRET, usd } from '../support/test-wallet.ts'
import {
  misplaceSecrets,
  printed,
  toldBy,
  useGrants,
  usePayments,
  type WatchedWallet,
  watchedWallet,
} from './watched-wallet.ts'

const folder = mkdtempSync(join(tmpdir(), 'secrets-'))
afterAll(() => rmSync(folder, { recursive: true }))

const KINDS = [
  'client nonce',
  'csrf',
  'hash',
  'interact_ref',
  'interaction reference',
  'server nonce',
  'server secret',
  'session',
  'shared secret',
  'token',
]

async function wholeFlow(overrides: Partial<OpenPaymentsOptions> = {}): Promise<WatchedWallet> {
  const wallet = await watchedWallet(overrides)
  await usePayments(wallet, await useGrants(wallet))
  expect([...new Set(wallet.secrets.values())].sort()).toEqual(KINDS)
  expect(wallet.secrets.size).toBeGreaterThan(25)
  return wallet
}

describe('secrets that were on the wire', () => {
  it('T-14 TOK-1 INT-14 none is in the store after every flow', async () => {
    const wallet = await wholeFlow()
    const store = printed(await wallet.records())
    expect(store.length).toBeGreaterThan(12_000)
    expect(toldBy(store, wallet)).toEqual([])
  })

  it('T-14 none is in the bytes of the files of SQLite', async () => {
    const handle = await openSqlite(join(folder, 'store.db'))
    const wallet = await wholeFlow({ storage: sqliteStorage(handle) })
    const before = readFiles()
    handle.close()
    for (const bytes of [before, readFiles()]) {
      expect(bytes).toContain(BOB)
      // The nonce of a client was there for a while, and SQLite does not wipe what it frees.
      expect(toldBy(bytes, wallet).filter((told) => !told.startsWith('client nonce'))).toEqual([])
    }
  })

  it('T-34 TOK-2 none is in an event, nor in an answer that refuses, wherever a client has put it', async () => {
    const wallet = await wholeFlow()
    await misplaceSecrets(wallet)
    expect(wallet.refusals.length).toBeGreaterThan(150)
    expect(wallet.events.flatMap((event) => toldBy(printed(event), wallet).map((told) => [told, event]))).toEqual([])
    expect(wallet.refusals.flatMap((text) => toldBy(text, wallet).map((told) => [told, text]))).toEqual([])
  })

  it('TOK-2 none is in a URL that the server has made, but for the reference of an interaction', async () => {
    const wallet = await wholeFlow()
    const urls = wallet.urls.filter((url) => !url.startsWith(`${AUTH}/interact/`))
    expect(urls.length).toBeGreaterThan(30)
    expect(urls.filter((url) => url.startsWith(`${AUTH}/token/`)).length).toBeGreaterThan(4)
    expect(urls.filter((url) => toldBy(url, wallet).length > 0)).toEqual([])
  })
})

function readFiles(): string {
  return readdirSync(folder)
    .map((name) => readFileSync(join(folder, name)).toString('latin1'))
    .join('\n')
}

/** A port that fails, and whose errors show all that it was given, as drivers of databases do. */
function talkative<T extends object>(port: T, hasFailed: (name: string) => boolean): T {
  return new Proxy(port, {
    get(target, name) {
      const method: unknown = Reflect.get(target, name)
      if (typeof method !== 'function' || typeof name !== 'string') return method
      return async (...given: unknown[]): Promise<unknown> => {
        if (!hasFailed(name)) return Reflect.apply(method, target, given)
        const cause = new Error(`bound to ${name}: ${printed(given)}`)
        throw Object.assign(new Error(`${name} failed with ${printed(given)}`, { cause }), { parameters: given })
      }
    },
  })
}

const CALLS = [
  'storage.get',
  'storage.list',
  'storage.due',
  'storage.commit',
  'ledger.account',
  'ledger.hold',
  'ledger.settle',
  'ledger.release',
  'ledger.credit',
  'directory.find',
  'pricing.price',
] as const

describe('where the ports of the wallet fail and tell all that they were given', () => {
  it('T-34 T-14 no secret is in an event, in a line of the log or in an answer', async () => {
    let failing: string | undefined
    const fails = (port: string) => (name: string) => failing === `${port}.${name}`
    const accounts = [
      { account: 'alice', assetCode: 'USD', assetScale: 2, balance: 100_000n },
      { account: 'bob', assetCode: 'USD', assetScale: 2 },
    ]
    let directory: ReadonlyMap<string, WalletAddress> = new Map()
    const wallet = await watchedWallet({
      storage: talkative(memoryStorage(), fails('storage')),
      ledger: talkative(memoryLedger({ accounts }), fails('ledger')),
      walletAddresses: talkative({ find: async (url: string) => directory.get(url) }, fails('directory')),
      pricing: talkative({ price: async () => ({ rate: '1' }) }, fails('pricing')),
    })
    directory = wallet.directory
    const spending = await useGrants(wallet)
    const plain = await wallet.ask(PLAIN_REQUEST)
    const token = plain.body.access_token.value
    const incoming = await wallet.send('POST', `${BASE}/incoming-payments`, { token, json: { walletAddress: BOB } })
    const payment = { walletAddress: ALICE, incomingPayment: incoming.body.id, debitAmount: usd('3') }
    for (const call of CALLS) {
      const ready = await approvedGrant(wallet, { ...CONSENT_REQUEST, interact: { start: ['redirect'] } })
      const pending = await wallet.ask(CONSENT_REQUEST)
      const rotatable = await wallet.ask(PLAIN_REQUEST)
      failing = call
      await wallet.ask(PLAIN_REQUEST)
      await wallet.send('GET', pending.body.interact.redirect).catch(() => undefined)
      await resume(wallet, ready.pending)
      await rotate(wallet, rotatable)
      await revoke(wallet, rotatable)
      await cancel(wallet, rotatable)
      await wallet.send('POST', `${BASE}/incoming-payments`, { token, json: { walletAddress: BOB } })
      await wallet.send('GET', incoming.body.id, { token })
      await wallet.send('GET', `${BASE}/incoming-payments?wallet-address=${encodeURIComponent(BOB)}`, { token })
      await wallet.send('POST', `${BASE}/outgoing-payments`, { token: spending, json: payment })
      await wallet.openPayments.drain()
      await wallet.openPayments.recover().catch(() => undefined)
      await wallet.openPayments.sweep().catch(() => undefined)
      failing = undefined
      await wallet.openPayments.recover()
      wallet.clock.advance(31_000)
    }
    const told = wallet.events.filter((event) => JSON.stringify(printed(event)).includes('failed with'))
    for (const call of CALLS.filter((one) => one !== 'ledger.release')) {
      const [, name = ''] = call.split('.')
      expect([call, told.filter((event) => printed(event).includes(`${name} failed with`)).length]).not.toEqual([
        call,
        0,
      ])
    }
    expect(wallet.events.flatMap((event) => toldBy(printed(event), wallet).map((secret) => [secret, event]))).toEqual(
      [],
    )
    expect(wallet.refusals.filter((text) => text.includes('failed with') || toldBy(text, wallet).length > 0)).toEqual(
      [],
    )
    const lines: string[] = []
    const log = vi.spyOn(console, 'error').mockImplementation((...values) => void lines.push(printed(values)))
    for (const event of wallet.events) reportFaults(event)
    log.mockRestore()
    expect(lines.length).toBeGreaterThan(20)
    expect(lines.flatMap((line) => toldBy(line, wallet))).toEqual([])
  })
})

describe('what a client sends that is nobody else’s', () => {
  it.each<[string, (wallet: AuthWallet, pending: Answer) => Promise<unknown>]>([
    ['denied', (wallet, pending) => decideAs(wallet, pending, 'deny')],
    ['cancelled', (wallet, pending) => cancel(wallet, pending)],
    [
      'approved and cancelled',
      async (wallet, pending) => {
        await decideAs(wallet, pending, 'approve')
        return cancel(wallet, pending)
      },
    ],
    [
      'guessed at',
      async (wallet, pending) => {
        wallet.clock.advance(5000)
        for (let guess = 0; guess < 6; guess++) await resume(wallet, pending, { interact_ref: `guess ${guess}` })
      },
    ],
    [
      'left alone',
      async (wallet) => {
        wallet.clock.advance(600_000)
        await wallet.openPayments.sweep()
      },
    ],
  ])('T-14 nothing of what it asked for is kept of a grant that was %s and never issued', async (_, end) => {
    const wallet = await authWallet()
    const pending = await wallet.ask(CONSENT_REQUEST)
    const kept = async () => (await wallet.records()).filter(({ kind }) => kind === 'grant')
    expect(printed(await kept())).toContain(FINISH.nonce)
    expect(printed(await kept())).toContain('outgoing-payment')
    await end(wallet, pending)
    expect(await kept()).toMatchObject([{ value: { state: 'finalised', access: [] } }])
    expect(printed(await wallet.records())).not.toContain(FINISH.nonce)
    expect(printed(await kept())).not.toContain(FINISH.uri)
  })

  it('T-14 the nonce of the client is kept until the finish redirect alone', async () => {
    const wallet = await authWallet()
    const pending = await wallet.ask(CONSENT_REQUEST)
    await decideAs(wallet, pending, 'approve')
    expect(printed(await wallet.records())).not.toContain(FINISH.nonce)
    expect(printed(await wallet.records())).toContain('outgoing-payment')
  })

  it('KEY-4 the private part of its key is in no event and no answer', async () => {
    const wallet = await authWallet()
    const jwk = { ...wallet.client.key.jwk, d: 'the-private-part' }
    const answer = await wallet.ask({ ...PLAIN_REQUEST, client: { jwk } })
    expect([answer.status, answer.text?.includes('the-private-part')]).toEqual([400, false])
    expect(printed(wallet.events)).not.toContain('the-private-part')
  })

  it('TOK-10 a server that signs with a new secret honours what the old one made', async () => {
    const old = await authWallet()
    const { pending, interactRef } = await approvedGrant(old)
    const plain = await old.ask(PLAIN_REQUEST)
    const secrets = ['a new secret of the tests, long enough', SECRET]
    const renewed = await authWallet({ storage: old.storage, secrets })
    renewed.directory.set(CLIENT, { account: 'bob', assetCode: 'USD', assetScale: 2, keys: [old.client.key.jwk] })
    renewed.clock.advance(5_000)
    const as = old.client
    const issued = await resume(renewed, pending, { interact_ref: interactRef }, { as })
    expect(issued.status).toBe(200)
    const again = await resume(renewed, pending, { interact_ref: interactRef }, { as })
    expect(again.body.access_token.value).toBe(issued.body.access_token.value)
    expect((await rotate(renewed, plain, { as })).status).toBe(200)
  })

  it('TOK-10 INT-13 a server that signs with a new secret finishes what the old one began, with the nonce that it gave', async () => {
    const old = await authWallet()
    const pending = await old.ask(CONSENT_REQUEST)
    const secrets = ['a new secret of the tests, long enough', SECRET]
    const renewed = await authWallet({ storage: old.storage, secrets })
    const query = (await decideAs(renewed, pending))?.searchParams
    const hashed = [FINISH.nonce, pending.body.interact.finish, query?.get('interact_ref'), AUTH].join('\n')
    expect(query?.get('hash')).toBe(createHash('sha256').update(hashed).digest('base64'))
  })

  it('EMB-4 T-23 members called __proto__ reach no object', async () => {
    const wallet = await authWallet()
    const polluted = '{"__proto__":{"isPolluted":true},"constructor":{"prototype":{"isPolluted":true}}}'
    const bodies = [
      `{"access_token":${polluted},"client":"x"}`,
      JSON.stringify({ ...PLAIN_REQUEST, more: 0 }).replace('0}', `${polluted}}`),
      JSON.stringify({ ...PLAIN_REQUEST, client: 0 }).replace('"client":0', `"client":${polluted}`),
      JSON.stringify({ access_token: { access: [0] }, client: PLAIN_REQUEST.client }).replace('[0]', `[${polluted}]`),
    ]
    for (const body of bodies) await wallet.send('POST', `${AUTH}/`, { body })
    expect(Reflect.get({}, 'isPolluted')).toBeUndefined()
    expect((await wallet.ask({ ...PLAIN_REQUEST, access_token: { access: [INCOMING] } })).status).toBe(200)
  })
})
