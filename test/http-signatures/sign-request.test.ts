import { createPrivateKey, createPublicKey } from 'node:crypto'
import { createHeaders, validateSignature, validateSignatureHeaders } from '@interledger/http-signature-utils'
import { describe, expect, it } from 'vitest'
import { signRequest } from '../../src/http-signatures/sign-request.ts'
import { readSignatures } from '../../src/http-signatures/verify-signature.ts'
import { fromBase64url, toBase64url } from '../../src/protocol/bytes.ts'
import { webCryptography } from '../../src/runtime/web-crypto.ts'
import { alterRequest, createSigningKey, signedRequest } from '../../src/testing/sign-request.ts'
import { CREATED, judge, messageOf, RULES } from './sign-by-hand.ts'

const cryptography = webCryptography()
const url = 'https://auth.wallet.example/continue/1?b=%20&a'
const options = { cryptography, created: CREATED }

describe('signRequest', () => {
  it('signs, with a key of this library, what the verifier accepts', async () => {
    const key = await createSigningKey(cryptography)
    const headers = await signRequest(
      { method: 'POST', url, headers: { Authorization: 'GNAP t' }, body: '{"a":1}' },
      key,
      options,
    )
    expect(Object.keys(headers).sort()).toEqual([
      'authorization',
      'content-digest',
      'content-length',
      'content-type',
      'signature',
      'signature-input',
    ])
    expect(headers['signature-input']).toBe(
      'sig1=("@method" "@target-uri" "authorization" "content-digest" "content-length" "content-type");keyid="test-key";created=1700000000',
    )
    const lines = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, [value]]))
    const message = messageOf({ method: 'POST', targetUris: [url], headers: lines, body: '{"a":1}' })
    expect(await judge(message, {}, key.jwk)).toBe('accepted')
  })

  it('signs with the parameters, the label and the components that are asked for', async () => {
    const key = await createSigningKey(cryptography, 'k')
    const headers = await signRequest({ method: 'GET', url, headers: {} }, key, {
      ...options,
      components: ['@target-uri', '@method'],
      expires: CREATED + 5,
      alg: 'ed25519',
      nonce: 'n',
      tag: 'gnap',
      label: 'mine',
    })
    expect(headers['signature-input']).toBe(
      `mine=("@target-uri" "@method");keyid="k";created=${CREATED};expires=${CREATED + 5};alg="ed25519";nonce="n";tag="gnap"`,
    )
    expect(Object.keys(headers)).toEqual(['signature-input', 'signature'])
  })

  it('rejects where a component has no value', async () => {
    const key = await createSigningKey(cryptography)
    const components = ['@method', 'x-a']
    await expect(signRequest({ method: 'GET', url, headers: {} }, key, { ...options, components })).rejects.toThrow(
      'this request cannot be signed: "x-a" is covered but absent',
    )
  })
})

describe('signedRequest', () => {
  it('is a request that the verifier accepts', async () => {
    const key = await createSigningKey(cryptography)
    const request = await signedRequest({ ...options, method: 'POST', url, key, token: 't', json: { a: 'é' } })
    expect(request).toMatchObject({ method: 'POST', target: '/continue/1?b=%20&a' })
    expect(request.headerLines('host')).toEqual(['auth.wallet.example'])
    expect(request.headerLines('authorization')).toEqual(['GNAP t'])
    expect(request.headerLines('constructor')).toEqual([])
    expect(request.headerLines('content-length')).toEqual(['10'])
    expect(await request.bytes(10)).toEqual(new TextEncoder().encode('{"a":"é"}'))
    expect(await request.bytes(9)).toBeUndefined()
    expect(await judge({ ...request, targetUris: [url] }, {}, key.jwk)).toBe('accepted')
  })

  it('takes a raw body, or none', async () => {
    const key = await createSigningKey(cryptography)
    const body = Uint8Array.of(1, 2)
    expect((await signedRequest({ ...options, method: 'POST', url, key, body })).body).toEqual(body)
    const root = await signedRequest({ ...options, method: 'GET', url: 'https://auth.wallet.example', key })
    expect(root).toMatchObject({ target: '/', body: new Uint8Array() })
  })

  it('signs over a header that is wrong, so that nothing else is', async () => {
    const key = await createSigningKey(cryptography)
    const wrong = 'sha-512=:AAAA:'
    const request = await signedRequest({
      ...options,
      method: 'POST',
      url,
      key,
      token: 't',
      json: 1,
      headers: { 'Content-Digest': wrong },
    })
    expect(await judge({ ...request, targetUris: [url] }, {}, key.jwk)).toBe('Content-Digest is not that of the body')
  })

  it('can be altered after it was signed', async () => {
    const key = await createSigningKey(cryptography)
    const request = await signedRequest({ ...options, method: 'POST', url, key, token: 't', json: 1 })
    const altered = alterRequest(request, { headers: { authorization: ['GNAP u'], host: [] }, body: '1' })
    expect(altered.headerLines('host')).toEqual([])
    expect(await judge({ ...altered, targetUris: [url] }, {}, key.jwk)).toBe('signature does not verify')
    expect(alterRequest(request, { method: 'PUT', target: '/x' })).toMatchObject({ method: 'PUT', target: '/x' })
    expect(await judge({ ...alterRequest(request, {}), targetUris: [url] }, {}, key.jwk)).toBe('accepted')
    expect(await alterRequest(request, { body: '22' }).bytes(2)).toEqual(new TextEncoder().encode('22'))
  })

  it('has keys whose public part is that of the private one', async () => {
    const prefix = Buffer.from('302e020100300506032b657004220420', 'hex')
    for (let round = 0; round < 20; round++) {
      const { jwk, privateKeySeed } = await createSigningKey(cryptography)
      const key = createPrivateKey({ key: Buffer.concat([prefix, privateKeySeed]), format: 'der', type: 'pkcs8' })
      expect(createPublicKey(key).export({ format: 'jwk' }).x).toBe(jwk.x)
    }
  })
})

describe('@interledger/http-signature-utils', () => {
  const request = { method: 'POST', url, headers: { authorization: 'GNAP t' }, body: '{"a":1}' }

  it('signs, with the package of the official client, what the verifier accepts', async () => {
    const { jwk, privateKeySeed } = await createSigningKey(cryptography, 'k')
    const privateKey = createPrivateKey({
      key: { kty: 'OKP', crv: 'Ed25519', d: toBase64url(privateKeySeed), x: jwk.x },
      format: 'jwk',
    })
    const sent = await createHeaders({ request: { ...request }, privateKey, keyId: 'k' })
    const lines = Object.entries({ ...request.headers, ...sent }).map(([name, value]) => [name.toLowerCase(), [value]])
    const headers: Record<string, readonly string[]> = Object.fromEntries(lines)
    const message = messageOf({ method: 'POST', targetUris: [url], headers, body: request.body })
    const read = await readSignatures(message, { ...RULES, now: Date.now(), legacySyntax: [] }, cryptography)
    expect(read).toMatchObject({ ok: true })
    expect(await judge(message, { now: Date.now(), legacySyntax: [] }, jwk)).toBe('accepted')
  })

  it('accepts what signRequest signs', async () => {
    const { keyId, jwk, privateKeySeed } = await createSigningKey(cryptography, 'k')
    const headers = await signRequest(request, { keyId, privateKeySeed }, options)
    const sent = { ...request, headers }
    expect(validateSignatureHeaders(sent)).toBe(true)
    expect(await validateSignature({ kid: 'k', alg: 'EdDSA', kty: 'OKP', crv: 'Ed25519', x: jwk.x }, sent)).toBe(true)
    expect(fromBase64url(jwk.x)).toHaveLength(32)
  })
})
