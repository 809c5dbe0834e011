import { describe, expect, it } from 'vitest'
import { verifySignatures } from '../../src/http-signatures/verify-signature.ts'
import { webCryptography } from '../../src/runtime/web-crypto.ts'
import {
  CREATED,
  candidatesOf,
  type Draft,
  judge,
  KEY,
  LINES,
  PARAMETERS,
  signByHand,
  signText,
} from './sign-by-hand.ts'

describe('labels', () => {
  it.each<[string, Draft['wire']]>([
    [
      'a lone comma',
      (input, signature) => ({ 'signature-input': [`sig1=${input},`], signature: [`sig1=${signature}`] }),
    ],
    [
      'no list',
      (input, signature) => ({
        'signature-input': [`sig1=${input.replace(')', '')}`],
        signature: [`sig1=${signature}`],
      }),
    ],
    [
      'no closing colon',
      (input, signature) => ({ 'signature-input': [`sig1=${input}`], signature: [`sig1=${signature.slice(0, -1)}`] }),
    ],
    [
      'an upper case label',
      (input, signature) => ({ 'signature-input': [`Sig1=${input}`], signature: [`Sig1=${signature}`] }),
    ],
    [
      'a date among the parameters',
      (input, signature) => ({ 'signature-input': [`sig1=${input}, a=@1`], signature: [`sig1=${signature}`] }),
    ],
    [
      'a display string',
      (input, signature) => ({ 'signature-input': [`sig1=${input}, a=%"b"`], signature: [`sig1=${signature}`] }),
    ],
  ])('SIG-1 refuses headers that are no RFC 8941 dictionaries: %s', async (_, wire) => {
    expect(await judge(signByHand({ wire }))).toBe('signature headers are malformed')
  })

  it('SIG-1 reads the headers over several lines', async () => {
    const wire: Draft['wire'] = (input, signature) => ({
      'signature-input': ['other=("@method")', `sig1=${input}`],
      signature: [`sig1=${signature}`, 'unrelated=:AA==:'],
    })
    expect(await judge(signByHand({ wire }))).toBe('accepted')
  })

  it.each<[string, Draft['wire']]>([
    [
      'in Signature-Input',
      (input, signature) => ({ 'signature-input': [`sig1=${input}, sig1=${input}`], signature: [`sig1=${signature}`] }),
    ],
    [
      'over two lines',
      (input, signature) => ({
        'signature-input': [`sig1=${input}`, `sig1=${input}`],
        signature: [`sig1=${signature}`],
      }),
    ],
    [
      'in Signature',
      (input, signature) => ({ 'signature-input': [`sig1=${input}`], signature: [`sig1=:AA==:, sig1=${signature}`] }),
    ],
    [
      'behind a display string',
      (input, signature) => ({
        'signature-input': [String.raw`a=%"\", a=%"x", sig1=${input}`],
        signature: [`sig1=${signature}`],
      }),
    ],
  ])('SIG-2 refuses a label that occurs twice %s', async (_, wire) => {
    expect(await judge(signByHand({ wire }))).toBe('signature headers are malformed')
  })

  it('SIG-2 is not misled by commas and quotes inside strings', async () => {
    expect(
      await judge(signByHand({ parameters: String.raw`;created=${CREATED};keyid="key-1";nonce="a,\"sig1=,\\"` })),
    ).toBe('accepted')
  })

  it.each(['sig1', 'x', '*', 'a.b-c_d*'])('SIG-3 gives the label %s no meaning', async (label) => {
    const wire: Draft['wire'] = (input, signature) => ({
      'signature-input': [`${label}=${input}`],
      signature: [`${label}=${signature}`],
    })
    expect(await judge(signByHand({ wire }))).toBe('accepted')
  })

  it('SIG-4 refuses a message whose fields share no label', async () => {
    const wire: Draft['wire'] = (input, signature) => ({
      'signature-input': [`sig1=${input}`],
      signature: [`sig2=${signature}`],
    })
    expect(await judge(signByHand({ wire }))).toBe('no label stands in both Signature-Input and Signature')
  })

  it.each([
    ['an unusable list', '"@method"', ':AA==:'],
    ['no list of components', '5', `:${signText('')}:`],
    ['a wrong length', '("@method" "@target-uri");created=1700000000;keyid="key-1"', ':AA==:'],
    ['no bytes', '("@method" "@target-uri");created=1700000000;keyid="key-1"', 'token'],
    ['a wrong signature', `(${LINES.map(([name]) => name).join(' ')})${PARAMETERS}`, `:${signText('another base')}:`],
    ['a decimal parameter', '("@method");created=1;q=0.5', `:${signText('')}:`],
    ['a decimal beside its bytes', '("@method")', ':AA==:;q=0.5'],
    ['a decimal component', '(1.5)', ':AA==:'],
    ['a decimal in place of a list', '1.5', ':AA==:'],
    ['an unknown component', '("@status");created=1700000000;keyid="key-1"', `:${signText('')}:`],
  ])('SIG-5 accepts a message whose other signature has %s', async (_, otherInput, otherSignature) => {
    const wire: Draft['wire'] = (input, signature) => ({
      'signature-input': [`other=${otherInput}, sig1=${input}`],
      signature: [`other=${otherSignature}, sig1=${signature}`],
    })
    expect(await judge(signByHand({ wire }))).toBe('accepted')
  })

  it('SIG-5 SIG-17 refuses the signature that holds a decimal itself, wherever it stands', async () => {
    for (const at of ['before', 'behind']) {
      const wire: Draft['wire'] = (input, signature) => {
        const [own, other] = [`sig1=${input};q=1.0`, 'a=("@method");nonce="1.0, 2.0";created=1']
        return {
          'signature-input': [(at === 'before' ? [other, own] : [own, other]).join(',')],
          signature: [`sig1=${signature}`],
        }
      }
      // Signed as it is read: only that it was written in another way would let it pass.
      expect(
        await judge(
          signByHand({
            parameters: `${PARAMETERS};q=1`,
            wire: (input, signature) => wire(input.slice(0, -4), signature),
          }),
        ),
      ).toBe('a signature must not hold decimals')
    }
  })

  it('SIG-17 refuses a decimal at the octets of the signature itself', async () => {
    const written = (parameter: string): Draft['wire'] => {
      return (input, signature) => ({
        'signature-input': [`sig1=${input}`],
        signature: [`sig1=${signature};${parameter}`],
      })
    }
    expect(await judge(signByHand({ wire: written('q=1') }))).toBe('accepted')
    expect(await judge(signByHand({ wire: written('q=1.0') }))).toBe('a signature must not hold decimals')
  })

  it('SIG-1 refuses a signature that names no list', async () => {
    const wire: Draft['wire'] = (_, signature) => ({ 'signature-input': ['sig1=5'], signature: [`sig1=${signature}`] })
    expect(await judge(signByHand({ wire }))).toBe('Signature-Input must be a list of components')
  })

  it('SIG-5 tries one candidate after the other', async () => {
    const [candidate] = await candidatesOf(signByHand())
    if (!candidate) throw new Error('no candidate')
    const wrong = { ...candidate, signature: new Uint8Array(64) }
    const asked: string[] = []
    const findKey = async (keyId: string) => {
      asked.push(keyId)
      return { key: KEY }
    }
    const verified = { candidate, signer: { key: KEY } }
    expect(await verifySignatures([wrong, wrong, candidate, wrong], findKey, webCryptography())).toMatchObject({
      verified: [verified],
    })
    expect(asked).toHaveLength(4)
    expect(await verifySignatures([candidate, wrong, candidate], findKey, webCryptography())).toMatchObject({
      verified: [verified, verified],
    })
    expect(asked).toHaveLength(7)
    expect(await verifySignatures([wrong, wrong, wrong, wrong], findKey, webCryptography())).toEqual({
      ok: false,
      reason: 'signature does not verify',
    })
    expect(asked).toHaveLength(11)
  })

  it('SIG-5 tells why the first of several unusable signatures is refused', async () => {
    const wire: Draft['wire'] = (input, signature) => ({
      'signature-input': [`a=("@method")${PARAMETERS}, b=5, c=${input};tag="x"`],
      signature: [`a=${signature}, b=${signature}, c=${signature}`],
    })
    expect(await judge(signByHand({ wire }))).toBe('"@target-uri" is not covered')
  })

  it('SIG-5 accepts a message though the key of another signature cannot be looked for', async () => {
    const [candidate] = await candidatesOf(signByHand())
    if (!candidate) throw new Error('no candidate')
    const others = ['first', 'second'].map((keyId) => ({ ...candidate, keyId }))
    const findKey = async (keyId: string) => {
      if (keyId !== KEY.kid) throw new Error(`${keyId} cannot be fetched`)
      return { key: KEY }
    }
    const verify = (candidates: typeof others) => verifySignatures(candidates, findKey, webCryptography())
    expect(await verify([...others, candidate])).toMatchObject({ ok: true, verified: [{ candidate }] })
    await expect(verify(others)).rejects.toThrow('first cannot be fetched')
  })

  it.each([4, 5])('SIG-35 reads 4 labels and refuses 5 (%i)', async (count) => {
    const names = Array.from({ length: count - 1 }, (_, index) => `s${index}`)
    const wire: Draft['wire'] = (input, signature) => ({
      'signature-input': [`sig1=${input}`, ...names.map((name) => `${name}=()`)],
      signature: [`sig1=${signature}`],
    })
    expect(await judge(signByHand({ wire }))).toBe(count === 4 ? 'accepted' : 'there are more than 4 signatures')
  })

  it.each([4, 5])('SIG-35 reads 4 labels in Signature and refuses 5 (%i)', async (count) => {
    const others = ['a', 'b', 'c', 'd'].slice(0, count - 1).map((name) => `${name}=:AA==:`)
    const wire: Draft['wire'] = (input, signature) => ({
      'signature-input': [`sig1=${input}`],
      signature: [`sig1=${signature}`, ...others],
    })
    expect(await judge(signByHand({ wire }))).toBe(count === 4 ? 'accepted' : 'there are more than 4 signatures')
  })
})
