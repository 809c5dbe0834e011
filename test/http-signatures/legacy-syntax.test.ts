import { describe, expect, it } from 'vitest'
import {
  CREATED,
  candidatesOf,
  type Draft,
  HEADERS,
  judge,
  LINES,
  type Line,
  PARAMETERS,
  signByHand,
  signText,
} from './sign-by-hand.ts'

const php: Draft['wire'] = (input, signature) => ({
  'signature-input': [`sig1=${input}`],
  signature: [`sig1=${signature.replaceAll(':', '')}`],
})

/** As the Rust client signs: quoted lines in the base, the list unquoted both in the base and in the header. */
function rust(
  change: Partial<Draft> = {},
  wire?: (input: string, signature: string) => ReturnType<Draft['wire']>,
): Draft['wire'] {
  return () => {
    const lines = change.lines ?? LINES
    const input = `(${lines.map(([name]) => name.replaceAll('"', '')).join(' ')})${change.parameters ?? PARAMETERS}`
    const base = [...lines, ['"@signature-params"', input]].map((line) => line.join(': ')).join('\n')
    const signature = signText(base)
    return wire ? wire(input, signature) : { 'signature-input': [`sig1=${input}`], signature: [signature] }
  }
}
const signRust = (change: Partial<Draft> = {}, wire?: Parameters<typeof rust>[1]) =>
  signByHand({ ...change, wire: rust(change, wire) })

const MALFORMED = 'signature headers are malformed'

describe('the reader of two malformed shapes', () => {
  it('D2 reads both, and tells which', async () => {
    const [fromPhp] = await candidatesOf(signByHand({ wire: php }))
    const [fromRust] = await candidatesOf(signRust())
    expect(fromPhp).toMatchObject({ legacySyntax: 'php', keyId: 'key-1', created: CREATED })
    expect(fromRust).toMatchObject({ legacySyntax: 'rust', keyId: 'key-1', created: CREATED })
    expect(await judge(signByHand({ wire: php }))).toBe('accepted')
    expect(await judge(signRust())).toBe('accepted')
  })

  it('D2 reads the Rust shape whatever it covers first', async () => {
    expect(await judge(signRust({ lines: [...LINES].reverse() }))).toBe('accepted')
  })

  it('D2 reads neither unless it is named', async () => {
    expect(await judge(signByHand({ wire: php }), { legacySyntax: ['rust'] })).toBe(MALFORMED)
    expect(await judge(signRust(), { legacySyntax: ['php'] })).toBe(MALFORMED)
    expect(await judge(signByHand({ wire: php }), { legacySyntax: [] })).toBe(MALFORMED)
    expect(await judge(signRust(), { legacySyntax: [] })).toBe(MALFORMED)
  })

  it.each<[string, Draft['wire']]>([
    [
      'another label',
      (input, signature) => ({ 'signature-input': [`a=${input}`], signature: [`a=${signature.replaceAll(':', '')}`] }),
    ],
    [
      'a label that differs',
      (input, signature) => ({
        'signature-input': [`a=${input}`],
        signature: [`sig1=${signature.replaceAll(':', '')}`],
      }),
    ],
    [
      'a second label',
      (input, signature) => ({
        'signature-input': [`sig1=${input}, a=()`],
        signature: [`sig1=${signature.replaceAll(':', '')}`],
      }),
    ],
    [
      'one colon',
      (input, signature) => ({ 'signature-input': [`sig1=${input}`], signature: [`sig1=${signature.slice(1)}`] }),
    ],
    [
      'a parameter',
      (input, signature) => ({
        'signature-input': [`sig1=${input}`],
        signature: [`sig1=${signature.replaceAll(':', '')};a`],
      }),
    ],
    [
      'something before it',
      (input, signature) => ({
        'signature-input': [`sig1=${input}`],
        signature: [`a=:AA==:, sig1=${signature.replaceAll(':', '')}`],
      }),
    ],
    [
      'a second line',
      (input, signature) => ({
        'signature-input': [`sig1=${input}`],
        signature: [`sig1=${signature.replaceAll(':', '')}`, 'a=:AA==:'],
      }),
    ],
    [
      'other padding bits',
      (input, signature) => ({
        'signature-input': [`sig1=${input}`],
        signature: [`sig1=${signature.replaceAll(':', '').replace(/.==/, 'B==')}`],
      }),
    ],
    [
      'no label in Signature',
      (input, signature) => ({ 'signature-input': [`sig1=${input}`], signature: [signature.replaceAll(':', '')] }),
    ],
    [
      'no list',
      (_input, signature) => ({
        'signature-input': ['sig1="a"'],
        signature: [`sig1=${signature.replaceAll(':', '')}`],
      }),
    ],
  ])('D2 refuses the PHP shape with %s', async (_, wire) => {
    expect(await judge(signByHand({ wire }))).toBe(MALFORMED)
  })

  it('D2 refuses the PHP shape without its padding, which is a token', async () => {
    const wire: Draft['wire'] = (input, signature) => ({
      'signature-input': [`sig1=${input}`],
      signature: [`sig1=${signature.replace(/[:=]/g, '')}`],
    })
    expect(await judge(signByHand({ wire }))).toBe('Signature must be a byte sequence')
  })

  it.each<[string, (input: string, signature: string) => ReturnType<Draft['wire']>]>([
    ['another label', (input, signature) => ({ 'signature-input': [`a=${input}`], signature: [signature] })],
    [
      'a labelled signature',
      (input, signature) => ({ 'signature-input': [`sig1=${input}`], signature: [`sig1=${signature}`] }),
    ],
    ['colons', (input, signature) => ({ 'signature-input': [`sig1=${input}`], signature: [`:${signature}:`] })],
    ['a second label', (input, signature) => ({ 'signature-input': [`sig1=${input}, a=()`], signature: [signature] })],
    [
      'something before it',
      (input, signature) => ({ 'signature-input': [`a=1, sig1=${input}`], signature: [signature] }),
    ],
    [
      'something behind its signature',
      (input, signature) => ({ 'signature-input': [`sig1=${input}`], signature: [`${signature};a`] }),
    ],
    [
      'something before its signature',
      (input, signature) => ({ 'signature-input': [`sig1=${input}`], signature: [`A${signature}`] }),
    ],
    [
      'two spaces',
      (input, signature) => ({ 'signature-input': [`sig1=${input.replace(' ', '  ')}`], signature: [signature] }),
    ],
    [
      'upper case names',
      (input, signature) => ({ 'signature-input': [`sig1=${input.toUpperCase()}`], signature: [signature] }),
    ],
  ])('D2 refuses the Rust shape with %s', async (_, wire) => {
    expect(await judge(signRust({}, wire))).toBe(MALFORMED)
  })

  it.each([
    `;keyid="key-1";created=${CREATED}`,
    `;created=${CREATED};keyid="key-1";nonce="n"`,
    `;created=${CREATED};keyid=key-1`,
    `;created="${CREATED}";keyid="key-1"`,
    `;created=${CREATED}.0;keyid="key-1"`,
    `;created=${CREATED}`,
    `;created=000000${CREATED};keyid="key-1"`,
    String.raw`;created=${CREATED};keyid="key\"-1"`,
    String.raw`;created=${CREATED};keyid="key\-1"`,
  ])('D2 refuses the Rust shape with the parameters %s', async (parameters) => {
    expect(await judge(signRust({ parameters }))).toBe(MALFORMED)
  })

  describe.each([
    ['php', (change: Partial<Draft>) => signByHand({ ...change, wire: php })],
    ['rust', (change: Partial<Draft>) => signRust(change)],
  ] as const)('relaxes nothing else (%s)', (_, sign) => {
    const without = (name: string): readonly Line[] => LINES.filter(([identifier]) => identifier !== name)

    it.each(['"@method"', '"@target-uri"', '"authorization"', '"content-digest"'])('D2 asks for %s', async (name) => {
      expect(await judge(sign({ lines: without(name) }))).toBe(`${name} is not covered`)
    })

    it('D2 refuses a component that is covered twice, absent or unknown', async () => {
      expect(await judge(sign({ lines: [...LINES, ['"@method"', 'POST']] }))).toBe('a component is covered twice')
      expect(await judge(sign({ lines: [...LINES, ['"x-a"', 'undefined']] }))).toBe('"x-a" is covered but absent')
      expect(await judge(sign({ lines: [...LINES, ['"@status"', '200']] }))).toBe('a derived component is unknown')
    })

    it('D2 judges time, digest, key and profile', async () => {
      expect(await judge(sign({}), { now: (CREATED + 301) * 1000 })).toBe('signature is too old')
      expect(await judge(sign({}), { now: (CREATED - 61) * 1000 })).toBe('signature is from the future')
      expect(await judge(sign({ body: '{"hello": "moon!"}' }))).toBe('Content-Digest is not that of the body')
      expect(await judge(sign({}), {}, { kid: 'key-2', x: '' })).toBe('keyid names no key of the client')
      expect(await judge(sign({}), { profile: 'gnap' })).toBe('tag is not "gnap"')
      expect(await judge(sign({ targetUris: ['https://wallet.example/'] }))).toBe('signature does not verify')
    })

    it('D2 refuses two lines of a header that may stand once', async () => {
      const headers = { ...HEADERS, host: ['wallet.example', 'other.example'] }
      expect(await judge(sign({ headers }))).toBe('there is more than one host line')
    })
  })
})
