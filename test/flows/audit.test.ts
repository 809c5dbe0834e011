import { createHash, createPublicKey, verify } from 'node:crypto'
import type { AuditedPayment, Cryptography } from 'open-payments-server'
import { createSigningKey } from 'open-payments-server/testing'
import { describe, expect, it, vi } from 'vitest'
import { sendSignedBy } from '../auth-server/auth-wallet.ts'
import { lastSegment } from '../support/last-segment.ts'
import { type RecordedStorage, recordedStorage } from '../support/recorded-storage.ts'
import {
  ALICE,
  AUTH,
  BASE,
  CLIENT,
  continueWith,
  cryptography,
  grantWithConsent,
  incomingPayment,
  OWNER,
  referenceOf,
  requestConsent,
  SECRET,
  type Sending,
  type TestWallet,
  testWallet,
  usd,
} from '../support/test-wallet.ts'

const TOKEN_LIFE = 600_000
const DAY = 24 * 3600 * 1000
const ACCESS = [
  { type: 'outgoing-payment', actions: ['create', 'read'], identifier: ALICE, limits: { debitAmount: usd('100') } },
  { type: 'quote', actions: ['create', 'read'] },
]

interface Rig {
  readonly wallet: TestWallet
  readonly storage: RecordedStorage
  readonly token: string
  readonly receiver: string
}

async function rig(): Promise<Rig> {
  const storage = recordedStorage()
  const wallet = await testWallet({ storage })
  const { payment } = await incomingPayment(wallet)
  const granted = await grantWithConsent(wallet, ACCESS)
  return { wallet, storage, token: granted.body.access_token.value, receiver: payment.id }
}

async function pay({ wallet, token, receiver }: Rig, value = '5', sending: Sending = {}): Promise<string> {
  wallet.clock.advance(1000)
  const json = { walletAddress: ALICE, incomingPayment: receiver, debitAmount: usd(value) }
  const created = await wallet.send('POST', `${BASE}/outgoing-payments`, { token, json, ...sending })
  expect(created.status).toBe(201)
  await wallet.openPayments.drain()
  return lastSegment(created.body.id)
}

async function audit({ wallet }: Pick<Rig, 'wallet'>, walletAddress = ALICE): Promise<readonly AuditedPayment[]> {
  const payments: AuditedPayment[] = []
  for await (const payment of wallet.openPayments.audit(walletAddress)) payments.push(payment)
  // An export is text.
  return JSON.parse(JSON.stringify(payments))
}

async function auditOne(from: Pick<Rig, 'wallet'>): Promise<AuditedPayment> {
  const [payment, ...others] = await audit(from)
  if (payment === undefined || others.length > 0) throw new Error('one payment was expected')
  return payment
}

const sha256 = (text: string): Buffer => createHash('sha256').update(text).digest()

/** Checks the proof of a payment with nothing but its export; answers what was signed, by component. */
function verifyOffline({ signedRequest }: AuditedPayment): ReadonlyMap<string, string> {
  const { signatureBase = '', signature, publicKey, thumbprint, body } = signedRequest
  const jwk = { crv: 'Ed25519', kty: 'OKP', x: publicKey.x }
  const key = createPublicKey({ key: jwk, format: 'jwk' })
  expect(verify(null, Buffer.from(signatureBase), key, Buffer.from(signature, 'base64url'))).toBe(true)
  expect(sha256(JSON.stringify(jwk)).toString('base64url')).toBe(thumbprint)
  const lines = new Map(
    signatureBase.split('\n').map((line) => [line.split(': ', 1)[0] ?? '', line.replace(/^.*?: /, '')]),
  )
  const digest = createHash('sha512').update(body).digest('base64')
  expect(lines.get('"content-digest"')).toBe(`sha-512=:${digest}:`)
  return lines
}

describe('an audit', () => {
  it('T-42 verifies offline after a whole flow: who ordered what, under which grant, and where it is in the ledger', async () => {
    const storage = recordedStorage()
    const wallet = await testWallet({ storage })
    const { payment: incoming } = await incomingPayment(wallet)
    const pending = await requestConsent(wallet, ACCESS)
    const grantedAt = wallet.clock.now()
    const opened = await wallet.openPayments.interactions.find(referenceOf(pending), OWNER)
    if (!opened.ok) throw new Error(opened.reason)
    wallet.clock.advance(7000)
    const decided = await wallet.openPayments.interactions.approve(referenceOf(pending), {
      ...OWNER,
      csrf: opened.csrf,
      access: 'all',
    })
    const reference = new URL(decided.ok ? (decided.redirect ?? '') : '').searchParams.get('interact_ref')
    const token = (await continueWith(wallet, pending, reference)).body.access_token.value
    const quoted = { walletAddress: ALICE, receiver: incoming.id, method: 'ilp', debitAmount: usd('5') }
    const quote = await wallet.send('POST', `${BASE}/quotes`, { token, json: quoted })
    const json = { walletAddress: ALICE, quoteId: quote.body.id, metadata: { order: '\u{1F600}' } }
    const created = await wallet.send('POST', `${BASE}/outgoing-payments`, { token, json })
    const createdAt = wallet.clock.now()
    await wallet.openPayments.drain()
    wallet.clock.advance(TOKEN_LIFE)

    const payment = await auditOne({ wallet })
    const id = lastSegment(created.body.id)
    const creditId = sha256(`credit:${id}`).toString('hex').slice(0, 32)
    const { jwk } = wallet.client.key
    expect(payment).toEqual({
      id,
      walletAddress: ALICE,
      client: wallet.client.client,
      state: 'completed',
      states: ['created', 'sending', 'decided', 'completed'].map((state) => ({ state, at: createdAt })),
      createdAt,
      receiver: incoming.id,
      debitAmount: usd('5'),
      receiveAmount: usd('5'),
      fee: usd('0'),
      sentAmount: usd('5'),
      quoteId: lastSegment(quote.body.id),
      grant: {
        id: expect.stringMatching(/^[0-9a-f]{44}$/),
        createdAt: grantedAt,
        decidedAt: grantedAt + 7000,
        consentHash: sha256(JSON.stringify(opened.consent)).toString('hex'),
        access: ACCESS,
        subject: false,
      },
      signedRequest: {
        method: 'POST',
        targetUri: `${BASE}/outgoing-payments`,
        signatureBase: expect.any(String),
        signature: expect.stringMatching(/^[A-Za-z0-9_-]{86}$/),
        publicKey: { kid: jwk.kid, x: jwk.x },
        thumbprint: expect.any(String),
        body: JSON.stringify(json),
      },
      account: 'alice',
      payeeAccount: 'bob',
      holdId: id,
      creditId,
    })
    const signed = verifyOffline(payment)
    expect(signed.get('"@method"')).toBe(payment.signedRequest.method)
    expect(signed.get('"@target-uri"')).toBe(payment.signedRequest.targetUri)
    expect(signed.get('"authorization"')).toBe(`GNAP ${token}`)
    expect((await wallet.ledger.entries('alice')).map(({ transfer }) => transfer)).toContain(payment.holdId)
    expect((await wallet.ledger.entries('bob')).map(({ transfer }) => transfer)).toContain(payment.creditId)
  })

  it('T-42 proves a payment that two keys have signed by the first of them, with its own text and signature', async () => {
    const from = await rig()
    const { wallet, token, receiver } = from
    const { client } = wallet
    const second = { ...client, key: await createSigningKey(cryptography, 'second-key') }
    const account = { account: 'bob', assetCode: 'USD', assetScale: 2 }
    wallet.directory.set(CLIENT, { ...account, keys: [client.key.jwk, second.key.jwk] })
    const json = { walletAddress: ALICE, incomingPayment: receiver, debitAmount: usd('5') }
    for (const signers of [
      [client, second],
      [second, client],
    ]) {
      wallet.clock.advance(1000)
      const paid = await sendSignedBy(wallet, 'POST', `${BASE}/outgoing-payments`, { token, json }, signers)
      expect(paid.status).toBe(201)
    }
    await wallet.openPayments.drain()
    wallet.clock.advance(TOKEN_LIFE)
    const payments = await audit(from)
    for (const payment of payments) verifyOffline(payment)
    expect(payments.map(({ signedRequest }) => signedRequest.publicKey.kid)).toEqual(['second-key', client.key.keyId])
  })

  it('T-42 keeps the very bytes of the body, and proves no other', async () => {
    const from = await rig()
    const json = { walletAddress: ALICE, incomingPayment: from.receiver, debitAmount: usd('5') }
    const body = `\ufeff{\r\n\t"walletAddress" : ${JSON.stringify(json).slice(17)} \n`
    await pay(from, '5', { json: undefined, body })
    from.wallet.clock.advance(TOKEN_LIFE)
    const payment = await auditOne(from)
    expect(payment.signedRequest.body).toBe(body)
    verifyOffline(payment)
    const { signedRequest } = payment
    expect(() =>
      verifyOffline({ ...payment, signedRequest: { ...signedRequest, body: body.replace('5', '6') } }),
    ).toThrow()
    const signatureBase = signedRequest.signatureBase?.replace('POST', 'PUT') ?? ''
    expect(() => verifyOffline({ ...payment, signedRequest: { ...signedRequest, signatureBase } })).toThrow()
  })

  it.each([
    ['in the field alone', {}],
    ['of a scheme in other letters', { headers: { authorization: 'gNaP TOKEN' } }],
    ['in another field too', { headers: { 'x-copy': 'a TOKEN, TOKEN' } }],
    ['in its nonce', { nonce: 'TOKEN' }],
  ])('T-42 TOK-1 T-14 stores no token that the client has signed %s, and gives it back', async (_, sending) => {
    const from = await rig()
    const { headers = {}, ...more }: Sending = JSON.parse(JSON.stringify(sending).replaceAll('TOKEN', from.token))
    const content = ['content-digest', 'content-length', 'content-type']
    const components = [
      '@method',
      '@target-uri',
      'authorization',
      ...content,
      ...('x-copy' in headers ? ['x-copy'] : []),
    ]
    await pay(from, '5', { headers, components, ...more })
    const stored = JSON.stringify(await from.storage.records(), (_name, member) =>
      typeof member === 'bigint' ? member.toString() : member,
    )
    expect(stored).toContain('@target-uri')
    expect(stored).not.toContain(from.token)
    from.wallet.clock.advance(TOKEN_LIFE)
    verifyOffline(await auditOne(from))
  })

  it('T-42 withholds a signature base while its token can pay, and gives it once the token has expired or ended', async () => {
    for (const end of ['expires', 'is revoked', 'is rotated', 'is forgotten'] as const) {
      const from = await rig()
      const { wallet, token } = from
      await pay(from)
      const before = await auditOne(from)
      expect(before.signedRequest).toMatchObject({ withheld: 'token_usable', body: expect.any(String) })
      expect(JSON.stringify(before)).not.toContain(token)
      const [grant] = await wallet.openPayments.grants.list(ALICE)
      if (end === 'expires') {
        wallet.clock.advance(TOKEN_LIFE - 1001)
        expect((await auditOne(from)).signedRequest.signatureBase).toBeUndefined()
        wallet.clock.advance(1001)
      } else if (end === 'is rotated') {
        const manage = (await from.storage.records()).flatMap(({ kind, value }) =>
          kind === 'access-token' && 'manageId' in value && value.grantId === grant?.id ? [value.manageId] : [],
        )
        expect((await wallet.send('POST', `${AUTH}/token/${manage[0]}`, { token })).status).toBe(200)
      } else expect(await wallet.openPayments.grants.revoke(ALICE, grant?.id ?? '')).toBe(true)
      if (end === 'is forgotten') {
        wallet.clock.advance(40 * DAY)
        expect(await wallet.openPayments.sweep()).toBeGreaterThan(0)
      }
      const after = await auditOne(from)
      expect(verifyOffline(after).get('"authorization"')).toBe(`GNAP ${token}`)
      expect(after.signedRequest.withheld).toBeUndefined()
    }
  })

  it('T-42 keeps the grant of a payment for good: revoked and swept, it is in the audit', async () => {
    const from = await rig()
    await pay(from)
    const [grant] = await from.wallet.openPayments.grants.list(ALICE)
    const before = await auditOne(from)
    await from.wallet.openPayments.grants.revoke(ALICE, grant?.id ?? '')
    for (let year = 0; year < 3; year++) {
      from.wallet.clock.advance(366 * DAY)
      await from.wallet.openPayments.sweep()
    }
    const after = await auditOne(from)
    expect(after.grant).toEqual(before.grant)
    expect(after.grant).toMatchObject({ id: grant?.id, consentHash: expect.stringMatching(/^[0-9a-f]{64}$/) })
    verifyOffline(after)
  })

  it('T-42 says where the secret of a token is gone, and still gives the rest', async () => {
    const from = await rig()
    const id = await pay(from)
    const other = await testWallet({ storage: from.storage, secrets: ['another secret, of 32 characters or more'] })
    expect((await auditOne({ wallet: other })).signedRequest).toMatchObject({ withheld: 'secret_removed' })
    const rotated = await testWallet({
      storage: from.storage,
      secrets: ['a newer secret, of 32 characters or more', SECRET],
    })
    rotated.clock.advance(TOKEN_LIFE * 2)
    const payment = await auditOne({ wallet: rotated })
    expect(payment.id).toBe(id)
    verifyOffline(payment)
  })

  it('T-42 takes a failure for no removed secret: an export that says so is wrong for good', async () => {
    const from = await rig()
    await pay(from)
    let isBroken = false
    const hmacSha256: Cryptography['hmacSha256'] = async (key, data) => {
      if (isBroken) throw new Error('the key store is away')
      return cryptography.hmacSha256(key, data)
    }
    const wallet = await testWallet({ storage: from.storage, cryptography: { ...cryptography, hmacSha256 } })
    expect((await auditOne({ wallet })).signedRequest).toMatchObject({ withheld: 'token_usable' })
    isBroken = true
    await expect(auditOne({ wallet })).rejects.toThrow('the key store is away')
  })

  it('T-42 says why a payment failed', async () => {
    const from = await rig()
    await from.wallet.ledger.setPermissions('bob', { canSend: false, canReceive: false })
    await pay(from)
    expect(await auditOne(from)).toMatchObject({
      state: 'failed',
      failureReason: 'account_closed',
      sentAmount: usd('0'),
    })
  })

  it('T-42 says why a payment failed whose hold was refused late, and shows none that was refused at once', async () => {
    const from = await rig()
    const { wallet, receiver, token } = from
    const { hold } = wallet.ledger
    wallet.ledger.hold = async () => Promise.reject(new Error('down'))
    await pay(from)
    wallet.ledger.hold = hold
    await wallet.ledger.setPermissions('alice', { canSend: false, canReceive: true })
    wallet.clock.advance(60_000)
    await wallet.openPayments.recover()
    expect(await auditOne(from)).toMatchObject({ state: 'failed', failureReason: 'not_allowed' })
    const json = { walletAddress: ALICE, incomingPayment: receiver, debitAmount: usd('6') }
    expect((await wallet.send('POST', `${BASE}/outgoing-payments`, { token, json })).status).toBe(403)
    expect(await audit(from)).toHaveLength(1)
  })

  it('T-42 goes through every payment of the wallet address, newest first, whoever ordered it', async () => {
    const from = await rig()
    const rest = { ...from, token: (await grantWithConsent(from.wallet, ACCESS)).body.access_token.value }
    const ids: string[] = []
    for (let count = 0; count < 101; count++) ids.unshift(await pay(count % 20 === 0 ? from : rest, '1'))
    const list = vi.spyOn(from.storage, 'list')
    const payments = await audit(from)
    expect(payments.map(({ id }) => id)).toEqual(ids)
    // A place in the list and no more: a store may put it into words.
    const places = list.mock.calls.map(([{ after }]) => after)
    expect(places).toEqual([undefined, { createdAt: expect.any(Number), id: ids[99] }])
    expect(new Set(payments.map(({ grant }) => grant.id)).size).toBe(2)
    expect(await audit(from, `${BASE}/bob`)).toEqual([])
  })
})
