import type { RecordTypes, StoredRecord } from 'open-payments-server'
import { describe, expect, it } from 'vitest'
import { keyed } from '../support/keyed.ts'
import { BASE, BOB, usd, usdAmount } from '../support/test-wallet.ts'
import { faultAt } from './faulty-ports.ts'
import { checkMoney } from './money-invariants.ts'
import {
  eventsOf,
  grantTokens,
  HOUR,
  moneyWorld,
  type PreparedPayment,
  pay,
  preparePayment,
  recoverUntilQuiet,
  type Tokens,
  type World,
} from './money-world.ts'

const MONTH = 30 * 24 * HOUR

interface UnpaidWorld extends World {
  readonly tokens: Tokens
  readonly prepared: PreparedPayment
}

/** A world with an incoming payment of 10 that expires in an hour, and the order that would pay it. */
async function unpaidWorld(members: { readonly amount?: string } = {}): Promise<UnpaidWorld> {
  const world = await moneyWorld()
  const tokens = await grantTokens(world)
  const incoming = { incomingAmount: usd('10'), expiresAt: new Date(world.wallet.clock.now() + HOUR).toISOString() }
  return { ...world, tokens, prepared: await preparePayment(world, tokens, { incoming, ...members }) }
}

/** Lets time pass, and everything that is due happen then. */
async function sweepAfter(world: World, milliseconds: number): Promise<void> {
  world.wallet.clock.advance(milliseconds)
  for (let left = 10; left > 0 && (await world.wallet.openPayments.sweep()) > 0; ) left--
  await world.wallet.openPayments.drain()
}

async function incomingOf({ storage }: World): Promise<StoredRecord<'incoming-payment'> | undefined> {
  return (await storage.all('incoming-payment'))[0]
}

async function outgoingOf({ storage }: World): Promise<RecordTypes['outgoing-payment'] | undefined> {
  return (await storage.all('outgoing-payment'))[0]?.value
}

describe('an incoming payment that ended, and into which nothing came', () => {
  it('INC-14 T-37 is forgotten 30 days later, and unknown from then on', async () => {
    const world = await unpaidWorld()
    const { wallet, prepared } = world
    const token = world.tokens.receiving
    const list = `${BASE}/incoming-payments?wallet-address=${encodeURIComponent(BOB)}`
    const cursor = `${list}&cursor=${prepared.incomingId}`
    const answers = async (): Promise<readonly number[]> => [
      (await wallet.send('GET', prepared.incomingUrl, { token })).status,
      (await wallet.send('GET', prepared.incomingUrl)).status,
      (await wallet.send('POST', `${prepared.incomingUrl}/complete`, { token })).status,
      (await wallet.send('GET', cursor, { token })).status,
    ]
    await sweepAfter(world, HOUR + 1)
    await sweepAfter(world, MONTH - 1)
    expect(await incomingOf(world)).toMatchObject({ value: { state: 'expired' } })
    expect(await answers()).toEqual([200, 200, 409, 200])
    await sweepAfter(world, 1)
    expect(await incomingOf(world)).toBeUndefined()
    expect(await answers()).toEqual([404, 404, 404, 400])
    expect((await wallet.send('GET', list, { token })).body.result).toEqual([])
    const late = { walletAddress: 'https://wallet.example/alice', incomingPayment: prepared.incomingUrl }
    const order = { ...late, debitAmount: usd('10') }
    const ordered = await wallet.send('POST', `${BASE}/outgoing-payments`, { token: prepared.token, json: order })
    expect(ordered).toMatchObject({ status: 400, body: { error: { code: 'invalid_receiver' } } })
    expect(await wallet.openPayments.incomingPayments.received(prepared.incomingId, usdAmount(10n), 't')).toEqual({
      ok: false,
      reason: 'unknown',
    })
    await checkMoney(world)
  })

  it('INC-14 T-37 is forgotten 30 days later, too, if its client completed it', async () => {
    const world = await unpaidWorld()
    const token = world.tokens.receiving
    expect((await world.wallet.send('POST', `${world.prepared.incomingUrl}/complete`, { token })).status).toBe(200)
    const { received } = world.wallet.openPayments.incomingPayments
    const report = () => received(world.prepared.incomingId, usdAmount(10n), 't')
    await sweepAfter(world, MONTH - 1)
    expect(await incomingOf(world)).toMatchObject({ value: { state: 'completed' } })
    expect(await report()).toEqual({ ok: false, reason: 'completed' })
    await sweepAfter(world, 1)
    expect(await incomingOf(world)).toBeUndefined()
    expect(await report()).toEqual({ ok: false, reason: 'unknown' })
    expect((await world.wallet.send('GET', world.prepared.incomingUrl, { token })).status).toBe(404)
    await checkMoney(world)
  })

  it('INC-14 is kept if its client completed it after money had come', async () => {
    const world = await unpaidWorld({ amount: '4' })
    const token = world.tokens.receiving
    await pay(world, world.start(), world.prepared)
    await recoverUntilQuiet(world)
    expect((await world.wallet.send('POST', `${world.prepared.incomingUrl}/complete`, { token })).status).toBe(200)
    await sweepAfter(world, 2 * MONTH)
    expect(await incomingOf(world)).toMatchObject({ value: { state: 'completed', received: { value: 4n } } })
    await checkMoney(world, { completedByCall: [world.prepared.incomingId] })
  })

  it('INC-14 is forgotten no earlier by a clock that runs ahead for a while, however far', async () => {
    const world = await unpaidWorld()
    await sweepAfter(world, 100 * MONTH)
    expect(await incomingOf(world)).toMatchObject({ value: { state: 'expired' } })
    await sweepAfter(world, 2 * HOUR - 100 * MONTH)
    await sweepAfter(world, 2 * MONTH)
    expect(await incomingOf(world)).toMatchObject({ value: { state: 'expired' } })
  })

  it('INC-14 is forgotten once, wherever a process crashes, or two of them sweep', async () => {
    for (let index = 1; ; index++) {
      const world = await unpaidWorld()
      const process = world.start()
      const { reached } = faultAt(process.ports, index, 'crashes after')
      for (const milliseconds of [HOUR + 1, MONTH]) {
        world.wallet.clock.advance(milliseconds)
        const other = world.start()
        await Promise.all([
          other.openPayments.sweep(),
          Promise.race([process.openPayments.sweep(), process.ports.crashed]),
        ])
        await recoverUntilQuiet(world)
      }
      await sweepAfter(world, MONTH)
      expect(await incomingOf(world)).toBeUndefined()
      expect(world.told().map(({ type }) => type)).toContain('incoming_payment.expired')
      await checkMoney(world)
      if (reached() === undefined) break
      expect(index).toBeLessThan(50)
    }
  })

  it('INC-14 has its expiry told, however late its host hears', async () => {
    const world = await unpaidWorld()
    const deaf = world.start({ onEvent: () => Promise.reject(new Error('no')) })
    for (const milliseconds of [HOUR + 1, MONTH]) {
      world.wallet.clock.advance(milliseconds)
      await deaf.openPayments.sweep()
      await deaf.openPayments.drain()
    }
    expect(await incomingOf(world)).toBeUndefined()
    await recoverUntilQuiet(world)
    expect(world.told().map(({ type }) => type)).toEqual(['incoming_payment.created', 'incoming_payment.expired'])
  })

  it('INC-14 takes a payment with it to which the ledger gave no answer for so long: it fails, and its money is free', async () => {
    const world = await unpaidWorld()
    const process = world.start()
    faultAt(process.ports, 1, 'crashes after', ({ name }) => name === 'hold')
    await pay(world, process, world.prepared)
    await sweepAfter(world, HOUR + 1)
    await sweepAfter(world, MONTH)
    expect(await incomingOf(world)).toBeUndefined()
    await recoverUntilQuiet(world)
    expect(await outgoingOf(world)).toMatchObject({
      state: 'failed',
      decision: { action: 'release', reason: 'expired' },
    })
    // Of the process that has ended.
    expect(eventsOf(world, 'fault').map(({ message }) => message)).toEqual(['the ledger did not answer in time'])
    await checkMoney(world)
  })
})

/** What came of the incoming payment before it expired, or came for it afterwards. */
const TRACES: readonly (readonly [string, (world: UnpaidWorld) => Promise<unknown>, Partial<{ state: string }>])[] = [
  [
    'a part was paid into',
    async (world) =>
      pay(
        world,
        world.start(),
        await preparePayment(world, world.tokens, { amount: '4', receiver: world.prepared.incomingUrl }),
      ),
    { state: 'expired' },
  ],
  ['all was paid into', (world) => pay(world, world.start(), world.prepared), { state: 'completed' }],
  [
    'money was reported for too late',
    async ({ wallet, prepared }) => {
      wallet.clock.advance(HOUR + 1)
      await wallet.openPayments.sweep()
      const { incomingPayments } = wallet.openPayments
      expect(await incomingPayments.received(prepared.incomingId, usdAmount(10n), 't')).toMatchObject({ ok: false })
    },
    { state: 'expired' },
  ],
  [
    'the ledger refused to credit',
    async (world) => {
      const process = world.start()
      faultAt(process.ports, 1, { refuse: 'account_closed' }, ({ name }) => name === 'credit')
      await pay(world, process, world.prepared)
    },
    { state: 'expired' },
  ],
  [
    'a payment came to too late',
    async (world) => {
      const process = world.start()
      faultAt(process.ports, 1, 'crashes after', ({ name }) => name === 'hold')
      await pay(world, process, world.prepared)
      await sweepAfter(world, HOUR + 1)
      await recoverUntilQuiet(world)
    },
    { state: 'expired' },
  ],
  [
    'a payment was to that its payer could not pay',
    async (world) => {
      const process = world.start()
      faultAt(process.ports, 1, 'crashes before', ({ name }) => name === 'hold')
      await pay(world, process, world.prepared)
      await world.ledger.setPermissions('alice', { canSend: false, canReceive: true })
      await recoverUntilQuiet(world)
      expect(await outgoingOf(world)).toMatchObject({ state: 'failed' })
    },
    { state: 'expired' },
  ],
  [
    'an earlier release has expired',
    async ({ storage, wallet, prepared }) => {
      wallet.clock.advance(HOUR + 1)
      const [record] = await storage.get([{ kind: 'incoming-payment', id: prepared.incomingId }])
      const { version, value } = record as StoredRecord<'incoming-payment'>
      const expired = { ...value, state: 'expired' } as const
      await storage.commit([{ action: 'replace', kind: 'incoming-payment', version, value: expired, isListed: true }])
    },
    { state: 'expired' },
  ],
]

describe('an incoming payment is kept for ever', () => {
  it.each(TRACES)('INC-14 that %s', async (_what, leaveTrace, expected) => {
    const world = await unpaidWorld()
    await leaveTrace(world)
    await recoverUntilQuiet(world)
    for (const milliseconds of [HOUR + 1, MONTH, 12 * MONTH]) await sweepAfter(world, milliseconds)
    const kept = await incomingOf(world)
    expect(kept).toMatchObject({ value: expected })
    expect(kept?.dueAt).toBeUndefined()
  })

  it('INC-14 although its versions began anew, after it was paid into', async () => {
    const world = await unpaidWorld({ amount: '4' })
    await pay(world, world.start(), world.prepared)
    const { version, ...record } = (await incomingOf(world)) ?? expect.fail()
    const { kind, value } = record
    await world.storage.commit([{ action: 'delete', kind, id: value.id, version }])
    await world.storage.commit([{ ...record, action: 'insert' }])
    for (const milliseconds of [HOUR + 1, MONTH]) await sweepAfter(world, milliseconds)
    expect(await incomingOf(world)).toMatchObject({ value: { state: 'expired', received: { value: 4n } } })
  })

  it('INC-14 although it was made due by hand', async () => {
    const world = await unpaidWorld({ amount: '4' })
    await pay(world, world.start(), world.prepared)
    await sweepAfter(world, HOUR + 1)
    const record = (await incomingOf(world)) ?? expect.fail()
    await world.storage.commit([{ ...record, action: 'replace', dueAt: 0 }])
    await sweepAfter(world, MONTH)
    expect(await incomingOf(world)).toMatchObject({ value: { received: { value: 4n } } })
  })

  it('INC-14 OUT-12 not because of an order that was refused at once: it is as if it had not been given', async () => {
    const world = await unpaidWorld()
    await world.ledger.setPermissions('alice', { canSend: false, canReceive: true })
    expect((await pay(world, world.start(), world.prepared, keyed('k')))?.status).toBe(403)
    for (const milliseconds of [HOUR + 1, MONTH]) await sweepAfter(world, milliseconds)
    expect(await incomingOf(world)).toBeUndefined()
    await checkMoney(world)
  })
})
