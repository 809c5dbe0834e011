import { createHash } from 'node:crypto'
import type { Access, Approver, DecidedInteraction, Decider, Storage } from 'open-payments-server'
import { memoryStorage } from 'open-payments-server/storage/memory'
import { describe, expect, it } from 'vitest'
import { type AuthWallet, authWallet, CONSENT_REQUEST, INTERACT, OUTGOING, resume } from '../auth-server/auth-wallet.ts'
import {
  ALICE,
  type Answer,
  BASE,
  decideAs,
  incomingPayment,
  OWNER,
  referenceOf,
  type Sending,
  usd,
} from '../support/test-wallet.ts'

const QUOTE = { type: 'quote', actions: ['create', 'read'] } as const
const ASKED = [{ ...OUTGOING, limits: { debitAmount: usd('1000') } }, QUOTE]
const LESS: readonly Access[] = [{ ...OUTGOING, actions: ['create'], limits: { debitAmount: usd('300') } }]

interface Shown {
  readonly wallet: AuthWallet
  readonly pending: Answer
  readonly consentHash: string
  approve(access: Approver['access']): Promise<DecidedInteraction>
}

async function shown(members: Readonly<Record<string, unknown>> = {}, wallet?: AuthWallet): Promise<Shown> {
  const opened = wallet ?? (await authWallet())
  const pending = await opened.ask({ ...CONSENT_REQUEST, access_token: { access: ASKED }, ...members })
  const { interactions } = opened.openPayments
  const reference = referenceOf(pending)
  const found = await interactions.find(reference, OWNER)
  if (!found.ok) throw new Error(found.reason)
  const decider: Decider = { ...OWNER, csrf: found.csrf }
  return {
    wallet: opened,
    pending,
    consentHash: createHash('sha256').update(JSON.stringify(found.consent)).digest('hex'),
    approve: (access) => interactions.approve(reference, { ...decider, access }),
  }
}

async function issue({ wallet, pending }: Shown, decided: DecidedInteraction): Promise<Answer> {
  const redirect = decided.ok ? new URL(decided.redirect ?? '') : undefined
  wallet.clock.advance(5_000)
  return resume(wallet, pending, { interact_ref: redirect?.searchParams.get('interact_ref') })
}

describe('an approval of a part', () => {
  it('GRT-13 is what the client is answered, and what is kept beside the hash of what was shown', async () => {
    const all = await shown()
    const issued = await issue(all, await all.approve(LESS))
    expect(issued.body.access_token.access).toEqual(LESS)
    const { body } = await resume(all.wallet, all.pending, undefined, {})
    expect(body.error.code).toBe('invalid_continuation')
    const records = await all.wallet.records()
    const grant = records.find(({ kind }) => kind === 'grant')
    expect(grant?.value).toMatchObject({ state: 'issued', access: LESS, consentHash: all.consentHash })
    expect(records.find(({ kind }) => kind === 'access-token')?.value).toMatchObject({ access: LESS })
    expect(await all.wallet.openPayments.grants.list(ALICE)).toMatchObject([{ access: LESS }])
  })

  it('GRT-13 holds the client to its limits and its actions', async () => {
    const all = await shown()
    const { payment } = await incomingPayment(all.wallet)
    const token = (await issue(all, await all.approve(LESS))).body.access_token.value
    const pay = (value: string): Promise<Answer> => {
      const json = { walletAddress: ALICE, incomingPayment: payment.id, debitAmount: usd(value) }
      return all.wallet.send('POST', `${BASE}/outgoing-payments`, { token, json })
    }
    expect((await pay('301')).status).toBe(403)
    const paid = await pay('300')
    expect(paid.status).toBe(201)
    expect((await pay('1')).status).toBe(403)
    expect((await all.wallet.send('GET', paid.body.id, { token })).status).toBe(403)
    const json = { walletAddress: ALICE, receiver: payment.id, method: 'ilp', debitAmount: usd('1') }
    const sending: Sending = { token, json }
    expect((await all.wallet.send('POST', `${BASE}/quotes`, sending)).status).toBe(403)
  })

  it('GRT-13 all of it is granted where that is said', async () => {
    const all = await shown()
    const issued = await issue(all, await all.approve('all'))
    expect(issued.body.access_token.access).toEqual(ASKED)
  })

  it('GRT-13 limits may be added that fit the account', async () => {
    const limits = {
      debitAmount: usd('5'),
      interval: 'R/2026-01-01T00:00:00Z/P1M',
      receiver: `${BASE}/incoming-payments/1`,
    }
    const all = await shown({ access_token: { access: [OUTGOING] } })
    const issued = await issue(all, await all.approve([{ ...OUTGOING, limits }]))
    expect(issued.body.access_token.access).toEqual([{ ...OUTGOING, limits }])
  })

  const subject = { sub_ids: [{ id: ALICE, format: 'uri' }] }

  it('GRT-13 GRT-12 the subject alone may be granted where it was asked for', async () => {
    const all = await shown({ subject, interact: INTERACT })
    const issued = await issue(all, await all.approve([]))
    expect([issued.status, issued.body.access_token, issued.body.subject]).toEqual([200, undefined, subject])
  })

  it.each<[string, readonly Access[]]>([
    ['nothing', []],
    ['a larger amount', [{ ...OUTGOING, limits: { debitAmount: usd('1001') } }]],
    ['no limit', [OUTGOING]],
    ['another action', [{ ...OUTGOING, actions: ['create', 'list'], limits: { debitAmount: usd('1') } }]],
    ['another wallet address', [{ ...OUTGOING, identifier: `${BASE}/bob`, limits: { debitAmount: usd('1') } }]],
    ['another type', [{ type: 'incoming-payment', actions: ['create'], identifier: ALICE }]],
    ['two entries for one', [...LESS, { ...OUTGOING, limits: { debitAmount: usd('200') } }]],
    ['an amount that is none', [{ ...OUTGOING, limits: { debitAmount: usd('-1') } }]],
  ])('GRT-13 %s is refused, changes nothing, and can be answered again', async (_name, access) => {
    const all = await shown()
    const before = await all.wallet.records()
    expect(await all.approve(access)).toEqual({ ok: false, reason: 'wider_access' })
    expect(await all.wallet.records()).toEqual(before)
    expect((await issue(all, await all.approve(LESS))).body.access_token.access).toEqual(LESS)
  })

  it('GRT-13 an access that a screen has lost is refused, and is not all of it', async () => {
    const all = await shown()
    const access: readonly Access[] = JSON.parse('{}').access
    const before = await all.wallet.records()
    expect(await all.approve(access)).toEqual({ ok: false, reason: 'wider_access' })
    expect(await all.wallet.records()).toEqual(before)
  })

  it.each([
    ['in another asset than the account', { debitAmount: { ...usd('1'), assetCode: 'EUR' } }],
    ['at another scale than the account', { debitAmount: { ...usd('1'), assetScale: 3 } }],
    ['without a window', { interval: 'R0/2026-01-01T00:00:00Z/P1M' }],
  ])('GRT-13 GRT-10 a limit that is added %s is refused', async (_name, limits) => {
    const wallet = await authWallet({ settings: { policies: { intervalCounting: 'total' } } })
    const all = await shown({ access_token: { access: [OUTGOING] } }, wallet)
    const before = await wallet.records()
    expect(await all.approve([{ ...OUTGOING, limits }])).toEqual({ ok: false, reason: 'wider_access' })
    expect(await wallet.records()).toEqual(before)
    const fitting = { debitAmount: usd('1'), interval: 'R1/2026-01-01T00:00:00Z/P1M' }
    expect(await all.approve([{ ...OUTGOING, limits: fitting }])).toMatchObject({ ok: true })
  })

  it('GRT-13 GRT-10 a limit that does not fit is refused beside one that does', async () => {
    const [paying, reading]: readonly Access[] = [
      { ...OUTGOING, actions: ['create'] },
      { ...OUTGOING, actions: ['read'] },
    ]
    const fitting = { debitAmount: usd('1') }
    const other = { debitAmount: { ...usd('1'), assetCode: 'EUR' } }
    const all = await shown({ access_token: { access: [paying, reading] } })
    const given = (first: object, second: object): readonly Access[] => [
      { ...OUTGOING, actions: ['create'], limits: first },
      { ...OUTGOING, actions: ['read'], limits: second },
    ]
    expect(await all.approve(given(fitting, other))).toEqual({ ok: false, reason: 'wider_access' })
    expect(await all.approve(given(other, fitting))).toEqual({ ok: false, reason: 'wider_access' })
    expect(await all.approve(given(fitting, fitting))).toMatchObject({ ok: true })
  })

  it('GRT-13 a part is refused where the account is gone', async () => {
    const all = await shown()
    all.wallet.directory.delete(ALICE)
    expect(await all.approve(LESS)).toEqual({ ok: false, reason: 'wider_access' })
  })

  it('GRT-13 T-31 is not taken for another answer that came first, where the storage does not say whether it was committed', async () => {
    const inner = memoryStorage()
    let before: (() => Promise<unknown>) | undefined
    const storage: Storage = {
      ...inner,
      async commit(changes) {
        const other = before
        before = undefined
        if (other === undefined) return inner.commit(changes)
        await other()
        throw new Error('connection lost')
      },
    }
    const all = await shown({}, await authWallet({ storage }))
    let first: DecidedInteraction | undefined
    before = async () => {
      first = await all.approve('all')
    }
    await expect(all.approve(LESS)).rejects.toThrow('the outcome of a commit is unknown')
    expect(first).toMatchObject({ ok: true })
    expect(await all.approve(LESS)).toEqual({ ok: false, reason: 'used' })
  })

  it('GRT-13 INT-10 needs the value that came with the interaction, like every decision', async () => {
    const { wallet, pending, approve } = await shown()
    const reference = referenceOf(pending)
    const { interactions } = wallet.openPayments
    const before = await wallet.records()
    expect(await interactions.approve(reference, { ...OWNER, csrf: 'x', access: LESS })).toEqual({
      ok: false,
      reason: 'bad_csrf',
    })
    expect(await wallet.records()).toEqual(before)
    expect(await approve(LESS)).toMatchObject({ ok: true })
    await expect(decideAs(wallet, pending)).rejects.toThrow('used')
  })
})
