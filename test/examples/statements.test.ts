import { postgresStorage } from 'open-payments-server/storage/postgres'
import { expect, it } from 'vitest'
import { postgresLedger, postgresLedgerSchema } from '../../examples/postgres-ledger.ts'
import { codeBlocksOf } from '../docs/markdown.ts'
import { useDatabases } from '../storage/postgres-databases.ts'
import { lastSegment } from '../support/last-segment.ts'
import { ALICE, BASE, incomingPayment, spendingToken, testWallet, usd } from '../support/test-wallet.ts'

const { newSchema, openPool, run } = useDatabases()

const blocks = codeBlocksOf('docs/reconciliation.md').flatMap(({ language, code }) =>
  language === 'sql' ? [code] : [],
)
const [statement = ''] = blocks.filter((sql) => sql.includes('posting AS line'))
const [payers = ''] = blocks.filter((sql) => sql.includes('DISTINCT'))

it('the page on reconciliation writes statements, and finds who has paid since a moment', async () => {
  const schema = await newSchema()
  await run(schema, postgresLedgerSchema)
  await run(schema, `INSERT INTO account VALUES ('alice', 'USD', 2, 1000), ('bob', 'USD', 2, 0)`)
  const storage = await postgresStorage(openPool(schema))
  const wallet = await testWallet({ storage, ledger: postgresLedger(openPool(schema)) })
  const { payment } = await incomingPayment(wallet, { metadata: { invoice: 7 } })
  const token = await spendingToken(wallet)
  const json = { walletAddress: ALICE, incomingPayment: payment.id, debitAmount: usd('7'), metadata: { note: 'rent' } }
  const { body } = await wallet.send('POST', `${BASE}/outgoing-payments`, { token, json })
  await wallet.openPayments.drain()
  await run(schema, `UPDATE posting SET at = '2026-11-30T23:59:59Z'`)

  const statementOf = (account: string) => run(schema, statement.replace('alice', account))
  const none = { receiver: null, fee_value: null, payer_says: null, payer: null, incoming_payment: null }
  const [out, ...more] = await statementOf('alice')
  expect(more).toEqual([])
  expect(out).toMatchObject({
    ...none,
    amount: '-7',
    transfer: lastSegment(body.id),
    receiver: payment.id,
    fee_value: '0',
    payer_says: '{"note":"rent"}',
  })
  const incoming = { incoming_payment: lastSegment(payment.id), payee_says: '{"invoice":7}' }
  expect(await statementOf('bob')).toMatchObject([{ ...none, amount: '7', payer: ALICE, ...incoming }])
  await run(schema, `UPDATE posting SET at = '2026-12-01T00:00:00Z'`)
  expect(await statementOf('alice')).toEqual([])

  const since = (at: number) => run(schema, payers.replace('1793491200000', String(at)))
  expect(await since(wallet.clock.now())).toEqual([{ wallet_address: ALICE }])
  expect(await since(wallet.clock.now() + 1)).toEqual([])
})
