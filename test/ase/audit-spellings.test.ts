import { expect, it } from 'vitest'
import { ALICE, BASE, incomingPayment, spendingToken, testWallet, usd } from '../support/test-wallet.ts'

it('T-42 an audit has the payments of a wallet address by any spelling, and refuses what is none', async () => {
  const wallet = await testWallet()
  const { payment } = await incomingPayment(wallet)
  const token = await spendingToken(wallet)
  const json = { walletAddress: ALICE, incomingPayment: payment.id, debitAmount: usd('5') }
  expect((await wallet.send('POST', `${BASE}/outgoing-payments`, { token, json })).status).toBe(201)
  const idsOf = async (address: string): Promise<readonly string[]> => {
    const ids: string[] = []
    for await (const { id } of wallet.openPayments.audit(address)) ids.push(id)
    return ids
  }
  const ids = await idsOf(ALICE)
  expect(ids).toHaveLength(1)
  expect(await idsOf(`${ALICE}/`)).toEqual(ids)
  // Nothing would look like a proof that nothing was paid.
  const longerHost = ALICE.replace(BASE, `${BASE}.shop.example`)
  for (const none of ['alice', ALICE.replace('https://', 'https://www.'), longerHost, 'https://shop.example/alice'])
    await expect(idsOf(none)).rejects.toThrow(new TypeError(`"${none}" is not a wallet address under ${BASE}`))
  await expect(idsOf(JSON.parse('7'))).rejects.toThrow(new TypeError(`7 is not a wallet address under ${BASE}`))
})
