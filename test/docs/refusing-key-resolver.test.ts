import type { KeyResolver } from 'open-payments-server'
import { openSqlite, sqliteStorage } from 'open-payments-server/storage/sqlite'
import { createSigningKey } from 'open-payments-server/testing'
import { expect, it } from 'vitest'
import {
  ALICE,
  BASE,
  BOB,
  continueWith,
  cryptography,
  decideAs,
  grantAtOnce,
  grantWithConsent,
  requestConsent,
  type TestWallet,
  testWallet,
} from '../support/test-wallet.ts'
import { codeBlocksOf } from './markdown.ts'
import { refusingKeyResolver } from './refusing-key-resolver.ts'

const SHOP = 'https://shop.example/pay'
const blocks = codeBlocksOf('docs/operations.md').map(({ code }) => code)
const LISTED = blocks.find((code) => code.includes('FROM op_grant'))?.replace(';', '') ?? ''

it('a client is stopped by its keys at once, and by revoking what owners gave not at all', async () => {
  const handle = await openSqlite(':memory:')
  const key = await createSigningKey(cryptography, 'shop-key')
  const fetched: KeyResolver = {
    keySet: async () => ({ ok: true, keys: [{ kid: key.keyId, x: key.jwk.x }] }),
    publicName: async () => undefined,
  }
  const refused = new Set<string>()
  const keyResolver = refusingKeyResolver((walletAddress) => refused.has(walletAddress), fetched)
  const wallet = await testWallet({ storage: sqliteStorage(handle), keyResolver })
  const as = { key, client: SHOP }
  const shop: TestWallet = {
    ...wallet,
    client: as,
    send: (method, url, sending) => wallet.send(method, url, { as, ...sending }),
  }

  const free = await grantAtOnce(shop, [{ type: 'incoming-payment', actions: ['create', 'read'] }])
  const { value: token, manage } = free.body.access_token
  const create = () => shop.send('POST', `${BASE}/incoming-payments`, { token, json: { walletAddress: BOB } })
  const { id } = (await create()).body
  const access = [{ type: 'outgoing-payment', actions: ['read'], identifier: ALICE }]
  expect((await grantWithConsent(shop, access)).status).toBe(200)
  const pending = await requestConsent(shop, access)
  const redirect = await decideAs(shop, pending)
  const collect = () => continueWith(shop, pending, redirect?.searchParams.get('interact_ref'))

  const listed = () => handle.prepare(LISTED).all() as { id: string; wallet_address: string }[]
  expect(listed()).toMatchObject([{ wallet_address: ALICE }])
  for (const grant of listed()) expect(await shop.openPayments.grants.revoke(grant.wallet_address, grant.id)).toBe(true)
  expect(listed()).toEqual([])
  expect((await create()).status).toBe(201)
  // What was approved and not collected was in no list.
  expect((await collect()).status).toBe(200)
  expect(listed()).toHaveLength(1)

  refused.add(SHOP)
  const signed = [
    await create(),
    await shop.send('GET', id, { token }),
    await shop.send('POST', manage, { token }),
    await collect(),
  ]
  expect(signed.map(({ status }) => status)).toEqual([401, 401, 400, 400])
  const asked = [await requestConsent(shop, access), await grantAtOnce(shop, [{ type: 'quote', actions: ['create'] }])]
  expect(asked.map(({ status }) => status)).toEqual([400, 400])

  // What it was given comes back with its keys.
  refused.clear()
  expect((await create()).status).toBe(201)
  handle.close()
})
