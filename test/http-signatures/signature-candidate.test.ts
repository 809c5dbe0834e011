import { describe, expect, it } from 'vitest'
import { verifySignatures } from '../../src/http-signatures/verify-signature.ts'
import { webCryptography } from '../../src/runtime/web-crypto.ts'
import {
  AUTHORIZATION_LINE,
  BODY_DIGEST,
  CREATED,
  candidatesOf,
  DIGEST_LINE,
  type Draft,
  HEADERS,
  judge,
  KEY,
  LENGTH_LINE,
  LINES,
  type Line,
  METHOD_LINE,
  PARAMETERS,
  signByHand,
  TARGET_LINE,
  TOKEN,
  TYPE_LINE,
} from './sign-by-hand.ts'

const INEXACT = 'a signature must not hold decimals'
const without = (line: Line): readonly Line[] => LINES.filter((other) => other !== line)
const withParameters = (parameters: string): Partial<Draft> => ({ parameters: PARAMETERS + parameters })
const NO_BODY: Partial<Draft> = {
  method: 'GET',
  body: '',
  headers: { host: ['wallet.example'], authorization: [TOKEN] },
  lines: [['"@method"', 'GET'], TARGET_LINE, AUTHORIZATION_LINE],
}

describe('coverage', () => {
  it.each([METHOD_LINE, TARGET_LINE, AUTHORIZATION_LINE, DIGEST_LINE])(
    'SIG-6 SIG-7 SIG-8 refuses a signature that does not cover %s',
    async (...line) => {
      const lines = LINES.filter(([name]) => name !== line[0])
      expect(await judge(signByHand({ lines }))).toBe(`${line[0]} is not covered`)
    },
  )

  it.each([LENGTH_LINE, TYPE_LINE])('does not ask for %s', async (identifier, value) => {
    expect(await judge(signByHand({ lines: LINES.filter(([name]) => name !== identifier || value === '') }))).toBe(
      'accepted',
    )
  })

  it('SIG-7 asks for authorization where the request carries it', async () => {
    const lines = without(AUTHORIZATION_LINE)
    expect(await judge(signByHand({ lines }))).toBe('"authorization" is not covered')
    const { authorization, ...headers } = HEADERS
    expect(authorization).toEqual([TOKEN])
    expect(await judge(signByHand({ lines, headers }))).toBe('accepted')
  })

  it('SIG-8 does not ask for a digest of no body', async () => {
    expect(await judge(signByHand(NO_BODY))).toBe('accepted')
  })

  it('SIG-8 refuses a covered digest that is absent', async () => {
    const { 'content-digest': digest, ...headers } = HEADERS
    expect(digest).toEqual([BODY_DIGEST])
    expect(await judge(signByHand({ headers }))).toBe('"content-digest" is covered but absent')
  })

  it.each<[Line, Line]>([
    [DIGEST_LINE, ['"content-digest";key="sha-512"', BODY_DIGEST.slice('sha-512='.length)]],
    [DIGEST_LINE, ['"content-digest";sf', BODY_DIGEST]],
    [AUTHORIZATION_LINE, ['"authorization";bs', `:${btoa(TOKEN)}:`]],
  ])('SIG-9 does not count %s when it carries parameters', async (line, parameterised) => {
    const lines = [...without(line), parameterised]
    expect(await judge(signByHand({ lines }))).toBe(`${line[0]} is not covered`)
    expect(await judge(signByHand({ lines: [...lines, line] }))).toBe('accepted')
  })
})

describe('time', () => {
  it.each([
    [CREATED * 1000, 'accepted'],
    [(CREATED + 300) * 1000 + 999, 'accepted'],
    [(CREATED + 301) * 1000, 'signature is too old'],
    [(CREATED - 60) * 1000, 'accepted'],
    [(CREATED - 60) * 1000 - 1, 'signature is from the future'],
  ])('SIG-18 at %i a signature of 1700000000 is %s', async (now, verdict) => {
    expect(await judge(signByHand(), { now })).toBe(verdict)
  })

  it('SIG-18 follows the configured numbers', async () => {
    expect(await judge(signByHand(), { now: (CREATED + 11) * 1000, ageSeconds: 10 })).toBe('signature is too old')
    expect(await judge(signByHand(), { now: (CREATED - 1) * 1000, skewSeconds: 0 })).toBe(
      'signature is from the future',
    )
  })

  it.each(['', ';created="1700000000"', ';created=?1', ';created', ';created=:AA==:', ';created=now', ';created=-1'])(
    'SIG-18 refuses created as in %j',
    async (created) => {
      expect(await judge(signByHand({ parameters: `;keyid="key-1"${created}` }))).toMatch(
        created === ';created=-1' ? 'signature is too old' : 'created is missing or no integer',
      )
    },
  )

  it.each(['1700000000.0', '1700000000.5'])('SIG-18 refuses the decimal %s', async (created) => {
    expect(await judge(signByHand({ parameters: `;created=${created};keyid="key-1"` }))).toBe(INEXACT)
    // Signed as an integer and sent as a decimal: what is read back would verify.
    const wire: Draft['wire'] = (input, signature) => ({
      'signature-input': [`sig1=${input.replace(String(CREATED), created)}`],
      signature: [`sig1=${signature}`],
    })
    expect(await judge(signByHand({ wire }))).toBe(INEXACT)
  })

  it.each([
    [`;expires=${CREATED}`, CREATED * 1000, 'accepted'],
    [`;expires=${CREATED + 10}`, (CREATED + 10) * 1000, 'accepted'],
    [`;expires=${CREATED + 10}`, (CREATED + 10) * 1000 + 1, 'signature has expired'],
    [`;expires=${CREATED - 1}`, (CREATED - 10) * 1000, 'expires is before created'],
    [`;expires="${CREATED + 10}"`, CREATED * 1000, 'expires is no integer'],
    [';expires', CREATED * 1000, 'expires is no integer'],
  ])('SIG-19 %s at %i is %s', async (parameter, now, verdict) => {
    expect(await judge(signByHand(withParameters(parameter)), { now })).toBe(verdict)
  })
})

describe('signature parameters', () => {
  it.each([';keyid=key-1', '', ';keyid', ';keyid=1'])('SIG-20 refuses keyid as in %j', async (parameter) => {
    expect(await judge(signByHand({ parameters: `;created=${CREATED}${parameter}` }))).toBe(
      'keyid is missing or no string',
    )
  })

  it('SIG-20 refuses a key with another kid than the keyid', async () => {
    expect(await judge(signByHand(), {}, { ...KEY, kid: 'key-2' })).toBe('keyid names no key of the client')
  })

  it('SIG-20 refuses a keyid for which there is no key', async () => {
    const candidates = await candidatesOf(signByHand())
    expect(await verifySignatures(candidates, async () => undefined, webCryptography())).toEqual({
      ok: false,
      reason: 'keyid names no key of the client',
    })
  })

  it.each([
    [';alg="ed25519"', 'open-payments', 'accepted'],
    [';alg="ed25519";tag="gnap"', 'gnap', 'alg is not allowed'],
    [';alg="rsa-pss-sha512"', 'open-payments', 'alg is not "ed25519"'],
    [';alg=ed25519', 'open-payments', 'alg is not "ed25519"'],
    [';alg', 'open-payments', 'alg is not "ed25519"'],
  ] as const)('SIG-21 %s in the profile %s: %s', async (parameter, profile, verdict) => {
    expect(await judge(signByHand(withParameters(parameter)), { profile })).toBe(verdict)
  })

  it.each([
    [';tag="gnap"', 'open-payments', 'accepted'],
    [';tag="gnap"', 'gnap', 'accepted'],
    ['', 'gnap', 'tag is not "gnap"'],
    [';tag="gnap-rotate"', 'open-payments', 'tag is not "gnap"'],
    [';tag=gnap', 'open-payments', 'tag is not "gnap"'],
    [';tag', 'gnap', 'tag is not "gnap"'],
  ] as const)('SIG-22 %s in the profile %s: %s', async (parameter, profile, verdict) => {
    expect(await judge(signByHand(withParameters(parameter)), { profile })).toBe(verdict)
  })

  it('SIG-22 ignores a signature with a foreign tag beside a right one', async () => {
    const wire: Draft['wire'] = (input, signature) => ({
      'signature-input': [`a=${input};tag="other", sig1=${input}`],
      signature: [`a=${signature}, sig1=${signature}`],
    })
    expect(await candidatesOf(signByHand({ wire }))).toHaveLength(1)
  })

  it('SIG-23 tells the nonce', async () => {
    const [candidate] = await candidatesOf(signByHand(withParameters(';nonce="n-1"')))
    expect(candidate?.nonce).toBe('n-1')
    expect(await judge(signByHand(withParameters(';nonce=n')))).toBe('nonce is no string')
  })

  it.each([256, 257])('SIG-35 reads 256 characters of keyid and nonce and refuses 257 (%i)', async (length) => {
    const text = 'k'.repeat(length)
    expect(
      await judge(signByHand({ parameters: `;created=${CREATED};keyid="${text}"` }), {}, { ...KEY, kid: text }),
    ).toBe(length === 256 ? 'accepted' : 'keyid is too long')
    expect(await judge(signByHand(withParameters(`;nonce="${text}"`)))).toBe(
      length === 256 ? 'accepted' : 'nonce is too long',
    )
  })

  it.each([8192, 8193])('SIG-35 reads 8192 characters of each field and refuses 8193 (%i)', async (length) => {
    const verdict = length === 8192 ? 'accepted' : 'signature headers are too long'
    const padded = (text: string): string => `${text};p="${'p'.repeat(length - text.length - 5)}"`
    const inSignature: Draft['wire'] = (input, signature) => ({
      'signature-input': [`sig1=${input}`],
      signature: [padded(`sig1=${signature}`)],
    })
    expect(await judge(signByHand({ wire: inSignature }))).toBe(verdict)
    const present = `sig1=(${LINES.map(([name]) => name).join(' ')})${PARAMETERS}`
    const inInput = padded(present).slice(present.length)
    expect(await judge(signByHand(withParameters(inInput)))).toBe(verdict)
  })

  it.each([32, 33])('SIG-35 reads 32 components and refuses 33 (%i)', async (count) => {
    const extra = Array.from({ length: count - LINES.length }, (_, index): Line => [`"x-${index}"`, 'v'])
    const headers = { ...HEADERS, ...Object.fromEntries(extra.map(([name]) => [name.slice(1, -1), ['v']])) }
    expect(await judge(signByHand({ lines: [...LINES, ...extra], headers }))).toBe(
      count === 32 ? 'accepted' : 'more than 32 components are covered',
    )
  })

  it.each(['n="1";b', '@x', 'x;y'])(
    'SIG-17 keeps the order of unknown parameters and of what is in strings (%j)',
    async (text) => {
      const parameters = `;z=1;keyid="key-1";a=tok;nonce="${text.replaceAll('"', String.raw`\"`)}";created=${CREATED};b`
      expect(await judge(signByHand({ parameters }))).toBe('accepted')
    },
  )

  it.each([
    [';a=1.0', INEXACT],
    [';a=-1.5', INEXACT],
    [';a=tok1.0', 'accepted'],
    [';a="=1.0"', 'accepted'],
    [';a=:AA==:', 'accepted'],
  ])('SIG-17 tells a decimal from what looks like one: %s is %s', async (parameter, verdict) => {
    expect(await judge(signByHand(withParameters(parameter)))).toBe(verdict)
  })

  it('SIG-17 signs the canonical form of a list that is written with other spaces', async () => {
    const wire: Draft['wire'] = (input, signature) => ({
      'signature-input': [`  sig1=${input.replaceAll(' ', '   ').replace('(', '(  ').replaceAll(';', ';  ')}  `],
      signature: [`sig1=${signature}`],
    })
    expect(await judge(signByHand({ wire }))).toBe('accepted')
  })
})
