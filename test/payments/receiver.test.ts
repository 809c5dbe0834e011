import { describe, expect, it } from 'vitest'
import { BASE, usd, usdAmount } from '../support/test-wallet.ts'
import { faultAt } from './faulty-ports.ts'
import { checkMoney } from './money-invariants.ts'
import {
  ask,
  eventsOf,
  grantTokens,
  HOUR,
  moneyWorld,
  type Process,
  pay,
  preparePayment,
  recoverUntilQuiet,
  signedBy,
  type Tokens,
  type World,
} from './money-world.ts'

/** A payment whose money is held, and whose process ended before it had room at the receiver. */
async function undelivered(
  incoming: (world: World) => Readonly<Record<string, unknown>> = () => ({ incomingAmount: usd('10') }),
): Promise<{ world: World; tokens: Tokens; incomingId: string; incomingUrl: string }> {
  const world = await moneyWorld()
  const tokens = await grantTokens(world, { debitAmount: usd('10') })
  const prepared = await preparePayment(world, tokens, { incoming: incoming(world) })
  const process = world.start()
  const { token, body } = prepared
  const request = await signedBy(world, 'POST', `${BASE}/outgoing-payments`, token, body)
  const crashed = crashBeforeDelivery(process)
  await ask(process, request)
  await crashed
  expect(await world.ledger.balance('alice')).toMatchObject({ held: 10n })
  return { world, tokens, ...prepared }
}

/** Lets the process end at its first attempt to reserve room at the receiver. */
function crashBeforeDelivery(process: Process): Promise<undefined> {
  faultAt(process.ports, 1, 'crashes before', ({ name, arguments: [changes] }) => {
    return name === 'commit' && (changes as { kind: string }[]).some(({ kind }) => kind === 'receipt')
  })
  return process.ports.crashed
}

async function expectFailed(world: World, reason: string): Promise<void> {
  const payments = (await world.storage.all('outgoing-payment')).map(({ value }) => value)
  expect(payments.filter(({ state }) => state === 'failed')).toMatchObject([
    { decision: { action: 'release', reason } },
  ])
  const spent = (await world.storage.all('spending')).filter(({ value }) => payments[0]?.spendingIds.includes(value.id))
  expect(spent).toMatchObject([{ value: { debit: { value: 0n } } }])
}

describe('a receiver that changes between creation and delivery', () => {
  it('INC-7 completed by its client: the payment fails and everything is given back', async () => {
    const { world, tokens, incomingId, incomingUrl } = await undelivered()
    const completed = await world.wallet.send('POST', `${incomingUrl}/complete`, { token: tokens.receiving })
    expect(completed.status).toBe(200)
    await world.wallet.openPayments.drain()
    await recoverUntilQuiet(world)
    await expectFailed(world, 'completed')
    await checkMoney(world, { completedByCall: [incomingId] })
  })

  it('INC-7 expired: the payment fails and everything is given back', async () => {
    const { world } = await undelivered((one) => ({
      incomingAmount: usd('10'),
      expiresAt: new Date(one.wallet.clock.now() + HOUR).toISOString(),
    }))
    world.wallet.clock.advance(HOUR + 1)
    await recoverUntilQuiet(world)
    await expectFailed(world, 'expired')
    await world.wallet.openPayments.sweep()
    await checkMoney(world)
  })

  it('INC-8 filled by another payer: the payment fails and everything is given back', async () => {
    const { world, incomingUrl } = await undelivered()
    const other = await preparePayment(world, await grantTokens(world), { receiver: incomingUrl })
    expect((await pay(world, world.start(), other))?.status).toBe(201)
    await recoverUntilQuiet(world)
    await checkMoney(world)
    await expectFailed(world, 'completed')
    expect(await world.ledger.balance('bob')).toMatchObject({ total: 10n })
  })

  it('INC-8 filled in part from outside: a payment that does not fit whole fails', async () => {
    const { world, incomingId } = await undelivered()
    const received = await world.wallet.openPayments.incomingPayments.received(incomingId, usdAmount(1n), 'transfer')
    expect(received).toEqual({ ok: true, accepted: 1n, excess: 0n })
    await recoverUntilQuiet(world)
    await expectFailed(world, 'over_remainder')
    expect(await world.ledger.balance('alice')).toMatchObject({ total: 100_000n, held: 0n })
  })

  it('whose account was closed: the receipt is dropped, the hold released, nothing credited', async () => {
    const { world } = await undelivered()
    await world.ledger.setPermissions('bob', { canSend: false, canReceive: false })
    await recoverUntilQuiet(world)
    await expectFailed(world, 'account_closed')
    expect(await world.storage.all('receipt')).toMatchObject([{ value: { state: 'dropped' } }])
    expect(await world.storage.all('incoming-payment')).toMatchObject([
      { value: { state: 'pending', received: { value: 0n }, reserved: { value: 0n } } },
    ])
    await checkMoney(world)
  })

  it('INC-6 completed while a credit is under way: the money that was reserved in time still counts, and nobody is told twice', async () => {
    const world = await moneyWorld()
    const tokens = await grantTokens(world)
    const prepared = await preparePayment(world, tokens, { incoming: { incomingAmount: usd('20') } })
    const process = world.start()
    faultAt(process.ports, 1, 'crashes before', ({ name }) => name === 'credit')
    await pay(world, process, prepared)
    await world.wallet.send('POST', `${prepared.incomingUrl}/complete`, { token: tokens.receiving })
    await world.wallet.openPayments.drain()
    await recoverUntilQuiet(world)
    expect(await world.storage.all('incoming-payment')).toMatchObject([
      { value: { state: 'completed', received: { value: 10n } } },
    ])
    expect(eventsOf(world, 'incoming_payment.completed')).toHaveLength(1)
    await checkMoney(world, { completedByCall: [prepared.incomingId] })
  })
})

describe('a store in which a commit conflicts again and again', () => {
  it.each([
    ['sending', 'incoming-payment', (state: string | undefined) => state === 'processing'],
    ['sending', 'event', (state: string | undefined) => state === 'completed'],
  ] as const)(
    'stalls in %s after the deadline, where it writes the %s, with pauses between its attempts, and goes on later',
    async (state, kind, isMet) => {
      const world = await moneyWorld()
      const process = world.start()
      const prepared = await preparePayment(world, await grantTokens(world), { incoming: {} })
      let commits = 0
      process.ports.plan = ({ name, arguments: [changes] }) => {
        if (name !== 'commit') return undefined
        const parts = changes as { kind: string; value?: { state?: string } }[]
        const index = parts.findIndex((part) => part.kind === kind)
        if (index < 0 || !parts.some(({ value }) => isMet(value?.state))) return undefined
        return ++commits > 1000 ? 'throws' : { answer: { conflicts: [index] } }
      }
      expect((await pay(world, process, prepared))?.status).toBe(201)
      expect(commits).toBeGreaterThan(3)
      expect(commits).toBeLessThan(300)
      expect(world.wallet.events).toContainEqual(expect.objectContaining({ type: 'payment_stalled', state }))
      await recoverUntilQuiet(world)
      await checkMoney(world)
      expect(await world.storage.all('outgoing-payment')).toMatchObject([{ value: { state: 'completed' } }])
    },
  )
})

describe('a receiver that is being written in the same process', () => {
  it('holds up no order: room is not waited for where money is just counted there', async () => {
    const world = await moneyWorld()
    const prepared = await preparePayment(world, await grantTokens(world))
    const process = world.start()
    let isCounting = false
    process.ports.plan = ({ name, arguments: [keys] }) => {
      const readsReceipt = name === 'get' && JSON.stringify(keys).includes('"rail:transfer"')
      if (!readsReceipt) return undefined
      isCounting = true
      return new Promise<never>(() => undefined)
    }
    void process.openPayments.incomingPayments.received(prepared.incomingId, usdAmount(1n), 'transfer')
    await expect.poll(() => isCounting).toBe(true)
    const { token, body } = prepared
    const answer = await ask(process, await signedBy(world, 'POST', `${BASE}/outgoing-payments`, token, body))
    expect(answer?.status).toBe(201)
    // What is left is for a process in which nothing waits.
    await recoverUntilQuiet(world)
    await checkMoney(world)
  })
})
