import { expect, it } from 'vitest'
import { lastSegment } from '../support/last-segment.ts'
import { ALICE, BASE, incomingPayment, spendingToken, testWallet, usd, usdAmount } from '../support/test-wallet.ts'

it('INC-5 a credit of this server is counted once, even if the wallet reports it by its id', async () => {
  const wallet = await testWallet()
  const { incomingPayments } = wallet.openPayments
  const { payment } = await incomingPayment(wallet)
  const token = await spendingToken(wallet)
  const json = { walletAddress: ALICE, incomingPayment: payment.id, debitAmount: usd('30') }
  expect((await wallet.send('POST', `${BASE}/outgoing-payments`, { token, json })).status).toBe(201)
  await wallet.openPayments.drain()
  let creditId = ''
  for await (const paid of wallet.openPayments.audit(ALICE)) creditId = paid.creditId ?? ''
  const report = (id: string, value: bigint, transferId: string) =>
    incomingPayments.received(lastSegment(id), usdAmount(value), transferId)
  expect(await report(payment.id, 30n, creditId)).toEqual({ ok: true, accepted: 30n, excess: 0n })
  expect(await report(payment.id, 31n, creditId)).toEqual({ ok: false, reason: 'conflict' })
  const read = await wallet.send('GET', payment.id)
  expect(read.body.receivedAmount.value).toBe('30')
  // A wallet's own ids are told apart, however they begin.
  for (const transferId of ['seven', 'rail:seven', 'rail:rail:seven'])
    expect(await report(payment.id, 1n, transferId)).toEqual({ ok: true, accepted: 1n, excess: 0n })
  expect((await wallet.send('GET', payment.id)).body.receivedAmount.value).toBe('33')
})

it('INC-5 a credit that the ledger has refused was not counted: it is once the wallet reports it by its id', async () => {
  const wallet = await testWallet()
  const { incomingPayments } = wallet.openPayments
  const { payment } = await incomingPayment(wallet)
  const token = await spendingToken(wallet)
  await wallet.ledger.setPermissions('bob', { canSend: true, canReceive: false })
  const json = { walletAddress: ALICE, incomingPayment: payment.id, debitAmount: usd('30') }
  expect((await wallet.send('POST', `${BASE}/outgoing-payments`, { token, json })).status).toBe(201)
  await wallet.openPayments.drain()
  let creditId = ''
  for await (const paid of wallet.openPayments.audit(ALICE)) creditId = paid.creditId ?? ''
  expect((await wallet.send('GET', payment.id)).body.receivedAmount.value).toBe('0')
  const report = () => incomingPayments.received(lastSegment(payment.id), usdAmount(30n), creditId)
  const counted = { ok: true, accepted: 30n, excess: 0n }
  expect([await report(), await report()]).toEqual([counted, counted])
  expect((await wallet.send('GET', payment.id)).body.receivedAmount.value).toBe('30')
})

it('INC-5 what is counted is the amount at the call, whatever the wallet writes into the same object afterwards', async () => {
  const wallet = await testWallet()
  const { payment } = await incomingPayment(wallet)
  const amount = { ...usdAmount(10n) }
  const counted = wallet.openPayments.incomingPayments.received(lastSegment(payment.id), amount, 'seven')
  amount.value = 99n
  expect(await counted).toEqual({ ok: true, accepted: 10n, excess: 0n })
})
