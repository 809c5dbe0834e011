import { describe, expect, it } from 'vitest'
import { ALICE, type Answer, addClient, BASE, BOB } from '../support/test-wallet.ts'
import {
  createIncoming,
  expectRefusal,
  expectStatus,
  INSUFFICIENT_GRANT,
  NOT_FOUND,
  type ObservedWallet,
  observedWallet,
  RECEIVING_ACCESS,
  tokenFor,
} from './observed-wallet.ts'

const COLLECTION = `${BASE}/incoming-payments`
const entry = (identifier: string, ...actions: readonly string[]) => ({ type: 'incoming-payment', actions, identifier })

async function listed(wallet: ObservedWallet, token: string, walletAddress: string): Promise<readonly string[]> {
  const url = `${COLLECTION}?wallet-address=${encodeURIComponent(walletAddress)}`
  return (await expectStatus(200, wallet.send('GET', url, { token }))).body.result.map(({ id }) => id)
}

describe('a token with several entries of one type', () => {
  it('RS-4 has the rights of each on its own wallet address, and on no other', async () => {
    const wallet = await observedWallet()
    const token = await tokenFor(wallet, [entry(ALICE, 'create', 'read'), entry(BOB, 'create', 'read')])
    const create = (walletAddress: string): Promise<Answer> =>
      wallet.send('POST', COLLECTION, { token, json: { walletAddress } })
    for (const walletAddress of [ALICE, BOB]) {
      const created = await expectStatus(201, create(walletAddress))
      await expectStatus(200, wallet.send('GET', created.body.id, { token }))
    }
    await expectRefusal(wallet, INSUFFICIENT_GRANT, () => create(`${BASE}/carol`))
  })

  it('RS-6 RS-7 sees everything on one wallet address without seeing everything on another', async () => {
    const wallet = await observedWallet()
    const other = await addClient(wallet, 'other')
    const theirs = await tokenFor(wallet, RECEIVING_ACCESS, other)
    const [ofAlice, ofBob] = [
      await createIncoming(wallet, theirs, { walletAddress: ALICE }, other),
      await createIncoming(wallet, theirs, { walletAddress: BOB }, other),
    ]
    const token = await tokenFor(wallet, [entry(ALICE, 'read-all', 'list-all'), entry(BOB, 'read', 'list')])
    await expectStatus(200, wallet.send('GET', ofAlice.id, { token }))
    await expectRefusal(wallet, NOT_FOUND, () => wallet.send('GET', ofBob.id, { token }))
    expect(await listed(wallet, token, BOB)).toEqual([])
  })

  it('RS-7 sees everything where one of two entries on a wallet address says so', async () => {
    const wallet = await observedWallet()
    const other = await addClient(wallet, 'other')
    const theirs = await tokenFor(wallet, RECEIVING_ACCESS, other)
    const payment = await createIncoming(wallet, theirs, {}, other)
    const token = await tokenFor(wallet, [entry(BOB, 'read'), entry(BOB, 'read-all')])
    await expectStatus(200, wallet.send('GET', payment.id, { token }))
  })
})
