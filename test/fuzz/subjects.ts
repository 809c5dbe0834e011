import type { OperationId } from 'open-payments-server'
import type { AnswerBody } from '../support/answer-body.ts'
import { bodyText } from '../support/body-text.ts'
import { ALICE, BASE, BOB, CAROL, CLIENT, decideAs, FINISH, usd } from '../support/test-wallet.ts'
import type { FuzzWorld, Plan } from './fuzz-world.ts'

// A request of every operation that is right in every way, with all that has to be there for it.

/** One way to call an operation. */
export interface Subject {
  readonly operation: OperationId
  /** Whether a plan that was answered is of no use any more. */
  readonly isSingleUse?: boolean
  /** Whether it has a JSON body. */
  readonly hasJson?: boolean
  readonly plan: (world: FuzzWorld) => Promise<Plan>
}

const RECEIVING = { type: 'incoming-payment', actions: ['create', 'read', 'list', 'complete'] }
const SPENDING = { type: 'outgoing-payment', actions: ['create', 'read', 'list'], identifier: ALICE }
const QUOTING = { type: 'quote', actions: ['create', 'read'] }
const LIMITS = {
  receiver: `${BASE}/incoming-payments/1`,
  interval: 'R/2026-01-01T00:00:00Z/P1M',
  debitAmount: usd('5'),
}

/** Sends what must succeed. */
async function ask(world: FuzzWorld, plan: Plan): Promise<AnswerBody> {
  const { response } = await world.play(await world.sign(plan))
  const text = bodyText(response)
  if (response.status >= 300 || text === undefined)
    throw new Error(`a right request was refused: ${plan.method} ${plan.url} ${response.status} ${text}`)
  return JSON.parse(text)
}

const grantRequest = (world: FuzzWorld, json: object): Plan => ({
  method: 'POST',
  url: `${world.authServer}/`,
  json: { client: CLIENT, ...json },
})

/** What is the same for many requests is made once for each world. */
function oncePerWorld<T>(make: (world: FuzzWorld) => Promise<T>): (world: FuzzWorld) => Promise<T> {
  const made = new WeakMap<FuzzWorld, Promise<T>>()
  return (world) => {
    const known = made.get(world) ?? make(world)
    made.set(world, known)
    return known
  }
}

const newReceiving = (world: FuzzWorld): Promise<AnswerBody> =>
  ask(world, grantRequest(world, { access_token: { access: [RECEIVING] } }))

const newPending = (world: FuzzWorld, members: object = {}): Promise<AnswerBody> =>
  ask(
    world,
    grantRequest(world, {
      access_token: { access: [SPENDING, QUOTING] },
      interact: { start: ['redirect'], finish: FINISH },
      ...members,
    }),
  )

/** A grant whose owner has approved it and whose client has waited. */
async function newApproved(world: FuzzWorld): Promise<{ readonly pending: AnswerBody; readonly reference: string }> {
  const body = await newPending(world)
  const redirect = await decideAs(world.wallet, { status: 200, headers: {}, text: undefined, body })
  world.wallet.clock.advance(5_000)
  return { pending: body, reference: redirect?.searchParams.get('interact_ref') ?? '' }
}

const continuation = (pending: AnswerBody, json?: unknown): Plan => ({
  method: 'POST',
  url: pending.continue.uri,
  token: pending.continue.access_token.value,
  ...(json !== undefined && { json }),
})

const receiving = oncePerWorld(newReceiving)
const spending = oncePerWorld(async (world) => {
  const { pending, reference } = await newApproved(world)
  return ask(world, continuation(pending, { interact_ref: reference }))
})

const tokenOf = ({ access_token }: AnswerBody): string => access_token.value

const newIncoming = async (world: FuzzWorld, members: object = {}): Promise<AnswerBody> =>
  ask(world, {
    method: 'POST',
    url: `${BASE}/incoming-payments`,
    token: tokenOf(await receiving(world)),
    json: { walletAddress: BOB, ...members },
  })

const incoming = oncePerWorld((world) => newIncoming(world, { metadata: { order: 7 } }))

const quoteRequest = async (world: FuzzWorld, members: object): Promise<Plan> => ({
  method: 'POST',
  url: `${BASE}/quotes`,
  token: tokenOf(await spending(world)),
  json: { walletAddress: ALICE, receiver: (await incoming(world)).id, method: 'ilp', ...members },
})

const newQuote = async (world: FuzzWorld): Promise<AnswerBody> =>
  ask(world, await quoteRequest(world, { debitAmount: usd('3') }))

const paymentRequest = async (world: FuzzWorld, members: object): Promise<Plan> => ({
  method: 'POST',
  url: `${BASE}/outgoing-payments`,
  token: tokenOf(await spending(world)),
  json: { walletAddress: ALICE, metadata: { order: { number: 7 } }, ...members },
})

const outgoing = oncePerWorld(async (world) =>
  ask(world, await paymentRequest(world, { incomingPayment: (await incoming(world)).id, debitAmount: usd('2') })),
)

const listed = (collection: string, walletAddress: string): string =>
  `${BASE}/${collection}?wallet-address=${encodeURIComponent(walletAddress)}&first=2`

const manage = async (world: FuzzWorld, method: string): Promise<Plan> => {
  const { access_token } = await newReceiving(world)
  return { method, url: access_token.manage, token: access_token.value }
}

export const SUBJECTS: readonly Subject[] = [
  {
    operation: 'post-request',
    hasJson: true,
    plan: async (world) =>
      grantRequest(world, { access_token: { access: [{ ...RECEIVING, identifier: BOB }, QUOTING] } }),
  },
  {
    operation: 'post-request',
    hasJson: true,
    plan: async (world) =>
      grantRequest(world, {
        client: { walletAddress: CLIENT },
        access_token: { access: [{ ...SPENDING, limits: LIMITS }, QUOTING, RECEIVING] },
        subject: { sub_ids: [{ id: ALICE, format: 'uri' }] },
        interact: { start: ['redirect'], finish: { ...FINISH, hash_method: 'sha-256' } },
      }),
  },
  {
    operation: 'post-request',
    hasJson: true,
    plan: async (world) =>
      grantRequest(world, { client: { jwk: world.wallet.client.key.jwk }, access_token: { access: [RECEIVING] } }),
  },
  { operation: 'discover', plan: async (world) => ({ method: 'OPTIONS', url: `${world.authServer}/` }) },
  {
    operation: 'post-continue',
    isSingleUse: true,
    hasJson: true,
    plan: async (world) => {
      const { pending, reference } = await newApproved(world)
      return continuation(pending, { interact_ref: reference })
    },
  },
  {
    operation: 'post-continue',
    isSingleUse: true,
    plan: async (world) => {
      const pending = await newPending(world, { interact: { start: ['redirect'] } })
      world.wallet.clock.advance(5_000)
      return continuation(pending)
    },
  },
  {
    operation: 'delete-continue',
    isSingleUse: true,
    plan: async (world) => ({ ...continuation(await newReceiving(world)), method: 'DELETE' }),
  },
  { operation: 'post-token', isSingleUse: true, plan: (world) => manage(world, 'POST') },
  { operation: 'delete-token', isSingleUse: true, plan: (world) => manage(world, 'DELETE') },
  {
    operation: 'interact',
    plan: async (world) => ({ method: 'GET', url: (await newPending(world)).interact.redirect }),
  },
  {
    operation: 'interact',
    isSingleUse: true,
    plan: async (world) => {
      const { redirect } = (await newPending(world)).interact
      const { response } = await world.play(await world.sign({ method: 'GET', url: redirect }))
      const csrf = /name="csrf" value="([^"]+)"/.exec(bodyText(response) ?? '')?.[1] ?? ''
      return {
        method: 'POST',
        url: redirect,
        headers: { 'content-type': 'application/x-www-form-urlencoded' },
        body: `decision=approve&csrf=${encodeURIComponent(csrf)}`,
      }
    },
  },
  {
    operation: 'create-incoming-payment',
    hasJson: true,
    plan: async (world) => ({
      method: 'POST',
      url: `${BASE}/incoming-payments`,
      token: tokenOf(await receiving(world)),
      json: {
        walletAddress: CAROL,
        incomingAmount: { value: '1000', assetCode: 'EUR', assetScale: 4 },
        expiresAt: '2026-03-20T12:00:00Z',
        metadata: { order: '7', lines: [{ text: 'a', count: 1 }] },
      },
    }),
  },
  {
    operation: 'create-incoming-payment',
    hasJson: true,
    plan: async (world) => ({
      method: 'POST',
      url: `${BASE}/incoming-payments`,
      token: tokenOf(await receiving(world)),
      json: { walletAddress: BOB },
    }),
  },
  {
    operation: 'list-incoming-payments',
    plan: async (world) => ({
      method: 'GET',
      url: listed('incoming-payments', BOB),
      token: tokenOf(await receiving(world)),
    }),
  },
  {
    operation: 'get-incoming-payment',
    plan: async (world) => ({ method: 'GET', url: (await incoming(world)).id, token: tokenOf(await receiving(world)) }),
  },
  { operation: 'get-incoming-payment', plan: async (world) => ({ method: 'GET', url: (await incoming(world)).id }) },
  {
    operation: 'complete-incoming-payment',
    isSingleUse: true,
    plan: async (world) => ({
      method: 'POST',
      url: `${(await newIncoming(world)).id}/complete`,
      token: tokenOf(await receiving(world)),
    }),
  },
  { operation: 'create-quote', hasJson: true, plan: (world) => quoteRequest(world, { debitAmount: usd('3') }) },
  { operation: 'create-quote', hasJson: true, plan: (world) => quoteRequest(world, { receiveAmount: usd('3') }) },
  {
    operation: 'create-quote',
    hasJson: true,
    plan: async (world) =>
      quoteRequest(world, { receiver: (await newIncoming(world, { incomingAmount: usd('9') })).id }),
  },
  {
    operation: 'get-quote',
    plan: async (world) => ({ method: 'GET', url: (await newQuote(world)).id, token: tokenOf(await spending(world)) }),
  },
  {
    operation: 'create-outgoing-payment',
    hasJson: true,
    isSingleUse: true,
    plan: async (world) => paymentRequest(world, { quoteId: (await newQuote(world)).id }),
  },
  {
    operation: 'create-outgoing-payment',
    hasJson: true,
    plan: async (world) =>
      paymentRequest(world, { incomingPayment: (await incoming(world)).id, debitAmount: usd('2') }),
  },
  {
    operation: 'list-outgoing-payments',
    plan: async (world) => ({
      method: 'GET',
      url: listed('outgoing-payments', ALICE),
      token: tokenOf(await spending(world)),
    }),
  },
  {
    operation: 'get-outgoing-payment',
    plan: async (world) => ({ method: 'GET', url: (await outgoing(world)).id, token: tokenOf(await spending(world)) }),
  },
  {
    operation: 'get-outgoing-payment-grant',
    plan: async (world) => ({
      method: 'GET',
      url: `${BASE}/outgoing-payment-grant`,
      token: tokenOf(await spending(world)),
    }),
  },
  { operation: 'get-wallet-address', plan: async () => ({ method: 'GET', url: ALICE }) },
  {
    operation: 'get-wallet-address',
    plan: async () => ({ method: 'GET', url: `${BASE}/wallet-address?wallet-address=${encodeURIComponent(ALICE)}` }),
  },
  { operation: 'get-wallet-address-keys', plan: async () => ({ method: 'GET', url: `${CLIENT}/jwks.json` }) },
  {
    operation: 'get-wallet-address-keys',
    plan: async () => ({
      method: 'GET',
      url: `${BASE}/wallet-address/keys?wallet-address=${encodeURIComponent(CLIENT)}`,
    }),
  },
]
