import { memoryStorage } from 'open-payments-server/storage/memory'
import { beforeAll, describe, expect, it } from 'vitest'
import { ALICE, addClient, BASE, BOB, type Client, directedClient, grantAtOnce, usd } from '../support/test-wallet.ts'
import {
  askPayment,
  askQuote,
  createIncoming,
  expectRefusal,
  expectStatus,
  INSUFFICIENT_GRANT,
  NOT_FOUND,
  type ObservedWallet,
  observedWallet,
  tokenFor,
} from './observed-wallet.ts'

// Invariant 10: with read or list a client never sees what another one made; with the -all form it sees exactly what
// is on the wallet address. Every token is tried on every resource and every list, and compared with a model.

type Type = 'incoming-payment' | 'quote' | 'outgoing-payment'

/** A right, as the model sees it. */
interface Entry {
  readonly actions: readonly string[]
  readonly identifier?: string
}

interface Made {
  readonly type: Type
  readonly client: Client
  readonly walletAddress: string
  readonly url: string
}

const on = (identifier: string | undefined, ...actions: readonly string[]): Entry => ({
  actions,
  ...(identifier !== undefined && { identifier }),
})

const ACCESS: Readonly<Record<Type, readonly (readonly Entry[])[]>> = {
  'incoming-payment': [
    ...[ALICE, BOB, undefined].flatMap((identifier) => [
      [on(identifier, 'read')],
      [on(identifier, 'read-all')],
      [on(identifier, 'list')],
      [on(identifier, 'read', 'list')],
    ]),
    [on(ALICE, 'list-all')],
    [on(BOB, 'list-all')],
    [on(ALICE, 'read-all', 'list-all')],
    [on(ALICE, 'read'), on(BOB, 'read-all')],
    [on(ALICE, 'list-all'), on(ALICE, 'read')],
    [on(undefined, 'read', 'list'), on(BOB, 'read-all')],
    [on(ALICE, 'create', 'complete')],
  ],
  quote: [[on(undefined, 'read')], [on(undefined, 'read-all')], [on(undefined, 'create')]],
  'outgoing-payment': [ALICE, BOB].flatMap((identifier) => [
    [on(identifier, 'read')],
    [on(identifier, 'read-all')],
    [on(identifier, 'list')],
    [on(identifier, 'list-all')],
    [on(identifier, 'read-all', 'list')],
    [on(identifier, 'list-all'), on(identifier, 'read')],
    [on(identifier, 'create')],
  ]),
}

function covering(access: readonly Entry[], action: 'read' | 'list', walletAddress: string): readonly Entry[] {
  return access.filter(
    ({ actions, identifier }) =>
      (actions.includes(action) || actions.includes(`${action}-all`)) &&
      (identifier === undefined || identifier === walletAddress),
  )
}

function sees(access: readonly Entry[], action: 'read' | 'list', client: Client, made: Made): boolean {
  const entries = covering(access, action, made.walletAddress)
  return (
    entries.length > 0 && (made.client === client || entries.some(({ actions }) => actions.includes(`${action}-all`)))
  )
}

let wallet: ObservedWallet
let clients: readonly Client[] = []
const made: Made[] = []

async function makeIncoming(client: Client, walletAddress: string): Promise<string> {
  const token = await tokenFor(wallet, [{ type: 'incoming-payment', actions: ['create'] }], client)
  const { id } = await createIncoming(wallet, token, { walletAddress }, client)
  made.push({ type: 'incoming-payment', client, walletAddress, url: id })
  return id
}

async function makeQuoteAndPayment(client: Client, walletAddress: string, receiver: string): Promise<void> {
  const access = [
    { type: 'outgoing-payment', actions: ['create'], identifier: walletAddress },
    { type: 'quote', actions: ['create'] },
  ]
  const token = await tokenFor(wallet, access, client)
  const quote = await askQuote(wallet, token, { walletAddress, receiver, debitAmount: usd('1') }, client)
  const members = { walletAddress, incomingPayment: receiver, debitAmount: usd('1') }
  const payment = await expectStatus(201, askPayment(wallet, token, members, client))
  made.push({ type: 'quote', client, walletAddress, url: quote.body.id })
  made.push({ type: 'outgoing-payment', client, walletAddress, url: payment.body.id })
}

beforeAll(async () => {
  wallet = await observedWallet({ settings: { lifetimes: { accessTokenSeconds: 36_000 } } })
  const other = await addClient(wallet, 'other')
  const directed = await directedClient()
  for (const walletAddress of [ALICE, BOB]) await makeIncoming(directed, walletAddress)
  for (const client of [wallet.client, other]) {
    const [toAlice, toBob] = [await makeIncoming(client, ALICE), await makeIncoming(client, BOB)]
    await makeQuoteAndPayment(client, ALICE, toBob)
    await wallet.openPayments.drain()
    await makeQuoteAndPayment(client, BOB, toAlice)
  }
  clients = [wallet.client, other]
})

describe.each(['incoming-payment', 'quote', 'outgoing-payment'] as const)('who sees an %s (invariant 10)', (type) => {
  it.each(ACCESS[type].map((access) => ({ access, rights: JSON.stringify(access) })))(
    'RS-6 RS-7 RS-8 with $rights each client sees its own, and with the -all form everything of the wallet address',
    async ({ access }) => {
      for (const client of clients) {
        const token = await tokenFor(
          wallet,
          access.map((entry) => ({ type, ...entry })),
          client,
        )
        const reads = access.some(({ actions }) => actions.some((action) => action.startsWith('read')))
        const ofType = made.filter((one) => one.type === type)
        for (const one of ofType) {
          const read = () => wallet.send('GET', one.url, { as: client, token })
          if (sees(access, 'read', client, one)) expect((await expectStatus(200, read())).body.id).toBe(one.url)
          else await expectRefusal(wallet, reads ? NOT_FOUND : INSUFFICIENT_GRANT, read)
        }
        if (type === 'quote') continue
        for (const walletAddress of [ALICE, BOB]) {
          const query = `?wallet-address=${encodeURIComponent(walletAddress)}&first=100`
          const list = () => wallet.send('GET', `${BASE}/${type}s${query}`, { as: client, token })
          if (covering(access, 'list', walletAddress).length === 0) {
            await expectRefusal(wallet, INSUFFICIENT_GRANT, list)
            continue
          }
          const { body } = await expectStatus(200, list())
          const expected = ofType.filter(
            (one) => one.walletAddress === walletAddress && sees(access, 'list', client, one),
          )
          expect(body.result.map(({ id }) => id).sort()).toEqual(expected.map(({ url }) => url).sort())
        }
      }
    },
  )
})

describe('rights to incoming payments that nobody consented to', () => {
  it('GRT-5 RS-8 end where such rights need consent now, and those of the owner stay', async () => {
    const storage = memoryStorage()
    const open = await observedWallet({ storage })
    const as = await directedClient()
    const { body } = await grantAtOnce(
      open,
      [{ type: 'incoming-payment', actions: ['create', 'read-all', 'list', 'complete'] }],
      as,
    )
    const token = body.access_token.value
    const own = await createIncoming(open, token, {}, as)

    const wallet = await observedWallet({ storage, settings: { policies: { withoutInteraction: ['quote'] } } })
    const owners = await tokenFor(wallet, [{ type: 'incoming-payment', actions: ['create', 'read'], identifier: BOB }])
    const other = await createIncoming(wallet, owners)
    await expectStatus(200, wallet.send('GET', other.id, { token: owners }))
    for (const { id } of [own, other])
      await expectRefusal(wallet, NOT_FOUND, () => wallet.send('GET', id, { as, token }))
    await expectRefusal(wallet, NOT_FOUND, () => wallet.send('POST', `${own.id}/complete`, { as, token }))
    const list = `${BASE}/incoming-payments`
    for (const request of [
      () => wallet.send('POST', list, { as, token, json: { walletAddress: BOB } }),
      () => wallet.send('GET', `${list}?wallet-address=${encodeURIComponent(BOB)}`, { as, token }),
    ])
      await expectRefusal(wallet, INSUFFICIENT_GRANT, request)
  })
})
