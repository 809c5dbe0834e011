import { toBase64, toUtf8 } from './bytes.ts'
import { inOrderOfTime } from './identifiers.ts'
import type { PublicKey } from './json-web-key.ts'
import type { OutgoingPayment } from './outgoing-payment.ts'

/**
 * What proves that a client ordered a payment. Written with the payment and never changed; `signedRequestIdOf` is its id.
 * @spec T-42
 */
export interface SignedRequest {
  readonly id: string
  readonly publicKey: PublicKey
  /** 64 bytes, base64url. */
  readonly signature: string
  /** The signature base without the value of the access token: see `hideToken`. */
  readonly base: string
  /** The body as it was sent. */
  readonly body: string
  /** The secret and the id from which the token is derived. @spec TOK-10 */
  readonly tokenSecretId: string
  readonly tokenManageId: string
}

/** The id of the signed request that ordered a payment: the time at which that was created, and its id. */
export function signedRequestIdOf({ id, createdAt }: Pick<OutgoingPayment, 'id' | 'createdAt'>): string {
  return inOrderOfTime(createdAt) + id
}

// These stand for the token, and for the whole field if the client signed it as a byte sequence. A signature base is
// ASCII, so nothing else in it can be mistaken for these.
const TOKEN = '‹token›'
const FIELD_BYTES = '‹authorization›'

/** Takes the token out of a signature base, wherever a client has put it: a stored token would be a usable one. @spec TOK-1 @spec T-14 */
export function hideToken(base: string): string {
  const field = lineOf(base, 'authorization')
  const token = field.split(' ')[1]
  if (!token) throw new TypeError('the signature base covers no authorization')
  return base.replaceAll(byteSequence(field), FIELD_BYTES).replaceAll(token, TOKEN)
}

/** The signature base as it was signed. */
export function showToken(hidden: string, token: string): string {
  const base = hidden.replaceAll(TOKEN, () => token)
  return base.replaceAll(FIELD_BYTES, () => byteSequence(lineOf(base, 'authorization')))
}

/** The value of a covered component in a signature base; empty if it is not covered. No value contains a line break. */
export function lineOf(base: string, name: string): string {
  const start = `"${name}": `
  return (
    base
      .split('\n')
      .find((line) => line.startsWith(start))
      ?.slice(start.length) ?? ''
  )
}

function byteSequence(field: string): string {
  return `:${toBase64(toUtf8(field))}:`
}
