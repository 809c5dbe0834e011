import { createHash } from 'node:crypto'
import { alterRequest, type InMemoryRequest } from 'open-payments-server/testing'
import { describe, expect, it } from 'vitest'
import { fetchKeyResolver } from '../../src/runtime/fetch-key-resolver.ts'
import { fakeNetwork } from '../key-resolver/fake-network.ts'
import { fakeClock } from '../support/fake-clock.ts'
import { silence } from '../support/gate.ts'
import { keyRegistry, remoteClient, SHOP } from '../support/key-registry.ts'
import { asPhp, asRust } from '../support/malformed-signatures.ts'
import {
  type Answer,
  AUTH,
  BASE,
  cryptography,
  decideAs,
  directedClient,
  FINISH,
  type Sending,
} from '../support/test-wallet.ts'
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
  tokenStatus,
  unchecked,
} from './auth-wallet.ts'

// Twenty behaviours of a server break one of the clients that are deployed. By their numbers: none of them is ours.

/** A grant with consent, from request to cancellation, in the way of one client. Answers everything it was told. */
async function journey(wallet: AuthWallet, sending: Sending = {}, suffix = ''): Promise<readonly Answer[]> {
  const pending = await wallet.send('POST', `${AUTH}${suffix}`, { json: CONSENT_REQUEST, ...sending })
  const redirect = await decideAs(wallet, pending)
  wallet.clock.advance(5_000)
  const { uri, access_token: continuation } = pending.body.continue
  const json = { interact_ref: redirect?.searchParams.get('interact_ref'), client: 'https://shop.example/pay' }
  const issued = await wallet.send('POST', `${uri}${suffix}`, { token: continuation.value, json, ...sending })
  const { manage, value } = issued.body.access_token
  const rotated = await wallet.send('POST', `${manage}${suffix}`, { token: value, ...sending })
  const { access_token: renewed } = rotated.body
  const revoked = await wallet.send('DELETE', `${renewed.manage}${suffix}`, { token: renewed.value, ...sending })
  const { access_token: last, uri: end } = issued.body.continue
  const ended = await wallet.send('DELETE', `${end}${suffix}`, { token: last.value, ...sending })
  const answers = [pending, issued, rotated, revoked, ended]
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 204, 204])
  return answers
}

/** The requests that a wallet was sent, as they were signed. */
function recorder(): {
  readonly signed: InMemoryRequest[]
  readonly alter: (request: InMemoryRequest) => InMemoryRequest
} {
  const signed: InMemoryRequest[] = []
  return {
    signed,
    alter: (request) => {
      signed.push(request)
      return request
    },
  }
}

describe('what deployed clients send', () => {
  it('client behaviour 1: the target is what was configured, whatever Host and proxies say', async () => {
    const wallet = await authWallet()
    const headers = { host: ['auth.wallet'], 'x-forwarded-host': ['evil.example'], 'x-forwarded-proto': ['http'] }
    const [pending] = await journey(wallet, { alter: (request) => alterRequest(request, { headers }) })
    expect(pending?.text).not.toContain('evil.example')
  })

  it('client behaviour 1: a grant request that was signed for another server is not relayed to this one', async () => {
    const wallet = await authWallet()
    await wallet.expectRefusal(401, 'invalid_client', () =>
      wallet.send('POST', 'https://evil.example/', {
        json: PLAIN_REQUEST,
        alter: (request) => alterRequest(request, { headers: { host: ['auth.wallet.example'] } }),
      }),
    )
  })

  it('client behaviour 2: D2 the PHP SDK leaves the colons out, and puts a slash behind URLs', async () => {
    const wallet = await authWallet()
    await journey(wallet, { alter: asPhp }, '/')
    expect(wallet.events).toContainEqual(
      expect.objectContaining({ type: 'legacy_signature_syntax', syntax: 'php', keyId: wallet.client.key.keyId }),
    )
  })

  it('client behaviour 2: D2 the Rust SDK leaves the quotes of component names out, and the label of its signature', async () => {
    const wallet = await authWallet()
    const { key } = wallet.client
    const { signed, alter } = recorder()
    const grant = await wallet.ask(PLAIN_REQUEST, { alter })
    await rotate(wallet, grant, { headers: { 'content-type': 'application/json' }, alter })
    const urls = [`${AUTH}/`, grant.body.access_token.manage]
    for (const [index, request] of signed.entries()) {
      const created = Math.floor(wallet.clock.now() / 1000)
      const rust = await asRust(request, { url: urls[index] ?? '', key, created })
      expect((await wallet.sendRaw(rust)).status).toBe(200)
    }
    const used = wallet.events.filter(({ type }) => type === 'legacy_signature_syntax')
    expect(used).toMatchObject([{ syntax: 'rust' }, { syntax: 'rust' }])
  })

  it.each(['php', 'rust'] as const)('D2 the shape of %s is refused where it is not listed', async (syntax) => {
    const others = (['php', 'rust'] as const).filter((one) => one !== syntax)
    for (const legacySignatureSyntax of [others, []]) {
      const wallet = await authWallet({ settings: { policies: { legacySignatureSyntax } } })
      const { signed, alter } = recorder()
      expect((await wallet.ask(PLAIN_REQUEST, { alter })).status).toBe(200)
      const { key } = wallet.client
      const created = Math.floor(wallet.clock.now() / 1000)
      for (const request of signed) {
        const legacy = syntax === 'php' ? asPhp(request) : await asRust(request, { url: `${AUTH}/`, key, created })
        await wallet.expectRefusal(401, 'invalid_client', () => wallet.sendRaw(legacy))
      }
    }
  })

  it('D2 the legacy shapes relax nothing else', async () => {
    const wallet = await authWallet()
    const now = Math.floor(wallet.clock.now() / 1000)
    const alter = asPhp
    await wallet.expectRefusal(401, 'invalid_client', () => wallet.ask(PLAIN_REQUEST, { alter, created: now - 301 }))
    const components = ['@method', '@target-uri']
    await wallet.expectRefusal(401, 'invalid_client', () => wallet.ask(PLAIN_REQUEST, { alter, components }))
    expect((await wallet.ask(PLAIN_REQUEST, { alter, nonce: 'n' })).status).toBe(200)
    await wallet.expectRefusal(401, 'invalid_client', () => wallet.ask(PLAIN_REQUEST, { alter, nonce: 'n' }))
  })

  it.each([
    ['tag="gnap", as RFC 9635 asks for', { tag: 'gnap' }],
    ['alg, as the Go and Python SDKs do', { alg: 'ed25519' }],
    [
      'both, with a nonce, an expiry and another label',
      { tag: 'gnap', alg: 'ed25519', nonce: 'n', expires: 4e9, label: 'x' },
    ],
    ['none of them', {}],
  ])('client behaviour 3: a signature may have %s', async (_, sending) => {
    const wallet = await authWallet()
    expect((await wallet.ask(PLAIN_REQUEST, sending)).status).toBe(200)
    // A nonce is used once.
    if (!('nonce' in sending)) await journey(wallet, sending)
  })

  it('client behaviour 3: components and parameters may stand in any order', async () => {
    const wallet = await authWallet()
    const { pending, interactRef } = await approvedGrant(wallet)
    const components = ['content-digest', 'content-type', 'authorization', '@target-uri', 'content-length', '@method']
    expect((await resume(wallet, pending, { interact_ref: interactRef }, { components })).status).toBe(200)
  })

  it('client behaviour 4: identical requests within a second are each answered', async () => {
    const wallet = await authWallet()
    const { signed, alter } = recorder()
    const [first, second] = [await wallet.ask(PLAIN_REQUEST, { alter }), await wallet.ask(PLAIN_REQUEST, { alter })]
    expect(signed[0]?.headers).toEqual(signed[1]?.headers)
    expect([first.status, second.status]).toEqual([200, 200])
    expect(second.body.access_token.value).not.toBe(first.body.access_token.value)
  })

  it('client behaviour 5: content type and length need not be covered, and may be where there is no body', async () => {
    const wallet = await authWallet()
    const grant = await wallet.ask(PLAIN_REQUEST, { components: ['@method', '@target-uri', 'content-digest'] })
    expect(grant.status).toBe(200)
    const components = ['@method', '@target-uri', 'content-type', 'authorization']
    const headers = { 'content-type': 'application/json' }
    expect((await rotate(wallet, grant, { headers, components })).status).toBe(200)
  })

  it('client behaviour 6: a content type, a length of 0 and the digest of nothing may be there without a body', async () => {
    const wallet = await authWallet()
    const grant = await wallet.ask(PLAIN_REQUEST)
    const digest = Buffer.from(await cryptography.sha512(new Uint8Array())).toString('base64')
    const headers = {
      'content-type': 'application/json',
      'content-length': '0',
      'content-digest': `sha-512=:${digest}:`,
    }
    const components = ['@method', '@target-uri', 'content-type', 'authorization']
    const rotated = await rotate(wallet, grant, { headers, components })
    expect(rotated.status).toBe(200)
    expect((await revoke(wallet, rotated, { headers, components })).status).toBe(204)
    expect((await cancel(wallet, grant, { headers, components })).status).toBe(204)
  })

  it('client behaviour 7: Accept, User-Agent and Content-Length may be missing', async () => {
    const wallet = await authWallet()
    const components = ['@method', '@target-uri', 'content-digest', 'content-length', 'content-type']
    const alter = (request: InMemoryRequest): InMemoryRequest =>
      alterRequest(request, { headers: { 'content-length': [] } })
    const { signed, alter: keep } = recorder()
    expect((await wallet.ask(PLAIN_REQUEST, { components, alter: (request) => keep(alter(request)) })).status).toBe(200)
    const sent = Object.entries(signed[0]?.headers ?? {}).flatMap(([name, lines]) => (lines.length > 0 ? [name] : []))
    expect(sent).toEqual(expect.not.arrayContaining(['accept', 'user-agent', 'content-length']))
  })

  it.each(['', '/'])('client behaviour 8: every signed endpoint is served with "%s" behind it', async (suffix) => {
    await journey(await authWallet(), {}, suffix)
  })

  it('client behaviour 9: a continuation may repeat the client, and a poll may be an empty object', async () => {
    const wallet = await authWallet()
    const { pending, interactRef } = await approvedGrant(wallet)
    const json = { interact_ref: interactRef, client: 'https://shop.example/pay' }
    expect((await resume(wallet, pending, json)).body.access_token).toBeDefined()
    const polling = await wallet.ask({ ...CONSENT_REQUEST, interact: { start: ['redirect'] } })
    wallet.clock.advance(5_000)
    expect((await resume(wallet, polling, {})).body.continue.wait).toBe(5)
  })

  it('client behaviour 10: whatever stands in Authorization of a grant request is covered, and not looked at', async () => {
    const wallet = await authWallet()
    const old = (await wallet.ask(PLAIN_REQUEST)).body.access_token.value
    for (const authorization of [`GNAP ${old}`, 'GNAP old', 'GNAP', 'Bearer x', 'nonsense']) {
      expect((await wallet.ask(PLAIN_REQUEST, { headers: { authorization } })).status).toBe(200)
    }
    const components = ['@method', '@target-uri', 'content-digest']
    await wallet.expectRefusal(401, 'invalid_client', () => wallet.ask(PLAIN_REQUEST, { token: 'old', components }))
  })

  it('client behaviour 10: nor in that of a request for a wallet address document', async () => {
    const wallet = await authWallet()
    for (const url of [`${BASE}/alice`, `${BASE}/client/jwks.json`]) {
      expect((await wallet.send('GET', url, { token: 'old' })).status).toBe(200)
      expect((await wallet.send('GET', url, { headers: { authorization: 'nonsense' } })).status).toBe(200)
    }
  })

  it('client behaviour 11: grants, continuations and rotations are 200, revocations and cancellations 204', async () => {
    const [pending, issued, rotated, revoked, ended] = await journey(await authWallet())
    expect([pending, issued, rotated].map((answer) => Object.keys(answer?.body ?? {}).sort())).toEqual([
      ['continue', 'interact'],
      ['access_token', 'continue'],
      ['access_token'],
    ])
    expect([revoked?.text, ended?.text]).toEqual([undefined, undefined])
  })

  it('client behaviour 12: no answer has a null for what is absent', async () => {
    const answers = await journey(await authWallet())
    const texts = answers.flatMap(({ text }) => text ?? [])
    expect(texts).toHaveLength(3)
    for (const text of texts) expect(text).not.toContain('null')
  })

  it('client behaviour 13: a client may be a text or an object, and access may have several items', async () => {
    const wallet = await authWallet()
    const quotes = { type: 'quote', actions: ['create'] }
    for (const client of [`${BASE}/client`, { walletAddress: `${BASE}/client` }]) {
      expect((await wallet.ask({ ...PLAIN_REQUEST, client })).status).toBe(200)
      const access_token = { access: [OUTGOING, INCOMING, quotes] }
      const pending = await wallet.ask({ ...CONSENT_REQUEST, access_token, client })
      expect([pending.status, pending.body.interact.redirect.length > 0]).toEqual([200, true])
    }
    const directed = await directedClient()
    expect((await wallet.ask({ ...PLAIN_REQUEST, client: directed.client }, { as: directed })).status).toBe(200)
  })

  it('client behaviour 14: URIs are built as {authServer}/token/ and {authServer}/continue/', async () => {
    const [pending, issued, rotated] = await journey(await authWallet())
    for (const uri of [pending?.body.continue.uri, issued?.body.continue.uri])
      expect(uri).toMatch(/^https:\/\/auth\.wallet\.example\/continue\/[^/]+$/)
    for (const manage of [issued?.body.access_token.manage, rotated?.body.access_token.manage])
      expect(manage).toMatch(/^https:\/\/auth\.wallet\.example\/token\/[^/]+$/)
  })

  it('client behaviour 15: DIG-1 JSON with spaces and escapes is hashed as it was sent', async () => {
    const wallet = await authWallet()
    const body = JSON.stringify(PLAIN_REQUEST, undefined, 2).replaceAll('/', '\\/').replace('wallet', 'wall\\u0065t')
    expect((await wallet.send('POST', `${AUTH}/`, { body })).status).toBe(200)
  })

  it('client behaviour 16: T-37 a DELETE is not put off, however many there are, and though no quota is left', async () => {
    const wallet = unchecked(await authWallet({ settings: { limits: { createdPerHour: 1 } } }))
    const grant = await wallet.ask(PLAIN_REQUEST)
    expect((await wallet.ask(PLAIN_REQUEST)).status).toBe(429)
    const many = Array.from({ length: 30 }, (_, index) => index)
    const revoked = await Promise.all(many.map(() => revoke(wallet, grant)))
    const ended = await Promise.all(many.map(() => cancel(wallet, grant)))
    expect(new Set([...revoked, ...ended].map(({ status }) => status))).toEqual(new Set([204]))
  })

  it.each([AUTH, `${BASE}/auth`])(
    'client behaviour 17: the finish hash is padded base64, escaped, over %s as it is published',
    async (authServer) => {
      const wallet = await authWallet({ authServer })
      for (let round = 0; round < 12; round++) {
        const pending = await wallet.ask(CONSENT_REQUEST)
        const redirect = await decideAs(wallet, pending)
        expect(redirect?.search).not.toContain('+')
        const { nonce } = FINISH
        const text = [nonce, pending.body.interact.finish, redirect?.searchParams.get('interact_ref'), authServer]
        expect(redirect?.searchParams.get('hash')).toBe(createHash('sha256').update(text.join('\n')).digest('base64'))
      }
      const document = await wallet.send('GET', `${BASE}/alice`)
      expect(document.body).toMatchObject({ authServer })
    },
  )

  it('client behaviour 18: an incoming payment outlives the grant it was made under', async () => {
    const wallet = await authWallet()
    const grant = await wallet.ask(PLAIN_REQUEST)
    const { value: token } = grant.body.access_token
    const json = { walletAddress: INCOMING.identifier }
    const created = await wallet.send('POST', `${BASE}/incoming-payments`, { token, json })
    expect((await cancel(wallet, grant)).status).toBe(204)
    expect(await tokenStatus(wallet, token)).toBe(401)
    const { value: second } = (await wallet.ask(PLAIN_REQUEST)).body.access_token
    const read = await wallet.send('GET', created.body.id, { token: second })
    expect(read.body).toMatchObject({ id: created.body.id, completed: false })
    expect(read.body.methods).toHaveLength(1)
  })

  it('client behaviour 18: a token that has expired is rotated', async () => {
    const wallet = await authWallet()
    const grant = await wallet.ask(PLAIN_REQUEST)
    wallet.clock.advance(600_000)
    expect(await tokenStatus(wallet, grant.body.access_token.value)).toBe(401)
    const rotated = await rotate(wallet, grant)
    expect(await tokenStatus(wallet, rotated.body.access_token.value)).toBe(200)
  })

  it('client behaviour 19: KEY-1 keys without alg are those of a client, here and elsewhere', async () => {
    const keyResolver = keyRegistry()
    const wallet = await authWallet({ keyResolver })
    const client = await remoteClient(keyResolver)
    const withoutAlg = ({ alg: _, ...jwk }: typeof client.key.jwk): typeof client.key.jwk => jwk
    keyResolver.sets.set(SHOP, [withoutAlg(client.key.jwk)])
    const access = [{ type: 'quote', actions: ['create'] }, OUTGOING]
    const answer = await wallet.ask({ ...CONSENT_REQUEST, client: SHOP, access_token: { access } }, { as: client })
    expect(answer.status).toBe(200)
    const keys = [withoutAlg(wallet.client.key.jwk)]
    wallet.directory.set(`${BASE}/client`, { account: 'bob', assetCode: 'USD', assetScale: 2, keys })
    expect((await wallet.ask(PLAIN_REQUEST)).status).toBe(200)
  })

  it('KEY-1 keys with the alg that browsers write are those of a client, here and elsewhere', async () => {
    const network = fakeNetwork()
    const wallet = await authWallet({ keyResolver: network.resolver })
    const renamed = [{ ...wallet.client.key.jwk, alg: 'Ed25519' }]
    network.documents = { [`${SHOP}/jwks.json`]: { keys: renamed } }
    expect((await wallet.ask({ ...PLAIN_REQUEST, client: SHOP })).status).toBe(200)
    wallet.directory.set(`${BASE}/client`, { account: 'bob', assetCode: 'USD', assetScale: 2, keys: renamed })
    expect((await wallet.ask(PLAIN_REQUEST)).status).toBe(200)
  })

  it.each(['https://shop.example', 'https://shop.example/', 'https://shop.example/.well-known/pay'])(
    'KEY-6 a client at the root of its host, %s, has its keys where every client library looks: at /jwks.json',
    async (client) => {
      const network = fakeNetwork()
      const wallet = await authWallet({ keyResolver: network.resolver })
      const { key } = await directedClient()
      network.documents = { 'https://shop.example/jwks.json': { keys: [key.jwk] } }
      const grant = await wallet.ask({ ...PLAIN_REQUEST, client }, { as: { key, client } })
      expect(grant.status).toBe(200)
      expect((await rotate(wallet, grant, { as: { key, client } })).status).toBe(200)
    },
  )

  it('1.2 KEY-12 a client whose key its owner has removed is told so: 400 by the authorization server', async () => {
    const wallet = await authWallet()
    const { pending, interactRef } = await approvedGrant(wallet)
    const grant = await wallet.ask(PLAIN_REQUEST)
    const account = wallet.directory.get(`${BASE}/client`)
    if (account?.keys === undefined) throw new Error('no such client')
    // The Web Monetization extension disconnects, or says that the key is missing, by this status and this code alone.
    for (const keys of [[], [(await directedClient('another')).key.jwk]]) {
      wallet.directory.set(`${BASE}/client`, { ...account, keys })
      await wallet.expectRefusal(400, 'invalid_client', () => wallet.ask(PLAIN_REQUEST))
      await wallet.expectRefusal(400, 'invalid_client', () => resume(wallet, pending, { interact_ref: interactRef }))
      await wallet.expectRefusal(400, 'invalid_client', () => cancel(wallet, pending))
      await wallet.expectRefusal(400, 'invalid_client', () => rotate(wallet, grant))
      await wallet.expectRefusal(400, 'invalid_client', () => revoke(wallet, grant))
      const { value: token } = grant.body.access_token
      const list = `${BASE}/incoming-payments?wallet-address=${encodeURIComponent(INCOMING.identifier)}`
      const refusal = await wallet.expectRefusal(401, 'invalid_signature', () => wallet.send('GET', list, { token }))
      expect(refusal.body.error.description).toBe('Signature validation error: keyid names no key of the client')
    }
    wallet.directory.set(`${BASE}/client`, account)
    expect((await rotate(wallet, grant)).status).toBe(200)
    expect((await resume(wallet, pending, { interact_ref: interactRef })).status).toBe(200)
  })

  it('client behaviour 20: a host of keys that never answers is given up after three seconds', async () => {
    const clock = fakeClock()
    const { called, call } = silence()
    const network = { resolveHost: call, dial: silence().call }
    const wallet = await authWallet({ clock, keyResolver: fetchKeyResolver({ clock, loopbackHttp: false, network }) })
    const answer = wallet.ask({ ...PLAIN_REQUEST, client: SHOP })
    await called
    clock.advance(3_000)
    expect((await answer).status).toBe(400)
  })
})
