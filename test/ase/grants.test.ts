import { describe, expect, it } from 'vitest'
import {
  approvedGrant,
  authWallet,
  CONSENT_REQUEST,
  cancel,
  OUTGOING,
  PLAIN_REQUEST,
  resume,
  rotate,
} from '../auth-server/auth-wallet.ts'
import { lastSegment } from '../support/last-segment.ts'
import { ALICE, BASE, BOB, CLIENT, decideAs } from '../support/test-wallet.ts'

async function issuedGrant(wallet: Awaited<ReturnType<typeof authWallet>>) {
  const { pending, interactRef } = await approvedGrant(wallet)
  const issued = await resume(wallet, pending, { interact_ref: interactRef })
  expect(issued.status).toBe(200)
  return issued
}

describe('the grants of a wallet address', () => {
  it('are those that its owner has given and that live', async () => {
    const wallet = await authWallet()
    const { grants } = wallet.openPayments
    await wallet.ask(CONSENT_REQUEST)
    await approvedGrant(wallet)
    await decideAs(wallet, await wallet.ask(CONSENT_REQUEST), 'deny')
    await wallet.ask(PLAIN_REQUEST)
    expect(await grants.list(ALICE)).toEqual([])
    const issued = await issuedGrant(wallet)
    const [grant, ...others] = await grants.list(ALICE)
    expect(others).toEqual([])
    expect(grant).toEqual({
      id: lastSegment(issued.body.continue.uri),
      client: CLIENT,
      access: [OUTGOING],
      issuedAt: wallet.clock.now(),
    })
    expect(await grants.list(BOB)).toEqual([])
    await rotate(wallet, issued)
    expect(await grants.list(ALICE)).toEqual([grant])
    await cancel(wallet, issued)
    expect(await grants.list(ALICE)).toEqual([])
  })

  it('are the same for every way to write it, and none is a fault of the caller', async () => {
    const wallet = await authWallet()
    const { grants } = wallet.openPayments
    await issuedGrant(wallet)
    const [grant] = await grants.list(`${ALICE}/`)
    expect(grant).toBeDefined()
    for (const none of ['alice', '', 'https://shop.example/alice', undefined]) {
      const refusal = new TypeError(`${none === undefined ? none : `"${none}"`} is not a wallet address under ${BASE}`)
      await expect(Reflect.apply(grants.list, undefined, [none])).rejects.toThrow(refusal)
      await expect(Reflect.apply(grants.revoke, undefined, [none, grant?.id])).rejects.toThrow(refusal)
    }
    expect(await grants.revoke(`${ALICE}/`, grant?.id ?? '')).toBe(true)
  })

  it('are listed newest first, page by page', async () => {
    const wallet = await authWallet()
    const { grants } = wallet.openPayments
    for (let count = 0; count < 5; count++) await issuedGrant(wallet)
    const all = await grants.list(ALICE)
    expect(all).toHaveLength(5)
    expect(all.map(({ issuedAt }) => issuedAt)).toEqual(all.map(({ issuedAt }) => issuedAt).sort((a, b) => b - a))
    const first = await grants.list(ALICE, { limit: 2 })
    const next = await grants.list(ALICE, { limit: 2, after: first.at(-1)?.id ?? '' })
    const last = await grants.list(ALICE, { limit: 2, after: next.at(-1)?.id ?? '' })
    expect([...first, ...next, ...last]).toEqual(all)
    await expect(grants.list(ALICE, { after: '0'.repeat(32) })).rejects.toThrow(
      'after is not a grant on this wallet address',
    )
    await expect(grants.list(BOB, { after: first[0]?.id ?? '' })).rejects.toThrow(
      'after is not a grant on this wallet address',
    )
  })

  it('are 50 at once where nobody says how many, and 100 at most', async () => {
    const wallet = await authWallet()
    const { grants } = wallet.openPayments
    for (let count = 0; count < 101; count++) await issuedGrant(wallet)
    expect(await grants.list(ALICE)).toHaveLength(50)
    const most = await grants.list(ALICE, { limit: 100 })
    expect(most).toHaveLength(100)
    expect(await grants.list(ALICE, { limit: 100, after: most.at(-1)?.id })).toHaveLength(1)
    for (const limit of [0, -1, 1.5, Number.NaN, 101, 1e9, '7', {}])
      await expect(Reflect.apply(grants.list, undefined, [ALICE, { limit }])).rejects.toThrow(RangeError)
  })

  it.each([7, {}, '', 'a\0b'])('are none by an id that is none (%j)', async (id) => {
    const { grants } = (await authWallet()).openPayments
    await expect(Reflect.apply(grants.list, undefined, [ALICE, { after: id }])).rejects.toThrow(RangeError)
    expect(await Reflect.apply(grants.revoke, undefined, [ALICE, id])).toBe(false)
  })

  it('CON-8 are ended by their owner with their token, once', async () => {
    const wallet = await authWallet()
    const { grants } = wallet.openPayments
    const issued = await issuedGrant(wallet)
    const [grant] = await grants.list(ALICE)
    expect(await grants.revoke(BOB, grant?.id ?? '')).toBe(false)
    expect(await grants.revoke(ALICE, grant?.id ?? '')).toBe(true)
    await wallet.expectRefusal(404, 'invalid_rotation', () => rotate(wallet, issued))
    await wallet.expectRefusal(404, 'invalid_continuation', () => resume(wallet, issued, { interact_ref: 'x' }))
    expect(await grants.list(ALICE)).toEqual([])
    const before = await wallet.records()
    expect(await grants.revoke(ALICE, grant?.id ?? '')).toBe(false)
    expect(await grants.revoke(ALICE, '0'.repeat(32))).toBe(false)
    expect((await cancel(wallet, issued)).status).toBe(204)
    expect(await wallet.records()).toEqual(before)
  })

  it.each(['pending', 'approved'])('CON-8 are ended by their owner while they are %s, too', async (state) => {
    const wallet = await authWallet()
    const pending = await wallet.ask(CONSENT_REQUEST)
    const redirect = state === 'approved' ? await decideAs(wallet, pending) : undefined
    wallet.clock.advance(5000)
    const id = lastSegment(pending.body.continue.uri)
    expect(await wallet.openPayments.grants.revoke(BOB, id)).toBe(false)
    expect(await wallet.openPayments.grants.revoke(ALICE, id)).toBe(true)
    const interact_ref = redirect?.searchParams.get('interact_ref') ?? 'x'
    await wallet.expectRefusal(404, 'invalid_continuation', () => resume(wallet, pending, { interact_ref }))
  })

  it('RS-6 a revoked grant takes no more from the resource server', async () => {
    const wallet = await authWallet()
    const issued = await issuedGrant(wallet)
    const url = `https://wallet.example/outgoing-payment-grant`
    const token = issued.body.access_token.value
    expect((await wallet.send('GET', url, { token })).status).toBe(200)
    const [grant] = await wallet.openPayments.grants.list(ALICE)
    await wallet.openPayments.grants.revoke(ALICE, grant?.id ?? '')
    expect((await wallet.send('GET', url, { token })).status).toBe(401)
  })
})
