import { execFileSync } from 'node:child_process'
import { openSqlite, sqliteStorage } from 'open-payments-server/storage/sqlite'
import { expect, it } from 'vitest'
import { derivedSecrets } from '../../src/runtime/derived-secrets.ts'
import {
  ALICE,
  BASE,
  cryptography,
  incomingPayment,
  OWNER,
  referenceOf,
  requestConsent,
  SECRET,
  spendingToken,
  testWallet,
  usd,
} from '../support/test-wallet.ts'
import { codeBlocksOf } from './markdown.ts'

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

  const after = await testWallet({ storage, secrets: ['another secret, that is as long as one must be'] })
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
