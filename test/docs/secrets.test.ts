import { execFileSync } from 'node:child_process'
import { memoryStorage } from 'open-payments-server/storage/memory'
import { openSqlite, sqliteStorage } from 'open-payments-server/storage/sqlite'
import { expect, it } from 'vitest'
import { derivedServerKeys } from '../../src/http-signatures/server-keys.ts'
import { openAddress } from '../../src/payments/rail/seal-address.ts'
import { derivedSecrets } from '../../src/runtime/derived-secrets.ts'
import type { AnswerBody } from '../support/answer-body.ts'
import {
  ALICE,
  BASE,
  BOB,
  continueWith,
  cryptography,
  decideAs,
  grantAtOnce,
  grantWithConsent,
  incomingPayment,
  OWNER,
  referenceOf,
  requestConsent,
  SECRET,
  spendingToken,
  type TestWallet,
  testWallet,
  usd,
} from '../support/test-wallet.ts'
import { codeBlocksOf } from './markdown.ts'

const NEW = 'another secret, that is as long as one must be'

const codeOf = (language: string): string =>
  codeBlocksOf('docs/production.md').find((block) => block.language === language)?.code ?? ''

const idOfSecret = (): string =>
  execFileSync('sh', ['-c', codeOf('sh')], { encoding: 'utf8', env: { ...process.env, OLD_SECRET: SECRET } }).trim()

it('TOK-10 the page about secrets names one by the id that records have', async () => {
  expect(idOfSecret()).toBe(await derivedSecrets([SECRET], cryptography).currentId())
})

it('TOK-10 the page about secrets shows what needs one, and what is seen without it', async () => {
  const handle = await openSqlite(':memory:')
  const rows = (): readonly unknown[] => handle.prepare(codeOf('sql').replace(';', '')).all()
  const storage = sqliteStorage(handle)
  const before = await testWallet({ storage })
  expect(rows()).toEqual([])

  const { payment, token } = await incomingPayment(before)
  const json = { walletAddress: ALICE, incomingPayment: payment.id, debitAmount: usd('7') }
  const spending = await spendingToken(before)
  expect((await before.send('POST', `${BASE}/outgoing-payments`, { token: spending, json })).status).toBe(201)
  await before.openPayments.drain()
  const access = [{ type: 'outgoing-payment', actions: ['read'], identifier: ALICE }]
  const pending = await requestConsent(before, access, { interact: { start: ['redirect'] } })
  const needed = ['interaction', 'incoming payment', 'audit'].map((name) => ({
    secret_id: idOfSecret(),
    needed_for: name,
    records: 1,
  }))
  expect(rows()).toEqual(needed)

  const after = await testWallet({ storage, secrets: [NEW] })
  const as = before.client
  for (const [url, wallet] of before.directory) after.directory.set(url, wallet)
  after.clock.advance(60_000)
  const { uri, access_token } = pending.body.continue
  expect((await after.send('GET', payment.id, { as, token })).status).toBe(500)
  const message = `the secret with the id ${idOfSecret()} is not configured any more`
  expect(after.events.filter(({ type }) => type === 'fault')).toMatchObject([{ message }])
  await expect(after.openPayments.interactions.find(referenceOf(pending), OWNER)).rejects.toThrow(message)
  expect((await after.send('POST', uri, { as, token: access_token.value })).status).toBe(200)

  // Once both are over nothing is left but audits.
  await before.send('DELETE', uri, { token: access_token.value })
  await before.send('POST', `${payment.id}/complete`, { token })
  expect(rows()).toEqual(needed.slice(2))
  handle.close()
})

it('TOK-10 the page about secrets says what a leaked one opens, and what removing it stops and leaves', async () => {
  const client = `${BASE}/wallet`
  const settings = { policies: { clientWalletAddress: client } }
  const storage = memoryStorage()
  const leaked = derivedSecrets([SECRET], cryptography)
  const key = await derivedServerKeys(leaked, cryptography).current()
  const before = await testWallet({ storage, settings })
  before.directory.set(client, { account: 'bob', assetCode: 'USD', assetScale: 2 })
  const later = async (secrets: readonly string[], isNamed = true): Promise<TestWallet> => {
    const after = await testWallet({ storage, secrets, ...(isNamed && { settings }) })
    for (const [url, wallet] of before.directory) after.directory.set(url, wallet)
    after.clock.advance(15_000)
    const { client: as } = before
    return { ...after, client: as, send: (method, url, sending) => after.send(method, url, { as, ...sending }) }
  }
  const impersonate = (wallet: TestWallet) =>
    grantAtOnce(wallet, [{ type: 'incoming-payment', actions: ['create'] }], { key, client })
  const opens = async (payment: AnswerBody): Promise<boolean> =>
    (await openAddress(leaked, payment.methods[0]?.ilpAddress.split('.').at(-1) ?? '')) !== undefined

  const access = [{ type: 'outgoing-payment', actions: ['create', 'read'], identifier: ALICE }]
  const { payment, token } = await incomingPayment(before)
  const spending = (await grantWithConsent(before, access)).body.access_token
  const [undecided, approved] = [await requestConsent(before, access), await requestConsent(before, access)]
  const redirect = await decideAs(before, approved)

  const listed = await later([NEW, SECRET])
  expect((await impersonate(listed)).status).toBe(200)
  expect([await opens(payment), await opens((await incomingPayment(listed)).payment)]).toEqual([true, false])
  expect((await impersonate(await later([NEW, SECRET], false))).status).toBe(400)

  const removed = await later([NEW])
  expect((await impersonate(removed)).status).toBe(400)
  expect((await removed.send('GET', payment.id, { token })).status).toBe(500)
  await expect(removed.openPayments.interactions.find(referenceOf(undecided), OWNER)).rejects.toThrow('not configured')
  const order = (value: string) => ({ walletAddress: ALICE, incomingPayment: payment.id, debitAmount: usd(value) })
  const pay = (of: string, value: string) =>
    removed.send('POST', `${BASE}/outgoing-payments`, { token: of, json: order(value) })
  expect((await pay(spending.value, '7')).status).toBe(201)
  const rotated = await removed.send('POST', spending.manage, { token: spending.value })
  expect((await pay(rotated.body.access_token.value, '8')).status).toBe(201)
  expect((await continueWith(removed, approved, redirect?.searchParams.get('interact_ref'))).status).toBe(200)
  const list = `${BASE}/incoming-payments?wallet-address=${encodeURIComponent(BOB)}`
  expect((await removed.send('GET', list, { token })).status).toBe(200)
  expect((await removed.send('POST', `${payment.id}/complete`, { token })).status).toBe(200)
  await removed.openPayments.drain()

  const signed = async ({ openPayments }: TestWallet) => {
    const found: unknown[] = []
    for await (const { signedRequest } of openPayments.audit(ALICE))
      found.push('withheld' in signedRequest ? signedRequest.withheld : 'whole')
    return found.sort()
  }
  expect(await signed(removed)).toEqual(['secret_removed', 'token_usable'])
  expect(await signed(await later([NEW, SECRET]))).toEqual(['token_usable', 'whole'])
})
