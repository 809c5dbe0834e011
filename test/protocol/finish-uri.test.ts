import { createHash } from 'node:crypto'
import * as v from 'valibot'
import { describe, expect, it } from 'vitest'
import { encodeFinishHash, finishHashInput, finishRedirect, parseFinishUri } from '../../src/protocol/finish.ts'
import { GrantRequest } from '../../src/protocol/grant-request.ts'
import vectors from '../vectors/interaction-hash.json' with { type: 'json' }

describe('the published finish hash', () => {
  const [clientNonce = '', serverNonce = '', interactRef = '', endpoint = '', ...more] = vectors.base.split('\n')

  it('INT-13 is of four lines, by SHA-256 unless the client asks for another', () => {
    expect([more, vectors.lines.length, vectors.default_hash_method]).toEqual([[], 4, 'sha-256'])
    const input = finishHashInput(clientNonce, serverNonce, interactRef, endpoint)
    // The other published value is of the same input: this server offers SHA-256 alone.
    const other = createHash('sha3-512').update(input).digest()
    expect(encodeFinishHash(other, 'base64url')).toBe(vectors.sha3_512_base64url)
  })

  it('INT-13 is not that of the reference in the redirect example of the RFC', () => {
    const [example = ''] = /4IFWWIKYBC2\w+/.exec(vectors.trap) ?? []
    const digest = createHash('sha256')
      .update(finishHashInput(clientNonce, serverNonce, example, endpoint))
      .digest()
    expect(example).not.toBe(interactRef)
    expect(encodeFinishHash(digest, 'base64url')).not.toBe(vectors.sha256.rfc_base64url_nopad)
  })
})

describe('finish URIs', () => {
  it.each(['https:client.example/https://x', 'https:/client.example/https://x'])(
    'INT-5 T-17 refuses %s, whose slashes stand elsewhere',
    (uri) => expect(parseFinishUri(uri, { loopbackHttp: false, finishSchemes: [] })).toBeUndefined(),
  )

  it.each([
    ['https://client.example/cb?&a=1', 'https://client.example/cb?&a=1&hash=h'],
    ['https://client.example/cb?', 'https://client.example/cb?hash=h'],
    ['https://client.example/cb?a=1&', 'https://client.example/cb?a=1&&hash=h'],
    ['https://client.example/cb?hash=x', 'https://client.example/cb?hash=h'],
  ])('INT-7 keeps the query of %s', (uri, expected) => expect(finishRedirect(uri, { hash: 'h' })).toBe(expected))
})

describe('a grant request', () => {
  const asking = { access_token: { access: [{ type: 'quote', actions: ['create'] }] } }
  const read = (interact: unknown): unknown => v.parse(GrantRequest, { ...asking, interact })
  const expected = { access: asking.access_token.access }

  it('GRT-2 has no members that were not sent', () => {
    expect(v.parse(GrantRequest, asking)).toStrictEqual(expected)
    expect(read({ start: ['redirect'] })).toStrictEqual({ ...expected, interact: {} })
    const finish = { uri: 'https://client.example/', nonce: 'n' }
    expect(read({ start: ['redirect'], finish: { ...finish, method: 'redirect' } })).toStrictEqual({
      ...expected,
      interact: { finish },
    })
    expect(
      read({ start: ['redirect'], finish: { ...finish, method: 'redirect', hash_method: 'sha-256' } }),
    ).toStrictEqual({ ...expected, interact: { finish: { ...finish, hashMethod: 'sha-256' } } })
  })
})
