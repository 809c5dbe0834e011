import { describe, expect, it } from 'vitest'
import { hideToken, lineOf, showToken } from '../../src/protocol/signed-request.ts'

const TOKEN = 'OSv1-_AeKQ.~+/09=='
const bytes = (text: string): string => `:${Buffer.from(text).toString('base64')}:`

const base = (...lines: readonly string[]): string =>
  ['"@method": POST', ...lines, '"@signature-params": ("@method" "authorization");created=1;keyid="k"'].join('\n')

describe('a signature base without its token', () => {
  it.each([
    ['in its field', base(`"authorization": GNAP ${TOKEN}`)],
    ['under a scheme in other letters', base(`"authorization": gnap ${TOKEN}`)],
    [
      'twice, also as a byte sequence',
      base(`"authorization": GNAP ${TOKEN}`, `"authorization";bs: ${bytes(`GNAP ${TOKEN}`)}`),
    ],
    [
      'as a byte sequence first',
      base(`"authorization";bs: ${bytes(`GNAP ${TOKEN}`)}`, `"authorization": GNAP ${TOKEN}`),
    ],
    ['in another field', base(`"authorization": GNAP ${TOKEN}`, `"x-copy": ${TOKEN}, ${TOKEN}`)],
    ['in the target', base(`"@target-uri": https://a.example/?t=${TOKEN}`, `"authorization": GNAP ${TOKEN}`)],
  ])('T-42 TOK-1 holds none that stood %s, and is the same again with it', (_, signed) => {
    const hidden = hideToken(signed)
    expect(hidden).not.toContain(TOKEN)
    expect(hidden).not.toContain(bytes(`GNAP ${TOKEN}`))
    expect(hidden.split('\n')).toHaveLength(signed.split('\n').length)
    expect(showToken(hidden, TOKEN)).toBe(signed)
  })

  it('T-42 puts a token back as it is, whatever it holds', () => {
    const signed = base('"authorization": GNAP abc')
    expect(showToken(hideToken(signed), "$&$'")).toBe(base(`"authorization": GNAP $&$'`))
  })

  it('T-42 is not made of a base that covers no token', () => {
    expect(() => hideToken(base('"x-copy": GNAP abc'))).toThrow(TypeError)
    expect(() => hideToken(base('"authorization": GNAP '))).toThrow(TypeError)
  })
})

describe('a line of a signature base', () => {
  it('T-42 is found by the whole name of its component, without parameters', () => {
    const signed = base(
      '"idempotency-key";bs: :YQ==:',
      '"x-idempotency-key": b',
      '"authorization": GNAP "idempotency-key": c',
    )
    expect(lineOf(signed, 'idempotency-key')).toBe('')
    expect(lineOf(`${signed}\n"idempotency-key": d: e`, 'idempotency-key')).toBe('d: e')
    expect(lineOf(signed, '@method')).toBe('POST')
  })
})
