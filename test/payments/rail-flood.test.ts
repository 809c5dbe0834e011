import type { RemoteReceivers } from 'open-payments-server'
import { expect, it } from 'vitest'
import { internet } from '../client/internet.ts'
import { readerOn } from '../client/scene.ts'
import { AUTH_SERVER, paymentDocument, tokenDocument } from '../client/stand-in.ts'
import { jsonReply } from '../key-resolver/fake-network.ts'
import { fakeRail } from '../support/fake-rail.ts'
import {
  ALICE,
  type Answer,
  addClient,
  BASE,
  grantAtOnce,
  spendingToken,
  testWallet,
  usd,
} from '../support/test-wallet.ts'

const COLLECTION = 'https://pay.example/incoming-payments'

it('T-5 a payment that is ordered reaches its receiver while a client names as many at its server as it can', async () => {
  const world = internet()
  world.addresses.set('auth.example', [['93.184.217.1']])
  world.hosts.set('auth.example', () => jsonReply(tokenDocument()))
  world.hosts.set('pay.example', ({ url, headers }) => {
    if (url.pathname.includes('bogus')) return jsonReply({}, { status: 404 })
    const asset = { assetCode: 'USD', assetScale: 2 }
    const payment = { ...paymentDocument(url.href), incomingAmount: null, receivedAmount: { ...asset, value: '0' } }
    return jsonReply('authorization' in headers ? payment : { authServer: AUTH_SERVER })
  })
  const rail = fakeRail()
  const { answerDelivery } = rail
  rail.answerDelivery = async () => ({ outcome: 'later', reason: 'busy' })
  const wallet = await testWallet({
    paymentMethods: [rail],
    remoteReceivers: { find: (url, asker) => receivers.find(url, asker) },
  })
  const { clock } = wallet
  let receivers: RemoteReceivers = readerOn(world, clock)
  const token = await spendingToken(wallet)
  const mallory = await addClient(wallet, 'mallory')
  const asMallory = (await grantAtOnce(wallet, [{ type: 'quote', actions: ['create'] }], mallory)).body.access_token
    .value
  let named = 0
  const flood = async (): Promise<Set<number>> => {
    const statuses = new Set<number>()
    for (let at = 0; at < 130; at++) {
      const json = {
        walletAddress: ALICE,
        receiver: `${COLLECTION}/bogus${named++}`,
        method: 'ilp',
        debitAmount: usd('1'),
      }
      const asked = await wallet.send('POST', `${BASE}/quotes`, {
        as: mallory,
        token: asMallory,
        nonce: `q${named}`,
        json,
      })
      statuses.add(asked.status)
    }
    return statuses
  }
  const order = (id: string): Promise<Answer> => {
    const json = { walletAddress: ALICE, incomingPayment: `${COLLECTION}/${id}`, debitAmount: usd('50') }
    return wallet.send('POST', `${BASE}/outgoing-payments`, { token, json })
  }
  const { body: held, status } = await order('1')
  expect(status).toBe(201)
  await wallet.openPayments.drain()
  // The process is another one by now, which has read nothing there.
  receivers = readerOn(world, clock)
  rail.answerDelivery = answerDelivery
  expect(await flood()).toEqual(new Set([400, 429]))
  expect((await order('2')).status).toBe(201)
  await flood()
  clock.advance(60_000)
  await flood()
  await wallet.openPayments.recover()
  await wallet.openPayments.drain()
  const read = await wallet.send('GET', held.id, { token })
  expect(read.body).toMatchObject({ failed: false, sentAmount: usd('50') })
})
