import { createHash } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  encodeFinishHash,
  finishHashInput,
  finishRedirect,
  isFinishNonce,
  parseFinishUri,
} from '../../src/protocol/finish.ts'
import vectors from '../vectors/interaction-hash.json' with { type: 'json' }

const strict = { loopbackHttp: false, finishSchemes: [] }

function sha256(text: string): Uint8Array {
  return createHash('sha256').update(text).digest()
}

describe('the finish hash', () => {
  const [clientNonce = '', serverNonce = '', interactRef = '', endpoint = ''] = vectors.base.split('\n')
  const input = finishHashInput(clientNonce, serverNonce, interactRef, endpoint)

  it('INT-13 is taken of four lines without a final line feed', () => {
    expect(input).toBe(vectors.base)
  })

  it('INT-13 D3 is the published value in both encodings', () => {
    expect(encodeFinishHash(sha256(input), 'base64url')).toBe(vectors.sha256.rfc_base64url_nopad)
    expect(encodeFinishHash(sha256(input), 'base64')).toBe(vectors.sha256.deployed_base64_padded)
  })

  it('T-16 changes with the grant endpoint, also by a slash', () => {
    const other = finishHashInput(clientNonce, serverNonce, interactRef, `${endpoint}/`)
    expect(encodeFinishHash(sha256(other), 'base64')).not.toBe(vectors.sha256.deployed_base64_padded)
  })
})

describe('finish nonces', () => {
  it.each(['a', ' ', '~', 'VJLO6A4CATR0KRO', 'n'.repeat(256)])('INT-15 accepts %j', (nonce) =>
    expect(isFinishNonce(nonce)).toBe(true),
  )
  it.each(['', 'n'.repeat(257), 'a\nb', 'a\n', 'a\tb', '\u0000', '\u007f', 'é', '\u2028'])(
    'INT-15 refuses %j',
    (nonce) => expect(isFinishNonce(nonce)).toBe(false),
  )
})

describe('finish URIs', () => {
  it.each([
    'https://client.example',
    'https://client.example/cb',
    'https://client.example:8443/cb?a=1&b=%20',
    'HTTPS://Client.example/cb',
    'https://client.example/cb?next=https://other.example/',
    'https://client.example/@shop?next=https://user@other.example/',
    'https://client.example?by=a@b',
  ])('INT-5 accepts %s', (uri) => expect(parseFinishUri(uri, strict)?.protocol).toBe('https:'))

  it.each([
    '',
    '/cb',
    '//client.example/cb',
    'client.example/cb',
    'https:client.example',
    'https:/client.example',
    'https:///client.example',
    'https://',
    'http://client.example/cb',
    'https://client.example/cb#x',
    'https://@client.example/cb',
    'https://:@client.example/cb',
    'https://client.example/cb#',
    'https://user@client.example/cb',
    'https://:secret@client.example/cb',
    'https://client.example\\@evil.example/cb',
    'https://client.example/c b',
    'https://client.example/cb\r\nSet-Cookie: a=b',
    'https://client.example/c\nb',
    'https://client.example/\tcb',
    ' https://client.example/cb',
    'https://client.example/é',
    'com.example.app:/cb',
    'http://localhost:3000/cb',
    'http://127.0.0.1/cb',
  ])('INT-5 T-17 refuses %j', (uri) => expect(parseFinishUri(uri, strict)).toBeUndefined())

  it('INT-5 accepts 2048 characters and refuses more', () => {
    expect(parseFinishUri('https://client.example/'.padEnd(2048, 'a'), strict)).toBeDefined()
    expect(parseFinishUri('https://client.example/'.padEnd(2049, 'a'), strict)).toBeUndefined()
  })

  it.each(['http://localhost:3000/cb', 'http://app.localhost/cb', 'http://127.0.0.1:8080/cb', 'http://[::1]:8080/cb'])(
    'INT-5 accepts %s with loopbackHttp',
    (uri) => expect(parseFinishUri(uri, { loopbackHttp: true, finishSchemes: [] })).toBeDefined(),
  )

  it.each([
    'http://client.example/cb',
    'http://localhost.evil.example/cb',
    'http://user@localhost/cb',
    'http:localhost/cb',
  ])('INT-5 refuses %s also with loopbackHttp', (uri) =>
    expect(parseFinishUri(uri, { loopbackHttp: true, finishSchemes: ['http'] })).toBeUndefined(),
  )

  it.each(['com.example.app:/cb', 'com.example.app://cb?a=1', 'COM.example.app:cb'])(
    'INT-5 accepts %s of an allowed scheme',
    (uri) => expect(parseFinishUri(uri, { loopbackHttp: false, finishSchemes: ['com.example.app'] })).toBeDefined(),
  )

  it.each(['com.example.apps:/cb', 'com.example.app://user@cb', 'com.example.app://@cb', 'com.example.app:/cb#x'])(
    'INT-5 refuses %s all the same',
    (uri) => expect(parseFinishUri(uri, { loopbackHttp: false, finishSchemes: ['com.example.app'] })).toBeUndefined(),
  )

  it.each([
    'javascript:alert(1)',
    'data:text/html,x',
    'file:///etc/passwd',
    'blob:https://client.example/1',
    'vbscript:x',
    'JavaScript:alert(1)',
  ])('INT-6 T-17 refuses %s whatever is allowed', (uri) => {
    const finishSchemes = ['javascript', 'data', 'file', 'blob', 'vbscript']
    expect(parseFinishUri(uri, { loopbackHttp: true, finishSchemes })).toBeUndefined()
  })
})

describe('the finish redirect', () => {
  const parameters = { hash: 'x+g/=', interact_ref: 'ref' }
  const added = 'hash=x%2Bg%2F%3D&interact_ref=ref'

  it.each([
    ['https://c.example', `https://c.example?${added}`],
    ['https://c.example/cb', `https://c.example/cb?${added}`],
    ['https://c.example/cb?', `https://c.example/cb?${added}`],
    ['https://c.example/cb?a=1', `https://c.example/cb?a=1&${added}`],
    ['https://c.example/cb?a=%7e+b&&c&=d&a=1', `https://c.example/cb?a=%7e+b&&c&=d&a=1&${added}`],
    ['https://c.example/cb?a=b?c=d', `https://c.example/cb?a=b?c=d&${added}`],
    ['https://c.example/cb?a=%ZZ', `https://c.example/cb?a=%ZZ&${added}`],
    ['https://c.example/cb?a=1&', `https://c.example/cb?a=1&&${added}`],
    ['com.example.app:/cb?a=1', `com.example.app:/cb?a=1&${added}`],
  ])('INT-7 leaves the query of %s as it was', (uri, expected) =>
    expect(finishRedirect(uri, parameters)).toBe(expected),
  )

  it.each([
    ['https://c.example/cb?hash=evil', `https://c.example/cb?${added}`],
    ['https://c.example/cb?hash=evil&a=1&interact_ref=evil&hash=2', `https://c.example/cb?a=1&${added}`],
    ['https://c.example/cb?h%61sh=evil&a=1', `https://c.example/cb?a=1&${added}`],
    ['https://c.example/cb?interact%5Fref&a=1', `https://c.example/cb?a=1&${added}`],
    ['https://c.example/cb??hash=kept&hashes=kept', `https://c.example/cb??hash=kept&hashes=kept&${added}`],
  ])('INT-7 replaces its own parameters in %s', (uri, expected) =>
    expect(finishRedirect(uri, parameters)).toBe(expected),
  )

  it.each([
    ['https://c.example/cb?a=1', 'https://c.example/cb?a=1&result=grant_rejected'],
    ['https://c.example/cb?hash=1&a=1&interact%5Fref=2&result=3', 'https://c.example/cb?a=1&result=grant_rejected'],
    ['https://c.example/cb?hash=1', 'https://c.example/cb?result=grant_rejected'],
  ])('D7 INT-7 carries the result of a denial, and no hash or reference of another, in %s', (uri, expected) =>
    expect(finishRedirect(uri, { result: 'grant_rejected' })).toBe(expected),
  )

  it('INT-7 gives every value back to a client that reads its query', () => {
    const query = fc.string({ unit: fc.constantFrom('a', 'hash', '=', '&', '%', '+', '?', '/', '1'), maxLength: 20 })
    fc.assert(
      fc.property(query, fc.string(), (own, hash) => {
        const url = new URL(finishRedirect(`https://c.example/cb?${own}`, { hash, interact_ref: 'r' }))
        expect(url.searchParams.getAll('hash')).toEqual([hash])
        expect(url.searchParams.getAll('interact_ref')).toEqual(['r'])
        expect(url.origin + url.pathname).toBe('https://c.example/cb')
      }),
    )
  })
})
