import { type AuthenticatedClient, isFinalizedGrantWithAccessToken, isPendingGrant } from '@interledger/open-payments'
import type { OpenPayments } from 'open-payments-server'
import { postgresStorage } from 'open-payments-server/storage/postgres'
import type { Pool } from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { postgresLedger, postgresLedgerSchema } from '../../examples/postgres-ledger.ts'
import { hashPassword, isPassword } from '../../examples/users-in-postgres/passwords.ts'
import { createPeople, type People, peopleSchema } from '../../examples/users-in-postgres/people.ts'
import { createWallet } from '../../examples/users-in-postgres/wallet.ts'
import { useDatabases } from '../storage/postgres-databases.ts'
import { useMovedTime } from './moved-time.ts'
import { createClientKey, listen, officialClient } from './official-client.ts'

const { advance } = useMovedTime()
const { newSchema, openPool } = useDatabases()

let pool: Pool
let people: People
let openPayments: OpenPayments
let server: Awaited<ReturnType<typeof listen>>
let client: AuthenticatedClient

beforeAll(async () => {
  const schema = await newSchema()
  pool = openPool(schema)
  await pool.query(`${postgresLedgerSchema};${peopleSchema}`)
  people = createPeople(pool, { N: 2 ** 10, r: 8, p: 1 })
  const parts = { people, storage: await postgresStorage(pool), ledger: postgresLedger(pool) }
  const secrets = ['a secret of the tests, long enough to be one']
  server = await listen((url) => {
    const wallet = createWallet({ url, secrets, ...parts })
    openPayments = wallet.openPayments
    return wallet.listener
  })
  const key = createClientKey()
  await Promise.all([
    people.add({ name: 'alice', password: 'Ålesund', walletAddress: `${server.url}/alice`, balance: 100_000n }),
    people.add({ name: 'bob', password: 'bobs own', walletAddress: `${server.url}/bob`, balance: 0n }),
    people.add({ name: 'shop', password: 'x', walletAddress: `${server.url}/shop`, balance: 0n, keys: [key.jwk] }),
  ])
  client = await officialClient(`${server.url}/shop`, key)
})
afterAll(async () => {
  await server.close()
  await openPayments.drain()
})

/** A browser with its cookie; it says where its requests come from, and follows no redirect by itself. */
class Browser {
  cookie = ''

  async visit(url: string, form?: Readonly<Record<string, string>>, site = 'same-origin') {
    const response = await fetch(new URL(url, server.url), {
      redirect: 'manual',
      headers: { cookie: this.cookie, 'sec-fetch-site': site },
      ...(form && { method: 'POST', body: new URLSearchParams(form) }),
    })
    const [cookie] = response.headers.getSetCookie()
    if (cookie !== undefined) this.cookie = cookie.split(';')[0] ?? ''
    return { status: response.status, location: response.headers.get('location'), text: await response.text(), cookie }
  }

  logIn(name: string, password: string, url = '/login', site?: string) {
    return this.visit(url, { name, password }, site)
  }
}

const usd = (value: string) => ({ value, assetCode: 'USD', assetScale: 2 })

async function askAlice() {
  const payment = {
    type: 'outgoing-payment' as const,
    actions: ['create' as const, 'read' as const],
    identifier: `${server.url}/alice`,
    limits: { debitAmount: usd('5000') },
  }
  const finish = { method: 'redirect' as const, uri: 'https://shop.example/return', nonce: 'a nonce' }
  const grant = await client.grant.request(
    { url: `${server.url}/auth` },
    { access_token: { access: [payment] }, interact: { start: ['redirect'], finish } },
  )
  if (!isPendingGrant(grant)) throw new Error('nobody is asked')
  return grant
}

const csrfOf = (page: string): string => /name="csrf" value="([^"]+)"/.exec(page)?.[1] ?? ''

describe('a wallet with its users in PostgreSQL', () => {
  it('asks its customer to log in, then for consent, pays, and takes consent back', async () => {
    const grant = await askAlice()
    const alice = new Browser()
    const sent = await alice.visit(grant.interact.redirect, undefined, 'cross-site')
    expect([sent.status, sent.location]).toEqual([303, expect.stringMatching(/^\/login\?next=%2Fauth%2Finteract%2F/)])
    expect((await alice.visit(sent.location ?? '')).text).toContain('<h1>Log in</h1>')
    const back = await alice.logIn('alice', 'A\u030alesund', sent.location ?? '') // the same letter, in two parts
    expect(new URL(back.location ?? '', server.url).href).toBe(grant.interact.redirect)
    const { text } = await alice.visit(grant.interact.redirect)
    expect(text).toContain('50.00 USD')
    const { location } = await alice.visit(grant.interact.redirect, { decision: 'approve', csrf: csrfOf(text) })
    const interact_ref = new URL(location ?? '').searchParams.get('interact_ref') ?? ''

    advance(5000)
    const { uri, access_token } = grant.continue
    const granted = await client.grant.continue({ url: uri, accessToken: access_token.value }, { interact_ref })
    const own = await client.grant.request(
      { url: `${server.url}/auth` },
      { access_token: { access: [{ type: 'incoming-payment', actions: ['create', 'read'] }] } },
    )
    if (!isFinalizedGrantWithAccessToken(granted) || !isFinalizedGrantWithAccessToken(own)) throw new Error('no token')
    const incoming = await client.incomingPayment.create(
      { url: server.url, accessToken: own.access_token.value },
      { walletAddress: `${server.url}/shop`, incomingAmount: usd('1234') },
    )
    const order = { walletAddress: `${server.url}/alice`, incomingPayment: incoming.id, debitAmount: usd('1234') }
    const asAlice = { url: server.url, accessToken: granted.access_token.value }
    await client.outgoingPayment.create(asAlice, order)
    await openPayments.drain()
    const balances = `SELECT public_name AS name, balance::int FROM wallet_address JOIN account ON id = account ORDER BY 1`
    expect((await pool.query(balances)).rows).toEqual([
      { name: 'alice', balance: 98_766 },
      { name: 'bob', balance: 0 },
      { name: 'shop', balance: 1234 },
    ])

    const home = (await alice.visit('/')).text
    expect(home).toContain(`${server.url}/shop may use outgoing-payment (create, read)`)
    const [, id = ''] = /name="grant" value="(\w+)"/.exec(home) ?? []
    const bob = new Browser()
    await bob.logIn('bob', 'bobs own')
    await bob.visit('/revoke', { grant: id })
    expect((await alice.visit('/')).text).toContain(id)
    await alice.visit('/revoke', { grant: id })
    expect((await alice.visit('/')).text).not.toContain(id)
    await expect(client.outgoingPayment.create(asAlice, order)).rejects.toMatchObject({ code: 'invalid_token' })
  })

  it('lets its customers in with their own password alone, and keeps nothing that lets anybody in', async () => {
    const browser = new Browser()
    for (const [name, password] of [
      ['alice', 'alesund'],
      ['alice', ''],
      ['nobody', 'Ålesund'],
      ['', ''],
    ] as const)
      expect(await browser.logIn(name, password)).toMatchObject({ status: 401, cookie: undefined })
    const { cookie = '' } = await browser.logIn('alice', 'Ålesund')
    expect(cookie).toMatch(/^session=[\w-]{43}; Path=\/; HttpOnly; SameSite=Lax$/)
    const tables = await pool.query(
      'SELECT json_agg(person)::text AS people, json_agg(session)::text AS sessions FROM person, session',
    )
    const kept = JSON.stringify(tables.rows)
    for (const secret of ['lesund', 'bobs own', browser.cookie.slice('session='.length)])
      expect(kept).not.toContain(secret)
    const hashes = await pool.query('SELECT DISTINCT password_hash FROM person')
    expect(hashes.rows).toHaveLength(3)
  })

  it('shows what is asked to its owner alone', async () => {
    const grant = await askAlice()
    const bob = new Browser()
    await bob.logIn('bob', 'bobs own')
    expect((await bob.visit(grant.interact.redirect)).status).toBe(403)
    const alice = new Browser()
    await alice.logIn('alice', 'Ålesund')
    expect((await alice.visit(grant.interact.redirect)).status).toBe(200)
  })

  it('makes a new session at each login, and ends it at the logout and after half an hour', async () => {
    const browser = new Browser()
    browser.cookie = 'session=planted'
    await browser.logIn('alice', 'Ålesund')
    const first = browser.cookie
    await browser.logIn('alice', 'Ålesund')
    const second = browser.cookie
    expect((await browser.visit('/')).status).toBe(200)
    browser.cookie = first
    expect((await browser.visit('/')).status).toBe(303)
    browser.cookie = second
    await pool.query(`UPDATE session SET expires_at = expires_at - interval '30 minutes'`)
    expect(await browser.visit('/')).toMatchObject({ status: 303, location: '/login' })
    expect(await people.sweep()).toBeGreaterThan(0)
    expect((await pool.query('SELECT FROM session')).rowCount).toBe(0)
    await browser.logIn('alice', 'Ålesund')
    const third = browser.cookie
    expect((await browser.visit('/logout', {})).cookie).toMatch(/^session=; .*Max-Age=0$/)
    for (const cookie of ['session=planted', first, second, third]) {
      browser.cookie = cookie
      expect(await browser.visit('/')).toMatchObject({ status: 303, location: '/login' })
    }
  })

  it('takes no form from another site, and sends nobody to one', async () => {
    const browser = new Browser()
    for (const site of ['cross-site', 'same-site', 'none', ''])
      expect(await browser.logIn('alice', 'Ålesund', '/login', site)).toMatchObject({ status: 403, cookie: undefined })
    const elsewhere = [
      '//elsewhere.example',
      'https://elsewhere.example/',
      '/\\elsewhere.example',
      '/auth/interact/../../x',
    ]
    for (const next of elsewhere) {
      const { location } = await browser.logIn('alice', 'Ålesund', `/login?next=${encodeURIComponent(next)}`)
      expect(location).toBe('/')
    }
    expect(await browser.visit('/revoke', { grant: 'x' }, 'cross-site')).toMatchObject({ status: 403 })
    expect((await browser.visit('/')).status).toBe(200)
  })

  it('pays nobody at an address that is closed', async () => {
    await pool.query(`UPDATE wallet_address SET is_active = false WHERE public_name = 'bob'`)
    expect((await fetch(`${server.url}/bob`)).status).toBe(404)
    expect((await fetch(`${server.url}/shop`)).status).toBe(200)
    const keys = await client.walletAddress.getKeys({ url: `${server.url}/shop` })
    expect(keys.keys).toHaveLength(1)
  })
})

it('refuses to check more passwords than it would be through with soon, and checks again after that', async () => {
  const hash = await hashPassword('right', { N: 1024, r: 1, p: 1 })
  const checks = await Promise.allSettled(Array.from({ length: 25 }, () => isPassword('right', hash)))
  expect(checks.map(({ status }) => status)).toEqual([
    ...Array.from({ length: 20 }, () => 'fulfilled'),
    ...Array.from({ length: 5 }, () => 'rejected'),
  ])
  expect(await isPassword('right', hash)).toBe(true)
  expect(await isPassword('wrong', hash)).toBe(false)
})
