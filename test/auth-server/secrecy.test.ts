import { describe, expect, it } from 'vitest'
import { ALICE, AUTH, BASE, BOB, FINISH, OWNER, referenceOf, SECRET, usd } from '../support/test-wallet.ts'
import {
  type AuthWallet,
  approvedGrant,
  authWallet,
  CONSENT_REQUEST,
  cancel,
  INCOMING,
  OUTGOING,
  PLAIN_REQUEST,
  resume,
  revoke,
  rotate,
} from './auth-wallet.ts'

const asText = (value: unknown): string =>
  JSON.stringify(value, (_name, member) =>
    typeof member === 'bigint' ? member.toString() : member instanceof Error ? [member.message, member.stack] : member,
  )

/** Goes through everything that a client can do, right and wrong, and gives every secret that was on the wire. */
async function wholeFlow(wallet: AuthWallet): Promise<Readonly<Record<string, string>>> {
  const { interactions } = wallet.openPayments
  const plain = await wallet.ask(PLAIN_REQUEST)
  const plainToken = plain.body.access_token.value
  const created = await wallet.send('POST', `${BASE}/incoming-payments`, {
    token: plainToken,
    json: { walletAddress: BOB },
  })
  const pending = await wallet.ask({ ...CONSENT_REQUEST, access_token: { access: [OUTGOING] } })
  const reference = referenceOf(pending)
  const opened = await interactions.find(reference, OWNER)
  if (!opened.ok) throw new Error(opened.reason)
  const approved = await interactions.approve(reference, { ...OWNER, csrf: opened.csrf })
  const query = new URL(approved.ok ? (approved.redirect ?? '') : '').searchParams
  wallet.clock.advance(5_000)
  await resume(wallet, pending, { interact_ref: 'a wrong reference' })
  const issued = await resume(wallet, pending, { interact_ref: query.get('interact_ref') })
  const rotated = await rotate(wallet, issued)
  await rotate(wallet, issued, { token: 'a wrong token' })
  const token = rotated.body.access_token.value
  const payment = { walletAddress: ALICE, incomingPayment: created.body.id, debitAmount: usd('10') }
  expect((await wallet.send('POST', `${BASE}/outgoing-payments`, { token, json: payment })).status).toBe(201)
  await wallet.openPayments.drain()
  expect((await revoke(wallet, rotated)).status).toBe(204)
  expect((await cancel(wallet, issued)).status).toBe(204)
  await wallet.send('GET', created.body.id, { token: issued.body.access_token.value })
  await wallet.send('POST', `${AUTH}/continue/${'0'.repeat(32)}`, { token: 'a wrong token' })
  return {
    serverSecret: SECRET,
    session: 'session-1',
    plainToken,
    plainContinuation: plain.body.continue.access_token.value,
    sharedSecret: created.body.methods[0]?.sharedSecret ?? 'no shared secret',
    continuation: pending.body.continue.access_token.value,
    serverNonce: pending.body.interact.finish,
    clientNonce: FINISH.nonce,
    interactionReference: reference,
    csrf: opened.csrf,
    hash: query.get('hash') ?? 'no hash',
    interactRef: query.get('interact_ref') ?? 'no reference',
    issuedToken: issued.body.access_token.value,
    rotatedToken: token,
    wrongToken: 'a wrong token',
    wrongReference: 'a wrong reference',
  }
}

describe('secrets', () => {
  it('T-14 TOK-1 INT-14 none that was on the wire is in the store after a whole flow', async () => {
    const wallet = await authWallet()
    const secrets = await wholeFlow(wallet)
    const store = asText(await wallet.records())
    expect(store.length).toBeGreaterThan(5_000)
    expect(Object.entries(secrets).filter(([, secret]) => store.includes(secret))).toEqual([])
  })

  it('T-34 TOK-2 none is in an event', async () => {
    const wallet = await authWallet()
    const secrets = await wholeFlow(wallet)
    const events = asText(wallet.events)
    expect(wallet.events.length).toBeGreaterThan(12)
    expect(Object.entries(secrets).filter(([, secret]) => events.includes(secret))).toEqual([])
  })

  it('TOK-2 none is in the answer to a request that brought it in vain', async () => {
    const wallet = await authWallet()
    const { pending, interactRef } = await approvedGrant(wallet)
    const plain = await wallet.ask(PLAIN_REQUEST)
    const continuation = pending.body.continue.access_token.value
    const token = plain.body.access_token.value
    const refusals = [
      await resume(wallet, pending, { interact_ref: `${interactRef}x` }),
      await resume(wallet, plain, undefined, { token: continuation }),
      await rotate(wallet, plain, { token: continuation }),
      await revoke(wallet, plain, { token: continuation }),
      await wallet.send('GET', `${BASE}/quotes/1`, { token: `${token}x` }),
    ]
    for (const refusal of refusals) {
      expect(refusal.status).toBeGreaterThanOrEqual(400)
      for (const secret of [interactRef, continuation, token]) expect(refusal.text).not.toContain(secret)
    }
  })

  it('T-14 the nonce of the client is kept until the finish redirect alone, also where the owner denies', async () => {
    const wallet = await authWallet()
    const pending = await wallet.ask(CONSENT_REQUEST)
    expect(asText(await wallet.records())).toContain(FINISH.nonce)
    const opened = await wallet.openPayments.interactions.find(referenceOf(pending), OWNER)
    if (!opened.ok) throw new Error(opened.reason)
    await wallet.openPayments.interactions.deny(referenceOf(pending), { ...OWNER, csrf: opened.csrf })
    expect(asText(await wallet.records())).not.toContain(FINISH.nonce)
  })

  it('KEY-4 the private part of a key that a client sends is in no event and no answer', async () => {
    const wallet = await authWallet()
    const jwk = { ...wallet.client.key.jwk, d: 'the-private-part' }
    const answer = await wallet.ask({ ...PLAIN_REQUEST, client: { jwk } })
    expect([answer.status, answer.text?.includes('the-private-part')]).toEqual([400, false])
    expect(asText(wallet.events)).not.toContain('the-private-part')
  })

  it('TOK-10 a server that signs with a new secret honours what the old one made', async () => {
    const old = await authWallet()
    const { pending, interactRef } = await approvedGrant(old)
    const plain = await old.ask(PLAIN_REQUEST)
    const renewed = await authWallet({
      storage: old.storage,
      secrets: ['a new secret of the tests, long enough', SECRET],
    })
    renewed.directory.set(`${BASE}/client`, {
      ...old.directory.get(`${BASE}/client`),
      account: 'bob',
      assetCode: 'USD',
      assetScale: 2,
    })
    renewed.clock.advance(5_000)
    const as = old.client
    const issued = await resume(renewed, pending, { interact_ref: interactRef }, { as })
    expect(issued.status).toBe(200)
    const again = await resume(renewed, pending, { interact_ref: interactRef }, { as })
    expect(again.body.access_token.value).toBe(issued.body.access_token.value)
    expect((await rotate(renewed, plain, { as })).status).toBe(200)
  })

  it('EMB-4 T-23 members called __proto__ reach no object', async () => {
    const wallet = await authWallet()
    const polluted = '{"__proto__":{"isPolluted":true},"constructor":{"prototype":{"isPolluted":true}}}'
    const bodies = [
      `{"access_token":${polluted},"client":"x"}`,
      JSON.stringify({ ...PLAIN_REQUEST, more: 0 }).replace('0}', `${polluted}}`),
      JSON.stringify({ ...PLAIN_REQUEST, client: 0 }).replace('"client":0', `"client":${polluted}`),
      JSON.stringify({ access_token: { access: [0] }, client: PLAIN_REQUEST.client }).replace('[0]', `[${polluted}]`),
    ]
    for (const body of bodies) await wallet.send('POST', `${AUTH}/`, { body })
    expect(Reflect.get({}, 'isPolluted')).toBeUndefined()
    expect((await wallet.ask({ ...PLAIN_REQUEST, access_token: { access: [INCOMING] } })).status).toBe(200)
  })
})
