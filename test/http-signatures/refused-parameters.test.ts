import { describe, it } from 'vitest'
import {
  expectOnlyRefused,
  type Fault,
  handSignedPayment,
  keyIdAt,
  parameters,
  refusedBecause,
  wire,
} from './hand-signed-payment.ts'
import { type Line, ORDER, signTextWithIdentity } from './sign-by-hand.ts'

const twice = (input: string, signature: string, second: string) => ({
  'signature-input': [`a=${input}, ${second}=${input}`],
  signature: [`a=${signature}, ${second}=${signature}`],
})

/** The same signature with S + L in place of S, which a careless verifier takes too. */
function malleated(signature: string): string {
  const bytes = Buffer.from(signature.slice(1, -1), 'base64')
  const scalar = BigInt(`0x${Buffer.from(bytes.subarray(32)).reverse().toString('hex')}`) + ORDER
  const written = Buffer.from(scalar.toString(16).padStart(64, '0'), 'hex').reverse()
  return `:${Buffer.concat([bytes.subarray(0, 32), written]).toString('base64')}:`
}

const MALFORMED = 'signature headers are malformed'
const UNVERIFIED = 'signature does not verify'
const FAULTS: readonly Fault[] = [
  [
    'SIG-1',
    'with a list that is not closed',
    wire((input, signature) => ({
      'signature-input': [`sig1=${input.replace(')', '')}`],
      signature: [`sig1=${signature}`],
    })),
    MALFORMED,
  ],
  ['SIG-2', 'with a label that occurs twice', wire((input, signature) => twice(input, signature, 'a')), MALFORMED],
  [
    'SIG-2',
    'with a label that occurs twice, on two lines of Signature',
    wire((input, signature) => ({
      'signature-input': [`sig1=${input}`],
      signature: [`sig1=${signature}`, `sig1=${signature}`],
    })),
    MALFORMED,
  ],
  [
    'SIG-4',
    'with labels that do not meet',
    wire((input, signature) => ({ 'signature-input': [`sig1=${input}`], signature: [`sig2=${signature}`] })),
    'no label stands in both Signature-Input and Signature',
  ],
  [
    'SIG-17',
    'with a decimal',
    parameters((now) => `;created=${now}.0;keyid="key-1"`),
    'a signature must not hold decimals',
  ],
  ['SIG-18', 'without created', parameters(() => ';keyid="key-1"'), 'created is missing or no integer'],
  [
    'SIG-18',
    'created in a string',
    parameters((now) => `;created="${now}";keyid="key-1"`),
    'created is missing or no integer',
  ],
  ['SIG-18', 'signed 301 seconds ago', parameters((now) => keyIdAt(now - 301)), 'signature is too old'],
  ['SIG-18', 'signed 61 seconds ahead', parameters((now) => keyIdAt(now + 61)), 'signature is from the future'],
  [
    'SIG-19',
    'that has expired',
    parameters((now) => `${keyIdAt(now - 9)};expires=${now - 1}`),
    'signature has expired',
  ],
  [
    'SIG-19',
    'that expires before it is made',
    parameters((now) => `${keyIdAt(now + 9)};expires=${now + 8}`),
    'expires is before created',
  ],
  [
    'SIG-19',
    'that expires at a text',
    parameters((now) => `${keyIdAt(now)};expires="${now + 9}"`),
    'expires is no integer',
  ],
  ['SIG-20', 'without keyid', parameters((now) => `;created=${now}`), 'keyid is missing or no string'],
  [
    'SIG-20',
    'whose keyid is a token',
    parameters((now) => `;created=${now};keyid=key-1`),
    'keyid is missing or no string',
  ],
  [
    'SIG-20',
    'under a keyid of nobody',
    parameters((now) => `;created=${now};keyid="key-2"`),
    'keyid names no key of the client',
  ],
  ['SIG-21', 'with another alg', parameters((now) => `${keyIdAt(now)};alg="hmac-sha256"`), 'alg is not "ed25519"'],
  ['SIG-22', 'for another purpose', parameters((now) => `${keyIdAt(now)};tag="gnap-rotate"`), 'tag is not "gnap"'],
  ['SIG-23', 'with a nonce that is no string', parameters((now) => `${keyIdAt(now)};nonce=1`), 'nonce is no string'],
  [
    'SIG-28',
    'with S + L for S',
    wire((input, signature) => ({ 'signature-input': [`sig1=${input}`], signature: [`sig1=${malleated(signature)}`] })),
    UNVERIFIED,
  ],
  ['SIG-28', 'with a point of small order, which OpenSSL takes', () => ({ sign: signTextWithIdentity }), UNVERIFIED],
  [
    'SIG-28',
    'of 65 bytes',
    wire((input, signature) => ({
      'signature-input': [`sig1=${input}`],
      signature: [`sig1=:${btoa(`${atob(signature.slice(1, -1))}\0`)}:`],
    })),
    'an Ed25519 signature has 64 bytes',
  ],
  [
    'SIG-35',
    'with 5 labels',
    wire((input, signature) => ({
      'signature-input': [`sig1=${input}, a=(), b=(), c=(), d=()`],
      signature: [`sig1=${signature}`],
    })),
    'there are more than 4 signatures',
  ],
  [
    'SIG-35',
    'with 33 components',
    ({ right }) => {
      const names = Array.from({ length: 33 - right.lines.length }, (_, index) => `x-${index}`)
      return {
        lines: [...right.lines, ...names.map((name): Line => [`"${name}"`, 'v'])],
        headers: { ...right.headers, ...Object.fromEntries(names.map((name) => [name, ['v']])) },
      }
    },
    'more than 32 components are covered',
  ],
  [
    'SIG-35',
    'with a nonce of 257 characters',
    parameters((now) => `${keyIdAt(now)};nonce="${'n'.repeat(257)}"`),
    'nonce is too long',
  ],
  [
    'SIG-35',
    'with a keyid of 257 characters',
    parameters((now) => `;created=${now};keyid="${'k'.repeat(257)}"`),
    'keyid is too long',
  ],
  [
    'SIG-35',
    'with a longer Signature-Input',
    parameters((now) => `${keyIdAt(now)};p="${'p'.repeat(8192)}"`),
    'signature headers are too long',
  ],
]

describe('a payment whose signature headers are wrong', () => {
  it.each(FAULTS)('SIG-37 %s is refused %s, though it is signed as it is', async (_rule, _name, change, reason) => {
    await expectOnlyRefused(await handSignedPayment(), refusedBecause(reason), change)
  })
})
