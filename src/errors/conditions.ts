import type { WireAmount } from '../protocol/amount.ts'
import { type Condition, OpenPaymentsError } from './open-payments-error.ts'

// Every refusal of the two servers, with its status and its code. A description that a deployed client compares is an
// interface, and is marked as compared. One published code can stand for several statuses, so the functions are named
// after the conditions.

/** Members that only some conditions have. */
type More = Pick<Condition, 'gnapCode' | 'details' | 'headers' | 'message'>

function refuse(name: string, status: number, code: string, description: string, more: More = {}): OpenPaymentsError {
  return new OpenPaymentsError({ name, status, code, description, ...more })
}

/** The reason, for the client and for the operator. */
function because(reason: string): More {
  return { details: { reason }, message: reason }
}

// --- any endpoint

/** No endpoint has this path. */
export function notFound(): OpenPaymentsError {
  return refuse('not_found', 404, 'not_found', 'not found', { gnapCode: 'invalid_request' })
}

/** The path exists, for other methods. */
export function methodNotAllowed(allow: string): OpenPaymentsError {
  return refuse('method_not_allowed', 405, 'method_not_allowed', `this endpoint answers ${allow}`, {
    gnapCode: 'invalid_request',
    headers: { allow },
  })
}

/** The body or the query is not what the endpoint takes; `description` says what is wrong. */
export function invalidRequest(description: string): OpenPaymentsError {
  return refuse('invalid_request', 400, 'invalid_request', description)
}

/** The body is larger than the limit, in bytes, or its connection ended early: hosts do not all tell these apart. @spec EMB-1 */
export function payloadTooLarge(limit: number): OpenPaymentsError {
  const description = `the body is larger than ${limit} bytes, or did not arrive in full`
  return refuse('payload_too_large', 413, 'payload_too_large', description, {
    gnapCode: 'invalid_request',
    headers: { connection: 'close' },
  })
}

/** The body did not arrive before its deadline. @spec EMB-2 */
export function bodyTooSlow(): OpenPaymentsError {
  return refuse('body_too_slow', 408, 'request_timeout', 'the body did not arrive in time', {
    gnapCode: 'invalid_request',
    headers: { connection: 'close' },
  })
}

/** The body has another media type, or a content encoding. @spec DIG-6 @spec GRT-1 */
export function unsupportedMediaType(description: string): OpenPaymentsError {
  return refuse('unsupported_media_type', 415, 'unsupported_media_type', description, { gnapCode: 'invalid_request' })
}

/**
 * The client or its source has used up a quota. This request had no effect: it may be sent again.
 * @spec T-37 @spec T-5
 */
export function rateLimited(retryAfterSeconds: number, message: string): OpenPaymentsError {
  return refuse('rate_limited', 429, 'rate_limited', 'too many requests', {
    gnapCode: 'request_denied',
    headers: { 'retry-after': String(retryAfterSeconds) },
    message,
  })
}

/** The outcome is not known yet, or the storage or the wallet does not answer. Never used if a refusal is certain. */
export function unavailable(message: string): OpenPaymentsError {
  return refuse(
    'unavailable',
    503,
    'unavailable',
    'temporarily unavailable; whether this request had an effect is not known',
    {
      gnapCode: 'request_denied',
      headers: { 'retry-after': '1' },
      message,
    },
  )
}

/** Anything unexpected: a fixed text without detail. */
export function unexpected(): OpenPaymentsError {
  return refuse('unexpected', 500, 'internal_error', 'internal server error', { gnapCode: 'request_denied' })
}

// --- authorization server

/**
 * The client cannot be identified from its request. The Web Monetization extension shows "key not added" only for this
 * 400. `message` is for the operator.
 */
export function unknownClient(description: string, message = description): OpenPaymentsError {
  return refuse('unknown_client', 400, 'invalid_client', description, { message })
}

/** A continuation or management request without a usable `Authorization: GNAP <token>`. */
export function missingManagementToken(): OpenPaymentsError {
  return refuse('missing_management_token', 401, 'invalid_client', 'missing or invalid authorization header value')
}

/** No grant has this continuation id. @spec D14 */
export function unknownContinuation(): OpenPaymentsError {
  return refuse('unknown_continuation', 404, 'invalid_continuation', 'unknown continuation')
}

/** The continuation token is not the one of this grant. @spec D14 */
export function wrongContinuationToken(): OpenPaymentsError {
  return refuse('wrong_continuation_token', 401, 'invalid_continuation', 'invalid continuation token')
}

/** The interaction reference is wrong or already used, or the grant is over. */
export function invalidContinuation(): OpenPaymentsError {
  const description = 'the interact_ref is wrong or was used, or this grant is over'
  return refuse('invalid_continuation', 404, 'invalid_continuation', description)
}

/** Cancelling a grant that does not exist. */
export function unknownGrant(): OpenPaymentsError {
  return refuse('unknown_grant', 404, 'invalid_request', 'unknown grant')
}

/** The client came back before its `wait` was over. @spec CON-3 */
export function continuationTooEarly(waitSeconds: number): OpenPaymentsError {
  return refuse('continuation_too_early', 400, 'too_fast', `too early: continue in ${waitSeconds} s`, {
    headers: { 'retry-after': String(waitSeconds) },
  })
}

/** The grant was denied or is not approved yet, or the client polled although it registered a finish redirect. */
export function requestDenied(description: string): OpenPaymentsError {
  return refuse('request_denied', 401, 'request_denied', description)
}

/** The token is unknown or revoked, is not the one that this URI manages, or its grant is over. @spec TOK-3 */
export function unknownManagedToken(): OpenPaymentsError {
  return refuse('unknown_managed_token', 404, 'invalid_rotation', 'unknown access token')
}

/** The same for a request to revoke a token: the published API has another code there. @spec TOK-3 */
export function unknownTokenToRevoke(): OpenPaymentsError {
  return refuse('unknown_managed_token', 401, 'invalid_client', 'unknown access token')
}

/** A kind of rotation that this server does not support. @spec KEY-15 */
export function invalidRotation(description: string): OpenPaymentsError {
  return refuse('invalid_rotation', 400, 'invalid_rotation', description)
}

// --- resource server; descriptions marked "compared" are an interface of the Web Monetization extension

/** No `Authorization: GNAP <token>`, or one that is malformed or repeated. @spec RS-2 */
export function missingAuthorization(): OpenPaymentsError {
  return refuse('missing_authorization', 401, 'unauthorized', 'Missing or invalid authorization header value')
}

/** Unknown, expired, rotated or revoked. Compared. @spec D6 */
export function invalidToken(): OpenPaymentsError {
  return refuse('invalid_token', 401, 'invalid_token', 'Invalid Token')
}

/** Any server. Compared: the part before the colon. */
export function invalidSignature(reason: string): OpenPaymentsError {
  return refuse('invalid_signature', 401, 'invalid_signature', `Signature validation error: ${reason}`, {
    gnapCode: 'invalid_client',
  })
}

/** The token lacks the right. Compared. */
export function insufficientGrant(): OpenPaymentsError {
  return refuse('insufficient_grant', 403, 'insufficient_grant', 'Insufficient Grant')
}

/** A limit, the receiver or the interval of the grant does not admit the payment. Compared. @spec LIM-1 */
export function grantLimitExceeded(reason: string): OpenPaymentsError {
  return refuse('grant_limit_exceeded', 403, 'grant_limit_exceeded', 'unauthorized', because(reason))
}

/** Compared, with the smallest debit that would reach the receiver. @spec QUO-4 */
export function nonPositiveReceiveAmount(minSendAmount: WireAmount | undefined): OpenPaymentsError {
  return refuse('non_positive_receive_amount', 400, 'non_positive_receive_amount', 'non-positive receive amount', {
    ...(minSendAmount && { details: { minSendAmount } }),
  })
}

/**
 * The receiver is unknown, takes no more money, or cannot be paid from here; `detail` is for the operator. Compared.
 */
export function invalidReceiver(reason: string, detail?: string): OpenPaymentsError {
  const message = detail === undefined ? reason : `${reason}: ${detail}`
  return refuse('invalid_receiver', 400, 'invalid_receiver', 'invalid receiver', { details: { reason }, message })
}

/** An amount is in the wrong asset, zero, too large, or missing. */
export function invalidAmount(reason: string): OpenPaymentsError {
  return refuse('invalid_amount', 400, 'invalid_amount', 'invalid amount', because(reason))
}

/**
 * The quote is unknown, used, expired, or for another wallet address. `outgoingPayment`: the URL of the payment that used it,
 * for the client that ordered it.
 * @spec OUT-2
 */
export function invalidQuote(reason: string, outgoingPayment?: string): OpenPaymentsError {
  const details = { reason, ...(outgoingPayment !== undefined && { outgoingPayment }) }
  return refuse('invalid_quote', 400, 'invalid_quote', 'invalid quote', { details, message: reason })
}

/** The expiry has passed, or lies beyond the longest that is allowed: `reason` says which. Compared. @spec INC-2 */
export function invalidExpiresAt(reason: string): OpenPaymentsError {
  return refuse('invalid_expires_at', 400, 'invalid_request', 'invalid expiresAt', because(reason))
}

/** This server has no such wallet address. @spec WAS-7 */
export function unknownWalletAddress(): OpenPaymentsError {
  return refuse('unknown_wallet_address', 404, 'unknown_wallet_address', 'unknown wallet address')
}

/** The wallet address exists, but is not active. */
export function inactiveWalletAddress(): OpenPaymentsError {
  return refuse('inactive_wallet_address', 400, 'inactive_wallet_address', 'inactive wallet address')
}

/** The resource does not exist, or the token may not see it: the two look alike. @spec RS-6 @spec RS-8 @spec T-38 */
export function unknownResource(): OpenPaymentsError {
  return refuse('unknown_resource', 404, 'not_found', 'not found')
}

/** The resource is in a state that does not allow this. @spec INC-10 */
export function wrongState(): OpenPaymentsError {
  return refuse('wrong_state', 409, 'wrong_state', 'wrong state')
}

/** The key was used for a request with another body, or under a token for another account. @spec OUT-12 @spec RS-13 */
export function idempotencyConflict(): OpenPaymentsError {
  const description = 'this Idempotency-Key was used for another request'
  return refuse('idempotency_conflict', 409, 'idempotency_conflict', description)
}

/** The wallet's ledger refuses. Never called `unauthorized`, which a client reads as a used-up limit. @spec D15 */
export function ledgerRefused(reason: 'insufficient_funds' | 'account_closed' | 'not_allowed'): OpenPaymentsError {
  return refuse(reason, 403, reason, reason.replaceAll('_', ' '))
}
