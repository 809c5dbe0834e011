import * as v from 'valibot'
import { describe, expect, it } from 'vitest'
import { AccessList } from '../../src/protocol/access.ts'
import { Amount } from '../../src/protocol/amount.ts'
import { IdentifiedRequest } from '../../src/protocol/client.ts'
import { GrantRequest } from '../../src/protocol/grant-request.ts'
import { parsePublicKey } from '../../src/protocol/json-web-key.ts'
import { Limits } from '../../src/protocol/limits.ts'
import { Metadata } from '../../src/protocol/metadata.ts'
import { CreateOutgoingPayment } from '../../src/protocol/outgoing-payment.ts'
import { CreateQuote } from '../../src/protocol/quote.ts'

/** The first thing that is wrong, as the client is told it. */
function reasonOf(schema: v.GenericSchema<unknown, unknown>, value: unknown): string | undefined {
  return v.safeParse(schema, value, { abortEarly: true }).issues?.[0].message
}

const walletAddress = 'https://wallet.example/alice'
const receiver = 'https://other.example/incoming-payments/1'
const amount = { value: '1', assetCode: 'USD', assetScale: 2 }
const long = `https://wallet.example/${'x'.repeat(2048)}`
const entry = { type: 'outgoing-payment', actions: ['create'], identifier: walletAddress }
const finish = { method: 'redirect', uri: 'https://client.example/', nonce: 'n' }
const asking = { client: walletAddress, access_token: { access: [entry] } }

const withEntry = (change: object): unknown => [{ ...entry, ...change }]
const withInteract = (interact: object): unknown => ({ ...asking, interact: { start: ['redirect'], ...interact } })
const withFinish = (change: object): unknown => withInteract({ finish: { ...finish, ...change } })
const withSubject = (identifier: object): unknown => ({ ...asking, subject: { sub_ids: [identifier] } })
const subject = { id: walletAddress, format: 'uri' }

const NO_AMOUNT_VALUE = 'must be whole smallest units in plain digits, at most 18446744073709551615'

describe('what a client is told of', () => {
  it.each([
    [{ ...amount, value: '01' }, NO_AMOUNT_VALUE],
    [{ ...amount, value: '5.00' }, NO_AMOUNT_VALUE],
    [{ ...amount, value: '18446744073709551616' }, NO_AMOUNT_VALUE],
    [{ ...amount, assetCode: '' }, 'invalid assetCode'],
    [{ ...amount, assetScale: 1.5 }, 'invalid assetScale'],
    [{ ...amount, assetScale: -1 }, 'invalid assetScale'],
    [{ ...amount, assetScale: 256 }, 'invalid assetScale'],
  ])('AMT-1 AMT-2 an amount: %#', (given, reason) => expect(reasonOf(Amount, given)).toBe(reason))

  it.each([
    [[], 'must be an object, not a list'],
    [{ receiver: walletAddress }, 'not the URL of an incoming payment'],
    [{ interval: 'P1M' }, 'not a repeating interval with a period of at least 60 seconds and at most 100000000 days'],
    [{ debitAmount: amount, receiveAmount: amount }, 'only one access amount allowed'],
  ])('GRT-10 limits: %#', (given, reason) => expect(reasonOf(Limits, given)).toBe(reason))

  it.each([
    ['all', 'must be an array'],
    [[{ type: 'card' }], 'unknown access type'],
    [withEntry({ actions: ['pay'] }), 'unknown action'],
    [withEntry({ actions: [] }), 'actions must not be empty'],
    [withEntry({ actions: ['read', 'read'] }), 'repeated action'],
    [withEntry({ identifier: long }), 'too long'],
    [[entry, entry], 'access repeats an entry'],
    [[entry, entry, entry, entry], 'has more than 3 entries'],
  ])('GRT-3 access: %#', (given, reason) => expect(reasonOf(AccessList, given)).toBe(reason))

  it.each([
    [{ client: walletAddress }, 'ask for access or for a subject'],
    [withSubject({ ...subject, id: long }), 'too long'],
    [withSubject({ ...subject, format: 'email' }), 'must be uri'],
    [{ ...asking, subject: { sub_ids: walletAddress } }, 'sub_ids must hold exactly one identifier'],
    [withInteract({ start: ['user_code'] }), 'must be redirect'],
    [withInteract({ start: [] }), 'must be redirect'],
    [withFinish({ method: 'push' }), 'must be redirect'],
    [withFinish({ uri: long }), 'too long'],
    [withFinish({ nonce: '' }), 'must be 1 to 256 printable ASCII characters'],
    [withFinish({ hash_method: 'sha-512' }), 'must be sha-256'],
  ])('GRT-2 GRT-11 a grant request: %#', (given, reason) => expect(reasonOf(GrantRequest, given)).toBe(reason))

  it.each([
    [7, 'must be a wallet address, { walletAddress } or { jwk }'],
    [undefined, 'must be a wallet address, { walletAddress } or { jwk }'],
    [{ walletAddress, jwk: {} }, 'must be a wallet address, { walletAddress } or { jwk }'],
  ])('KEY-5 a client: %#', (client, reason) => expect(reasonOf(IdentifiedRequest, { client })).toBe(reason))

  it.each([
    [{ walletAddress, receiver, method: 'card' }, 'must be ilp'],
    [
      { walletAddress, receiver, method: 'ilp', debitAmount: amount, receiveAmount: amount },
      'give debitAmount or receiveAmount, not both',
    ],
  ])('QUO-1 a quote: %#', (given, reason) => expect(reasonOf(CreateQuote, given)).toBe(reason))

  it.each([7, { walletAddress }, { walletAddress, quoteId: receiver, incomingPayment: receiver, debitAmount: amount }])(
    'OUT-1 an outgoing payment: %#',
    (given) =>
      expect(reasonOf(CreateOutgoingPayment, given)).toBe('give either quoteId, or incomingPayment and debitAmount'),
  )

  it.each([
    [[], 'must be an object of at most 8 levels, with no number beyond 2^53 - 1: write larger ones as text'],
    [{ a: 'x'.repeat(8192) }, 'too large'],
  ])('INC-11 metadata: %#', (given, reason) => expect(reasonOf(Metadata, given)).toBe(reason))
})

describe('what is told of a key', () => {
  const key = {
    kid: 'k',
    alg: 'EdDSA',
    kty: 'OKP',
    crv: 'Ed25519',
    x: '11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo',
  }
  const { kid: _, ...unnamed } = key
  const { x: __, ...pointless } = key

  it.each([
    [7, 'a key needs kid, alg, kty, crv and x'],
    [unnamed, 'a key needs kid, alg, kty, crv and x'],
    [{ ...key, kid: 7 }, 'kid is missing'],
    [{ ...key, kid: '' }, 'kid is empty'],
    [{ ...key, kid: 'k'.repeat(257) }, 'kid is longer than 256 characters'],
    [{ ...key, kty: 'EC' }, 'kty must be OKP'],
    [{ ...key, crv: 'X25519' }, 'crv must be Ed25519'],
    [pointless, 'a key needs kid, alg, kty, crv and x'],
    [{ ...key, x: 7 }, 'x is missing'],
    [{ ...key, x: 'A' }, 'x is not a usable Ed25519 public key'],
    [{ ...key, use: 'enc' }, 'use must be sig'],
    [{ ...key, key_ops: 'verify' }, 'key_ops must be an array'],
    [{ ...key, key_ops: ['sign'] }, 'key_ops must include verify'],
    [{ ...key, d: 'x' }, 'a public key must not carry its private part'],
    [{ ...key, alg: 'RS256' }, 'alg must be EdDSA'],
  ])('KEY-1 KEY-4 what is wrong with it: %#', (given, reason) => {
    expect(parsePublicKey(given, { requireAlg: true })).toStrictEqual({ ok: false, reason })
  })

  it('KEY-1 that a key of another key set needs no alg', () => {
    expect(parsePublicKey(unnamed, { requireAlg: false })).toStrictEqual({
      ok: false,
      reason: 'a key needs kid, kty, crv and x',
    })
  })
})
