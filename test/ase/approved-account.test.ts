import type { DecidedInteraction, WalletAddress } from 'open-payments-server'
import { describe, expect, it } from 'vitest'
import {
  type AuthWallet,
  authWallet,
  CONSENT_REQUEST,
  INCOMING,
  INTERACT,
  OUTGOING,
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
