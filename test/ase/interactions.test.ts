import { createHash } from 'node:crypto'
import type { Approver, Interactions } from 'open-payments-server'
import { consentPage } from 'open-payments-server/consent'
import { describe, expect, it } from 'vitest'
import { type AuthWallet, authWallet, CONSENT_REQUEST, cancel, INTERACT, resume } from '../auth-server/auth-wallet.ts'
import { lastSegment } from '../support/last-segment.ts'
import { ALICE, type Answer, AUTH, BASE, BOB, decideAs, FINISH, OWNER, referenceOf } from '../support/test-wallet.ts'

const ALICE_ALONE = { session: 'session-1', walletAddresses: [ALICE] }
const withFinish = (change: object): unknown => ({
  ...CONSENT_REQUEST,
  interact: { ...INTERACT, finish: { ...FINISH, ...change } },
})

interface Opened {
  readonly wallet: AuthWallet
  readonly pending: Answer
  readonly reference: string
  readonly interactions: Interactions
  readonly decider: Approver
}

async function opened(
  overrides: Parameters<typeof authWallet>[0] = {},
  request: unknown = CONSENT_REQUEST,
): Promise<Opened> {
  const wallet = await authWallet(overrides)
  const pending = await wallet.ask(request)
  expect(pending.status).toBe(200)
  const reference = referenceOf(pending)
  const { interactions } = wallet.openPayments
  const found = await interactions.find(reference, ALICE_ALONE)
  if (!found.ok) throw new Error(found.reason)
  return { wallet, pending, reference, interactions, decider: { ...ALICE_ALONE, csrf: found.csrf, access: 'all' } }
}

/** Expects a refusal that leaves every record as it was. */
async function expectRefused(wallet: AuthWallet, reason: string, act: () => Promise<unknown>): Promise<void> {
  const before = await wallet.records()
  expect(await act()).toEqual({ ok: false, reason })
  expect(await wallet.records()).toEqual(before)
}

// As a row of a database may be, whose columns TypeScript does not know.
describe('who is logged in', () => {
  it('INT-4 owns nothing where the wallet addresses are one text, though that begins like the right one', async () => {
    const wallet = await authWallet()
    const reference = referenceOf(await wallet.ask(CONSENT_REQUEST))
    const { interactions } = wallet.openPayments
    const owner = { session: 'session-1', walletAddresses: [`${ALICE}2`] }
    const row = Object.assign({}, owner, { walletAddresses: `${ALICE}2` })
    await expect(interactions.find(reference, row)).rejects.toThrow('the walletAddresses of a person must be a list')
    expect(await interactions.find(reference, owner)).toEqual({ ok: false, reason: 'not_owner' })
  })

  const others: readonly (readonly [unknown, string])[] = [
    ['alice', 'the walletAddresses of a person must be a list of URLs, not alice'],
    ['$wallet.example/alice', 'the walletAddresses of a person must be a list of URLs, not $wallet.example/alice'],
    [{ url: ALICE }, 'the walletAddresses of a person must be a list of URLs'],
    [undefined, 'the walletAddresses of a person must be a list of URLs'],
  ]

  it.each(others)('INT-10 is no owner by what is no URL: %s', async (other, message) => {
    const { reference, interactions, decider } = await opened()
    // Beside the right one, too: next time it may be the one in question.
    for (const walletAddresses of [[other], [ALICE, other]]) {
      const row: Approver = Object.assign({}, decider, { walletAddresses })
      await expect(interactions.find(reference, row)).rejects.toThrow(new TypeError(message))
      await expect(interactions.approve(reference, row)).rejects.toThrow(new TypeError(message))
      await expect(interactions.deny(reference, row)).rejects.toThrow(new TypeError(message))
    }
    expect(await interactions.approve(reference, decider)).toMatchObject({ ok: true })
  })

  it.each([`${ALICE}/`, ALICE.replace('wallet', 'Wallet')])(
    'INT-10 is the owner by another spelling of a wallet address: %s',
    async (walletAddress) => {
      const { reference, interactions, decider } = await opened()
      const walletAddresses = ['https://other.example:8443/a', 'https://other.example/quotes/a', walletAddress]
      expect(await interactions.approve(reference, { ...decider, walletAddresses })).toMatchObject({ ok: true })
    },
  )

  it('INT-10 sees of such a mistake the page of failure, and the wallet the fault', async () => {
    const owner = { session: 'session-1', walletAddresses: ['alice'] }
    const wallet = await authWallet({ consent: consentPage({ walletName: 'A Bank', authenticate: async () => owner }) })
    const pending = await wallet.ask(CONSENT_REQUEST)
    const response = await wallet.openPayments.fetch(new Request(pending.body.interact.redirect))
    expect(response.status).toBe(500)
    expect(await response.text()).toContain('Something went wrong on our side')
    expect(wallet.events.find(({ type }) => type === 'fault')).toMatchObject({
      message: 'the walletAddresses of a person must be a list of URLs, not alice',
    })
  })

  it('INT-10 is told what is missing: the person, the reference or the csrf', async () => {
    const { reference, interactions, decider } = await opened()
    const nothing = Reflect.get({}, 'user')
    for (const call of [interactions.find, interactions.approve, interactions.deny]) {
      await expect(call(reference, nothing)).rejects.toThrow(
        new TypeError('the walletAddresses of a person must be a list of URLs'),
      )
      await expect(call(nothing, decider)).rejects.toThrow(new TypeError('reference must be a string, not undefined'))
    }
    // Also where there is nothing to decide: a mistake in the screen must not pass for a request that is unknown.
    for (const call of [interactions.approve, interactions.deny])
      for (const known of [reference, 'unknown'])
        await expect(call(known, { ...decider, csrf: nothing })).rejects.toThrow(
          new TypeError('csrf must be a string, not undefined'),
        )
    expect(await interactions.approve(reference, decider)).toMatchObject({ ok: true })
  })

  it.each([
    ['closed', { account: 'closed', assetCode: 'USD', assetScale: 2, isActive: false }],
    ['unknown', undefined],
  ])('INT-10 may have an account that is %s by now, and one on another server', async (_, account) => {
    const { wallet, reference, interactions, decider } = await opened()
    if (account !== undefined) wallet.directory.set(BOB, account)
    else wallet.directory.delete(BOB)
    const walletAddresses = [BOB, 'https://other.example/alice', ALICE]
    expect(await interactions.find(reference, { ...ALICE_ALONE, walletAddresses })).toMatchObject({ ok: true })
    expect(await interactions.approve(reference, { ...decider, walletAddresses })).toMatchObject({ ok: true })
  })

  it.each([7, true, { id: 1 }, null])('INT-10 is refused with a session that is no text: %s', async (session) => {
    const { reference, interactions, decider } = await opened()
    const other: Approver = Object.assign({}, decider, { session })
    await expect(interactions.find(reference, other)).rejects.toThrow(
      'the session of a person must be a non-empty string',
    )
    await expect(interactions.approve(reference, other)).rejects.toThrow(
      'the session of a person must be a non-empty string',
    )
    expect(await interactions.approve(reference, decider)).toMatchObject({ ok: true })
  })
})

describe('an interaction', () => {
  it('INT-10 is shown to the session that opened it again, with the same value, and changes nothing', async () => {
    const { wallet, reference, interactions, decider } = await opened()
    const before = await wallet.records()
    const again = await interactions.find(reference, ALICE_ALONE)
    expect(again).toMatchObject({ ok: true, csrf: decider.csrf })
    expect(await wallet.records()).toEqual(before)
    expect(decider.csrf).toMatch(/^[A-Za-z0-9_-]{43}$/)
  })

  it('INT-1 is unknown under any other reference', async () => {
    const { wallet, pending, reference, interactions, decider } = await opened()
    const grantId = lastSegment(pending.body.continue.uri)
    for (const other of ['', 'x', reference.toUpperCase(), `${reference}0`, grantId, pending.body.interact.finish]) {
      await expectRefused(wallet, 'unknown', () => interactions.find(other, ALICE_ALONE))
      await expectRefused(wallet, 'unknown', () => interactions.approve(other, decider))
      await expectRefused(wallet, 'unknown', () => interactions.deny(other, decider))
    }
    expect(await interactions.approve(reference, decider)).toMatchObject({ ok: true })
  })

  it('INT-10 belongs to the session that opened it first', async () => {
    const { wallet, reference, interactions, decider } = await opened()
    const other = { ...decider, session: 'session-2' }
    await expectRefused(wallet, 'other_session', () => interactions.find(reference, other))
    await expectRefused(wallet, 'other_session', () => interactions.approve(reference, other))
    await expectRefused(wallet, 'other_session', () => interactions.deny(reference, other))
    expect(await interactions.deny(reference, decider)).toMatchObject({ ok: true })
  })

  it('INT-10 T-18 is not decided without the value that came with it', async () => {
    const { wallet, reference, interactions, decider } = await opened()
    const stranger = await opened()
    for (const csrf of ['', 'x', `${decider.csrf}x`, stranger.decider.csrf]) {
      await expectRefused(wallet, 'bad_csrf', () => interactions.approve(reference, { ...decider, csrf }))
      await expectRefused(wallet, 'bad_csrf', () => interactions.deny(reference, { ...decider, csrf }))
    }
    expect(await interactions.approve(reference, decider)).toMatchObject({ ok: true })
  })

  it('INT-10 is not decided before it was opened', async () => {
    const wallet = await authWallet()
    const reference = referenceOf(await wallet.ask(CONSENT_REQUEST))
    const { interactions } = wallet.openPayments
    const decider: Approver = { ...ALICE_ALONE, csrf: 'x', access: 'all' }
    await expectRefused(wallet, 'bad_csrf', () => interactions.approve(reference, decider))
    await expectRefused(wallet, 'bad_csrf', () => interactions.deny(reference, decider))
  })

  it('INT-10 the values of two interactions of one session differ, and fit their own alone', async () => {
    const first = await opened()
    const reference = referenceOf(await first.wallet.ask(CONSENT_REQUEST))
    const second = await first.interactions.find(reference, ALICE_ALONE)
    if (!second.ok) throw new Error(second.reason)
    expect(second.csrf).not.toBe(first.decider.csrf)
    await expectRefused(first.wallet, 'bad_csrf', () => first.interactions.approve(reference, first.decider))
    expect(await first.interactions.approve(reference, { ...first.decider, csrf: second.csrf })).toMatchObject({
      ok: true,
    })
  })

  it('GRT-12 INT-10 only the owner of the wallet address sees and decides it, whoever came first', async () => {
    const wallet = await authWallet()
    const reference = referenceOf(await wallet.ask(CONSENT_REQUEST))
    const { interactions } = wallet.openPayments
    for (const walletAddresses of [[], [BOB], [`${BASE}/closed`], [ALICE.slice(0, -1)], [`${ALICE}2`, `${ALICE}/2`]]) {
      await expectRefused(wallet, 'not_owner', () => interactions.find(reference, { session: 'b', walletAddresses }))
    }
    const found = await interactions.find(reference, ALICE_ALONE)
    if (!found.ok) throw new Error(found.reason)
    const decider: Approver = { ...ALICE_ALONE, csrf: found.csrf, access: 'all' }
    await expectRefused(wallet, 'not_owner', () =>
      interactions.approve(reference, { ...decider, walletAddresses: [BOB] }),
    )
    await expectRefused(wallet, 'not_owner', () => interactions.deny(reference, { ...decider, walletAddresses: [] }))
    const stranger = { session: 'another', walletAddresses: [BOB] }
    await expectRefused(wallet, 'not_owner', () => interactions.find(reference, stranger))
    expect(await interactions.approve(reference, decider)).toMatchObject({ ok: true })
  })

  it.each([
    ['approve', 'approve'],
    ['approve', 'deny'],
    ['deny', 'approve'],
    ['deny', 'deny'],
  ] as const)('INT-3 is decided once: %s, then %s', async (first, second) => {
    const { wallet, pending, reference, interactions, decider } = await opened()
    expect(await interactions[first](reference, decider)).toMatchObject({ ok: true })
    await expectRefused(wallet, 'used', () => interactions[second](reference, decider))
    await expectRefused(wallet, 'used', () => interactions.find(reference, ALICE_ALONE))
    wallet.clock.advance(5_000)
    const code = first === 'deny' ? 'request_denied' : 'invalid_continuation'
    expect((await resume(wallet, pending, { interact_ref: 'x' })).body.error.code).toBe(code)
  })

  it('INT-3 INT-4 is over at its deadline, and redirects nowhere then', async () => {
    const { wallet, reference, interactions, decider } = await opened()
    wallet.clock.advance(599_999)
    expect(await interactions.find(reference, ALICE_ALONE)).toMatchObject({ ok: true })
    wallet.clock.advance(1)
    await expectRefused(wallet, 'expired', () => interactions.find(reference, ALICE_ALONE))
    await expectRefused(wallet, 'expired', () => interactions.approve(reference, decider))
    await expectRefused(wallet, 'expired', () => interactions.deny(reference, decider))
    await wallet.openPayments.sweep()
    await expectRefused(wallet, 'expired', () => interactions.approve(reference, decider))
    wallet.clock.advance(24 * 3600 * 1000)
    await wallet.openPayments.sweep()
    await expectRefused(wallet, 'unknown', () => interactions.approve(reference, decider))
  })

  it('INT-3 has the deadline that the wallet sets for interactions, not that of tokens', async () => {
    const lifetimes = { interactionSeconds: 60, accessTokenSeconds: 120 }
    const wallet = await authWallet({ settings: { lifetimes } })
    const reference = referenceOf(await wallet.ask(CONSENT_REQUEST))
    wallet.clock.advance(60_000)
    await expectRefused(wallet, 'expired', () => wallet.openPayments.interactions.find(reference, ALICE_ALONE))
  })

  it('INT-4 of a cancelled grant is unknown, and redirects nowhere', async () => {
    const { wallet, pending, reference, interactions, decider } = await opened()
    expect((await cancel(wallet, pending)).status).toBe(204)
    await expectRefused(wallet, 'unknown', () => interactions.find(reference, ALICE_ALONE))
    await expectRefused(wallet, 'unknown', () => interactions.approve(reference, decider))
    await expectRefused(wallet, 'unknown', () => interactions.deny(reference, decider))
  })

  it('INT-4 of a grant that wrong references ended is unknown', async () => {
    const { wallet, pending, reference, interactions, decider } = await opened()
    wallet.clock.advance(5_000)
    for (let tries = 0; tries < 6; tries++) await resume(wallet, pending, { interact_ref: `wrong-${tries}` })
    await expectRefused(wallet, 'unknown', () => interactions.approve(reference, decider))
  })

  it('INT-10 needs a session', async () => {
    const { reference, interactions, decider } = await opened()
    const nobody = { ...decider, session: '' }
    await expect(interactions.find(reference, nobody)).rejects.toThrow(TypeError)
    await expect(interactions.approve(reference, nobody)).rejects.toThrow(TypeError)
    await expect(interactions.deny(reference, nobody)).rejects.toThrow(TypeError)
  })
})

/** The hash of RFC 9635, section 4.2.3, worked out beside the library. */
function expectedHash(pending: Answer, reference: string, encoding: 'base64' | 'base64url', endpoint = AUTH): string {
  const text = [FINISH.nonce, pending.body.interact.finish, reference, endpoint].join('\n')
  return createHash('sha256').update(text).digest(encoding)
}

describe('the finish redirect', () => {
  it('INT-7 INT-13 adds hash and interact_ref, and leaves the query of the client as it was', async () => {
    const { reference, interactions, decider, pending } = await opened(
      {},
      withFinish({ uri: 'https://shop.example/a%20b?x=1+2&y=%2f&&z' }),
    )
    const decided = await interactions.approve(reference, decider)
    if (!decided.ok || decided.redirect === undefined) throw new Error('no redirect')
    const interactRef = new URL(decided.redirect).searchParams.get('interact_ref') ?? ''
    const hash = expectedHash(pending, interactRef, 'base64')
    expect(decided.redirect).toBe(
      `https://shop.example/a%20b?x=1+2&y=%2f&&z&hash=${encodeURIComponent(hash)}&interact_ref=${interactRef}`,
    )
  })

  it('INT-7 replaces a hash and an interact_ref that were there', async () => {
    const uri = 'https://shop.example/?hash=1&a=2&interact_ref=3&h%61sh=4&result=5'
    const { reference, interactions, decider } = await opened({}, withFinish({ uri }))
    const decided = await interactions.approve(reference, decider)
    const query = new URL(decided.ok ? (decided.redirect ?? '') : '').searchParams
    expect([...query.keys()]).toEqual(['a', 'result', 'hash', 'interact_ref'])
    expect(query.get('interact_ref')).not.toBe('3')
  })

  it.each([
    ['D3 padded base64 where the client named no hash method', undefined, {}, 'base64'],
    ['D3 base64url where it did', 'auto', { hash_method: 'sha-256' }, 'base64url'],
    ['D3 base64 where the policy says so', 'base64', { hash_method: 'sha-256' }, 'base64'],
    ['D3 base64url where the policy says so', 'base64url', {}, 'base64url'],
  ] as const)('%s', async (_name, finishHashEncoding, change, encoding) => {
    const policies = finishHashEncoding === undefined ? {} : { finishHashEncoding }
    const { wallet, pending } = await opened({ settings: { policies } }, withFinish(change))
    const query = (await decideAs(wallet, pending))?.searchParams
    expect(query?.get('hash')).toBe(expectedHash(pending, query?.get('interact_ref') ?? '', encoding))
  })

  it('D17 no plus stands in it, which would arrive as a space', async () => {
    const wallet = await authWallet()
    for (let round = 0; round < 40; round++) {
      const redirect = await decideAs(wallet, await wallet.ask(CONSENT_REQUEST))
      expect(redirect?.search).not.toContain('+')
    }
  })

  it('T-16 the hash is over the published URL of the server, with its path', async () => {
    const authServer = 'https://wallet.example/auth'
    const { wallet, pending } = await opened({ authServer })
    const query = (await decideAs(wallet, pending))?.searchParams
    const interactRef = query?.get('interact_ref') ?? ''
    expect(query?.get('hash')).toBe(expectedHash(pending, interactRef, 'base64', authServer))
    expect(query?.get('hash')).not.toBe(expectedHash(pending, interactRef, 'base64', AUTH))
  })

  it('D7 of a denial carries result=grant_rejected, and no reference', async () => {
    const { reference, interactions, decider } = await opened()
    expect(await interactions.deny(reference, decider)).toEqual({
      ok: true,
      redirect: `${FINISH.uri}&result=grant_rejected`,
    })
  })

  it('D7 of a denial carries hash and reference where the policy says so', async () => {
    const { wallet, pending } = await opened({ settings: { policies: { finishOnDenial: 'gnap' } } })
    const query = (await decideAs(wallet, pending, 'deny'))?.searchParams
    expect(query?.get('hash')).toBe(expectedHash(pending, query?.get('interact_ref') ?? '', 'base64'))
    expect(query?.get('result')).toBeNull()
  })

  it('INT-5 is absent where the client asked for none', async () => {
    const request = { ...CONSENT_REQUEST, interact: { start: ['redirect'] } }
    const approved = await opened({}, request)
    expect(await approved.interactions.approve(approved.reference, approved.decider)).toEqual({ ok: true })
    const denied = await opened({}, request)
    expect(await denied.interactions.deny(denied.reference, denied.decider)).toEqual({ ok: true })
  })

  it('INT-15 the longest nonce is taken as it is', async () => {
    const nonce = ` ~${'n'.repeat(254)}`
    const { wallet, pending } = await opened({}, withFinish({ nonce }))
    const query = (await decideAs(wallet, pending))?.searchParams
    const text = [nonce, pending.body.interact.finish, query?.get('interact_ref'), AUTH].join('\n')
    expect(query?.get('hash')).toBe(createHash('sha256').update(text).digest('base64'))
  })
})

describe('the record of a decision', () => {
  const grantOf = async (wallet: AuthWallet): Promise<object> => {
    const record = (await wallet.records()).find(({ kind }) => kind === 'grant')
    if (record === undefined) throw new Error('no grant')
    return record.value
  }

  it('INT-12 says when it was taken, and of what was shown the digest', async () => {
    const { wallet, reference, interactions, decider } = await opened()
    const found = await interactions.find(reference, ALICE_ALONE)
    if (!found.ok) throw new Error(found.reason)
    const consentHash = createHash('sha256').update(JSON.stringify(found.consent)).digest('hex')
    wallet.clock.advance(1_000)
    await interactions.approve(reference, decider)
    expect(await grantOf(wallet)).toMatchObject({ state: 'approved', consentHash, decidedAt: wallet.clock.now() })
  })

  it('INT-12 says so of a denial too', async () => {
    const { wallet, reference, interactions, decider } = await opened()
    await interactions.deny(reference, decider)
    expect(await grantOf(wallet)).toMatchObject({
      state: 'finalised',
      finalisation: 'rejected',
      consentHash: expect.stringMatching(/^[0-9a-f]{64}$/),
      decidedAt: wallet.clock.now(),
    })
  })

  it('INT-12 is of what was shown last, where the windows have moved on since', async () => {
    const access = [
      {
        type: 'outgoing-payment',
        actions: ['create'],
        identifier: ALICE,
        limits: { interval: 'R/2026-01-01T00:00:00Z/PT1M' },
      },
    ]
    const { wallet, reference, interactions, decider } = await opened(
      {},
      { ...CONSENT_REQUEST, access_token: { access } },
    )
    wallet.clock.advance(60_000)
    const found = await interactions.find(reference, ALICE_ALONE)
    if (!found.ok) throw new Error(found.reason)
    expect(await interactions.approve(reference, decider)).toEqual({ ok: false, reason: 'bad_csrf' })
    await interactions.approve(reference, { ...decider, csrf: found.csrf })
    const consentHash = createHash('sha256').update(JSON.stringify(found.consent)).digest('hex')
    expect(await grantOf(wallet)).toMatchObject({ consentHash })
    expect(OWNER.walletAddresses).toContain(found.consent.walletAddress)
  })
})
