import { createHash } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { contentDigest, verifyContentDigest } from '../../src/http-signatures/content-digest.ts'
import { webCryptography } from '../../src/runtime/web-crypto.ts'
import vectors from '../vectors/content-digest.json' with { type: 'json' }
import { BODY, BODY_DIGEST, HEADERS, judge, LINES, type Line, sha512Digest, signByHand, TOKEN } from './sign-by-hand.ts'

const cryptography = webCryptography()
const bytes = (text: string): Uint8Array => new TextEncoder().encode(text)

async function verdict(lines: readonly string[], body = BODY): Promise<string> {
  const result = await verifyContentDigest(lines, bytes(body), cryptography)
  return result.ok ? 'accepted' : result.reason
}

/** A request whose signature covers this very Content-Digest. */
function signed(digest: string): Promise<string> {
  const lines = LINES.map(([name, value]): Line => [name, name === '"content-digest"' ? digest : value])
  return judge(signByHand({ lines, headers: { ...HEADERS, 'content-digest': [digest] } }))
}

const sha256 = (body: string): string => `sha-256=:${createHash('sha256').update(body).digest('base64')}:`
const md5 = `md5=:${createHash('md5').update(BODY).digest('base64')}:`

describe('Content-Digest', () => {
  it.each(vectors.cases)(
    'DIG-2 accepts and writes the published digests of $body',
    async ({ body, sha256, sha512 }) => {
      expect(await verdict([sha256], body)).toBe('accepted')
      expect(await verdict([sha512], body)).toBe('accepted')
      expect(await verdict([sha256, sha512], body)).toBe('accepted')
      expect(await contentDigest(bytes(body), cryptography)).toBe(sha512)
    },
  )

  it('DIG-1 is of the bytes, not of what they mean', async () => {
    const digest = sha512Digest(BODY)
    expect(await signed(digest)).toBe('accepted')
    const headers = { ...HEADERS, 'content-digest': [digest], 'content-length': ['17'] }
    const lines = LINES.map(([name, value]): Line => [name, name === '"content-length"' ? '17' : value])
    expect(await judge(signByHand({ body: '{"hello":"world"}', headers, lines }))).toBe(
      'Content-Digest is not that of the body',
    )
  })

  it.each([
    [`${sha256(BODY)}, ${sha512Digest('other')}`],
    [`${sha256('other')}, ${sha512Digest(BODY)}`],
    [sha512Digest('other')],
    [sha256('other')],
  ])('DIG-2 refuses %s although it is signed', async (digest) => {
    expect(await signed(digest)).toBe('Content-Digest is not that of the body')
  })

  it.each([
    [[sha256(BODY), sha512Digest(BODY)], 'accepted'],
    [[sha256('other'), sha512Digest(BODY)], 'Content-Digest is not that of the body'],
    [[sha256(BODY), sha512Digest('other')], 'Content-Digest is not that of the body'],
    [[md5, sha512Digest(BODY)], 'accepted'],
    [[sha512Digest(BODY), md5], 'accepted'],
  ])('DIG-2 verifies every line of it: %j is %s', async (written, result) => {
    const headers = { ...HEADERS, 'content-digest': written }
    const lines = LINES.map(([name, value]): Line => [name, name === '"content-digest"' ? written.join(', ') : value])
    expect(await judge(signByHand({ lines, headers }))).toBe(result)
  })

  it.each([md5, 'sha=:AAAA:, unixsum=:AA==:', 'sha-384=:AAAA:', 'crc32c=:AAAAAA==:'])(
    'DIG-3 refuses %j, which has neither sha-256 nor sha-512',
    async (digest) => {
      expect(await signed(digest)).toBe('Content-Digest must carry sha-256 or sha-512')
    },
  )

  it('DIG-3 ignores other algorithms beside a right one', async () => {
    expect(await signed(`md5=:AAAA:, ${BODY_DIGEST}, adler=1`)).toBe('accepted')
  })

  it.each([
    ['', 'Content-Digest is malformed'],
    ['sha-512', 'Content-Digest is malformed'],
    ['sha-512="text"', 'Content-Digest is malformed'],
    [`sha-512=(${BODY_DIGEST.slice('sha-512='.length)})`, 'Content-Digest is malformed'],
    [BODY_DIGEST.replaceAll(':', ''), 'Content-Digest is malformed'],
    [`sha-512=:${'A'.repeat(44)}:`, 'Content-Digest is not that of the body'],
    [sha256(BODY).replace('sha-256', 'sha-512'), 'Content-Digest is not that of the body'],
    ['sha-512=::', 'Content-Digest is not that of the body'],
  ])('DIG-4 refuses %s', async (digest, reason) => {
    expect(await signed(digest)).toBe(reason)
  })

  it.each([8192, 8193])('SIG-35 T-36 reads 8192 characters and refuses 8193 (%i)', async (length) => {
    const text = `${BODY_DIGEST}, a=`
    expect(await verdict([text + 'v'.repeat(length - text.length)])).toBe(
      length === 8192 ? 'accepted' : 'Content-Digest is too long',
    )
  })

  it('SIG-2 refuses an algorithm that occurs twice', async () => {
    expect(await signed(`${sha512Digest('other')}, ${BODY_DIGEST}`)).toBe('Content-Digest is malformed')
    expect(await verdict([BODY_DIGEST, BODY_DIGEST])).toBe('Content-Digest is malformed')
  })

  it('SIG-16 refuses lines that are not ASCII', async () => {
    expect(await verdict([`${BODY_DIGEST};a="é"`])).toBe('Content-Digest is malformed')
  })

  describe('on a request without a body', () => {
    const withoutBody = (digest: string): Promise<string> =>
      judge(
        signByHand({
          method: 'GET',
          body: '',
          headers: { authorization: [TOKEN], 'content-digest': [digest], 'content-length': ['0'] },
          lines: [['"@method"', 'GET'], ...LINES.slice(1, 3)],
        }),
      )

    it('DIG-5 accepts the uncovered digest of no bytes, which one client sends', async () => {
      expect(await withoutBody(sha512Digest(''))).toBe('accepted')
    })

    it('DIG-5 verifies an uncovered digest', async () => {
      expect(await withoutBody(BODY_DIGEST)).toBe('Content-Digest is not that of the body')
    })
  })
})
