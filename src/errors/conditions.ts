import type { WireAmount } from '../protocol/amount.ts'
import { type Condition, OpenPaymentsError } from './open-payments-error.ts'

// Every refusal of the two servers, with its status and its code. A description that a deployed client compares is an
// interface and is marked so. One published code stands for several statuses, so the names are those of the conditions.

function refuse(condition: Condition): OpenPaymentsError {
  return new OpenPaymentsError(condition)
}

// --- any endpoint

/** No endpoint has this path. */
export function notFound(): OpenPaymentsError {
  return refuse({
    name: 'not_found',
    status: 404,
    code: 'not_found',
    gnapCode: 'invalid_request',
    description: 'not found',
  })
}

/** The path exists, for other methods. */
export function methodNotAllowed(allow: string): OpenPaymentsError {
  return refuse({
    name: 'method_not_allowed',
    status: 405,
    code: 'method_not_allowed',
    gnapCode: 'invalid_request',
    description: `this endpoint answers ${allow}`,
    headers: { allow },
  })
}

/** The body or the query is not what the endpoint takes; `description` says what is wrong. */
export function invalidRequest(description: string): OpenPaymentsError {
  return refuse({ name: 'invalid_request', status: 400, code: 'invalid_request', description })
}

/** The body is larger than the limit, in bytes. @spec EMB-1 */
export function payloadTooLarge(limit: number): OpenPaymentsError {
  return refuse({
    name: 'payload_too_large',
    status: 413,
    code: 'payload_too_large',
    gnapCode: 'invalid_request',
    description: `the body is larger than ${limit} bytes`,
    headers: { connection: 'close' },
  })
}

/** The body did not arrive before its deadline. @spec EMB-2 */
export function bodyTooSlow(): OpenPaymentsError {
  return refuse({
    name: 'body_too_slow',
    status: 408,
    code: 'request_timeout',
    gnapCode: 'invalid_request',
    description: 'the body did not arrive in time',
    headers: { connection: 'close' },
  })
}

/** The body is of another type, or encoded. @spec DIG-6 @spec GRT-1 */
export function unsupportedMediaType(description: string): OpenPaymentsError {
  return refuse({
    name: 'unsupported_media_type',
    status: 415,
    code: 'unsupported_media_type',
    gnapCode: 'invalid_request',
    description,
  })
}

/** The outcome is not known yet, or the store cannot be reached. Never used where a refusal is certain. */
export function unavailable(message: string): OpenPaymentsError {
  return refuse({
    name: 'unavailable',
    status: 503,
    code: 'unavailable',
    gnapCode: 'request_denied',
    description: 'temporarily unavailable, try again',
    headers: { 'retry-after': '1' },
    message,
  })
}

/** Anything unexpected: a fixed sentence, and no detail. */
export function unexpected(): OpenPaymentsError {
  return refuse({
    name: 'unexpected',
    status: 500,
    code: 'internal_error',
    gnapCode: 'request_denied',
    description: 'internal server error',
  })
}

// --- authorization server

/** The client cannot be known from its request. Web Monetization shows "key not added" for this 400 alone. */
export function unknownClient(description: string): OpenPaymentsError {
  return refuse({ name: 'unknown_client', status: 400, code: 'invalid_client', description })
}

/** A continuation or management request without a usable `Authorization: GNAP <token>`. */
export function missingManagementToken(): OpenPaymentsError {
  return refuse({
    name: 'missing_management_token',
    status: 401,
    code: 'invalid_client',
    description: 'missing or invalid authorization header value',
  })
}

/** No grant has this continuation id. @spec D14 */
export function unknownContinuation(): OpenPaymentsError {
  return refuse({
    name: 'unknown_continuation',
    status: 404,
    code: 'invalid_continuation',
    description: 'unknown continuation',
  })
}

/** The continuation token is not the one of this grant. @spec D14 */
export function wrongContinuationToken(): OpenPaymentsError {
  return refuse({
    name: 'wrong_continuation_token',
    status: 401,
    code: 'invalid_continuation',
    description: 'invalid continuation token',
  })
}

/** The interaction reference is unknown, foreign or used, or the grant is over. */
export function invalidContinuation(): OpenPaymentsError {
  return refuse({
    name: 'invalid_continuation',
    status: 404,
    code: 'invalid_continuation',
    description: 'this grant cannot be continued',
  })
}

/** Cancelling a grant that does not exist. */
export function unknownGrant(): OpenPaymentsError {
  return refuse({ name: 'unknown_grant', status: 404, code: 'invalid_request', description: 'unknown grant' })
}

/** The client came back before its `wait` was over. @spec CON-3 */
export function continuationTooEarly(waitSeconds: number): OpenPaymentsError {
  return refuse({
    name: 'continuation_too_early',
    status: 400,
    code: 'too_fast',
    description: `continue no earlier than in ${waitSeconds} seconds`,
    headers: { 'retry-after': String(waitSeconds) },
  })
}

/** Not approved yet, denied, or polled although a finish redirect was registered. */
export function requestDenied(description: string): OpenPaymentsError {
  return refuse({ name: 'request_denied', status: 401, code: 'request_denied', description })
}

/** The token is unknown or revoked, is not the one that this URI manages, or its grant is over. @spec TOK-3 */
export function unknownManagedToken(): OpenPaymentsError {
  return refuse({
    name: 'unknown_managed_token',
    status: 404,
    code: 'invalid_rotation',
    description: 'unknown access token',
  })
}

/** A rotation that this server does not do. @spec KEY-15 */
export function invalidRotation(description: string): OpenPaymentsError {
  return refuse({ name: 'invalid_rotation', status: 400, code: 'invalid_rotation', description })
}

// --- resource server; descriptions marked "compared" are an interface of the Web Monetization extension

/** No `Authorization: GNAP <token>`, or one that is malformed or repeated. @spec RS-2 */
export function missingAuthorization(): OpenPaymentsError {
  return refuse({
    name: 'missing_authorization',
    status: 401,
    code: 'unauthorized',
    description: 'Missing or invalid authorization header value',
  })
}

/** Unknown, expired, rotated or revoked. Compared. @spec D6 */
export function invalidToken(): OpenPaymentsError {
  return refuse({ name: 'invalid_token', status: 401, code: 'invalid_token', description: 'Invalid Token' })
}

/** Any server. Compared: the part before the colon. */
export function invalidSignature(reason: string): OpenPaymentsError {
  return refuse({
    name: 'invalid_signature',
    status: 401,
    code: 'invalid_signature',
    gnapCode: 'invalid_client',
    description: `Signature validation error: ${reason}`,
  })
}

/** The token lacks the right. Compared. */
export function insufficientGrant(): OpenPaymentsError {
  return refuse({
    name: 'insufficient_grant',
    status: 403,
    code: 'insufficient_grant',
    description: 'Insufficient Grant',
  })
}

/** A limit, the receiver or the interval of the grant does not admit the payment. Compared. @spec LIM-1 */
export function grantLimitExceeded(message: string): OpenPaymentsError {
  return refuse({
    name: 'grant_limit_exceeded',
    status: 403,
    code: 'grant_limit_exceeded',
    description: 'unauthorized',
    message,
  })
}

/** Compared, with the smallest debit that would reach the receiver. @spec QUO-4 */
export function nonPositiveReceiveAmount(minSendAmount: WireAmount | undefined): OpenPaymentsError {
  return refuse({
    name: 'non_positive_receive_amount',
    status: 400,
    code: 'non_positive_receive_amount',
    description: 'non-positive receive amount',
    ...(minSendAmount && { details: { minSendAmount } }),
  })
}

/** The receiver is unknown, takes no more money, or cannot be reached from here. Compared. */
export function invalidReceiver(reason: string): OpenPaymentsError {
  return refuse({
    name: 'invalid_receiver',
    status: 400,
    code: 'invalid_receiver',
    description: 'invalid receiver',
    details: { reason },
  })
}

/** An amount is in the wrong asset, zero, too large, or missing. */
export function invalidAmount(reason: string): OpenPaymentsError {
  return refuse({
    name: 'invalid_amount',
    status: 400,
    code: 'invalid_amount',
    description: 'invalid amount',
    details: { reason },
  })
}

/** The quote is unknown, used, expired, or for another wallet address. @spec OUT-2 */
export function invalidQuote(reason: string): OpenPaymentsError {
  return refuse({
    name: 'invalid_quote',
    status: 400,
    code: 'invalid_quote',
    description: 'invalid quote',
    details: { reason },
  })
}

/** The expiry has passed, or lies beyond the longest that is allowed. @spec INC-2 */
export function invalidExpiresAt(): OpenPaymentsError {
  return refuse({ name: 'invalid_expires_at', status: 400, code: 'invalid_request', description: 'invalid expiresAt' })
}

/** This server has no such wallet address. @spec WAS-7 */
export function unknownWalletAddress(): OpenPaymentsError {
  return refuse({
    name: 'unknown_wallet_address',
    status: 404,
    code: 'unknown_wallet_address',
    description: 'unknown wallet address',
  })
}

/** The wallet address exists and takes part in nothing. */
export function inactiveWalletAddress(): OpenPaymentsError {
  return refuse({
    name: 'inactive_wallet_address',
    status: 400,
    code: 'inactive_wallet_address',
    description: 'inactive wallet address',
  })
}

/** The resource does not exist, or the token may not see it: the two look alike. @spec RS-6 @spec RS-8 @spec T-38 */
export function unknownResource(): OpenPaymentsError {
  return refuse({ name: 'unknown_resource', status: 404, code: 'not_found', description: 'not found' })
}

/** The resource is in a state that does not allow this. @spec INC-10 */
export function wrongState(): OpenPaymentsError {
  return refuse({ name: 'wrong_state', status: 409, code: 'wrong_state', description: 'wrong state' })
}

/** The wallet's ledger refuses. Never called `unauthorized`, which a client reads as a used-up limit. @spec D15 */
export function ledgerRefused(reason: 'insufficient_funds' | 'account_closed' | 'not_allowed'): OpenPaymentsError {
  return refuse({ name: reason, status: 403, code: reason, description: reason.replaceAll('_', ' ') })
}
