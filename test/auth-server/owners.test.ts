import { describe, expect, it } from 'vitest'
import { fakeClock } from '../support/fake-clock.ts'
import { keyRegistry, remoteClient, SHOP } from '../support/key-registry.ts'
import { ALICE, BOB, CLIENT, OWNER, referenceOf } from '../support/test-wallet.ts'
import { turn } from '../support/turns.ts'
import { approvedGrant, authWallet, CONSENT_REQUEST, INCOMING, INTERACT, OUTGOING, resume } from './auth-wallet.ts'

const QUOTE = { type: 'quote', actions: ['create'] } as const
const withAccess = (...access: readonly unknown[]): unknown => ({ ...CONSENT_REQUEST, access_token: { access } })

describe('whose consent a grant needs', () => {
  it('GRT-7 that of the one whose money it is, though what needs none is about another wallet address', async () => {
    const wallet = await authWallet()
    const { pending, interactRef } = await approvedGrant(wallet, withAccess(INCOMING, OUTGOING))
    const issued = await resume(wallet, pending, { interact_ref: interactRef })
    expect(issued.body.access_token.access).toEqual([INCOMING, OUTGOING])
    expect(await wallet.openPayments.grants.list(ALICE)).toHaveLength(1)
    expect(await wallet.openPayments.grants.list(BOB)).toEqual([])
  })

  it('GRT-7 where quotes need it too, that of the one who is named beside them', async () => {
    const wallet = await authWallet({ settings: { policies: { withoutInteraction: [] } } })
    const pending = await wallet.ask(withAccess(QUOTE, OUTGOING))
    expect(pending.status).toBe(200)
    const found = await wallet.openPayments.interactions.find(referenceOf(pending), OWNER)
    expect(found).toMatchObject({ ok: true, consent: { walletAddress: ALICE } })
  })

  it.each([false, true])('GRT-12 an account is asked for its subject where it is active: %s', async (isActive) => {
    const wallet = await authWallet()
    wallet.directory.set(BOB, { account: 'bob', assetCode: 'USD', assetScale: 2, isActive })
    const request = { client: CLIENT, interact: INTERACT, subject: { sub_ids: [{ id: BOB, format: 'uri' }] } }
    if (isActive) expect((await wallet.ask(request)).status).toBe(200)
    else await wallet.expectRefusal(400, 'invalid_request', () => wallet.ask(request))
  })
})

describe('the name of a client on another server', () => {
  it.each([
    [999, 'Shop'],
    [1_000, undefined],
  ])(
    'D17 INT-2 that is answered after %i ms is shown as %s: the grant request does not wait longer',
    async (late, name) => {
      const keyResolver = keyRegistry()
      const clock = fakeClock()
      const wallet = await authWallet({
        clock,
        keyResolver: {
          ...keyResolver,
          async publicName(walletAddress) {
            clock.advance(late)
            await turn()
            return keyResolver.publicName(walletAddress)
          },
        },
      })
      const as = await remoteClient(keyResolver)
      keyResolver.names.set(SHOP, 'Shop')
      const pending = await wallet.ask({ ...CONSENT_REQUEST, client: SHOP }, { as })
      const found = await wallet.openPayments.interactions.find(referenceOf(pending), OWNER)
      expect(found.ok && found.consent.client.name).toBe(name)
    },
  )

  it('D17 leaves no timer behind', async () => {
    const clock = fakeClock()
    const signals: (AbortSignal | undefined)[] = []
    const wallet = await authWallet({
      clock: {
        ...clock,
        sleep: (milliseconds, signal) => {
          signals.push(signal)
          return clock.sleep(milliseconds, signal)
        },
      },
    })
    expect((await wallet.ask(CONSENT_REQUEST)).status).toBe(200)
    expect(signals.length).toBeGreaterThan(0)
    expect(signals.filter((signal) => !signal?.aborted)).toEqual([])
  })
})
