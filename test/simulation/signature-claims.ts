import { createHash, createHmac } from 'node:crypto'
import type { RecordTypes } from 'open-payments-server'

/** What the wallet's processes derive their secrets from. */
export const SECRET = 'a secret of the simulation, long enough to be one'

const KEY = createHmac('sha256', SECRET).update('open-payments-server derivation key').digest()

/** The token that a request was ordered with: it stands in what is signed, and not in what is kept. */
const tokenOf = ({ tokenManageId }: RecordTypes['signed-request']): string =>
  tokenManageId.slice(0, MOMENT_DIGITS) +
  createHmac('sha256', KEY).update(`access-token\0${tokenManageId}`).digest('base64url')

const MOMENT_DIGITS = 12

const momentDigits = (milliseconds: number): string => milliseconds.toString(16).padStart(MOMENT_DIGITS, '0')

/** The id of what proves the order of a payment. */
export function signedRequestIdOf({ id, createdAt }: { readonly id: string; readonly createdAt: number }): string {
  return momentDigits(createdAt) + id
}

/** The id of the payment that a request has ordered. */
export const orderedBy = (signedRequestId: string): string => signedRequestId.slice(MOMENT_DIGITS)

/** The id of the replay claim that uses the signature of a request up, worked out from what proves the order. */
export function claimIdOf(signed: RecordTypes['signed-request']): string {
  const thumbprint = createHash('sha256')
    .update(`{"crv":"Ed25519","kty":"OKP","x":"${signed.publicKey.x}"}`)
    .digest('base64url')
  const base = signed.base.replaceAll('‹token›', tokenOf(signed))
  const created = Number(/;created=(\d+)/.exec(base)?.[1])
  return momentDigits(created * 1000) + createHash('sha256').update(`base\n${thumbprint}\n${base}`).digest('hex')
}
