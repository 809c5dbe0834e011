import { describe, expect, it } from 'vitest'
import { ALICE, continueWith, decideAs, requestConsent } from '../support/test-wallet.ts'
import { grantTokens, HOUR, moneyWorld, pay, preparePayment } from './money-world.ts'

const DAY = 24 * HOUR

const OUTGOING = { type: 'outgoing-payment', actions: ['create'], identifier: ALICE }

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

describe('sweep() and a grant that its owner gave and revoked', () => {
  it('T-42 TOK-5 keeps it, with nothing more to do, and deletes its token 30 days later', async () => {
    const world = await moneyWorld()
    const { openPayments, clock } = world.wallet
    await grantTokens(world)
    const given = (await world.storage.all('grant')).find(({ value }) => value.walletAddress !== undefined)
    expect(await openPayments.grants.revoke(ALICE, given?.value.id ?? '')).toBe(true)
    const token = async () =>
      (await world.storage.all('access-token')).find(({ value }) => value.id === given?.value.tokenId)
    clock.advance(30 * DAY - 1)
    await openPayments.sweep()
    expect(await token()).toMatchObject({ value: { state: 'revoked' } })
    clock.advance(1)
    await openPayments.sweep()
    expect(await token()).toBeUndefined()
    const kept = (await world.storage.all('grant')).find(({ value }) => value.id === given?.value.id)
    expect(kept).toMatchObject({ value: { state: 'finalised', finalisation: 'revoked' } })
    expect(kept?.dueAt).toBeUndefined()
    expect(kept?.version).toBe((given?.version ?? 0) + 1)
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
      expect(kept.get(value.id)?.dueAt).toBeUndefined()
    }
    const audited: unknown[] = []
    for await (const { grant } of world.wallet.openPayments.audit(ALICE)) audited.push(grant.id)
    expect(audited).toEqual([expect.any(String)])
  })
})
