import { alterRequest, type InMemoryRequest } from 'open-payments-server/testing'
import { describe, expect, it } from 'vitest'
import { keyRegistry, remoteClient, SHOP } from '../support/key-registry.ts'
import { AUTH, BASE, cryptography, decideAs, type Sending } from '../support/test-wallet.ts'
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
} from './auth-wallet.ts'

/** The PHP SDK leaves the colons out of its byte sequence. */
function asPhp(request: InMemoryRequest): InMemoryRequest {
  const [signature = ''] = request.headerLines('signature')
  return alterRequest(request, { headers: { signature: [signature.replaceAll(':', '')] } })
}

/** Signs a request as the Rust SDK does: names without quotes in the parameters, with quotes in the base, bare base64. */
async function asRust(wallet: AuthWallet, request: InMemoryRequest, url: string): Promise<InMemoryRequest> {
  const names = ['@method', '@target-uri', 'content-type', 'content-digest', 'content-length'].filter(
    (name) => name.startsWith('@') || request.headerLines(name).length > 0,
  )
  if (request.headerLines('authorization').length > 0) names.splice(3, 0, 'authorization')
  const created = Math.floor(wallet.clock.now() / 1000)
  const parameters = `(${names.join(' ')});created=${created};keyid="${wallet.client.key.keyId}"`
  const textOf = (name: string): string =>
    name === '@method' ? request.method : name === '@target-uri' ? url : (request.headerLines(name)[0] ?? '')
  const lines = names.map((name) => `"${name}": ${textOf(name)}`)
  const base = [...lines, `"@signature-params": ${parameters}`].join('\n')
  const signature = await cryptography.signEd25519(wallet.client.key.privateKeySeed, new TextEncoder().encode(base))
  const headers = {
    'signature-input': [`sig1=${parameters}`],
    signature: [Buffer.from(signature).toString('base64')],
  }
  return alterRequest(request, { headers })
}

/** A grant with consent, from request to cancellation, in the way of one client. */
async function journey(wallet: AuthWallet, sending: Sending, suffix = ''): Promise<void> {
  const pending = await wallet.send('POST', `${AUTH}${suffix}`, { json: CONSENT_REQUEST, ...sending })
  expect(pending.status).toBe(200)
  const redirect = await decideAs(wallet, pending)
  wallet.clock.advance(5_000)
  const { uri, access_token: continuation } = pending.body.continue
  const json = { interact_ref: redirect?.searchParams.get('interact_ref'), client: 'https://shop.example/pay' }
  const issued = await wallet.send('POST', `${uri}${suffix}`, { token: continuation.value, json, ...sending })
  expect(issued.status).toBe(200)
  const rotated = await rotate(wallet, issued, sending)
  expect(rotated.status).toBe(200)
  expect((await revoke(wallet, rotated, sending)).status).toBe(204)
  expect((await cancel(wallet, issued, sending)).status).toBe(204)
}

describe('what deployed clients send', () => {
  it('D2 D17 the PHP SDK: no colons, a slash behind URLs, its client repeated, an old token on the grant request', async () => {
    const wallet = await authWallet()
    await journey(wallet, { alter: asPhp }, '/')
    const old = (await wallet.ask(PLAIN_REQUEST)).body.access_token.value
    expect((await wallet.ask(PLAIN_REQUEST, { alter: asPhp, token: old })).status).toBe(200)
    expect(wallet.events).toContainEqual(
      expect.objectContaining({ type: 'legacy_signature_syntax', syntax: 'php', keyId: wallet.client.key.keyId }),
    )
  })

  it('D2 the Rust SDK: component names without quotes, bare base64', async () => {
    const wallet = await authWallet()
    const signed: InMemoryRequest[] = []
    const keep = (request: InMemoryRequest): InMemoryRequest => {
      signed.push(request)
      return request
    }
    const grant = await wallet.ask(PLAIN_REQUEST, { alter: keep })
    await rotate(wallet, grant, { headers: { 'content-type': 'application/json' }, alter: keep })
    const [ask, rotation] = signed
    if (ask === undefined || rotation === undefined) throw new Error('nothing was signed')
    expect((await wallet.sendRaw(await asRust(wallet, ask, `${AUTH}/`))).status).toBe(200)
    const { manage } = grant.body.access_token
    expect((await wallet.sendRaw(await asRust(wallet, rotation, manage))).status).toBe(200)
    expect(wallet.events).toContainEqual(expect.objectContaining({ type: 'legacy_signature_syntax', syntax: 'rust' }))
  })

  it.each(['php', 'rust'] as const)('D2 the shape of %s is refused where it is not listed', async (syntax) => {
    const others = (['php', 'rust'] as const).filter((one) => one !== syntax)
    const wallet = await authWallet({ settings: { policies: { legacySignatureSyntax: others } } })
    let signed: InMemoryRequest | undefined
    const grant = await wallet.ask(PLAIN_REQUEST, {
      alter: (request) => {
        signed = request
        return request
      },
    })
    expect(grant.status).toBe(200)
    if (signed === undefined) throw new Error('nothing was signed')
    const legacy = syntax === 'php' ? asPhp(signed) : await asRust(wallet, signed, `${AUTH}/`)
    await wallet.expectRefusal(401, 'invalid_client', () => wallet.sendRaw(legacy))
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

  it('D17 the Go SDK: alg, and an empty object as the body of a poll', async () => {
    const wallet = await authWallet()
    const sending = { alg: 'ed25519' }
    await journey(wallet, sending)
    const polling = await wallet.ask({ ...CONSENT_REQUEST, interact: { start: ['redirect'] } }, sending)
    wallet.clock.advance(5_000)
    expect((await resume(wallet, polling, {}, sending)).body.continue.wait).toBe(5)
  })

  it('D17 any order of components, and no coverage of content-type and content-length', async () => {
    const wallet = await authWallet()
    const { pending, interactRef } = await approvedGrant(wallet)
    const components = ['content-digest', 'authorization', '@target-uri', '@method']
    expect((await resume(wallet, pending, { interact_ref: interactRef }, { components })).status).toBe(200)
  })

  it('D17 a content type, a length of 0 and the digest of nothing on requests without a body', async () => {
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

  it('D17 a request without Accept, User-Agent and Content-Length', async () => {
    const wallet = await authWallet()
    const components = ['@method', '@target-uri', 'content-digest', 'content-length', 'content-type']
    const alter = (request: InMemoryRequest): InMemoryRequest =>
      alterRequest(request, { headers: { 'content-length': [] } })
    expect((await wallet.ask(PLAIN_REQUEST, { components, alter })).status).toBe(200)
  })

  it('D17 DIG-1 JSON with spaces and escapes is hashed as it was sent', async () => {
    const wallet = await authWallet()
    const body = JSON.stringify(PLAIN_REQUEST, undefined, 2).replaceAll('/', '\\/').replace('wallet', 'wall\\u0065t')
    expect((await wallet.send('POST', `${AUTH}/`, { body })).status).toBe(200)
  })

  it('D17 whatever stands in Authorization of a grant request is not looked at', async () => {
    const wallet = await authWallet()
    for (const authorization of ['GNAP old', 'GNAP', 'Bearer x', 'nonsense']) {
      expect((await wallet.ask(PLAIN_REQUEST, { headers: { authorization } })).status).toBe(200)
    }
    const components = ['@method', '@target-uri', 'content-digest']
    await wallet.expectRefusal(401, 'invalid_client', () => wallet.ask(PLAIN_REQUEST, { token: 'old', components }))
  })

  it('D17 the keys of Web Monetization, which lack alg, and its one grant for quotes and payments', async () => {
    const keyResolver = keyRegistry()
    const wallet = await authWallet({ keyResolver })
    const client = await remoteClient(keyResolver)
    const { alg: _, ...jwk } = client.key.jwk
    keyResolver.sets.set(SHOP, [jwk])
    const access = [{ type: 'quote', actions: ['create'] }, OUTGOING]
    const answer = await wallet.ask({ ...CONSENT_REQUEST, client: SHOP, access_token: { access } }, { as: client })
    expect(answer.status).toBe(200)
  })

  it('D17 KEY-1 a client of this server whose key lacks alg', async () => {
    const wallet = await authWallet()
    const { alg: _, ...jwk } = wallet.client.key.jwk
    wallet.directory.set(`${BASE}/client`, { account: 'bob', assetCode: 'USD', assetScale: 2, keys: [jwk] })
    expect((await wallet.ask(PLAIN_REQUEST)).status).toBe(200)
  })

  it('D17 the statuses that clients compare: 200 for grants, continuations and rotations, 204 for ends', async () => {
    await journey(await authWallet(), {})
  })

  it('D17 an incoming payment outlives the grant it was made under', async () => {
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
})
