import type { OperationId } from 'open-payments-server'
import { beforeAll, describe, expect, it } from 'vitest'
import { ALICE, type Answer, addClient, BASE, BOB, type Client, directedClient, usd } from '../support/test-wallet.ts'
import {
  askPayment,
  askQuote,
  createIncoming,
  expectRefusal,
  expectStatus,
  grantFor,
  INSUFFICIENT_GRANT,
  INVALID_SIGNATURE,
  INVALID_TOKEN,
  NOT_FOUND,
  NOTHING_SPENT,
  type ObservedWallet,
  observedWallet,
  spent,
  spentOf,
  tokenFor,
} from './observed-wallet.ts'

const ACTIONS = {
  'incoming-payment': ['create', 'complete', 'read', 'read-all', 'list', 'list-all'],
  'outgoing-payment': ['create', 'read', 'read-all', 'list', 'list-all'],
  quote: ['create', 'read', 'read-all'],
} as const

const RIGHTS: readonly string[] = Object.entries(ACTIONS).flatMap(([type, actions]) =>
  actions.map((action) => `${type}/${action}`),
)

/** Access entries that hold these rights on Alice's wallet address, which pays itself here: a grant is about one. */
function accessOf(rights: readonly string[], identifier = ALICE): readonly unknown[] {
  return Object.keys(ACTIONS).flatMap((type) => {
    const actions = rights.filter((right) => right.startsWith(`${type}/`)).map((right) => right.split('/')[1])
    if (actions.length === 0) return []
    if (type === 'quote') return [{ type, actions }]
    return [{ type, actions, identifier }]
  })
}

interface Resources {
  readonly incoming: string
  readonly completable: string
  readonly quote: string
  readonly outgoing: string
}

interface Operation {
  readonly operation: OperationId
  readonly method: 'GET' | 'POST'
  readonly url: (resources: Resources) => string
  readonly json?: (resources: Resources) => unknown
  readonly status: number
  readonly rights: readonly string[]
}

// The table of section 1.1.
const OPERATIONS: readonly Operation[] = [
  {
    operation: 'create-incoming-payment',
    method: 'POST',
    url: () => `${BASE}/incoming-payments`,
    json: () => ({ walletAddress: ALICE }),
    status: 201,
    rights: ['incoming-payment/create'],
  },
  {
    operation: 'get-incoming-payment',
    method: 'GET',
    url: ({ incoming }) => incoming,
    status: 200,
    rights: ['incoming-payment/read', 'incoming-payment/read-all'],
  },
  {
    operation: 'list-incoming-payments',
    method: 'GET',
    url: () => `${BASE}/incoming-payments?wallet-address=${encodeURIComponent(ALICE)}`,
    status: 200,
    rights: ['incoming-payment/list', 'incoming-payment/list-all'],
  },
  {
    operation: 'complete-incoming-payment',
    method: 'POST',
    url: ({ completable }) => `${completable}/complete`,
    status: 200,
    rights: ['incoming-payment/complete'],
  },
  {
    operation: 'create-quote',
    method: 'POST',
    url: () => `${BASE}/quotes`,
    json: ({ incoming }) => ({ walletAddress: ALICE, receiver: incoming, method: 'ilp', debitAmount: usd('1') }),
    status: 201,
    rights: ['quote/create'],
  },
  {
    operation: 'get-quote',
    method: 'GET',
    url: ({ quote }) => quote,
    status: 200,
    rights: ['quote/read', 'quote/read-all'],
  },
  {
    operation: 'create-outgoing-payment',
    method: 'POST',
    url: () => `${BASE}/outgoing-payments`,
    json: ({ incoming }) => ({ walletAddress: ALICE, incomingPayment: incoming, debitAmount: usd('1') }),
    status: 201,
    rights: ['outgoing-payment/create'],
  },
  {
    operation: 'get-outgoing-payment',
    method: 'GET',
    url: ({ outgoing }) => outgoing,
    status: 200,
    rights: ['outgoing-payment/read', 'outgoing-payment/read-all'],
  },
  {
    operation: 'list-outgoing-payments',
    method: 'GET',
    url: () => `${BASE}/outgoing-payments?wallet-address=${encodeURIComponent(ALICE)}`,
    status: 200,
    rights: ['outgoing-payment/list', 'outgoing-payment/list-all'],
  },
  {
    operation: 'get-outgoing-payment-grant',
    method: 'GET',
    url: () => `${BASE}/outgoing-payment-grant`,
    status: 200,
    rights: ['outgoing-payment/create'],
  },
]

async function walletWithResources(): Promise<{
  readonly wallet: ObservedWallet
  readonly resources: Resources
  readonly token: string
}> {
  const wallet = await observedWallet({ settings: { lifetimes: { accessTokenSeconds: 3600 } } })
  const token = await tokenFor(wallet, accessOf(['quote/create', 'outgoing-payment/create']))
  const receiving = await tokenFor(wallet, [{ type: 'incoming-payment', actions: ['create'] }])
  const incoming = await createIncoming(wallet, receiving, { walletAddress: ALICE })
  const completable = await createIncoming(wallet, receiving, { walletAddress: ALICE })
  const quote = await expectStatus(201, askQuote(wallet, token, { receiver: incoming.id, debitAmount: usd('5') }))
  const outgoing = await expectStatus(
    201,
    askPayment(wallet, token, { incomingPayment: incoming.id, debitAmount: usd('7') }),
  )
  return {
    wallet,
    resources: {
      incoming: incoming.id,
      completable: completable.id,
      quote: quote.body.id,
      outgoing: outgoing.body.id,
    },
    token,
  }
}

function perform(
  wallet: ObservedWallet,
  { method, url, json }: Operation,
  resources: Resources,
  token: string,
  as: Client = wallet.client,
): Promise<Answer> {
  return wallet.send(method, url(resources), { as, token, ...(json && { json: json(resources) }) })
}

function operation(name: OperationId): Operation {
  const found = OPERATIONS.find((one) => one.operation === name)
  if (found === undefined) throw new Error(name)
  return found
}

describe('the right that an operation needs (section 1.1)', () => {
  let rig: Awaited<ReturnType<typeof walletWithResources>>
  const tokens = new Map<string, string>()

  beforeAll(async () => {
    rig = await walletWithResources()
    for (const right of RIGHTS) tokens.set(right, await tokenFor(rig.wallet, accessOf([right])))
  })

  it.each(OPERATIONS)('RS-1 $operation is done with each of its rights alone', async (one) => {
    for (const right of one.rights) {
      await expectStatus(one.status, perform(rig.wallet, one, rig.resources, tokens.get(right) ?? ''))
    }
  })

  it.each(OPERATIONS)('RS-1 $operation is refused with any other right alone', async (one) => {
    for (const right of RIGHTS.filter((other) => !one.rights.includes(other))) {
      const token = tokens.get(right) ?? ''
      await expectRefusal(rig.wallet, INSUFFICIENT_GRANT, () => perform(rig.wallet, one, rig.resources, token))
    }
  })

  it.each(OPERATIONS)('RS-1 $operation is refused with all rights but its own', async (one) => {
    const token = await tokenFor(rig.wallet, accessOf(RIGHTS.filter((right) => !one.rights.includes(right))))
    await expectRefusal(rig.wallet, INSUFFICIENT_GRANT, () => perform(rig.wallet, one, rig.resources, token))
  })

  it.each(OPERATIONS)(
    'D6 RS-1 $operation is refused with a token that was rotated, was revoked or never was, and with a foreign key',
    async (one) => {
      const { wallet, resources } = rig
      const act = (token: string, as?: Client) => perform(wallet, one, resources, token, as)
      const thief = await addClient(wallet, `thief-${one.operation}`)
      const { value, manage } = (await grantFor(wallet, accessOf(RIGHTS))).body.access_token
      await expectRefusal(wallet, INVALID_SIGNATURE, () => act(value, thief))
      const rotated = await expectStatus(200, wallet.send('POST', manage, { token: value }))
      await expectRefusal(wallet, INVALID_TOKEN, () => act(value))
      const { value: second, manage: manageSecond } = rotated.body.access_token
      await expectStatus(204, wallet.send('DELETE', manageSecond, { token: second }))
      await expectRefusal(wallet, INVALID_TOKEN, () => act(second))
      await expectRefusal(wallet, INVALID_TOKEN, () => act(`${second}A`))
    },
  )

  // A quote names no wallet address, and what a grant has spent is that of the token.
  const addressed = OPERATIONS.filter(
    ({ operation: name, rights: [right = ''] }) => !right.startsWith('quote/') && name !== 'get-outgoing-payment-grant',
  )

  it.each(addressed)('RS-4 RS-8 $operation is refused with its rights on another wallet address', async (one) => {
    const isNamed = one.operation.startsWith('create-') || one.operation.startsWith('list-')
    for (const right of one.rights) {
      const token = await tokenFor(rig.wallet, accessOf([right], BOB))
      await expectRefusal(rig.wallet, isNamed ? INSUFFICIENT_GRANT : NOT_FOUND, () =>
        perform(rig.wallet, one, rig.resources, token),
      )
    }
  })

  it('D5 OUT-10 get-outgoing-payment-grant is about the grant of its own token, on whatever wallet address', async () => {
    const token = await tokenFor(rig.wallet, accessOf(['outgoing-payment/create'], BOB))
    expect(await spentOf(rig.wallet, token)).toEqual(NOTHING_SPENT)
  })
})

describe("another client's resources (section 1.1)", () => {
  it.each([
    ['get-incoming-payment', 'incoming-payment'],
    ['get-quote', 'quote'],
    ['get-outgoing-payment', 'outgoing-payment'],
  ] as const)('RS-6 %s: read finds none of them, read-all finds them', async (name, type) => {
    const { wallet, resources } = await walletWithResources()
    const other = await addClient(wallet, 'other')
    const read = await tokenForOther(wallet, other, `${type}/read`)
    await expectRefusal(wallet, NOT_FOUND, () => perform(wallet, operation(name), resources, read, other))
    const readAll = await tokenForOther(wallet, other, `${type}/read-all`)
    await expectStatus(200, perform(wallet, operation(name), resources, readAll, other))
  })

  it.each([
    ['list-incoming-payments', 'incoming-payment'],
    ['list-outgoing-payments', 'outgoing-payment'],
  ] as const)('RS-7 %s: list shows none of them, list-all shows them', async (name, type) => {
    const { wallet, resources } = await walletWithResources()
    const shown =
      type === 'outgoing-payment' ? [resources.outgoing] : [resources.incoming, resources.completable].sort().reverse()
    const other = await addClient(wallet, 'other')
    const list = await tokenForOther(wallet, other, `${type}/list`)
    const own = await expectStatus(200, perform(wallet, operation(name), resources, list, other))
    expect(own.body.result).toEqual([])
    const listAll = await tokenForOther(wallet, other, `${type}/list-all`)
    const all = await expectStatus(200, perform(wallet, operation(name), resources, listAll, other))
    expect(all.body.result.map(({ id }) => id)).toEqual(shown)
  })

  it('RS-6 complete-incoming-payment: only the client that created it completes it, whatever else another may do', async () => {
    const { wallet, resources } = await walletWithResources()
    const other = await addClient(wallet, 'other')
    const rights = RIGHTS.filter((right) => right.startsWith('incoming-payment/'))
    const token = await tokenFor(wallet, accessOf(rights), other)
    const complete = operation('complete-incoming-payment')
    await expectRefusal(wallet, NOT_FOUND, () => perform(wallet, complete, resources, token, other))
  })

  it('RS-6 get-outgoing-payment-grant: shows the grant of the token that asks, and no other', async () => {
    const { wallet, token } = await walletWithResources()
    const second = await tokenFor(wallet, accessOf(['outgoing-payment/create']))
    expect(await spentOf(wallet, token)).toEqual(spent('7'))
    expect(await spentOf(wallet, second)).toEqual(NOTHING_SPENT)
  })

  it('T-39 KEY-9 two directed identities see their own and not each other’s', async () => {
    const wallet = await observedWallet()
    // The same key id on purpose: only the key itself tells the two apart.
    const [first, second] = [await directedClient('key-1'), await directedClient('key-1')]
    const access = [{ type: 'incoming-payment', actions: ['create', 'read', 'list', 'complete'] }]
    const firstToken = await tokenFor(wallet, access, first)
    const secondToken = await tokenFor(wallet, access, second)
    const mine = await createIncoming(wallet, firstToken, {}, first)
    await expectStatus(200, wallet.send('GET', mine.id, { as: first, token: firstToken }))
    await expectRefusal(wallet, NOT_FOUND, () => wallet.send('GET', mine.id, { as: second, token: secondToken }))
    await expectRefusal(wallet, NOT_FOUND, () =>
      wallet.send('POST', `${mine.id}/complete`, { as: second, token: secondToken }),
    )
    const url = `${BASE}/incoming-payments?wallet-address=${encodeURIComponent(BOB)}`
    const listed = await wallet.send('GET', url, { as: second, token: secondToken })
    expect(listed.body.result).toEqual([])
  })

  it('T-39 a client with a wallet address and a directed identity of the same key are two clients', async () => {
    const wallet = await observedWallet()
    const access = [{ type: 'incoming-payment', actions: ['create', 'read'] }]
    const directed: Client = { key: wallet.client.key, client: { jwk: wallet.client.key.jwk } }
    const mine = await createIncoming(wallet, await tokenFor(wallet, access))
    const token = await tokenFor(wallet, access, directed)
    await expectRefusal(wallet, NOT_FOUND, () => wallet.send('GET', mine.id, { as: directed, token }))
  })
})

async function tokenForOther(wallet: ObservedWallet, other: Client, right: string): Promise<string> {
  return (await grantFor(wallet, accessOf([right]), other)).body.access_token.value
}
