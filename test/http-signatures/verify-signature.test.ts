import { describe, expect, it } from 'vitest'
import { verifySignatures } from '../../src/http-signatures/verify-signature.ts'
import { webCryptography } from '../../src/runtime/web-crypto.ts'
import {
  BODY,
  CREATED,
  candidatesOf,
  type Draft,
  HEADERS,
  judge,
  KEY,
  LENGTH_LINE,
  LINES,
  type Line,
  messageOf,
  PARAMETERS,
  RULES,
  signByHand,
  signTextWithIdentity,
  TARGET_LINE,
  URL_OF_REQUEST,
} from './sign-by-hand.ts'

const without = (line: Line): readonly Line[] => LINES.filter((other) => other !== line)
const withParameters = (parameters: string): Partial<Draft> => ({ parameters: PARAMETERS + parameters })

describe('readSignatures and verifySignatures', () => {
  it('accept a message on which everything is right', async () => {
    expect(await judge(signByHand())).toBe('accepted')
  })

  it('answer the candidate and the base that was signed', async () => {
    const candidates = await candidatesOf(signByHand(withParameters(';nonce="n-1"')))
    const verified = await verifySignatures(candidates, async () => ({ key: KEY }), webCryptography())
    if (!verified.ok) throw new Error(verified.reason)
    const [{ candidate, base }] = verified.verified
    expect(candidate).toMatchObject({ keyId: 'key-1', created: CREATED, nonce: 'n-1' })
    expect(candidate).not.toHaveProperty('legacySyntax')
    expect(base).toBe(
      [...LINES, ['"@signature-params"', `(${LINES.map(([name]) => name).join(' ')})${PARAMETERS};nonce="n-1"`]]
        .map((line) => line.join(': '))
        .join('\n'),
    )
  })

  it('refuse a message without signature headers', async () => {
    const wire: Draft['wire'] = (input) => ({ 'signature-input': [`sig1=${input}`] })
    expect(await judge(signByHand({ wire }))).toBe('the request is not signed')
    const alone: Draft['wire'] = (_, signature) => ({ signature: [`sig1=${signature}`] })
    expect(await judge(signByHand({ wire: alone }))).toBe('the request is not signed')
    expect(await judge(messageOf({ method: 'GET', targetUris: [URL_OF_REQUEST], headers: {}, body: '' }))).toBe(
      'the request is not signed',
    )
  })
})

describe('the message', () => {
  const changed = (change: Partial<Draft>, target = URL_OF_REQUEST): Promise<string> => {
    const signed = signByHand()
    const headers = {
      ...HEADERS,
      'signature-input': signed.headerLines('signature-input'),
      signature: signed.headerLines('signature'),
    }
    return judge(messageOf({ method: 'POST', targetUris: [target], body: BODY, headers, ...change }))
  }

  it('T-10 refuses another method, path, host or query', async () => {
    expect(await changed({})).toBe('accepted')
    expect(await changed({ method: 'PUT' })).toBe('signature does not verify')
    expect(await changed({}, 'https://wallet.example/quotes?a=1')).toBe('signature does not verify')
    expect(await changed({}, 'https://other.example/outgoing-payments?a=1')).toBe('signature does not verify')
    expect(await changed({}, 'https://wallet.example/outgoing-payments?a=2')).toBe('signature does not verify')
    expect(await changed({}, 'http://wallet.example/outgoing-payments?a=1')).toBe('signature does not verify')
  })

  it('SIG-30 signs path and query as they were received', async () => {
    const raw = 'https://wallet.example/a/../b//%7e?x=%2B+&&'
    const lines = LINES.map((line) => (line === TARGET_LINE ? (['"@target-uri"', raw] as const) : line))
    expect(await judge(signByHand({ lines, targetUris: [raw] }))).toBe('accepted')
    expect(await judge(signByHand({ lines, targetUris: ['https://wallet.example/b/~?x=%2B+&&'] }))).toBe(
      'signature does not verify',
    )
  })

  it.each(['https://wallet.example/', 'https://wallet.example'])(
    'SIG-31 accepts %s for the root path',
    async (root) => {
      const targetUris = ['https://wallet.example/', 'https://wallet.example']
      const lines = LINES.map((line) => (line === TARGET_LINE ? (['"@target-uri"', root] as const) : line))
      const [candidate] = await candidatesOf(signByHand({ lines, targetUris }))
      expect(candidate?.bases).toHaveLength(2)
      expect(await judge(signByHand({ lines, targetUris }))).toBe('accepted')
    },
  )

  it.each(['authorization', 'content-type', 'content-length', 'host'])(
    'SIG-32 refuses two lines of %s',
    async (name) => {
      const lines = HEADERS[name]
      if (!lines?.[0]) throw new Error(`no ${name}`)
      const value = `${lines[0]}, ${lines[0]}`
      const covered = LINES.map((line) => (line[0] === `"${name}"` ? ([line[0], value] as const) : line))
      const headers = { ...HEADERS, [name]: [lines[0], lines[0]] }
      expect(await judge(signByHand({ headers, lines: covered }))).toBe(`there is more than one ${name} line`)
      // As a Fetch host shows them.
      const joined = { ...HEADERS, [name]: [value] }
      expect(await judge(signByHand({ headers: joined, lines: covered }))).toBe(`there is more than one ${name} line`)
    },
  )

  it('SIG-33 compares a covered Content-Length with the bytes', async () => {
    const signedLength = (length: string): Partial<Draft> => ({
      headers: { ...HEADERS, 'content-length': [length] },
      lines: LINES.map((line) => (line === LENGTH_LINE ? (['"content-length"', length] as const) : line)),
    })
    expect(await judge(signByHand(signedLength('18')))).toBe('accepted')
    expect(await judge(signByHand(signedLength('17')))).toBe('"content-length" is not the length of the body')
    expect(await judge(signByHand(signedLength('018')))).toBe('"content-length" is not the length of the body')
  })

  it('SIG-33 takes the number of bytes where a proxy removed Content-Length', async () => {
    const { 'content-length': length, ...headers } = HEADERS
    expect(length).toEqual(['18'])
    expect(await judge(signByHand({ headers }))).toBe('accepted')
    const lines = LINES.map((line) => (line === LENGTH_LINE ? (['"content-length"', '17'] as const) : line))
    expect(await judge(signByHand({ headers, lines }))).toBe('signature does not verify')
  })

  it.each([
    ['0', 'accepted'],
    ['1', 'signature does not verify'],
  ])('SIG-33 takes it for 0 where there is no body either: %s is %s', async (length, result) => {
    const headers = { authorization: HEADERS['authorization'] ?? [] }
    const covered = LINES.filter(([name]) => name === '"@target-uri"' || name === '"authorization"')
    const lines: Draft['lines'] = [['"@method"', 'GET'], ...covered, ['"content-length"', length]]
    expect(await judge(signByHand({ method: 'GET', body: '', headers, lines }))).toBe(result)
  })

  it('SIG-28 refuses a signature of another length', async () => {
    const wire: Draft['wire'] = (input, signature) => ({
      'signature-input': [`sig1=${input}`],
      signature: [`sig1=:${btoa(`${atob(signature.slice(1, -1))}x`)}:`],
    })
    expect(await judge(signByHand({ wire }))).toBe('an Ed25519 signature has 64 bytes')
  })

  it('SIG-28 KEY-3 refuses a signature whose first half is a point of small order, which OpenSSL takes', async () => {
    expect(await judge(signByHand({ sign: signTextWithIdentity }))).toBe('signature does not verify')
    const text = 'a text'
    const signature = Buffer.from(signTextWithIdentity(text), 'base64')
    const key = Buffer.from(KEY.x, 'base64url')
    expect(await webCryptography().verifyEd25519(key, signature, new TextEncoder().encode(text))).toBe(true)
  })

  it('SIG-28 refuses a signature with any bit changed', async () => {
    const [candidate] = await candidatesOf(signByHand())
    if (!candidate) throw new Error('no candidate')
    for (let bit = 0; bit < 512; bit += 37) {
      const signature = candidate.signature.slice()
      signature[bit >> 3] = (signature[bit >> 3] ?? 0) ^ (1 << (bit & 7))
      const verified = await verifySignatures(
        [{ ...candidate, signature }],
        async () => ({ key: KEY }),
        webCryptography(),
      )
      expect(verified).toEqual({ ok: false, reason: 'signature does not verify' })
    }
  })

  it('SIG-25 gives one base for a signature that is relabelled or written with other padding bits', async () => {
    const relabelled: Draft['wire'] = (input, signature) => ({
      'signature-input': [`other=${input}`],
      signature: [`other=${signature.replace('==:', ':')}`],
    })
    const bases = await Promise.all([candidatesOf(signByHand()), candidatesOf(signByHand({ wire: relabelled }))])
    expect(bases[0]?.[0]?.bases).toEqual(bases[1]?.[0]?.bases)
    expect(await judge(signByHand({ wire: relabelled }))).toBe('accepted')
  })

  it('SIG-34 asks for no key where anything else is wrong', async () => {
    const cryptography = { ...webCryptography(), verifyEd25519: () => Promise.reject(new Error('asked')) }
    for (const lines of LINES.slice(0, 4).map(without)) {
      expect(await judge(signByHand({ lines }), {}, KEY, cryptography)).toContain('is not covered')
    }
    await expect(judge(signByHand(), RULES, KEY, cryptography)).rejects.toThrow('asked')
  })
})
