import type { HttpRequest, OperationId, RecordKind } from 'open-payments-server'
import { describe, expect, it } from 'vitest'
import { gate } from '../support/gate.ts'
import { violations } from '../support/open-api.ts'
import {
  ALICE,
  AUTH,
  BASE,
  BOB,
  decideAs,
  grantAtOnce,
  requestConsent,
  usd,
  usdAmount,
} from '../support/test-wallet.ts'
import { type Fault, faultAt } from './faulty-ports.ts'
import { ask, grantTokens, moneyWorld, type Process, preparePayment, signedBy, type World } from './money-world.ts'

/** One request that commits: how it is prepared, and what it leaves behind. */
interface Path {
  readonly operation: OperationId
  readonly status: number
  /** Prepares what the request needs; answers how it is signed, anew each time. */
  readonly prepare: (world: World) => Promise<() => Promise<HttpRequest>>
  /** The kind of which one success adds `added` records. */
  readonly kind: RecordKind
  readonly added: number
  /** Whether a repeat after an effect that the client did not hear of has the same effect again, being a new request. */
  readonly repeats: boolean
}

const QUOTE_RIGHT = { type: 'quote', actions: ['create', 'read'] }
const OUTGOING_RIGHT = { type: 'outgoing-payment', actions: ['create'], identifier: ALICE }

async function tokenOf(world: World): Promise<{ readonly value: string; readonly manage: string }> {
  return (await grantAtOnce(world.wallet, [QUOTE_RIGHT])).body.access_token
}

const PATHS: readonly Path[] = [
  {
    operation: 'post-request',
    status: 200,
    kind: 'access-token',
    added: 1,
    repeats: true,
    prepare: async (world) => () =>
      signedBy(world, 'POST', `${AUTH}/`, undefined, {
        access_token: { access: [QUOTE_RIGHT] },
        client: world.wallet.client.client,
      }),
  },
  {
    operation: 'post-request',
    status: 200,
    kind: 'interaction',
    added: 1,
    repeats: true,
    prepare: async (world) => () =>
      signedBy(world, 'POST', `${AUTH}/`, undefined, {
        access_token: { access: [OUTGOING_RIGHT] },
        client: world.wallet.client.client,
        interact: { start: ['redirect'] },
      }),
  },
  {
    operation: 'post-continue',
    status: 200,
    kind: 'access-token',
    added: 1,
    repeats: false,
    prepare: async (world) => {
      const pending = await requestConsent(world.wallet, [OUTGOING_RIGHT])
      const redirect = await decideAs(world.wallet, pending)
      world.wallet.clock.advance(5000)
      const { uri, access_token } = pending.body.continue
      const body = { interact_ref: redirect?.searchParams.get('interact_ref') }
      return () => signedBy(world, 'POST', uri, access_token.value, body)
    },
  },
  {
    operation: 'delete-continue',
    status: 204,
    kind: 'access-token',
    added: 0,
    repeats: false,
    prepare: async (world) => {
      const { uri, access_token } = (await grantAtOnce(world.wallet, [QUOTE_RIGHT])).body.continue
      return () => signedBy(world, 'DELETE', uri, access_token.value)
    },
  },
  {
    operation: 'post-token',
    status: 200,
    kind: 'access-token',
    added: 1,
    repeats: false,
    prepare: async (world) => {
      const { manage, value } = await tokenOf(world)
      return () => signedBy(world, 'POST', manage, value)
    },
  },
  {
    operation: 'delete-token',
    status: 204,
    kind: 'access-token',
    added: 0,
    repeats: false,
    prepare: async (world) => {
      const { manage, value } = await tokenOf(world)
      return () => signedBy(world, 'DELETE', manage, value)
    },
  },
  {
    operation: 'create-incoming-payment',
    status: 201,
    kind: 'incoming-payment',
    added: 1,
    repeats: true,
    prepare: async (world) => {
      const { receiving } = await grantTokens(world)
      return () => signedBy(world, 'POST', `${BASE}/incoming-payments`, receiving, { walletAddress: BOB })
    },
  },
  {
    operation: 'complete-incoming-payment',
    status: 200,
    kind: 'incoming-payment',
    added: 0,
    repeats: false,
    prepare: async (world) => {
      const tokens = await grantTokens(world)
      const { incomingUrl } = await preparePayment(world, tokens)
      return () => signedBy(world, 'POST', `${incomingUrl}/complete`, tokens.receiving)
    },
  },
  {
    operation: 'create-quote',
    status: 201,
    kind: 'quote',
    added: 1,
    repeats: true,
    prepare: async (world) => {
      const tokens = await grantTokens(world)
      const { incomingUrl: receiver } = await preparePayment(world, tokens)
      const json = { walletAddress: ALICE, receiver, method: 'ilp' }
      return () => signedBy(world, 'POST', `${BASE}/quotes`, tokens.spending, json)
    },
  },
  {
    operation: 'create-outgoing-payment',
    status: 201,
    kind: 'outgoing-payment',
    added: 1,
    repeats: true,
    prepare: async (world) => {
      const tokens = await grantTokens(world)
      const { body } = await preparePayment(world, tokens, { from: 'incoming payment', incoming: {} })
      return () => signedBy(world, 'POST', `${BASE}/outgoing-payments`, tokens.spending, body)
    },
  },
]

/** A process that meets faults at its first commit and at what it reads next. */
async function request(path: Path, faults: readonly Fault[]) {
  const world = await moneyWorld()
  const sign = await path.prepare(world)
  const before = (await world.storage.all(path.kind)).length
  const process = world.start()
  let index = 0
  process.ports.plan = ({ name }) => (index > 0 || name === 'commit' ? faults[index++] : undefined)
  const answer = await ask(process, await sign())
  await process.openPayments.drain()
  process.ports.plan = () => undefined
  const added = async (): Promise<number> => (await world.storage.all(path.kind)).length - before
  return { world, process, sign, answer, added }
}

async function askAgain(world: World, process: Process, sign: () => Promise<HttpRequest>) {
  world.wallet.clock.advance(1000)
  const answer = await ask(process, await sign())
  await process.openPayments.drain()
  return answer
}

describe('SIG-26 a commit of a request whose reply is lost', () => {
  it.each(PATHS)('is a success where the store shows that it happened: $operation ($kind)', async (path) => {
    const { answer, added } = await request(path, ['loses the reply'])
    expect(answer?.status).toBe(path.status)
    expect(violations(path.operation, path.status, answer?.body)).toEqual([])
    expect(await added()).toBe(path.added)
  })

  it.each(PATHS)(
    'is "not known" where the store does not show it, and can be repeated: $operation ($kind)',
    async (path) => {
      const { world, process, sign, answer, added } = await request(path, ['throws'])
      expect(answer).toMatchObject({ status: 503, headers: { 'retry-after': '1' } })
      expect(await added()).toBe(0)
      expect((await askAgain(world, process, sign))?.status).toBe(path.status)
      expect(await added()).toBe(path.added)
    },
  )

  it.each(PATHS)(
    'is "not known" where the store cannot be asked, never a refusal: $operation ($kind)',
    async (path) => {
      const { world, process, sign, answer, added } = await request(path, ['loses the reply', 'throws'])
      expect(answer).toMatchObject({ status: 503, headers: { 'retry-after': '1' } })
      const again = await askAgain(world, process, sign)
      expect(again?.status).toBe(path.status)
      expect(await added()).toBe(path.repeats ? 2 * path.added : path.added)
    },
  )

  it('SIG-24 never lets the identical request of a payment have its effect twice', async () => {
    const world = await moneyWorld()
    const tokens = await grantTokens(world)
    const { body } = await preparePayment(world, tokens, { from: 'incoming payment', incoming: {} })
    const signed = await signedBy(world, 'POST', `${BASE}/outgoing-payments`, tokens.spending, body)
    const process = world.start()
    let isLost = false
    process.ports.plan = ({ name }) => {
      if (isLost && name === 'get') return 'throws'
      if (name !== 'commit' || isLost) return undefined
      isLost = true
      return 'loses the reply'
    }
    expect((await ask(process, signed))?.status).toBe(503)
    process.ports.plan = () => undefined
    expect((await ask(process, signed))?.status).toBe(401)
    expect(await world.storage.all('outgoing-payment')).toHaveLength(1)
  })
})

describe('received() over a store that fails', () => {
  const received = async (fault: Fault, reads: Fault | undefined = undefined) => {
    const world = await moneyWorld()
    const { incomingId } = await preparePayment(world, await grantTokens(world))
    const process = world.start()
    let isMet = false
    process.ports.plan = ({ name }) => {
      if (isMet && name === 'get') return reads
      if (name !== 'commit' || isMet) return undefined
      isMet = true
      return fault
    }
    const call = () => process.openPayments.incomingPayments.received(incomingId, usdAmount(4n), 'transfer')
    const first = await call().catch(() => 'rejected')
    process.ports.plan = () => undefined
    const second = await call()
    const [payment] = await world.storage.all('incoming-payment')
    return { first, second, received: payment?.value.received.value }
  }
  const counted = { ok: true, accepted: 4n, excess: 0n }

  it('INC-5 counts a transfer once where the reply was lost', async () => {
    expect(await received('loses the reply')).toEqual({ first: counted, second: counted, received: 4n })
  })

  it('INC-5 counts a transfer once where the host asks again after a fault', async () => {
    expect(await received('throws')).toEqual({ first: 'rejected', second: counted, received: 4n })
    expect(await received('loses the reply', 'throws')).toEqual({ first: 'rejected', second: counted, received: 4n })
  })

  it('INC-5 does not count a transfer of another process, of the same amount, as its own', async () => {
    const world = await moneyWorld()
    const { incomingId } = await preparePayment(world, await grantTokens(world))
    const process = world.start()
    const other = world.start()
    faultAt(process.ports, 1, 'throws', ({ name }) => name === 'commit')
    const { plan } = process.ports
    process.ports.plan = async (call) => {
      const fault = await plan(call)
      if (fault !== undefined) await other.openPayments.incomingPayments.received(incomingId, usdAmount(4n), 'theirs')
      return fault
    }
    await expect(process.openPayments.incomingPayments.received(incomingId, usdAmount(4n), 'ours')).rejects.toThrow()
    expect(await process.openPayments.incomingPayments.received(incomingId, usdAmount(4n), 'ours')).toEqual(counted)
    expect((await world.storage.all('incoming-payment'))[0]?.value.received.value).toBe(8n)
  })
})

describe('drain()', () => {
  it('resolves once the payments that run after their answers have ended', async () => {
    const world = await moneyWorld()
    const tokens = await grantTokens(world)
    const process = world.start()
    const { open, opened } = gate()
    process.ports.plan = ({ name }) => (name === 'credit' ? opened : undefined)
    const { body } = await preparePayment(world, tokens)
    const work: Promise<unknown>[] = []
    const signed = await signedBy(world, 'POST', `${BASE}/outgoing-payments`, tokens.spending, body)
    const answer = await process.openPayments.handle(signed, { waitUntil: (one) => work.push(one) })
    expect(answer.status).toBe(201)
    expect(work).toHaveLength(1)
    let isDrained = false
    const drained = process.openPayments.drain().then(() => {
      isDrained = true
    })
    await expect.poll(() => process.ports.calls.map(({ name }) => name)).toContain('credit')
    expect(isDrained).toBe(false)
    open()
    await drained
    await Promise.all(work)
    expect(await world.storage.all('outgoing-payment')).toMatchObject([{ value: { state: 'completed' } }])
    expect(await world.ledger.balance('bob')).toMatchObject({ total: BigInt(usd('10').value) })
  })

  it('resolves at once where nothing runs, and after work that met a fault', async () => {
    const world = await moneyWorld()
    const tokens = await grantTokens(world)
    const process = world.start()
    await process.openPayments.drain()
    process.ports.plan = ({ name }) => (name === 'credit' ? 'throws' : undefined)
    const { body } = await preparePayment(world, tokens)
    await ask(process, await signedBy(world, 'POST', `${BASE}/outgoing-payments`, tokens.spending, body))
    await process.openPayments.drain()
    expect(await world.storage.all('outgoing-payment')).toMatchObject([{ value: { state: 'sending', attempts: 1 } }])
  })
})
