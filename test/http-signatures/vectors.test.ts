import { createPrivateKey, createPublicKey } from 'node:crypto'
import {
  type InnerList,
  type Item,
  isInnerList,
  parseDictionary,
  parseItem,
  serializeInnerList,
} from 'structured-headers'
import { describe, expect, it } from 'vitest'
import { componentValue } from '../../src/http-signatures/component-value.ts'
import { verifyContentDigest } from '../../src/http-signatures/content-digest.ts'
import { readComponents, signatureBase } from '../../src/http-signatures/signature-base.ts'
import type { SignedMessage } from '../../src/http-signatures/signed-message.ts'
import { verifySignatures } from '../../src/http-signatures/verify-signature.ts'
import { fromBase64url } from '../../src/protocol/bytes.ts'
import { webCryptography } from '../../src/runtime/web-crypto.ts'
import hazards from '../vectors/ed25519-hazards.json' with { type: 'json' }
import rfc9421 from '../vectors/rfc9421.json' with { type: 'json' }
import shapes from '../vectors/sdk-wire-shapes.json' with { type: 'json' }
import { candidatesOf, judge, messageOf, signText } from './sign-by-hand.ts'

const cryptography = webCryptography()
const publicKey = fromBase64url(rfc9421.key.jwk.x) ?? new Uint8Array()

interface Vector {
  readonly label: string
  readonly signature_input: string
  readonly signature: string
}

interface VectorMessage {
  readonly method: string
  readonly target_uri: string
  readonly headers: readonly (readonly string[])[]
  readonly body?: string
}

function messageFrom(vector: VectorMessage): SignedMessage {
  const lines = new Map<string, string[]>()
  for (const [name = '', value = ''] of vector.headers) {
    lines.set(name.toLowerCase(), [...(lines.get(name.toLowerCase()) ?? []), value])
  }
  return messageOf({
    method: vector.method,
    targetUris: [vector.target_uri],
    headers: Object.fromEntries(lines),
    body: vector.body ?? '',
  })
}

function coveredBy(vector: Vector): InnerList {
  const covered = parseDictionary(vector.signature_input).get(vector.label)
  if (!covered || !isInnerList(covered)) throw new Error(`${vector.label} has no input`)
  return covered
}

function baseOf(vector: Vector, message: SignedMessage): string {
  const covered = coveredBy(vector)
  const read = readComponents(covered[0])
  if (!read.ok) throw new Error(read.reason)
  const result = signatureBase(read.components, serializeInnerList(covered), message, message.targetUris[0] ?? '')
  return result.ok ? result.base : result.reason
}

function signatureOf(vector: Vector): Uint8Array {
  return Buffer.from(vector.signature.slice(vector.label.length + 2, -1), 'base64')
}

function verifies(base: string, signature: Uint8Array): Promise<boolean> | boolean {
  return cryptography.verifyEd25519(publicKey, signature, new TextEncoder().encode(base))
}

describe('RFC 9421', () => {
  it('SIG-36 gives one key in three forms', () => {
    const { jwk, public_pem, private_pem } = rfc9421.key
    expect(createPublicKey(public_pem).export({ format: 'jwk' })).toMatchObject({
      kty: jwk.kty,
      crv: jwk.crv,
      x: jwk.x,
    })
    expect(createPrivateKey(private_pem).export({ format: 'jwk' })).toMatchObject({ d: jwk.d, x: jwk.x })
  })

  it('SIG-36 builds, verifies and signs B.2.6', async () => {
    const base = baseOf(rfc9421.b_2_6, messageFrom(rfc9421.test_request))
    expect(base).toBe(rfc9421.b_2_6.signature_base)
    expect(await verifies(base, signatureOf(rfc9421.b_2_6))).toBe(true)
    expect(signText(base)).toBe(Buffer.from(signatureOf(rfc9421.b_2_6)).toString('base64'))
  })

  it.each(rfc9421.b_4_transform.messages)('SIG-36 judges B.4: $name', async (message) => {
    const base = baseOf(rfc9421.b_4_transform, messageFrom(message))
    const signature = signatureOf(rfc9421.b_4_transform)
    expect(base === rfc9421.b_4_transform.signature_base).toBe(message.expect)
    expect(await verifies(base, signature)).toBe(message.expect)
    expect(signText(base) === Buffer.from(signature).toString('base64')).toBe(message.expect)
  })

  // The document calls its dictionary by a name that nobody knows as one, so it goes by one that is known.
  const named = (text = ''): string => text.replace(/^("?)example-dict\b/i, '$1priority')

  it.each(rfc9421.component_values.cases)('SIG-36 derives $line', ({ fields, line }) => {
    const at = line.indexOf(': ')
    const item: Item = parseItem(named(line.slice(0, at)))
    const read = readComponents([item])
    const [component] = read.ok ? read.components : []
    if (!component) throw new Error('no component')
    const headers = fields.map(([name, value = '']) => [named(name), value])
    const message = messageFrom({ method: 'GET', target_uri: 'https://example.com/', headers })
    const value = componentValue(component, message, 'https://example.com/')
    expect(value).toEqual({ ok: true, value: line.slice(at + 2) })
  })
})

describe('the example of the Open Payments documentation', () => {
  const example = { ...rfc9421.open_payments_docs_example, label: 'sig1' }
  const lines = example.signature_base.split('\n').slice(0, -1)
  const headers: Record<string, readonly string[]> = {
    'signature-input': [example.signature_input],
    signature: [example.signature],
  }
  for (const line of lines) {
    const [name = '', value = ''] = line.split(/: (.*)/)
    headers[JSON.parse(name)] = [value]
  }
  const message = messageOf({
    method: 'POST',
    targetUris: ['https://example.com/'],
    headers,
    body: '{"hello": "world"}',
  })

  it('SIG-36 builds its base, and it verifies', async () => {
    expect(baseOf(example, message)).toBe(example.signature_base)
    expect(await verifies(example.signature_base, signatureOf(example))).toBe(true)
  })

  it('DIG-4 refuses its digest, a SHA-256 that is called sha-512', async () => {
    const key = { kid: 'eddsa_key_1', x: rfc9421.key.jwk.x }
    const now = 1_704_722_601_000
    expect(await judge(message, { now }, key)).toBe('Content-Digest is not that of the body')
    expect(await verifyContentDigest(headers['content-digest'] ?? [], message.body, cryptography)).toMatchObject({
      ok: false,
    })
  })
})

describe('what the deployed clients send', () => {
  const key = { kid: rfc9421.key.jwk.kid, x: rfc9421.key.jwk.x }
  const rules = { now: shapes.created * 1000 }
  const messageIn = (headers: Readonly<Record<string, string>>): SignedMessage =>
    messageFrom({
      ...shapes.request,
      headers: Object.entries({ ...shapes.request.headers, ...headers }),
    })

  it.each(shapes.shapes)('D2 verifies $sdk over the base that it signed', async ({ headers, base }) => {
    const candidates = await candidatesOf(messageIn(headers), rules)
    expect(await verifySignatures(candidates, async () => ({ key }), cryptography)).toMatchObject({
      verified: [{ base }],
    })
  })

  it.each(shapes.shapes)(
    'D2 verifies $sdk with the strict reader alone: $conformant',
    async ({ headers, conformant }) => {
      expect(await judge(messageIn(headers), { ...rules, legacySyntax: [] }, key)).toBe(
        conformant ? 'accepted' : 'signature headers are malformed',
      )
    },
  )

  it('covers four of them, two of which are malformed', () => {
    expect(shapes.shapes.map(({ conformant }) => conformant)).toEqual([true, true, false, false])
  })
})

describe('Ed25519 hazards', () => {
  it('SIG-28 refuses the B.2.6 signature with S + L', async () => {
    const signature = Buffer.from(hazards.malleated_b26_signature.signature_base64, 'base64')
    expect(signature).toHaveLength(64)
    expect(await verifies(rfc9421.b_2_6.signature_base, signature)).toBe(false)
  })
})
