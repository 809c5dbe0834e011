import { inspect } from 'node:util'
import type { OpenPaymentsOptions } from 'open-payments-server'
import { consentPage } from 'open-payments-server/consent'
import { expect } from 'vitest'
import {
  type AuthWallet,
  authWallet,
  CONSENT_REQUEST,
  cancel,
  INCOMING,
  OUTGOING,
  PLAIN_REQUEST,
  resume,
  revoke,
  rotate,
} from '../auth-server/auth-wallet.ts'
import { keyed } from '../support/keyed.ts'
import { ALICE, type Answer, AUTH, BASE, BOB, FINISH, OWNER, referenceOf, SECRET, usd } from '../support/test-wallet.ts'

/** As a logger prints it: nested errors with their causes, and what is hidden in a string of JSON too. */
export const printed = (value: unknown): string =>
  inspect(value, {
    depth: Infinity,
    maxArrayLength: Infinity,
    maxStringLength: Infinity,
    breakLength: Infinity,
    showHidden: true,
  })

/** A wallet whose every answer is looked through for secrets, and for URLs and errors that tell one. */
export interface WatchedWallet extends AuthWallet {
  /** Every secret that was on the wire, by its value, with its name. */
  readonly secrets: Map<string, string>
  /** The bodies of all refusals and faults. */
  readonly refusals: string[]
  /** Every URL that the server has made. */
  readonly urls: string[]
}

const SECRET_MEMBERS: Readonly<Record<string, string>> = {
  value: 'token',
  finish: 'server nonce',
  sharedSecret: 'shared secret',
}

/** A wallet with the consent page, on which everything that is answered is watched. */
export async function watchedWallet(overrides: Partial<OpenPaymentsOptions> = {}): Promise<WatchedWallet> {
  const wallet = await authWallet({
    consent: consentPage({ walletName: 'A Wallet', authenticate: async () => OWNER }),
    ...overrides,
  })
  const secrets = new Map<string, string>([
    [SECRET, 'server secret'],
    [OWNER.session, 'session'],
  ])
  const refusals: string[] = []
  const urls: string[] = []
  const collect = (value: unknown): void => {
    if (typeof value !== 'object' || value === null) return
    for (const [name, member] of Object.entries(value)) {
      const secret = SECRET_MEMBERS[name]
      // The `value` of an amount has no name of a token.
      if (secret !== undefined && typeof member === 'string' && member.length > 20) secrets.set(member, secret)
      if (typeof member === 'string' && member.startsWith('https://')) urls.push(member)
      collect(member)
    }
  }
  const keep = (answer: Answer): Answer => {
    if (answer.status >= 400) refusals.push(answer.text ?? '')
    else collect(answer.body)
    if (answer.body?.interact !== undefined) secrets.set(referenceOf(answer), 'interaction reference')
    return answer
  }
  return {
    ...wallet,
    secrets,
    refusals,
    urls,
    ask: async (...given) => keep(await wallet.ask(...given)),
    send: async (...given) => keep(await wallet.send(...given)),
    sendRaw: async (...given) => keep(await wallet.sendRaw(...given)),
  }
}

/** The owner answers on the consent page; gives what came back to the client. */
async function answerOnPage(wallet: WatchedWallet, pending: Answer, decision: 'approve' | 'deny'): Promise<string> {
  const { redirect } = pending.body.interact
  const page = await wallet.send('GET', redirect)
  const csrf = /name="csrf" value="([^"]+)"/.exec(page.text ?? '')?.[1] ?? ''
  expect(csrf).not.toBe('')
  wallet.secrets.set(csrf, 'csrf')
  const headers = { 'content-type': 'application/x-www-form-urlencoded' }
  await wallet.send('POST', redirect, { headers, body: `decision=${decision}&csrf=x${csrf}` })
  const done = await wallet.send('POST', redirect, { headers, body: `decision=${decision}&csrf=${csrf}` })
  const finish = done.headers['location']
  if (finish === undefined) return ''
  const query = new URL(finish).searchParams
  const reference = query.get('interact_ref') ?? ''
  if (reference !== '') wallet.secrets.set(reference, 'interact_ref')
  const hash = query.get('hash') ?? ''
  if (hash !== '') wallet.secrets.set(hash, 'hash')
  wallet.secrets.set(pending.body.interact.finish, 'server nonce')
  return reference
}

const finishWith = (nonce: string): object => ({
  ...CONSENT_REQUEST,
  interact: { start: ['redirect'], finish: { ...FINISH, nonce } },
})

/** Everything that a client can do with grants and tokens. */
export async function useGrants(wallet: WatchedWallet): Promise<string> {
  const plain = await wallet.ask(PLAIN_REQUEST)
  const rotated = await rotate(wallet, plain)
  await rotate(wallet, plain)
  expect((await revoke(wallet, rotated)).status).toBe(204)
  expect((await cancel(wallet, plain)).status).toBe(204)

  for (const decision of ['approve', 'deny'] as const) {
    const nonce = `the-nonce-of-one-who-will-${decision}`
    const pending = await wallet.ask(finishWith(nonce))
    await resume(wallet, pending)
    const reference = await answerOnPage(wallet, pending, decision)
    wallet.secrets.set(nonce, 'client nonce')
    wallet.clock.advance(5_000)
    await resume(wallet, pending, { interact_ref: 'a wrong reference' })
    await resume(wallet, pending, { interact_ref: reference })
    await resume(wallet, pending, { interact_ref: reference })
  }
  const denied = await wallet.ask({ ...CONSENT_REQUEST, interact: { start: ['redirect'] } })
  await answerOnPage(wallet, denied, 'deny')
  wallet.clock.advance(5_000)
  expect((await resume(wallet, denied)).status).toBe(401)

  const polled = await wallet.ask({
    ...CONSENT_REQUEST,
    access_token: { access: [OUTGOING, { type: 'quote', actions: ['create', 'read'] }] },
    interact: { start: ['redirect'] },
  })
  wallet.clock.advance(5_000)
  expect((await resume(wallet, polled)).status).toBe(200)
  await answerOnPage(wallet, polled, 'approve')
  wallet.clock.advance(5_000)
  const issued = await resume(wallet, polled)
  const spending = await rotate(wallet, issued)
  expect(
    (await wallet.send('GET', `${BASE}/outgoing-payment-grant`, { token: issued.body.access_token.value })).status,
  ).toBe(401)
  return spending.body.access_token.value
}

/** Every request about money; `spending` may pay for Alice. Answers the refusal of a payment that cannot be made. */
export async function usePayments(wallet: WatchedWallet, spending: string): Promise<void> {
  const token = (
    await wallet.ask({
      ...PLAIN_REQUEST,
      access_token: { access: [{ ...INCOMING, actions: ['create', 'read', 'list', 'complete'] }] },
    })
  ).body.access_token.value
  const incoming = await wallet.send('POST', `${BASE}/incoming-payments`, {
    token,
    json: { walletAddress: BOB },
    ...keyed('order-7'),
  })
  expect(incoming.status).toBe(201)
  await wallet.send('GET', incoming.body.id, { token })
  await wallet.send('GET', incoming.body.id)
  const receiver = incoming.body.id
  const quote = await wallet.send('POST', `${BASE}/quotes`, {
    token: spending,
    json: { walletAddress: ALICE, receiver, method: 'ilp', debitAmount: usd('7') },
  })
  expect(quote.status).toBe(201)
  for (const json of [
    { walletAddress: ALICE, quoteId: quote.body.id },
    { walletAddress: ALICE, incomingPayment: receiver, debitAmount: usd('9') },
    { walletAddress: ALICE, incomingPayment: receiver, debitAmount: usd('999999') },
    { walletAddress: BOB, incomingPayment: receiver, debitAmount: usd('9') },
  ]) {
    await wallet.send('POST', `${BASE}/outgoing-payments`, {
      token: spending,
      json,
      ...keyed(JSON.stringify(json).length.toString()),
    })
    wallet.clock.advance(1_000)
  }
  await wallet.openPayments.drain()
  wallet.clock.advance(60_000)
  await wallet.openPayments.recover()
  await wallet.send('POST', `${receiver}/complete`, { token })
}

/** Puts every secret where it does not belong, one place after the other. */
export async function misplaceSecrets(wallet: WatchedWallet): Promise<void> {
  const { token } = await tokenToMisuse(wallet)
  // One of each kind.
  for (const secret of new Map([...wallet.secrets].map(([value, name]) => [name, value])).values()) {
    const quoted = encodeURIComponent(secret)
    const bodies = [secret, `"${secret}"`, `["${secret}"]`, `{"${secret}":"${secret}"}`]
    for (const body of bodies) {
      await wallet.send('POST', AUTH, { body })
      await wallet.send('POST', `${BASE}/quotes`, { body, token })
    }
    await wallet.ask({ ...PLAIN_REQUEST, client: secret })
    await wallet.ask({ ...PLAIN_REQUEST, access_token: { access: secret } })
    await wallet.ask({
      ...PLAIN_REQUEST,
      access_token: { access: [{ type: secret, actions: [secret], identifier: secret, limits: secret }] },
    })
    await wallet.ask({ ...PLAIN_REQUEST, interact: secret, subject: secret })
    await wallet.ask({
      ...CONSENT_REQUEST,
      interact: { start: [secret], finish: { method: secret, uri: secret, nonce: 7, hash_method: secret } },
    })
    await wallet.send('POST', `${BASE}/incoming-payments`, { token, json: { walletAddress: secret, metadata: secret } })
    await wallet.send('POST', `${BASE}/incoming-payments`, {
      token,
      json: { walletAddress: BOB, expiresAt: secret, incomingAmount: secret },
    })
    await wallet.send('GET', `${BASE}/incoming-payments?wallet-address=${quoted}&first=${quoted}&cursor=${quoted}`, {
      token,
    })
    await wallet.send('GET', `${BASE}/incoming-payments?wallet-address=${encodeURIComponent(BOB)}&cursor=${quoted}`, {
      token,
    })
    await wallet.send('GET', `${BASE}/wallet-address?wallet-address=${quoted}`)
    for (const path of ['continue', 'token', 'interact', 'quotes', 'incoming-payments', 'nowhere'])
      await wallet.send('POST', `${path === 'quotes' || path.startsWith('in') ? BASE : AUTH}/${path}/${quoted}`, {
        token: `${quoted}x`,
      })
    await wallet.send('GET', `${BASE}/outgoing-payment-grant`, { headers: { authorization: `Bearer ${secret}` } })
    await wallet.send('GET', `${BASE}/outgoing-payment-grant`, {
      headers: { authorization: `GNAP ${secret} ${secret}` },
    })
    await wallet.send('GET', `${BASE}/outgoing-payment-grant`, {
      token,
      nonce: 'n',
      tag: 'gnap',
      label: 'a',
      headers: { 'content-encoding': secret },
    })
  }
}

async function tokenToMisuse(wallet: WatchedWallet): Promise<{ readonly token: string }> {
  const granted = await wallet.ask({
    ...PLAIN_REQUEST,
    access_token: {
      access: [
        { type: 'incoming-payment', actions: ['create', 'read', 'list'] },
        { type: 'quote', actions: ['create'] },
      ],
    },
  })
  return { token: granted.body.access_token.value }
}

/** The names of the secrets that a text tells, as they are or as they stand in a URL or in JSON. */
export function toldBy(text: string, { secrets }: WatchedWallet): readonly string[] {
  const forms = (secret: string): readonly string[] => [
    secret,
    encodeURIComponent(secret),
    btoa(secret),
    btoa(secret).replace(/=+$/, ''),
  ]
  return [...secrets]
    .filter(([secret]) => forms(secret).some((form) => text.includes(form)))
    .map(([secret, name]) => `${name} ${secret}`)
}
