import type { HttpResponse } from 'open-payments-server'
import { bodyText } from '../support/body-text.ts'
import { violations } from '../support/open-api.ts'
import type { Outcome } from './fuzz-world.ts'

// What every answer of the server must be, whatever was asked. Written down here once more, and not read from the
// conditions of the product: they are what is tested.

/** Codes of the authorization server by status. */
const GRANT_CODES: Readonly<Record<number, readonly string[]>> = {
  400: ['invalid_request', 'invalid_client', 'too_fast', 'invalid_rotation'],
  401: ['invalid_client', 'invalid_continuation', 'request_denied'],
  404: ['invalid_request', 'invalid_continuation', 'invalid_rotation'],
  405: ['invalid_request'],
  408: ['invalid_request'],
  413: ['invalid_request'],
  415: ['invalid_request'],
  429: ['request_denied'],
}

/** Codes that only some operations have. */
const OWN_CODES: Readonly<Record<string, RegExp>> = {
  too_fast: /^post-continue$/,
  invalid_continuation: /-continue$/,
  request_denied: /-continue$/,
  invalid_rotation: /^post-token$/,
}

/** Codes of the resource server and the wallet address server by status, each with its description. */
const RESOURCE_CODES: Readonly<Record<number, Readonly<Record<string, RegExp>>>> = {
  400: {
    invalid_request: /^[\s\S]/,
    non_positive_receive_amount: /^non-positive receive amount$/,
    invalid_receiver: /^invalid receiver$/,
    invalid_amount: /^invalid amount$/,
    invalid_quote: /^invalid quote$/,
    inactive_wallet_address: /^inactive wallet address$/,
  },
  401: {
    unauthorized: /^Missing or invalid authorization header value$/,
    invalid_token: /^Invalid Token$/,
    invalid_signature: /^Signature validation error: ./,
  },
  403: {
    insufficient_grant: /^Insufficient Grant$/,
    grant_limit_exceeded: /^unauthorized$/,
    insufficient_funds: /^insufficient funds$/,
    account_closed: /^account closed$/,
    not_allowed: /^not allowed$/,
  },
  404: { not_found: /./, unknown_wallet_address: /^unknown wallet address$/ },
  405: { method_not_allowed: /./ },
  408: { request_timeout: /./ },
  409: { wrong_state: /^wrong state$/, idempotency_conflict: /./ },
  413: { payload_too_large: /./ },
  415: { unsupported_media_type: /./ },
  429: { rate_limited: /^too many requests$/ },
}

const GRANT_OPERATIONS = [
  'post-request',
  'discover',
  'post-continue',
  'delete-continue',
  'post-token',
  'delete-token',
  'interact',
]
const PUBLIC_OPERATIONS = ['get-wallet-address', 'get-wallet-address-keys']
const READING = ['get-', 'list-', 'discover']

/** What a refusal may leave behind: the kinds of records, by operation. */
const LEFT_BEHIND: Readonly<Record<string, readonly string[]>> = {
  // The wrong interaction references of a grant are counted.
  'post-continue': ['grant'],
}

function isDeeper(value: unknown, limit: number): boolean {
  if (typeof value !== 'object' || value === null) return false
  return limit === 0 || Object.values(value).some((member) => isDeeper(member, limit - 1))
}

/** Whether a body is more than may be taken. What is no JSON is told by what it was taken for. */
function isTooMuch(body: Uint8Array): boolean {
  if (body.length > 65_536) return true
  const text = new TextDecoder().decode(body)
  if ((text.match(/[[{]/g) ?? []).length <= 32) return false
  try {
    return isDeeper(JSON.parse(text), 32)
  } catch {
    return false
  }
}

/** Everything that is wrong with the answer to a body; `authServer` as a wallet address publishes it. */
export function faultsOf(outcome: Outcome, authServer: string, body: Uint8Array): readonly string[] {
  const { response, events, changes, spent } = outcome
  const faults: string[] = []
  const require = (isRight: boolean, fault: string): void => {
    if (!isRight) faults.push(fault)
  }
  const requests = events.filter((event) => event.type === 'request')
  const operation = requests[0]?.operation
  require(requests.length === 1 && requests[0]?.status === response.status, 'not one event with its status')
  for (const event of events) {
    require(event.type !== 'fault' &&
      event.type !== 'payment_stalled', `an event: ${event.type} ${JSON.stringify(event)}`)
  }
  require(spent < 3_000, `it took ${Math.round(spent)} ms of the processor`)
  require(Reflect.ownKeys(Object.prototype).length === PROTOTYPE_KEYS, 'Object.prototype has changed')
  require(Reflect.get({}, 'polluted') === undefined, 'every object is polluted')
  faults.push(...faultsOfAnswer(response, operation, authServer))

  require(response.status >= 400 || !isTooMuch(body), 'it took a body that is too large or too deep')

  const allowed = LEFT_BEHIND[operation ?? ''] ?? []
  const left = changes.filter((key) => !allowed.some((kind) => key.startsWith(`${kind} `)))
  const isReading = READING.some((start) => operation?.startsWith(start))
  if (response.status >= 400 || isReading) {
    require(!outcome.isMoneyMoved, 'money moved')
    require(left.length === 0, `records changed: ${left.join(', ')}`)
  }
  return faults
}

const PROTOTYPE_KEYS = Reflect.ownKeys(Object.prototype).length

/** The same for what can be seen from outside. */
export function faultsOfAnswer(
  response: HttpResponse,
  operation: Parameters<typeof violations>[0] | undefined,
  authServer: string,
  whose: 'one server' | 'any server' = 'one server',
): readonly string[] {
  const { status, headers, body } = response
  const faults: string[] = []
  const require = (isRight: boolean, fault: string): void => {
    if (!isRight) faults.push(fault)
  }
  require(status >= 200 && status < 500, `status ${status}`)
  for (const [name, value] of Object.entries(headers)) {
    require(/^[a-z0-9-]+$/.test(name) && /^[\t\x20-\x7e]*$/.test(value), `the header ${JSON.stringify([name, value])}`)
  }
  const type = headers['content-type']
  if (type?.startsWith('text/html') || status === 303) return [...faults, ...faultsOfPage(response, operation)]

  const isEmpty = status === 204 || status === 304
  require(isEmpty === (body === undefined), 'a body, or none, against its status')
  require(type === (isEmpty ? undefined : 'application/json'), `the content type ${type}`)
  const parsed = body === undefined ? undefined : JSON.parse(bodyText(response) ?? '')
  const isPublic = (PUBLIC_OPERATIONS.includes(operation ?? '') || whose === 'any server') && status < 400
  require(isPublic || headers['cache-control'] === 'no-store', `the cache control ${headers['cache-control']}`)
  if (operation !== undefined && status < 300) faults.push(...violations(operation, status, parsed))
  if (status >= 400)
    faults.push(...faultsOfRefusal(status, headers, parsed, operation, whose === 'any server' ? undefined : authServer))
  return faults
}

function faultsOfRefusal(
  status: number,
  headers: Readonly<Record<string, string>>,
  body: unknown,
  operation: string | undefined,
  authServer: string | undefined,
): readonly string[] {
  const error: unknown = typeof body === 'object' && body !== null ? Reflect.get(body, 'error') : undefined
  if (typeof error !== 'object' || error === null) return ['a refusal without an error']
  const code: unknown = Reflect.get(error, 'code')
  const description: unknown = Reflect.get(error, 'description')
  if (typeof code !== 'string' || typeof description !== 'string') return ['a refusal without code and description']
  const faults: string[] = []
  const require = (isRight: boolean, fault: string): void => {
    if (!isRight) faults.push(fault)
  }
  const members = [...Object.keys(body ?? {}), ...Object.keys(error)].filter((name) => name !== 'details')
  require(members.join() === 'error,code,description', `the members ${members.join()}`)
  const isGrantCode =
    GRANT_CODES[status]?.includes(code) === true &&
    (operation === undefined || OWN_CODES[code]?.test(operation) !== false)
  const isResourceCode = RESOURCE_CODES[status]?.[code]?.test(description) === true
  const isGrantServer = GRANT_OPERATIONS.includes(operation ?? '')
  // Without an operation either server may have refused.
  const isRight = operation === undefined ? isGrantCode || isResourceCode : isGrantServer ? isGrantCode : isResourceCode
  require(isRight, `${operation ?? 'no endpoint'} answers ${status} ${code}: ${description}`)
  const challenge = status === 401 && !isGrantServer ? `GNAP as_uri=${authServer}` : undefined
  require(authServer === undefined ||
    headers['www-authenticate'] === challenge, `the challenge ${headers['www-authenticate']}`)
  require(status !== 405 || /^[A-Z]+(, [A-Z]+)*$/.test(headers['allow'] ?? ''), `the allow ${headers['allow']}`)
  return faults
}

function faultsOfPage(response: HttpResponse, operation: string | undefined): readonly string[] {
  const { status, headers } = response
  const faults: string[] = []
  if (operation !== undefined && operation !== 'interact') faults.push('a page that is no consent page')
  if (headers['cache-control'] !== 'no-store' || headers['referrer-policy'] !== 'no-referrer')
    faults.push('it may leak')
  if (headers['x-frame-options'] !== 'DENY') faults.push('it may be framed')
  if (!headers['content-security-policy']?.includes("frame-ancestors 'none'")) faults.push('it may be framed')
  if (Object.keys(headers).some((name) => name.startsWith('access-control-'))) faults.push('it may be read by anyone')
  if (/<script|javascript:/i.test(bodyText(response) ?? '')) faults.push('it holds a script')
  if (status === 303 && headers['location'] === undefined) faults.push('a redirect to nowhere')
  return faults
}
