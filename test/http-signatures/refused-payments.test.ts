import { createHash } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { expectRefusal, type Refusal } from '../resource-server/observed-wallet.ts'
import { BASE, CLIENT } from '../support/test-wallet.ts'
import hazards from '../vectors/ed25519-hazards.json' with { type: 'json' }
import {
  also,
  expectOnlyRefused,
  type Fault,
  HAND_CLIENT,
  handSignedPayment,
  instead,
  keyIdAt,
  refusedBecause,
  signedHeader,
  wire,
} from './hand-signed-payment.ts'
import { type Draft, type Line, sha512Digest } from './sign-by-hand.ts'

const sha256 = (text: string): string => `sha-256=:${createHash('sha256').update(text).digest('base64')}:`
const md5 = (text: string): string => `md5=:${createHash('md5').update(text).digest('base64')}:`
const UNVERIFIED = 'signature does not verify'

const FAULTS: readonly Fault[] = [
  [
    'SIG-29 T-13',
    'for the host that Host and its likes name',
    (payment) => ({
      headers: {
        ...payment.right.headers,
        host: ['evil.example'],
        forwarded: ['host=evil.example;proto=https'],
        'x-forwarded-host': ['evil.example'],
        'x-forwarded-proto': ['https'],
      },
      ...instead('target', () => ['"@target-uri"', 'https://evil.example/outgoing-payments'])(payment),
    }),
    UNVERIFIED,
  ],
  [
    'SIG-30',
    'for its target as it reads when it is decoded',
    (payment) => ({
      targetUris: [`${BASE}/outgoing-payments?a=%7e+b`],
      ...instead('target', () => ['"@target-uri"', `${BASE}/outgoing-payments?a=~%20b`])(payment),
    }),
    UNVERIFIED,
  ],
  ['SIG-31', 'for its target with a slash', instead('target', (value) => ['"@target-uri"', `${value}/`]), UNVERIFIED],
  [
    'SIG-32',
    'with two Host lines',
    also(['"host"', 'wallet.example, wallet.example'], { host: ['wallet.example', 'wallet.example'] }),
    'there is more than one host line',
  ],
  [
    'SIG-32',
    'with two Content-Length lines',
    signedHeader('content-length', 'length', ({ lines }) => [lines.length[1], lines.length[1]]),
    'there is more than one content-length line',
  ],
  [
    'SIG-33',
    'that states another length',
    signedHeader('content-length', 'length', ({ lines }) => [`${Number(lines.length[1]) + 1}`]),
    '"content-length" is not the length of the body',
  ],
  [
    'DIG-1 T-11',
    'with the digest of the same JSON in other bytes',
    signedHeader('content-digest', 'digest', ({ right }) => [sha512Digest(right.body.replace(',', ', '))]),
    'Content-Digest is not that of the body',
  ],
  [
    'DIG-2',
    'with a wrong sha-256 beside a right sha-512',
    signedHeader('content-digest', 'digest', ({ right, lines }) => [`${sha256(`${right.body} `)}, ${lines.digest[1]}`]),
    'Content-Digest is not that of the body',
  ],
  [
    'DIG-3',
    'with an md5 alone',
    signedHeader('content-digest', 'digest', ({ right }) => [md5(right.body)]),
    'Content-Digest must carry sha-256 or sha-512',
  ],
  [
    'DIG-4',
    'with a SHA-256 that is called sha-512',
    signedHeader('content-digest', 'digest', ({ right }) => [sha256(right.body).replace('sha-256', 'sha-512')]),
    'Content-Digest is not that of the body',
  ],
  [
    'DIG-4',
    'with a digest that is a string',
    signedHeader('content-digest', 'digest', ({ lines }) => [lines.digest[1].replace(':', '"').replace(/:$/, '"')]),
    'Content-Digest is malformed',
  ],
]

describe('a payment', () => {
  it.each(FAULTS)('SIG-37 %s is refused %s, though it is signed as it is', async (_rule, _name, change, reason) => {
    await expectOnlyRefused(await handSignedPayment(), refusedBecause(reason), change)
  })

  it('SIG-37 SIG-32 is refused with two Authorization lines, though both are signed', async () => {
    const payment = await handSignedPayment()
    const change = signedHeader('authorization', 'authorization', ({ lines }) => [
      lines.authorization[1],
      lines.authorization[1],
    ])
    const refusal: Refusal = [401, 'unauthorized', 'Missing or invalid authorization header value']
    await expectOnlyRefused(payment, refusal, change)
  })

  it('SIG-37 SIG-32 is refused with two Content-Type lines, though both are signed', async () => {
    const payment = await handSignedPayment()
    const change = signedHeader('content-type', 'type', () => ['application/json', 'application/json'])
    await expectOnlyRefused(payment, refusedBecause('there is more than one content-type line'), change)
  })

  it('SIG-37 DIG-6 is refused in a content encoding, though that is signed', async () => {
    const payment = await handSignedPayment()
    const change = also(['"content-encoding"', 'gzip'], { 'content-encoding': ['gzip'] })
    await expectOnlyRefused(payment, [415, 'unsupported_media_type', expect.any(String)], change)
  })

  it('SIG-37 KEY-3 T-8 is refused under a key for which one signature is valid for every message', async () => {
    const payment = await handSignedPayment()
    const client = payment.wallet.directory.get(CLIENT)
    if (client === undefined) throw new Error('no client')
    const weak = { ...HAND_CLIENT.key.jwk, x: hazards.universal_forgery.jwk_x }
    payment.wallet.directory.set(CLIENT, { ...client, keys: [weak] })
    const signature = [`sig1=:${hazards.universal_forgery.signature_base64}:`]
    const forged = wire((input) => ({ 'signature-input': [`sig1=${input}`], signature }))
    await expectRefusal(payment.wallet, refusedBecause('keyid names no key of the client'), () =>
      payment.send(forged(payment)),
    )
    payment.wallet.directory.set(CLIENT, client)
    expect((await payment.send()).status).toBe(201)
  })

  it('SIG-3 SIG-12 SIG-13 is made where every kind of component is covered, under any label', async () => {
    const payment = await handSignedPayment()
    const target = `${BASE}/outgoing-payments?a=1&b=%7e`
    const covered = instead('target', () => ['"@target-uri"', target])(payment).lines ?? []
    const lines: readonly Line[] = [
      ...covered,
      ['"@authority"', 'wallet.example'],
      ['"@scheme"', 'https'],
      ['"@request-target"', '/outgoing-payments?a=1&b=%7e'],
      ['"@path"', '/outgoing-payments'],
      ['"@query"', '?a=1&b=%7e'],
      ['"@query-param";name="b"', '%7E'],
      ['"content-digest";sf', payment.lines.digest[1]],
      ['"content-digest";key="sha-512"', payment.lines.digest[1].slice('sha-512='.length)],
      ['"host";bs', `:${btoa('wallet.example')}:`],
    ]
    const labelled: Draft['wire'] = (input, signature) => ({
      'signature-input': [`any-label=${input}`],
      signature: [`any-label=${signature}`],
    })
    expect((await payment.send({ lines, targetUris: [target], wire: labelled })).status).toBe(201)
  })

  it('SIG-16 RS-2 is made where a host leaves the spaces around its Authorization line', async () => {
    const payment = await handSignedPayment()
    const authorization = [` ${payment.lines.authorization[1]} \t`]
    expect((await payment.send({ headers: { ...payment.right.headers, authorization } })).status).toBe(201)
  })

  it.each([
    [-300, 201],
    [-299, 201],
    [59, 201],
    [60, 201],
    [-301, 401],
    [61, 401],
  ])('T-33 SIG-18 that was signed %i seconds from now is answered with %i', async (seconds, status) => {
    const payment = await handSignedPayment()
    expect((await payment.send({ parameters: keyIdAt(payment.now + seconds) })).status).toBe(status)
  })
})
