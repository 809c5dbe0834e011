import { describe, expect, it } from 'vitest'
import { keyed } from '../support/keyed.ts'
import { ALICE, AUTH, BASE, BOB, grantAtOnce, requestConsent, usd } from '../support/test-wallet.ts'
import { type Call, faultAt } from './faulty-ports.ts'
import { checkMoney } from './money-invariants.ts'
import {
  ask,
  eventsOf,
  grantTokens,
  HOUR,
  inAnHour,
  moneyWorld,
  pay,
  preparePayment,
  recoverUntilQuiet,
  signedBy,
} from './money-world.ts'

const DAY = 24 * HOUR

const OUTGOING = { type: 'outgoing-payment', actions: ['create'], identifier: ALICE }

describe('sweep() and what nobody can use any more', () => {
  it('deletes an unused quote a day after its end, and keeps a used one', async () => {
    const world = await moneyWorld()
    const tokens = await grantTokens(world)
    await pay(world, world.start(), await preparePayment(world, tokens))
    await preparePayment(world, tokens)
    world.wallet.clock.advance(300_000 + DAY - 1)
    await world.wallet.openPayments.sweep()
    expect(await world.storage.all('quote')).toHaveLength(2)
    world.wallet.clock.advance(1)
    await world.wallet.openPayments.sweep()
    expect(await world.storage.all('quote')).toMatchObject([{ value: { state: 'used' } }])
  })

  it('QUO-7 deletes the quote of an order that was refused just as late', async () => {
    const world = await moneyWorld()
    const prepared = await preparePayment(world, await grantTokens(world))
    await world.ledger.setPermissions('alice', { canSend: false, canReceive: true })
    expect((await pay(world, world.start(), prepared))?.status).toBe(403)
    world.wallet.clock.advance(300_000 + DAY - 1)
    await world.wallet.openPayments.sweep()
    expect(await world.storage.all('quote')).toMatchObject([{ value: { state: 'open' } }])
    world.wallet.clock.advance(1)
    await world.wallet.openPayments.sweep()
    expect(await world.storage.all('quote')).toEqual([])
  })

  it('QUO-7 keeps a used quote whose payment was held without an answer', async () => {
    const world = await moneyWorld()
    const prepared = await preparePayment(world, await grantTokens(world))
    const process = world.start()
    faultAt(process.ports, 1, 'crashes after', ({ name }) => name === 'hold')
    await pay(world, process, prepared)
    await recoverUntilQuiet(world)
    world.wallet.clock.advance(300_000 + DAY)
    await world.wallet.openPayments.sweep()
    expect((await world.wallet.send('GET', prepared.quoteUrl, { token: prepared.token })).status).toBe(200)
    await checkMoney(world)
  })

  it('SIG-26 deletes a replay claim a day after its signature was too old to be repeated', async () => {
    const world = await moneyWorld()
    await pay(world, world.start(), await preparePayment(world, await grantTokens(world)))
    world.wallet.clock.advance(DAY + 360_000)
    await world.wallet.openPayments.sweep()
    expect(await world.storage.all('replay-claim')).toHaveLength(1)
    world.wallet.clock.advance(1000)
    await world.wallet.openPayments.sweep()
    expect(await world.storage.all('replay-claim')).toEqual([])
  })

  it('T-37 SIG-26 deletes the claim of a nonce with its signature, and only that of a payment a day later', async () => {
    const world = await moneyWorld()
    const prepared = await preparePayment(world, await grantTokens(world))
    const process = world.start()
    const url = `${BASE}/outgoing-payments?wallet-address=${encodeURIComponent(ALICE)}`
    const read = await signedBy(world, 'GET', url, prepared.token, undefined, { nonce: 'read' })
    expect((await ask(process, read))?.status).toBe(200)
    await pay(world, process, prepared, { nonce: 'paid' })
    expect(await world.storage.all('replay-claim')).toHaveLength(3)
    world.wallet.clock.advance(360_999)
    await world.wallet.openPayments.sweep()
    expect(await world.storage.all('replay-claim')).toHaveLength(3)
    world.wallet.clock.advance(1)
    await world.wallet.openPayments.sweep()
    expect(await world.storage.all('replay-claim')).toHaveLength(2)
    world.wallet.clock.advance(DAY)
    await world.wallet.openPayments.sweep()
    expect(await world.storage.all('replay-claim')).toEqual([])
  })

  it('OUT-12 deletes a key a day after its 24 hours, and keeps the signed request of its payment', async () => {
    const world = await moneyWorld()
    await pay(world, world.start(), await preparePayment(world, await grantTokens(world)), keyed('k'))
    world.wallet.clock.advance(2 * DAY - 1)
    await world.wallet.openPayments.sweep()
    expect(await world.storage.all('idempotency-key')).toHaveLength(1)
    world.wallet.clock.advance(1)
    await world.wallet.openPayments.sweep()
    expect(await world.storage.all('idempotency-key')).toEqual([])
    expect(await world.storage.all('signed-request')).toHaveLength(1)
  })

  it.each([
    ['under its key', keyed('order-7'), 201],
    ['without a key', {}, 401],
  ])(
    'T-32 T-33 a clock that ran ahead for less than a day lets nothing be paid twice: %s',
    async (_how, more, status) => {
      const world = await moneyWorld()
      const prepared = await preparePayment(world, await grantTokens(world), { from: 'incoming payment', incoming: {} })
      const { token, body } = prepared
      const captured = await signedBy(world, 'POST', `${BASE}/outgoing-payments`, token, body, more)
      const first = await ask(world.start(), captured)
      await recoverUntilQuiet(world)
      world.wallet.clock.advance(DAY)
      await world.wallet.openPayments.sweep()
      world.wallet.clock.advance(-DAY)
      const again = await ask(world.start(), captured)
      expect(again?.status).toBe(status)
      if (status === 201) expect(again?.body).toEqual(first?.body)
      await recoverUntilQuiet(world)
      expect(await world.storage.all('outgoing-payment')).toHaveLength(1)
      await checkMoney(world)
    },
  )

  it('deletes what is over in one commit, and goes on one by one where that fails', async () => {
    const world = await moneyWorld()
    const tokens = await grantTokens(world)
    for (let count = 0; count < 5; count++) await pay(world, world.start(), await preparePayment(world, tokens))
    world.wallet.clock.advance(2 * DAY)
    const process = world.start()
    const isDeletion = ({ name, arguments: [changes] }: Call): boolean =>
      name === 'commit' && (changes as { kind: string }[]).every(({ kind }) => kind === 'replay-claim')
    const [stuck] = await world.storage.all('replay-claim')
    process.ports.plan = (call) =>
      isDeletion(call) && JSON.stringify(call.arguments).includes(stuck?.value.id ?? 'none') ? 'throws' : undefined
    await process.openPayments.sweep()
    expect(await world.storage.all('replay-claim')).toEqual([stuck])
    const deletions = (): number => process.ports.calls.filter(isDeletion).length
    const faults = () => eventsOf(world, 'fault').map(({ message, cause }) => `${message}: ${Object(cause).message}`)
    const alone = `a record could not be swept: the commit of replay-claim ${stuck?.value.id} failed`
    expect(faults()).toEqual([expect.stringMatching(/^a record could not be swept: .* and \d+ more failed$/), alone])
    // One that is alone in the commit that failed is not tried once more.
    const before = deletions()
    await process.openPayments.sweep()
    expect([deletions(), faults().length]).toEqual([before + 1, 3])
    expect(faults().at(-1)).toBe(alone)
    process.ports.plan = () => undefined
    await process.openPayments.sweep()
    expect(deletions()).toBe(before + 2)
    expect(await world.storage.all('replay-claim')).toEqual([])
  })

  it('deletes the others where another process was faster with some, and counts what it deleted itself', async () => {
    const world = await moneyWorld()
    const tokens = await grantTokens(world)
    for (let count = 0; count < 6; count++) await pay(world, world.start(), await preparePayment(world, tokens))
    world.wallet.clock.advance(2 * DAY)
    const process = world.start()
    const claims = await world.storage.all('replay-claim')
    let taken = 0
    process.ports.plan = async ({ name, arguments: [changes] }) => {
      const [change] = name === 'commit' ? (changes as { kind: string; id: string; version: number }[]) : []
      if (change?.kind !== 'replay-claim' || taken > 0) return undefined
      taken += 1
      await world.storage.commit([{ action: 'delete', kind: 'replay-claim', id: change.id, version: change.version }])
      return undefined
    }
    await process.openPayments.sweep()
    expect(taken).toBe(1)
    expect(eventsOf(world, 'swept')).toMatchObject([{ records: { 'replay-claim': claims.length - 1 } }])
    expect(await world.storage.all('replay-claim')).toEqual([])
  })

  it('TOK-5 deletes an access token thirty days after it expired', async () => {
    const world = await moneyWorld({ settings: { lifetimes: { accessTokenSeconds: 600 } } })
    const granted = await grantAtOnce(world.wallet, [{ type: 'quote', actions: ['create'] }])
    world.wallet.clock.advance(600_000 + 30 * DAY - 1)
    await world.wallet.openPayments.sweep()
    expect(await world.storage.all('access-token')).toHaveLength(1)
    world.wallet.clock.advance(1)
    await world.wallet.openPayments.sweep()
    expect(await world.storage.all('access-token')).toEqual([])
    const { manage, value } = granted.body.access_token
    expect((await world.wallet.send('POST', manage, { token: value })).status).toBe(404)
    expect(manage.startsWith(`${AUTH}/`) && !manage.startsWith(`${BASE}/`)).toBe(true)
  })

  it('T-37 leaves nothing of what came to nothing', async () => {
    const world = await moneyWorld({ settings: { lifetimes: { accessTokenSeconds: 600 } } })
    const { wallet, storage } = world
    const { openPayments } = wallet
    // More than one call of sweep() takes on.
    for (let count = 0; count < 101; count++) await requestConsent(wallet, [OUTGOING])
    const granted = await grantAtOnce(wallet, [
      { type: 'incoming-payment', actions: ['create'] },
      { type: 'quote', actions: ['create'] },
    ])
    const token = granted.body.access_token.value
    for (let count = 0; count < 3; count++) {
      const json = { walletAddress: BOB, incomingAmount: usd('10'), expiresAt: inAnHour(world) }
      const sending = { token, json, nonce: `n-${count}` }
      const incoming = await wallet.send('POST', `${BASE}/incoming-payments`, sending)
      const asked = { walletAddress: BOB, receiver: incoming.body.id, method: 'ilp' }
      expect((await wallet.send('POST', `${BASE}/quotes`, { token, json: asked })).status).toBe(201)
    }
    await openPayments.drain()
    const counted = async (): Promise<readonly number[]> =>
      Promise.all(
        (['grant', 'interaction', 'access-token', 'quote', 'replay-claim', 'incoming-payment'] as const).map(
          async (kind) => (await storage.all(kind)).length,
        ),
      )
    expect(await counted()).toEqual([102, 101, 1, 3, 3, 3])
    for (const [milliseconds, left] of [
      [HOUR, [102, 101, 1, 3, 0, 3]],
      [DAY, [102, 0, 1, 0, 0, 3]],
      [30 * DAY, [0, 0, 0, 0, 0, 0]],
    ] as const) {
      wallet.clock.advance(milliseconds)
      for (let swept = 1; swept > 0; ) swept = await openPayments.sweep()
      expect(await counted()).toEqual(left)
    }
  })

  it('deletes an interaction a day after its end', async () => {
    const world = await moneyWorld()
    await requestConsent(world.wallet, [OUTGOING])
    world.wallet.clock.advance(600_000 + DAY)
    await world.wallet.openPayments.sweep()
    expect(await world.storage.all('interaction')).toEqual([])
  })
})
