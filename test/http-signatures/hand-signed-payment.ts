import { expect } from 'vitest'
import { fromBase64url } from '../../src/protocol/bytes.ts'
import {
  createIncoming,
  expectRefusal,
  type ObservedWallet,
  observedWallet,
  RECEIVING_ACCESS,
  type Refusal,
  spendingAccess,
  tokenFor,
} from '../resource-server/observed-wallet.ts'
import { ALICE, type Answer, BASE, CLIENT, type Client, usd } from '../support/test-wallet.ts'
import rfc9421 from '../vectors/rfc9421.json' with { type: 'json' }
import { type Draft, KEY, type Line, sha512Digest, signByHand, signText } from './sign-by-hand.ts'

const { d, x } = rfc9421.key.jwk

/** The client of a wallet of the tests, with the key that `signByHand` signs with. */
export const HAND_CLIENT: Client = {
  key: {
    keyId: KEY.kid,
    jwk: { kid: KEY.kid, alg: 'EdDSA', kty: 'OKP', crv: 'Ed25519', x },
    privateKeySeed: fromBase64url(d) ?? new Uint8Array(),
  },
  client: CLIENT,
}

/** What a payment covers, line by line. */
export interface PaymentLines {
  readonly method: Line
  readonly target: Line
  readonly authorization: Line
  readonly digest: Line
  readonly length: Line
  readonly type: Line
}

/** A payment of Alice that is ready to be sent, signed line by line without any of the code under test. */
export interface HandSignedPayment {
  readonly wallet: ObservedWallet
  /** Everything about it is right. */
  readonly right: Draft
  readonly lines: PaymentLines
  /** Seconds since 1970. */
  readonly now: number
  /** Signs the payment with one thing changed, and sends it. */
  send(change?: Partial<Draft>): Promise<Answer>
}

export async function handSignedPayment(...options: Parameters<typeof observedWallet>): Promise<HandSignedPayment> {
  const wallet = await observedWallet(...options)
  wallet.directory.set(CLIENT, { account: 'bob', assetCode: 'USD', assetScale: 2, keys: [HAND_CLIENT.key.jwk] })
  const incoming = await createIncoming(wallet, await tokenFor(wallet, RECEIVING_ACCESS, HAND_CLIENT), {}, HAND_CLIENT)
  const authorization = `GNAP ${await tokenFor(wallet, spendingAccess(), HAND_CLIENT)}`
  const body = JSON.stringify({ walletAddress: ALICE, incomingPayment: incoming.id, debitAmount: usd('100') })
  const now = Math.floor(wallet.clock.now() / 1000)
  const lines: PaymentLines = {
    method: ['"@method"', 'POST'],
    target: ['"@target-uri"', `${BASE}/outgoing-payments`],
    authorization: ['"authorization"', authorization],
    digest: ['"content-digest"', sha512Digest(body)],
    length: ['"content-length"', String(body.length)],
    type: ['"content-type"', 'application/json'],
  }
  const right: Draft = {
    method: 'POST',
    targetUris: [`${BASE}/outgoing-payments`],
    headers: {
      host: ['wallet.example'],
      authorization: [authorization],
      'content-type': ['application/json'],
      'content-length': [String(body.length)],
      'content-digest': [sha512Digest(body)],
    },
    body,
    lines: Object.values(lines),
    parameters: `;created=${now};keyid="${KEY.kid}"`,
    sign: signText,
    wire: (input, signature) => ({ 'signature-input': [`sig1=${input}`], signature: [`sig1=${signature}`] }),
  }
  return {
    wallet,
    right,
    lines,
    now,
    send: async (change = {}) => {
      const { method, targetUris, headerLines, body: bytes } = signByHand({ ...right, ...change })
      const target = (targetUris[0] ?? '').slice(BASE.length)
      return wallet.sendRaw({ method, target, headerLines, bytes: async () => bytes })
    },
  }
}

/** The refusal of a signature with its reason. */
export function refusedBecause(reason: string): Refusal {
  return [401, 'invalid_signature', `Signature validation error: ${reason}`]
}

/** One thing that is wrong with a payment. */
export type Change = (payment: HandSignedPayment) => Partial<Draft>

/** The rule, what is wrong, the change, and why it is refused. The signature is right over what the change covers. */
export type Fault = readonly [rule: string, name: string, change: Change, reason: string]

/** Leaves one line uncovered. */
export const without =
  (line: keyof HandSignedPayment['lines']): Change =>
  ({ right, lines }) => ({ lines: right.lines.filter((other) => other !== lines[line]) })

/** Covers these lines in place of one of those that are right. */
export const instead =
  (line: keyof HandSignedPayment['lines'], ...others: readonly ((value: string) => Line)[]): Change =>
  ({ right, lines }) => ({
    lines: right.lines.flatMap((right) => (right === lines[line] ? others.map((other) => other(right[1])) : [right])),
  })

/** Covers one more line, of a header that is sent. */
export const also =
  (line: Line, headers: Draft['headers'] = {}): Change =>
  ({ right }) => ({ lines: [...right.lines, line], headers: { ...right.headers, ...headers } })

export const parameters =
  (write: (now: number) => string): Change =>
  ({ now }) => ({ parameters: write(now) })

export const wire =
  (write: Draft['wire']): Change =>
  () => ({ wire: write })

/** A header line that is altered and signed as it is altered. */
export const signedHeader =
  (name: string, line: keyof HandSignedPayment['lines'], value: (payment: HandSignedPayment) => readonly string[]) =>
  (payment: HandSignedPayment): Partial<Draft> => ({
    headers: { ...payment.right.headers, [name]: value(payment) },
    ...instead(line, () => [`"${name}"`, value(payment).join(', ')])(payment),
  })

/** The parameters of a right signature that was made at a moment. */
export const keyIdAt = (seconds: number): string => `;created=${seconds};keyid="${KEY.kid}"`

/** Expects that a changed payment is refused and changes nothing, and that it is made without the change. */
export async function expectOnlyRefused(payment: HandSignedPayment, refusal: Refusal, change: Change): Promise<void> {
  await expectRefusal(payment.wallet, refusal, () => payment.send(change(payment)))
  expect((await payment.send()).status).toBe(201)
}
