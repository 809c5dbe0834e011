import type { DecidedInteraction, WalletAddress } from 'open-payments-server'
import { describe, expect, it } from 'vitest'
import {
  type AuthWallet,
  approvedGrant,
  authWallet,
  CONSENT_REQUEST,
  INCOMING,
  INTERACT,
  OUTGOING,
  resume,
} from '../auth-server/auth-wallet.ts'
import { ALICE, type Answer, CLIENT, continueWith, decideAs, OWNER, referenceOf } from '../support/test-wallet.ts'

const DORA: WalletAddress = { account: 'dora', assetCode: 'USD', assetScale: 2 }
const SUBJECT = { sub_ids: [{ id: ALICE, format: 'uri' }] }

interface Shown {
  readonly wallet: AuthWallet
  readonly pending: Answer
  /** Approves what was shown before. */
  readonly approve: () => Promise<DecidedInteraction>
}

/** A grant that was asked for and shown to the owner of Alice's wallet address. */
async function shown(request: unknown = CONSENT_REQUEST): Promise<Shown> {
  const wallet = await authWallet()
  const pending = await wallet.ask(request)
  const reference = referenceOf(pending)
  const { interactions } = wallet.openPayments
  const opened = await interactions.find(reference, OWNER)
  if (!opened.ok) throw new Error(opened.reason)
  const approver = { ...OWNER, csrf: opened.csrf, access: 'all' } as const
  return { wallet, pending, approve: () => interactions.approve(reference, approver) }
}

/** What was asked for, once its owner has approved and the client may continue. */
async function approvedFor(request: unknown) {
  const wallet = await authWallet()
  const { pending, interactRef } = await approvedGrant(wallet, request)
  return { wallet, carryOn: () => resume(wallet, pending, { interact_ref: interactRef }) }
}

const faultsOf = ({ events }: AuthWallet): readonly unknown[] =>
  events.flatMap((event) => (event.type === 'fault' ? [[event.message, event.cause && String(event.cause)]] : []))

describe('a wallet address that has another account than when its grant was asked for', () => {
  it.each<[string, unknown]>([
    ['access', CONSENT_REQUEST],
    ['a subject', { client: CLIENT, interact: INTERACT, subject: SUBJECT }],
    ['both', { ...CONSENT_REQUEST, subject: SUBJECT }],
    [
      'several entries',
      { ...CONSENT_REQUEST, access_token: { access: [INCOMING, { ...OUTGOING, actions: ['list'] }] } },
    ],
  ])('RS-13 T-52 is not approved for it: %s', async (_name, request) => {
    const { wallet, pending, approve } = await shown(request)
    const known = wallet.directory.get(ALICE) ?? DORA
    wallet.directory.set(ALICE, DORA)
    const before = await wallet.records()
    expect(await approve()).toEqual({ ok: false, reason: 'not_owner' })
    expect(await wallet.records()).toEqual(before)
    const cause = `Error: ${ALICE}: account "alice" before, "dora" in the directory`
    expect(faultsOf(wallet)).toEqual([['a wallet address now has a different account', cause]])

    wallet.directory.set(ALICE, known)
    const redirect = await decideAs(wallet, pending)
    const continued = await continueWith(wallet, pending, redirect?.searchParams.get('interact_ref'))
    expect(continued.status).toBe(200)
  })
})

describe('a wallet address whose account is not active', () => {
  it('RS-13 is approved nothing, until it is active again', async () => {
    const { wallet, approve } = await shown()
    const known = wallet.directory.get(ALICE) ?? DORA
    wallet.directory.set(ALICE, { ...known, isActive: false })
    const before = await wallet.records()
    expect(await approve()).toEqual({ ok: false, reason: 'wider_access' })
    expect(await wallet.records()).toEqual(before)
    wallet.directory.set(ALICE, known)
    expect(await approve()).toMatchObject({ ok: true })
  })
})

describe('a subject that was approved', () => {
  const ASKED = { client: CLIENT, interact: INTERACT, subject: SUBJECT }
  const OTHER = [`Error: ${ALICE}: account "alice" before, "dora" in the directory`]
  it.each<[string, (known: WalletAddress) => WalletAddress | undefined, readonly string[]]>([
    ['another account', () => DORA, OTHER],
    ['an inactive account', (known) => ({ ...known, isActive: false }), []],
    ['no account', () => undefined, []],
  ])('GRT-12 RS-13 T-52 is not said while its wallet address has %s', async (_name, now, causes) => {
    for (const request of [ASKED, { ...CONSENT_REQUEST, subject: SUBJECT }]) {
      const { wallet, carryOn } = await approvedFor(request)
      const known = wallet.directory.get(ALICE) ?? DORA
      const change = now(known)
      const alter = (): unknown => (change ? wallet.directory.set(ALICE, change) : wallet.directory.delete(ALICE))
      const expected = causes.map((cause) => ['a wallet address now has a different account', cause])

      alter()
      await wallet.expectRefusal(401, 'request_denied', carryOn)
      expect(faultsOf(wallet)).toEqual(expected)
      wallet.directory.set(ALICE, known)
      const first = await carryOn()
      expect(first.body.subject).toEqual(SUBJECT)

      alter()
      await wallet.expectRefusal(401, 'request_denied', carryOn)
      expect(faultsOf(wallet)).toEqual([...expected, ...expected])
      wallet.directory.set(ALICE, known)
      expect((await carryOn()).body).toEqual(first.body)
    }
  })

  it('RS-13 a token alone is still given: it is refused wherever it would matter', async () => {
    const { wallet, carryOn } = await approvedFor(CONSENT_REQUEST)
    wallet.directory.set(ALICE, DORA)
    expect((await carryOn()).status).toBe(200)
  })
})

describe('an approval while the directory', () => {
  const FAILURES = {
    throws: ['the directory of wallet addresses failed', 'Error: the directory is away'],
    'is late': ['the directory of wallet addresses did not answer in time', undefined],
  } as const
  it.each(['throws', 'is late'] as const)('RS-13 %s decides nothing, and is taken once it answers', async (failure) => {
    const { wallet, approve } = await shown()
    const before = await wallet.records()
    Object.assign(wallet.directory, {
      get: () => {
        if (failure === 'throws') throw new Error('the directory is away')
        wallet.clock.advance(60_000)
        return new Promise(() => undefined)
      },
    })
    await expect(approve()).rejects.toMatchObject({ name: 'OpenPaymentsError', condition: { status: 503 } })
    expect(await wallet.records()).toEqual(before)
    expect(faultsOf(wallet)).toEqual([FAILURES[failure]])
    Reflect.deleteProperty(wallet.directory, 'get')
    expect(await approve()).toMatchObject({ ok: true })
  })
})
