import { signedRequest } from 'open-payments-server/testing'
import { expect } from 'vitest'
import { keyed } from '../support/keyed.ts'
import {
  ALICE,
  type Answer,
  AUTH,
  BASE,
  BOB,
  CLIENT,
  cryptography,
  decideAs,
  grantAtOnce,
  incomingPayment,
  OWNER,
  referenceOf,
  requestConsent,
  spendingToken,
  usd,
} from '../support/test-wallet.ts'
import type { CountedWallet } from './counted-wallet.ts'
import type { Counts } from './counter.ts'

const SPENDING = { type: 'outgoing-payment', actions: ['create', 'read', 'list'], identifier: ALICE }
const RECEIVING = { type: 'incoming-payment', actions: ['create', 'read'] }
const LIMITS = { debitAmount: usd('1000') }

async function plain(wallet: CountedWallet, url: string): Promise<Counts> {
  const { key } = wallet.client
  const { target, ...request } = await signedRequest({ method: 'GET', url, key, cryptography, created: 0 })
  return wallet.costOfPlain({ ...request, target, headerLines: () => [] })
}

const receive = (wallet: CountedWallet): ReturnType<typeof incomingPayment> =>
  incomingPayment(wallet, { incomingAmount: usd('1000') })

async function askGrant(wallet: CountedWallet, access: object, members: object = {}): Promise<Counts> {
  // The first request of a process derives its secrets.
  await grantAtOnce(wallet, [RECEIVING])
  const json = { access_token: { access: [access] }, client: wallet.client.client, ...members }
  return wallet.costOf({ method: 'POST', url: `${AUTH}/`, json })
}

async function askConsent(wallet: CountedWallet): Promise<{ readonly pending: Answer; readonly reference: string }> {
  const pending = await requestConsent(wallet, [SPENDING])
  const redirect = await decideAs(wallet, pending)
  wallet.clock.advance(5000)
  return { pending, reference: redirect?.searchParams.get('interact_ref') ?? '' }
}

async function manage(wallet: CountedWallet, method: 'POST' | 'DELETE'): Promise<Counts> {
  const { body } = await grantAtOnce(wallet, [RECEIVING])
  return wallet.costOf({ method, url: body.access_token.manage, token: body.access_token.value })
}

async function order(wallet: CountedWallet, token: string): Promise<Answer> {
  const { payment } = await receive(wallet)
  const json = { walletAddress: ALICE, incomingPayment: payment.id, debitAmount: usd('5') }
  return wallet.send('POST', `${BASE}/outgoing-payments`, { token, json })
}

async function pay(wallet: CountedWallet, limits?: typeof LIMITS, key?: string): Promise<Counts> {
  const { payment } = await receive(wallet)
  const token = await spendingToken(wallet, limits)
  const order = { walletAddress: ALICE, incomingPayment: payment.id, debitAmount: usd('5') }
  const url = `${BASE}/outgoing-payments`
  // The first payment of a grant writes what its later ones read.
  await wallet.send('POST', url, { token, json: order })
  await wallet.openPayments.drain()
  const json = { ...order, metadata: { order: '2' } }
  return wallet.costOf({ method: 'POST', url, token, json, ...(key !== undefined && keyed(key)) })
}

async function askQuote(wallet: CountedWallet): Promise<{ readonly token: string; readonly order: object }> {
  const { payment } = await receive(wallet)
  const token = await spendingToken(wallet, LIMITS)
  return { token, order: { walletAddress: ALICE, receiver: payment.id, method: 'ilp' } }
}

const listOf = (path: string, owner: string): string => `${BASE}/${path}?wallet-address=${encodeURIComponent(owner)}`

/** Each operation by its name, in a wallet of its own; what has to be there first is not counted. */
export const OPERATIONS: ReadonlyMap<string, (wallet: CountedWallet) => Promise<Counts>> = new Map([
  ['get-wallet-address', (wallet) => plain(wallet, BOB)],
  ['get-wallet-address-keys', (wallet) => plain(wallet, `${CLIENT}/jwks.json`)],
  ['get-incoming-payment, public', async (wallet) => plain(wallet, (await receive(wallet)).payment.id)],
  ['post-request', (wallet) => askGrant(wallet, RECEIVING)],
  ['post-request, interactive', (wallet) => askGrant(wallet, SPENDING, { interact: { start: ['redirect'] } })],
  [
    'interact, opened and approved',
    async (wallet) => {
      const reference = referenceOf(await requestConsent(wallet, [SPENDING]))
      const { interactions } = wallet.openPayments
      return wallet.costOfWork(async () => {
        const opened = await interactions.find(reference, OWNER)
        const csrf = opened.ok ? opened.csrf : ''
        const decided = await interactions.approve(reference, { ...OWNER, csrf, access: 'all' })
        expect(decided).toMatchObject({ ok: true })
      })
    },
  ],
  [
    'post-continue',
    async (wallet) => {
      const { pending, reference } = await askConsent(wallet)
      const { access_token, uri } = pending.body.continue
      return wallet.costOf({ method: 'POST', url: uri, token: access_token.value, json: { interact_ref: reference } })
    },
  ],
  [
    'delete-continue',
    async (wallet) => {
      const { pending } = await askConsent(wallet)
      const { access_token, uri } = pending.body.continue
      return wallet.costOf({ method: 'DELETE', url: uri, token: access_token.value })
    },
  ],
  ['post-token', (wallet) => manage(wallet, 'POST')],
  ['delete-token', (wallet) => manage(wallet, 'DELETE')],
  [
    'create-incoming-payment',
    async (wallet) => {
      const { token } = await receive(wallet)
      const json = { walletAddress: BOB, incomingAmount: usd('10') }
      return wallet.costOf({ method: 'POST', url: `${BASE}/incoming-payments`, token, json })
    },
  ],
  [
    'get-incoming-payment',
    async (wallet) => {
      const { payment, token } = await receive(wallet)
      return wallet.costOf({ method: 'GET', url: payment.id, token })
    },
  ],
  [
    'list-incoming-payments',
    async (wallet) => {
      const { token } = await receive(wallet)
      return wallet.costOf({ method: 'GET', url: listOf('incoming-payments', BOB), token })
    },
  ],
  [
    'list-incoming-payments, cursor',
    async (wallet) => {
      const { payment, token } = await receive(wallet)
      const cursor = new URL(payment.id).pathname.split('/').at(-1)
      return wallet.costOf({ method: 'GET', url: `${listOf('incoming-payments', BOB)}&cursor=${cursor}`, token })
    },
  ],
  [
    'complete-incoming-payment',
    async (wallet) => {
      const { payment, token } = await receive(wallet)
      return wallet.costOf({ method: 'POST', url: `${payment.id}/complete`, token })
    },
  ],
  [
    'create-quote',
    async (wallet) => {
      const { token, order } = await askQuote(wallet)
      return wallet.costOf({ method: 'POST', url: `${BASE}/quotes`, token, json: order })
    },
  ],
  [
    'get-quote',
    async (wallet) => {
      const { token, order } = await askQuote(wallet)
      const { body } = await wallet.send('POST', `${BASE}/quotes`, { token, json: order })
      return wallet.costOf({ method: 'GET', url: body.id, token })
    },
  ],
  ['create-outgoing-payment', (wallet) => pay(wallet)],
  ['create-outgoing-payment, limited', (wallet) => pay(wallet, LIMITS)],
  ['create-outgoing-payment, keyed', (wallet) => pay(wallet, LIMITS, 'a-key')],
  [
    'create-outgoing-payment, quoted',
    async (wallet) => {
      const { token, order } = await askQuote(wallet)
      const { body } = await wallet.send('POST', `${BASE}/quotes`, { token, json: order })
      const json = { walletAddress: ALICE, quoteId: body.id }
      return wallet.costOf({ method: 'POST', url: `${BASE}/outgoing-payments`, token, json })
    },
  ],
  [
    'get-outgoing-payment',
    async (wallet) => {
      const token = await spendingToken(wallet)
      const { body } = await order(wallet, token)
      return wallet.costOf({ method: 'GET', url: body.id, token })
    },
  ],
  [
    'list-outgoing-payments',
    async (wallet) => {
      const token = await spendingToken(wallet)
      await order(wallet, token)
      return wallet.costOf({ method: 'GET', url: listOf('outgoing-payments', ALICE), token })
    },
  ],
  [
    'get-outgoing-payment-grant',
    async (wallet) => {
      const token = await spendingToken(wallet, LIMITS)
      return wallet.costOf({ method: 'GET', url: `${BASE}/outgoing-payment-grant`, token })
    },
  ],
])
