import fc from 'fast-check'
import type { SigningKey } from 'open-payments-server/testing'
import { describe, expect, it } from 'vitest'
import { expectStatus, LONG_LIFETIMES } from '../resource-server/observed-wallet.ts'
import {
  ALICE,
  type Answer,
  AUTH,
  BASE,
  BOB,
  CLIENT,
  type Client,
  decideAs,
  type TestWallet,
  testWallet,
  usd,
} from '../support/test-wallet.ts'
import type { Entry } from './model/state.ts'
import { checkProperty, PROPERTY_MILLISECONDS } from './property-parameters.ts'
import { clientKeys, seededCryptography } from './seeded-cryptography.ts'

const keys = clientKeys()

const OWNERS = [ALICE, BOB] as const

const some = (...names: readonly string[]): fc.Arbitrary<string[]> => fc.subarray([...names], { minLength: 1 })

/** Access that one owner can give: what needs consent is about their own wallet address. */
function accessOf(owner: string): fc.Arbitrary<readonly Entry[]> {
  const incoming = fc.record({
    type: fc.constant('incoming-payment'),
    actions: some('create', 'complete', 'read', 'read-all', 'list', 'list-all'),
    identifier: fc.constantFrom(undefined, ...OWNERS),
  })
  const incomingEntry = incoming.map(({ identifier, ...entry }): Entry => {
    const named = entry.actions.includes('list-all') ? owner : identifier
    return { ...entry, ...(named !== undefined && { identifier: named }) }
  })
  const quoteEntry: fc.Arbitrary<Entry> = fc.record({
    type: fc.constant('quote'),
    actions: some('create', 'read', 'read-all'),
  })
  const outgoingEntry: fc.Arbitrary<Entry> = fc.record({
    type: fc.constant('outgoing-payment'),
    actions: some('create', 'read', 'read-all', 'list', 'list-all'),
    identifier: fc.constant(owner),
    limits: fc.constantFrom({}, { debitAmount: usd('0') }, { debitAmount: usd('1000000') }),
  })
  const several = { minLength: 1, maxLength: 3, selector: (entry: Entry) => JSON.stringify(entry) }
  // Often two that allow the same, each under its own condition.
  const twins = fc
    .oneof(fc.tuple(incomingEntry, incomingEntry), fc.tuple(outgoingEntry, outgoingEntry))
    .map(([one, other]): Entry[] => [{ ...other, actions: one.actions }, one])
    .filter(([one, other]) => JSON.stringify(one) !== JSON.stringify(other))
    .filter((both) => both.every(({ actions, identifier }) => identifier === owner || !actions.includes('list-all')))
  return fc.oneof(fc.uniqueArray(fc.oneof(incomingEntry, quoteEntry, outgoingEntry), several), twins)
}

/** Access, and the same with less: an entry or an action fewer, or an `-all` that is only for its own now. */
const cases = fc.constantFrom(...OWNERS).chain((owner) =>
  fc.record({
    full: accessOf(owner),
    at: fc.nat(),
    action: fc.nat(),
    how: fc.constantFrom('entry', 'action', 'all'),
  }),
)

type Case = typeof cases extends fc.Arbitrary<infer C> ? C : never

function reduce({ full, at, action, how }: Case): readonly Entry[] {
  const index = at % full.length
  const entry = full[index]
  if (entry === undefined || how === 'entry') return full.toSpliced(index, 1)
  const chosen = entry.actions[action % entry.actions.length] ?? ''
  const less = entry.actions.flatMap((one) => {
    if (one !== chosen) return [one]
    return how === 'all' && one.endsWith('-all') && !entry.actions.includes(one.slice(0, -4)) ? [one.slice(0, -4)] : []
  })
  const others = full.toSpliced(index, 1)
  const reduced = { ...entry, actions: less }
  const isAnother = others.every((other) => JSON.stringify(other) !== JSON.stringify(reduced))
  return less.length > 0 && isAnother ? full.toSpliced(index, 1, reduced) : others
}

interface Rig {
  readonly wallet: TestWallet
  readonly client: Client
  /** Tokens of the client and of another one that may do everything for Alice, and for Bob. */
  readonly wide: readonly (readonly [Client, string])[]
  send(as: Client, method: string, path: string, token: string, json?: unknown): Promise<Answer>
  token(as: Client, access: readonly Entry[]): Promise<string>
}

async function newRig(drawn: readonly SigningKey[]): Promise<Rig> {
  const cryptography = seededCryptography('access')
  const wallet = await testWallet({ cryptography, settings: { lifetimes: LONG_LIFETIMES } })
  let requests = 0
  const send: Rig['send'] = async (as, method, path, token, json) => {
    const url = path.startsWith('https:') ? path : `${BASE}/${path}`
    const nonce = `${requests++}`
    const credentials = { ...(token !== '' && { token }), ...(json !== undefined && { json }) }
    const answer = await wallet.send(method, url, { as, cryptography, nonce, ...credentials })
    await wallet.openPayments.drain()
    return answer
  }
  const token: Rig['token'] = async (as, access) => {
    const json = { client: as.client, access_token: { access }, interact: { start: ['redirect'] } }
    const asked = await expectStatus(200, send(as, 'POST', `${AUTH}/`, '', json))
    if (asked.body.access_token !== undefined) return asked.body.access_token.value
    await decideAs(wallet, asked)
    wallet.clock.advance(5000)
    const { uri, access_token: continuation } = asked.body.continue
    return (await expectStatus(200, send(as, 'POST', uri, continuation.value))).body.access_token.value
  }
  const names = [CLIENT, `${BASE}/other`]
  const clients = names.flatMap((client, index) => {
    const key = drawn[index]
    if (key === undefined) return []
    wallet.directory.set(client, { account: 'bob', assetCode: 'USD', assetScale: 2, keys: [key.jwk] })
    return [{ key, client }]
  })
  const wide: (readonly [Client, string])[] = []
  for (const as of clients) {
    for (const identifier of OWNERS) {
      const outgoing = { type: 'outgoing-payment', actions: ['create'], identifier }
      const others = [
        { type: 'incoming-payment', actions: ['create'] },
        { type: 'quote', actions: ['create'] },
      ]
      wide.push([as, await token(as, [outgoing, ...others])])
    }
  }
  await wallet.ledger.credit({
    id: '0'.repeat(32),
    account: 'bob',
    amount: { value: 100_000n, assetCode: 'USD', assetScale: 2 },
    counterparty: { kind: 'rail', method: 'opening', address: 'bob' },
  })
  return { wallet, client: clients[0] ?? wallet.client, wide, send, token }
}

/** A request; what it uses up is made anew each time, so that the first token cannot get in the way of the second. */
type Request = (token: string) => Promise<Answer>
type Make = () => Promise<string>

function once(make: Make): Make {
  let made: Promise<string> | undefined
  return () => {
    made ??= make()
    return made
  }
}

/** Everything that a token can be used for, at both wallet addresses, about what each client has made there. */
function requestsOf({ client, wide, send }: Rig): Readonly<Record<string, Request>> {
  const create = async (owner: number, path: string, json: object): Promise<string> => {
    const [as, token] = wide[owner] ?? [client, '']
    return (await expectStatus(201, send(as, 'POST', path, token, json))).body.id
  }
  const receiver = once(() => create(0, 'incoming-payments', { walletAddress: BOB }))
  const get =
    (path: Make): Request =>
    async (token) =>
      send(client, 'GET', await path(), token)
  const post =
    (path: string, json: () => Promise<object>): Request =>
    async (token) =>
      send(client, 'POST', path, token, await json())

  const requests: Record<string, Request> = { spent: get(async () => 'outgoing-payment-grant') }
  for (const [at, walletAddress] of OWNERS.entries()) {
    const query = `wallet-address=${encodeURIComponent(walletAddress)}&first=100`
    const debitAmount = usd('1')
    const quote = async (): Promise<object> => ({
      walletAddress,
      receiver: await receiver(),
      method: 'ilp',
      debitAmount,
    })
    requests[`create incoming ${at}`] = post('incoming-payments', async () => ({ walletAddress }))
    requests[`list incoming ${at}`] = get(async () => `incoming-payments?${query}`)
    requests[`list outgoing ${at}`] = get(async () => `outgoing-payments?${query}`)
    requests[`create quote ${at}`] = post('quotes', quote)
    requests[`pay incoming ${at}`] = post('outgoing-payments', async () => ({
      walletAddress,
      incomingPayment: await receiver(),
      debitAmount,
    }))
    for (const by of [at, at + OWNERS.length]) {
      const makeIncoming: Make = () => create(by, 'incoming-payments', { walletAddress })
      const makeQuote: Make = async () => create(by, 'quotes', await quote())
      const pay = async (): Promise<object> => ({ walletAddress, quoteId: await makeQuote() })
      const made = `${at} of ${by}`
      requests[`read incoming ${made}`] = get(once(makeIncoming))
      requests[`read quote ${made}`] = get(once(makeQuote))
      requests[`read outgoing ${made}`] = get(once(async () => create(by, 'outgoing-payments', await pay())))
      requests[`complete ${made}`] = async (token) => send(client, 'POST', `${await makeIncoming()}/complete`, token)
      requests[`pay quote ${made}`] = post('outgoing-payments', pay)
    }
  }
  return requests
}

describe('a token with less access', () => {
  it('gets nothing that the one with more is refused (invariant 9)', { timeout: PROPERTY_MILLISECONDS }, async () => {
    const answered = new Map<string, Set<boolean>>()
    // A quarter of them is as few as meet what is asked for below.
    await checkProperty(48, cases, async (one) => {
      const rig = await newRig(await keys)
      const requests = requestsOf(rig)
      const less = reduce(one)
      const full = await rig.token(rig.client, one.full)
      const reduced = less.length === 0 ? 'no-token' : await rig.token(rig.client, less)
      for (const [name, request] of Object.entries(requests)) {
        const [wide, narrow] = [await request(full), await request(reduced)]
        const [isWide, isNarrow] = [wide.status < 400, narrow.status < 400]
        answered.set(name, (answered.get(name) ?? new Set()).add(isWide).add(isNarrow))
        if (!isWide && isNarrow) throw new Error(`${name}: ${wide.status}, with less access ${narrow.status}`)
        if (!name.startsWith('list') || !isNarrow) continue
        const shown = new Set(wide.body.result.map(({ id }) => id))
        expect(
          narrow.body.result.filter(({ id }) => !shown.has(id)),
          name,
        ).toEqual([])
      }
    })
    // Every request was refused to some and answered to others: else the property would say little. Only what another
    // client has made is never completed.
    const always = [...answered].filter(([, outcomes]) => outcomes.size < 2).map(([name]) => name)
    expect(always).toEqual(['complete 0 of 2', 'complete 1 of 3'])
  })
})
