import type { KeySetResult } from 'open-payments-server'
import { describe, expect, it } from 'vitest'
import { ALICE, BASE, BOB, CLIENT, decideAs, directedClient, FINISH } from '../support/test-wallet.ts'
import {
  type AuthWallet,
  approvedGrant,
  authWallet,
  CONSENT_REQUEST,
  INCOMING,
  INTERACT,
  OUTGOING,
  PLAIN_REQUEST,
  resume,
  rotate,
} from './auth-wallet.ts'

const { interact: _, ...WITHOUT_INTERACT } = CONSENT_REQUEST
const withAccess = (...access: readonly unknown[]): unknown => ({ ...CONSENT_REQUEST, access_token: { access } })

describe('a refusal says why', () => {
  const shared = authWallet()
  it.each([
    ['GRT-3', withAccess(OUTGOING, { ...OUTGOING, identifier: `${ALICE}/` }), 'access repeats an entry'],
    [
      'GRT-3',
      withAccess({ type: 'outgoing-payment', actions: ['create'] }),
      'access_token.access.0.identifier: missing',
    ],
    ['GRT-6', WITHOUT_INTERACT, 'interact with start "redirect" is required for this access'],
    [
      'GRT-7',
      withAccess({ type: 'incoming-payment', actions: ['list-all'] }),
      'access of type incoming-payment needs an identifier here',
    ],
    [
      'GRT-7',
      withAccess({ ...INCOMING, identifier: `${BASE}/nobody` }),
      'identifier is not a wallet address of this server',
    ],
    ['GRT-7', withAccess(OUTGOING, { ...OUTGOING, identifier: BOB }), 'a grant must be about a single wallet address'],
    [
      'GRT-10',
      withAccess({ ...OUTGOING, limits: { debitAmount: { value: '1', assetCode: 'EUR', assetScale: 2 } } }),
      'limits.debitAmount is not in the asset of the wallet address',
    ],
    [
      'GRT-12',
      { client: CLIENT, interact: INTERACT, subject: { sub_ids: [{ id: `${BASE}/nobody`, format: 'uri' }] } },
      'subject is not a wallet address of this server',
    ],
    [
      'INT-5',
      { ...CONSENT_REQUEST, interact: { start: ['redirect'], finish: { ...FINISH, uri: 'http://shop.example/' } } },
      'interact.finish.uri must be an absolute https URL in ASCII, without fragment and userinfo, or of a scheme that this wallet allows',
    ],
  ])('%s of a grant request: %#', async (_id, body, description) => {
    const wallet = await shared
    const refusal = await wallet.expectRefusal(400, 'invalid_request', () => wallet.ask(body))
    expect(refusal.body.error.description).toBe(description)
  })

  it('GRT-5 of quotes alone where they need consent: nobody is named who could give it', async () => {
    const wallet = await authWallet({ settings: { policies: { withoutInteraction: [] } } })
    const quotes = withAccess({ type: 'quote', actions: ['create'] })
    const refusal = await wallet.expectRefusal(400, 'invalid_request', () => wallet.ask(quotes))
    expect(refusal.body.error.description).toBe('an identifier is required if the resource owner is asked')
  })

  it.each([
    ['http://shop.example/pay', 'client is not a wallet address'],
    ['https://shop.example/pay', 'the key set at https://shop.example/pay/jwks.json is unreachable'],
    [ALICE, 'keyid names no key of the client'],
  ])('1.2 of the client %s', async (client, description) => {
    const wallet = await authWallet()
    const refusal = await wallet.expectRefusal(400, 'invalid_client', () => wallet.ask({ ...PLAIN_REQUEST, client }))
    expect(refusal.body.error.description).toBe(description)
  })

  it.each<[KeySetResult, string, string]>([
    [{ ok: false, reason: 'unreachable' }, 'unreachable', ''],
    [{ ok: false, reason: 'unreachable', detail: 'it hangs up' }, 'unreachable', ': it hangs up'],
    [{ ok: false, reason: 'invalid', detail: 'it is no JSON' }, 'invalid', ': it is no JSON'],
  ])(
    'T-1 of a client whose keys cannot be had: why that is, the operator alone learns: %j',
    async (result, reason, detail) => {
      const keyResolver = { keySet: async () => result, publicName: async () => undefined }
      const wallet = await authWallet({ keyResolver })
      const client = 'https://shop.example/pay'
      const refusal = await wallet.expectRefusal(400, 'invalid_client', () => wallet.ask({ ...PLAIN_REQUEST, client }))
      const description = `the key set at https://shop.example/pay/jwks.json is ${reason}`
      expect(refusal.body.error.description).toBe(description)
      expect(refusal.text).not.toContain('it ')
      expect(wallet.events.at(-1)).toMatchObject({ condition: 'unknown_client', detail: `${description}${detail}` })
    },
  )

  it('KEY-1 KEY-13 of a directed identity', async () => {
    const wallet = await authWallet()
    const as = await directedClient()
    const jwk = { ...as.key.jwk, kty: 'RSA' }
    const unsound = await wallet.expectRefusal(400, 'invalid_client', () =>
      wallet.ask({ ...PLAIN_REQUEST, client: { jwk } }, { as }),
    )
    expect(unsound.body.error.description).toMatch(/^client\.jwk: .{8,}/)
    const asking = await wallet.expectRefusal(400, 'invalid_client', () =>
      wallet.ask({ ...CONSENT_REQUEST, client: as.client }, { as }),
    )
    expect(asking.body.error.description).toBe(
      'a client named by its key alone gets only what needs no consent: name its wallet address',
    )
  })

  it('1.2 of a continuation', async () => {
    const wallet = await authWallet()
    const pending = await wallet.ask(CONSENT_REQUEST)
    wallet.clock.advance(5_000)
    expect((await resume(wallet, pending, { interact_ref: 'x' })).body.error.description).toBe(
      'the resource owner has not decided',
    )
    const poll = async (on: AuthWallet): Promise<string> => {
      const refusal = await on.expectRefusal(401, 'request_denied', () => resume(on, pending))
      return refusal.body.error.description
    }
    expect(await poll(wallet)).toBe('this grant continues with the interact_ref of its finish redirect')
    await decideAs(wallet, pending, 'deny')
    expect(await poll(wallet)).toBe('the resource owner denied the request')
  })

  it('1.2 of a continuation with a wrong reference, which the client may correct', async () => {
    const wallet = await authWallet()
    const { pending } = await approvedGrant(wallet, CONSENT_REQUEST)
    wallet.clock.advance(5_000)
    const { status, body } = await resume(wallet, pending, { interact_ref: 'x' })
    const description = 'the interact_ref is wrong or was used, or this grant is over'
    expect([status, body.error]).toEqual([404, { code: 'invalid_continuation', description }])
  })

  it('CON-3 of a continuation before its time: the seconds that are left, rounded up', async () => {
    const wallet = await authWallet()
    const { pending } = await approvedGrant(wallet, { ...CONSENT_REQUEST, interact: { start: ['redirect'] } })
    const early = await wallet.ask(CONSENT_REQUEST)
    wallet.clock.advance(2_999)
    const refusal = await wallet.expectRefusal(400, 'too_fast', () => resume(wallet, early))
    expect(refusal.headers['retry-after']).toBe('3')
    expect(refusal.body.error.description).toBe('too early: continue in 3 s')
    expect((await resume(wallet, pending)).status).toBe(200)
  })

  it('KEY-15 of a rotation that asks for a key', async () => {
    const wallet = await authWallet()
    const grant = await wallet.ask(PLAIN_REQUEST)
    const refusal = await wallet.expectRefusal(400, 'invalid_rotation', () =>
      rotate(wallet, grant, { json: { key: 1 } }),
    )
    expect(refusal.body.error.description).toBe('a rotation takes no body; keys are not rotated here')
  })
})
