import { describe, expect, it } from 'vitest'
import {
  ALICE,
  AUTH,
  BASE,
  BOB,
  continueWith,
  decideAs,
  grantAtOnce,
  requestConsent,
  usd,
} from '../support/test-wallet.ts'
import { type Call, faultAt } from './faulty-ports.ts'
import { checkMoney } from './money-invariants.ts'
import {
  ask,
  eventsOf,
  grantTokens,
  HOUR,
  keyed,
  LEASE,
  moneyWorld,
  pay,
  preparePayment,
  recoverUntilQuiet,
  signedBy,
  type World,
} from './money-world.ts'

const DAY = 24 * HOUR

const inAnHour = (world: World): string => new Date(world.wallet.clock.now() + HOUR).toISOString()

const writesReceipt = ({ name, arguments: [changes] }: Call): boolean =>
  name === 'commit' && (changes as { kind: string }[]).some(({ kind }) => kind === 'receipt')

const OUTGOING = { type: 'outgoing-payment', actions: ['create'], identifier: ALICE }

describe('sweep() and incoming payments', () => {
  it('INC-7 expires what nobody paid in time, once, and says so', async () => {
    const world = await moneyWorld()
    const tokens = await grantTokens(world)
    const { incomingId } = await preparePayment(world, tokens, { incoming: { expiresAt: inAnHour(world) } })
    world.wallet.clock.advance(HOUR - 1)
    expect(await world.wallet.openPayments.sweep()).toBe(0)
    world.wallet.clock.advance(2)
    expect(await world.wallet.openPayments.sweep()).toBe(1)
    expect(await world.wallet.openPayments.sweep()).toBe(0)
    expect(await world.storage.all('incoming-payment')).toMatchObject([{ value: { id: incomingId, state: 'expired' } }])
    expect(world.told().map(({ type }) => type)).toEqual(['incoming_payment.created', 'incoming_payment.expired'])
    // Of a call that changed nothing there is nothing to say.
    expect(eventsOf(world, 'swept')).toMatchObject([{ records: { 'incoming-payment': 1 }, isFull: false }])
    await checkMoney(world)
  })

  it('says that there may be more once it has swept a hundred', async () => {
    const world = await moneyWorld()
    const claims = Array.from({ length: 100 }, (_, number) => ({ id: `claim-${number}`, expiresAt: 0 }))
    await world.storage.commit(claims.map((value) => ({ action: 'insert', kind: 'replay-claim', value, dueAt: 0 })))
    expect(await world.wallet.openPayments.sweep()).toBe(100)
    expect(eventsOf(world, 'swept')).toMatchObject([{ records: { 'replay-claim': 100 }, isFull: true }])
  })

  it('does not ask a storage that takes no commits for each of a hundred records', async () => {
    const world = await moneyWorld()
    const tokens = await grantTokens(world)
    await preparePayment(world, tokens, { incoming: { expiresAt: inAnHour(world) } })
    const [incoming] = await world.storage.all('incoming-payment')
    const numbers = Array.from({ length: 100 }, (_, number) => number.toString(16).padStart(44, '0'))
    await world.storage.commit(
      numbers.map((id) => ({ action: 'insert', kind: 'replay-claim', value: { id, expiresAt: 0 }, dueAt: 0 })),
    )
    await world.storage.commit(
      numbers.flatMap((id) => (incoming ? [{ ...incoming, action: 'insert', value: { ...incoming.value, id } }] : [])),
    )
    world.wallet.clock.advance(HOUR + 1)
    const process = world.start()
    process.ports.plan = ({ name }) => (name === 'commit' ? 'throws' : undefined)
    expect(await process.openPayments.sweep()).toBe(0)
    // Of the claims all at once, then eight of them, and eight incoming payments.
    expect(process.ports.calls.filter(({ name }) => name === 'commit')).toHaveLength(17)
    // Two that cannot be written keep none of the others.
    let failures = 0
    process.ports.plan = ({ name }) => (name === 'commit' && failures++ < 3 ? 'throws' : undefined)
    expect(await process.openPayments.sweep()).toBe(198)
    expect(await process.openPayments.sweep()).toBe(3)
    expect(await process.openPayments.sweep()).toBe(0)
  })

  it('lets no number of records that cannot be deleted keep the others for good', async () => {
    const world = await moneyWorld()
    const ids = Array.from({ length: 100 }, (_, number) => `${number < 16 ? 'damaged' : 'claim'}-${number}`)
    await world.storage.commit(
      ids.map((id, dueAt) => ({ action: 'insert', kind: 'replay-claim', value: { id, expiresAt: 0 }, dueAt })),
    )
    const process = world.start()
    const isDamaged = ({ arguments: [changes] }: Call): boolean =>
      (changes as { id?: string }[]).some(({ id }) => id?.startsWith('damaged') === true)
    process.ports.plan = (call) => (call.name === 'commit' && isDamaged(call) ? 'throws' : undefined)
    for (let round = 0; round < 5; round++) {
      world.wallet.clock.advance(60_000)
      await process.openPayments.sweep()
    }
    const left = (await world.storage.all('replay-claim')).map(({ value }) => value.id)
    expect(left.toSorted()).toEqual(ids.slice(0, 16).toSorted())
  })

  it('leaves one that is completed as it is', async () => {
    const world = await moneyWorld()
    const tokens = await grantTokens(world)
    const incoming = { incomingAmount: usd('10'), expiresAt: inAnHour(world) }
    await pay(world, world.start(), await preparePayment(world, tokens, { incoming }))
    world.wallet.clock.advance(HOUR + 1)
    await world.wallet.openPayments.sweep()
    expect(await world.storage.all('incoming-payment')).toMatchObject([{ value: { state: 'completed' } }])
    await checkMoney(world)
  })

  it('waits for a receipt that is under way', async () => {
    const world = await moneyWorld()
    const tokens = await grantTokens(world)
    const incoming = { incomingAmount: usd('20'), expiresAt: inAnHour(world) }
    const prepared = await preparePayment(world, tokens, { incoming })
    const process = world.start()
    faultAt(process.ports, 1, 'crashes after', writesReceipt)
    await pay(world, process, prepared)
    world.wallet.clock.advance(HOUR + 1)
    const inFlight = (await world.storage.all('incoming-payment'))[0]?.value
    expect(inFlight).toMatchObject({ state: 'processing', reserved: { value: 10n } })
    await world.wallet.openPayments.sweep()
    expect((await world.storage.all('incoming-payment'))[0]?.value).toEqual(inFlight)
    expect(eventsOf(world, 'swept').filter(({ records }) => 'incoming-payment' in records)).toEqual([])
    expect(await world.storage.due('incoming-payment', world.wallet.clock.now(), 10)).toEqual([])
    await recoverUntilQuiet(world)
    // Looked at again after a lease: one that waits for a receipt keeps no other waiting for the sweep.
    world.wallet.clock.advance(LEASE)
    await world.wallet.openPayments.sweep()
    const [swept] = await world.storage.all('incoming-payment')
    expect(swept?.value).toMatchObject({ state: 'expired', received: { value: 10n }, reserved: { value: 0n } })
    await checkMoney(world)
  })

  it('expires once where two processes sweep at once', async () => {
    const world = await moneyWorld()
    const tokens = await grantTokens(world)
    for (let count = 0; count < 5; count++)
      await preparePayment(world, tokens, { from: 'incoming payment', incoming: { expiresAt: inAnHour(world) } })
    world.wallet.clock.advance(HOUR + 1)
    const [one, other] = [world.start(), world.start()]
    const swept = await Promise.all([one.openPayments.sweep(), other.openPayments.sweep()])
    expect(swept[0] + swept[1]).toBe(5)
    await recoverUntilQuiet(world)
    expect(world.told().filter(({ type }) => type === 'incoming_payment.expired')).toHaveLength(5)
    await checkMoney(world)
  })

  it('tells of an expiry whose process crashed, wherever it did', async () => {
    const world = await moneyWorld()
    const tokens = await grantTokens(world)
    for (let index = 1; ; index++) {
      await preparePayment(world, tokens, { from: 'incoming payment', incoming: { expiresAt: inAnHour(world) } })
      world.wallet.clock.advance(HOUR + 1)
      const process = world.start()
      const { reached } = faultAt(process.ports, index, 'crashes after')
      await Promise.race([process.openPayments.sweep(), process.ports.crashed])
      await world.wallet.openPayments.sweep()
      await recoverUntilQuiet(world)
      await checkMoney(world)
      if (reached() === undefined) break
      expect(index).toBeLessThan(50)
    }
    const states = (await world.storage.all('incoming-payment')).map(({ value }) => value.state)
    expect(new Set(states)).toEqual(new Set(['expired']))
  })
})

describe('sweep() and grants', () => {
  it('GRT-17 finalises a grant that nobody decided', async () => {
    const world = await moneyWorld()
    const pending = await requestConsent(world.wallet, [OUTGOING])
    world.wallet.clock.advance(600_001)
    expect(await world.wallet.openPayments.sweep()).toBe(1)
    expect(await world.wallet.openPayments.sweep()).toBe(0)
    expect(await world.storage.all('grant')).toMatchObject([{ value: { state: 'finalised', finalisation: 'expired' } }])
    const continued = await continueWith(world.wallet, pending, 'whatever')
    expect(continued).toMatchObject({ status: 404, body: { error: { code: 'invalid_continuation' } } })
  })

  it('GRT-17 finalises a grant that was approved and that nobody continued', async () => {
    const world = await moneyWorld()
    await decideAs(world.wallet, await requestConsent(world.wallet, [OUTGOING]))
    expect(await world.storage.all('grant')).toMatchObject([{ value: { state: 'approved' } }])
    world.wallet.clock.advance(600_001)
    await world.wallet.openPayments.sweep()
    expect(await world.storage.all('grant')).toMatchObject([{ value: { state: 'finalised', finalisation: 'expired' } }])
  })

  it('CON-9 does not touch a grant that was finalised before its time', async () => {
    const world = await moneyWorld()
    const pending = await requestConsent(world.wallet, [OUTGOING])
    await decideAs(world.wallet, pending)
    for (let count = 0; count < 6; count++)
      expect((await continueWith(world.wallet, pending, 'wrong')).status).toBe(404)
    const [before] = await world.storage.all('grant')
    expect(before?.value).toMatchObject({ state: 'finalised', finalisation: 'revoked' })
    world.wallet.clock.advance(600_001)
    await world.wallet.openPayments.sweep()
    const [after] = await world.storage.all('grant')
    expect(after?.value).toEqual(before?.value)
    expect(await world.wallet.openPayments.sweep()).toBe(0)
  })

  it('leaves an issued grant alone', async () => {
    const world = await moneyWorld()
    await grantTokens(world)
    world.wallet.clock.advance(DAY)
    await world.wallet.openPayments.sweep()
    const states = (await world.storage.all('grant')).map(({ value }) => value.state)
    expect(states).toEqual(['issued', 'issued'])
  })

  it('leaves an issued grant without access alone', async () => {
    const { wallet, storage } = await moneyWorld()
    const subject = { sub_ids: [{ format: 'uri', id: ALICE }] }
    const pending = await requestConsent(wallet, [], { access_token: undefined, subject })
    const redirect = await decideAs(wallet, pending)
    await continueWith(wallet, pending, redirect?.searchParams.get('interact_ref'))
    wallet.clock.advance(DAY)
    await wallet.openPayments.sweep()
    expect(await storage.all('grant')).toMatchObject([{ value: { state: 'issued' } }])
  })
})

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
    process.ports.plan = () => undefined
    const before = process.ports.calls.filter(isDeletion).length
    await process.openPayments.sweep()
    expect(process.ports.calls.filter(isDeletion)).toHaveLength(before + 1)
    expect(await world.storage.all('replay-claim')).toEqual([])
  })

  it('deletes the others where another process was faster with some', async () => {
    const world = await moneyWorld()
    const tokens = await grantTokens(world)
    for (let count = 0; count < 6; count++) await pay(world, world.start(), await preparePayment(world, tokens))
    world.wallet.clock.advance(2 * DAY)
    const process = world.start()
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

describe('sweep() and a grant whose time to be deleted was set by hand', () => {
  it('T-42 keeps it if its owner gave it, as the proof of its payments', async () => {
    const world = await moneyWorld()
    await pay(world, world.start(), await preparePayment(world, await grantTokens(world)))
    const given = (await world.storage.all('grant')).filter(({ value }) => value.walletAddress !== undefined)
    await world.storage.commit(given.map((record) => ({ ...record, action: 'replace', dueAt: 0 })))
    await world.wallet.openPayments.sweep()
    const kept = new Map((await world.storage.all('grant')).map((record) => [record.value.id, record]))
    for (const { value, isListed } of given) {
      expect(kept.get(value.id)?.value).toEqual(value)
      expect(kept.get(value.id)?.isListed).toBe(isListed)
    }
    expect([...kept.values()].filter(({ dueAt }) => dueAt === 0)).toEqual([])
    const audited: unknown[] = []
    for await (const { grant } of world.wallet.openPayments.audit(ALICE)) audited.push(grant.id)
    expect(audited).toEqual([expect.any(String)])
  })
})
