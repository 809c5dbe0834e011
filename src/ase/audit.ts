import { progressOf, toldDelivery } from '../payments/rail/delivery-progress.ts'
import type { Context } from '../ports/context.ts'
import type { ListPosition } from '../ports/storage.ts'
import type { Access } from '../protocol/access.ts'
import { isUsableToken } from '../protocol/access-token.ts'
import { amountOf, amountToWire, storedAmount, type WireAmount } from '../protocol/amount.ts'
import type { Grant } from '../protocol/grant.ts'
import type { PublicKey } from '../protocol/json-web-key.ts'
import {
  failureReasonOf,
  isRailPayment,
  type OutgoingPayment,
  type OutgoingPaymentState,
  type RailPayment,
  type StateEntry,
} from '../protocol/outgoing-payment.ts'
import { lineOf, type SignedRequest, showToken, signedRequestIdOf } from '../protocol/signed-request.ts'
import { creditIdOf } from '../records/credit-id.ts'
import { isOfKind, recordsOfKind } from '../records/read-record.ts'
import { thumbprintOf } from '../records/thumbprint.ts'
import { tokenIdOf, tokenValueOf } from '../records/token-value.ts'
import { requireWalletAddress } from './require-wallet-address.ts'

/** The grant that a payment was made under. `id` is the one in `grants.list`; times are in milliseconds since 1970. */
export interface AuditedGrant {
  readonly id: string
  readonly createdAt: number
  /** When the resource owner approved. */
  readonly decidedAt?: number
  /** SHA-256, in hexadecimal, of `JSON.stringify` of the consent data that the owner was shown. @spec INT-12 */
  readonly consentHash?: string
  /** What was granted, which may be less than what was requested and shown. @spec GRT-13 */
  readonly access: readonly Access[]
  readonly subject: boolean
}

/** The request that ordered a payment, as its client signed it (RFC 9421, Ed25519). */
export interface AuditedRequest {
  readonly method: string
  readonly targetUri: string
  /** What was signed, as UTF-8. The access token in it is useless without the client's key. */
  readonly signatureBase?: string
  /**
   * Why there is no `signatureBase`. `token_usable`: it contains a token that the resource server still accepts; the base
   * is included once the token has expired or ended. `secret_removed`: the secret that made the token is no longer configured.
   * `erased`: the wallet has erased it, with the body; `method`, `targetUri` and `body` are empty then.
   */
  readonly withheld?: 'token_usable' | 'secret_removed' | 'erased'
  /** 64 bytes, base64url. */
  readonly signature: string
  readonly publicKey: PublicKey
  /** RFC 7638 thumbprint of the key. */
  readonly thumbprint: string
  /** The bytes of the body as UTF-8; their digest is in the signature base. */
  readonly body: string
}

/**
 * A payment with everything that proves who ordered it, and where it is in the ledger. Amounts are in wire form, times in
 * milliseconds since 1970. `id` and `quoteId` are the last segments of their URLs; `walletAddress` and `receiver` are URLs,
 * and so is `client`, unless it is `jwk:` and the thumbprint of a key.
 */
export interface AuditedPayment {
  readonly id: string
  readonly walletAddress: string
  readonly client: string
  readonly state: OutgoingPaymentState
  /** Every state that it entered, in order, each with its time. */
  readonly states: readonly StateEntry[]
  readonly createdAt: number
  readonly receiver: string
  readonly debitAmount: WireAmount
  readonly receiveAmount: WireAmount
  readonly fee: WireAmount
  /** What was settled, once it has been; one unit less if a failed payment cost its whole debit. @spec OUT-8 */
  readonly sentAmount: WireAmount
  /** Why it failed, or is about to. */
  readonly failureReason?: string
  readonly quoteId?: string
  readonly grant: AuditedGrant
  readonly signedRequest: AuditedRequest
  /** The payer's and the payee's accounts in the ledger; the latter is absent for a receiver on another server. */
  readonly account: string
  readonly payeeAccount?: string
  /** The id of its hold in the ledger, and of its settlement or release. */
  readonly holdId: string
  /**
   * The id of the credit to the receiver, which is in the ledger once the payment has come that far; absent for a receiver
   * on another server.
   */
  readonly creditId?: string
  /** For a receiver on another server: how it is paid, and how far that has come. */
  readonly rail?: AuditedDelivery
}

/** A delivery over a rail. Amounts sent are in the rail's asset, amounts received in the receiver's. */
export interface AuditedDelivery {
  readonly method: string
  /** The rail account that the money leaves through, and the address that it was to be paid to. */
  readonly account: string
  readonly address: string
  /** The payee's wallet address, as the receiver's server claimed at the order; absent if it named none. */
  readonly walletAddress?: string
  /** The most that may leave. */
  readonly sendAmount: WireAmount
  /** The part of the fee that is due in full once anything has left; absent if there is none. */
  readonly fixedFee?: WireAmount
  /** What is known to have left, and to have arrived. */
  readonly sent: WireAmount
  readonly received: WireAmount
  /** What else may have left and arrived; not known yet. */
  readonly inFlightSent: WireAmount
  readonly inFlightReceived: WireAmount
  /** Set once the rail is no longer asked: why the host has to say how the delivery ended, and what it said. */
  readonly isLeftToHost?: 'pending' | 'unknown'
  readonly saidByHost?: 'sent' | 'failed'
}

const PAGE = 100

/**
 * The outgoing payments of a wallet address in any spelling of its URL, newest first, each with its proof. Rejects if
 * the text is not a wallet address of this server.
 * @spec T-42
 */
export async function* auditPayments(context: Context, text: string): AsyncIterable<AuditedPayment> {
  const walletAddress = requireWalletAddress(context, text)
  let after: ListPosition | undefined
  do {
    const query = { kind: 'outgoing-payment', walletAddress, direction: 'older', limit: PAGE } as const
    const records = await context.storage.list({ ...query, ...(after && { after }) })
    const payments = recordsOfKind(records, 'outgoing-payment').map(({ value }) => value)
    yield* await auditPage(context, payments)
    // Only a full page has it.
    const last = payments[PAGE - 1]
    after = last && { createdAt: last.createdAt, id: last.id }
  } while (after !== undefined)
}

async function auditPage(context: Context, payments: readonly OutgoingPayment[]): Promise<readonly AuditedPayment[]> {
  if (payments.length === 0) return []
  const found = await context.storage.get([
    ...payments.map((payment) => ({ kind: 'signed-request', id: signedRequestIdOf(payment) }) as const),
    ...payments.map(({ grantId }) => ({ kind: 'grant', id: grantId }) as const),
  ])
  const requests = new Map(recordsOfKind(found, 'signed-request').map(({ value }) => [value.id, value]))
  const grants = new Map(recordsOfKind(found, 'grant').map(({ value }) => [value.id, value]))
  const tokens = await readTokens(context, [...requests.values()])
  return Promise.all(
    payments.map(async (payment) => {
      const request = requests.get(signedRequestIdOf(payment))
      const grant = grants.get(payment.grantId)
      // This cannot happen: grants given by an owner and the signed requests of listed payments are never deleted.
      if (request === undefined || grant === undefined)
        throw new Error(`the proof of the payment ${payment.id} has vanished`)
      try {
        return {
          ...auditedPayment(payment),
          grant: auditedGrant(grant),
          signedRequest: await auditedRequest(context, request, tokens.get(request.id)),
          holdId: payment.id,
          ...(payment.rail === undefined && { creditId: await creditIdOf(context, payment.id) }),
        }
      } catch (cause) {
        throw new Error(`the payment ${payment.id} cannot be audited`, { cause })
      }
    }),
  )
}

function auditedPayment(
  payment: OutgoingPayment,
): Omit<AuditedPayment, 'grant' | 'signedRequest' | 'holdId' | 'creditId'> {
  const { id, walletAddress, client, state, states, createdAt, receiver, quoteId } = payment
  const failureReason = failureReasonOf(payment)
  return {
    id,
    walletAddress,
    client,
    state,
    states,
    createdAt,
    receiver,
    debitAmount: amountToWire(payment.debitAmount),
    receiveAmount: amountToWire(payment.receiveAmount),
    fee: amountToWire(payment.fee),
    sentAmount: amountToWire(payment.sentAmount),
    ...(failureReason !== undefined && { failureReason }),
    ...(quoteId !== undefined && { quoteId }),
    account: payment.account,
    ...(payment.payeeAccount !== undefined && { payeeAccount: payment.payeeAccount }),
    ...(isRailPayment(payment) && { rail: auditedDelivery(payment) }),
  }
}

function auditedDelivery(payment: RailPayment): AuditedDelivery {
  const { rail, fee, delivery } = payment
  const { method, address, walletAddress, sendAmount, fixedFee } = rail
  const { railAccount: account, ...amounts } = toldDelivery(payment, progressOf(payment))
  return {
    method,
    account,
    address,
    ...(walletAddress !== undefined && { walletAddress }),
    sendAmount,
    ...(fixedFee !== undefined && { fixedFee: amountToWire(amountOf(fee, storedAmount(fixedFee))) }),
    ...amounts,
    ...(delivery?.isLeftToHost && { isLeftToHost: delivery.isLeftToHost }),
    ...(delivery?.saidByHost && { saidByHost: delivery.saidByHost }),
  }
}

function auditedGrant({ id, createdAt, decidedAt, consentHash, access, subject }: Grant): AuditedGrant {
  return {
    id,
    createdAt,
    ...(decidedAt !== undefined && { decidedAt }),
    ...(consentHash !== undefined && { consentHash }),
    access,
    subject,
  }
}

/** The access token in a signature base, and whether the resource server would still accept it. */
interface PresentedToken {
  readonly value: string
  readonly isUsable: boolean
}

/** The tokens of requests, by the requests' ids; none for a request whose secret is no longer configured. */
async function readTokens(
  context: Context,
  requests: readonly SignedRequest[],
): Promise<ReadonlyMap<string, PresentedToken>> {
  const secretIds = await context.secrets.ids()
  const readable = requests.filter(({ tokenSecretId }) => secretIds.includes(tokenSecretId))
  const known = await Promise.all(
    readable.map(async ({ id, tokenSecretId, tokenManageId }) => {
      const value = await tokenValueOf(context.secrets, { secretId: tokenSecretId, manageId: tokenManageId })
      return { id, value, tokenId: await tokenIdOf(context.secrets, value) }
    }),
  )
  const found = await context.storage.get(known.map(({ tokenId }) => ({ kind: 'access-token', id: tokenId })))
  const now = context.clock.now()
  return new Map(
    known.map(({ id, value }, index) => {
      const token = found[index]
      return [id, { value, isUsable: isOfKind(token, 'access-token') && isUsableToken(token.value, now) }]
    }),
  )
}

async function auditedRequest(
  context: Context,
  request: SignedRequest,
  token: PresentedToken | undefined,
): Promise<AuditedRequest> {
  const { base, signature, publicKey, body } = request
  return {
    method: lineOf(base, '@method'),
    targetUri: lineOf(base, '@target-uri'),
    ...signedText(base, token),
    signature,
    publicKey,
    thumbprint: await thumbprintOf(context, publicKey),
    body,
  }
}

/**
 * A token alone opens nothing: every request with it needs its client's signature. But it is the other half of what a
 * thief of that client's key needs, and exports get passed on; so it is withheld while it can pay. After that it can only
 * be rotated, with the client's key. Waiting until that is over, too, would mean waiting for ever: a grant lasts until
 * somebody ends it.
 */
function signedText(
  base: string,
  token: PresentedToken | undefined,
): Pick<AuditedRequest, 'signatureBase' | 'withheld'> {
  if (base === '') return { withheld: 'erased' }
  if (token === undefined) return { withheld: 'secret_removed' }
  return token.isUsable ? { withheld: 'token_usable' } : { signatureBase: showToken(base, token.value) }
}
