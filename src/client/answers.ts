import * as v from 'valibot'
import type { OutboundAnswer } from '../ports/outbound-requests.ts'
import type { FoundReceiver, RemoteIncomingPayment } from '../ports/remote-receivers.ts'
import { Amount, isSameAsset } from '../protocol/amount.ts'
import { fromBase64url } from '../protocol/bytes.ts'
import { DateTime } from '../protocol/date-time.ts'
import { isObject } from '../protocol/is-object.ts'
import { type IlpPaymentMethod, isIlpAddress } from '../protocol/payment-method.ts'
import { parseReceiver } from '../protocol/receiver.ts'
import { canonicalWalletAddress } from '../protocol/wallet-address.ts'

// Answers of other servers are parsed here and nowhere else. Members that are not used are not looked at; if one that
// is used is not as specified, the whole answer is invalid.

/** Why there is no receiver. */
export type Failure = Exclude<FoundReceiver, { readonly ok: true } | { readonly reason: 'rate_limited' }>

/**
 * Reads an answer with status 200 by `parse`, which returns `undefined` for an invalid document. `step` names the
 * request to the operator.
 */
export function readAnswer<T>(
  step: string,
  answer: OutboundAnswer,
  parse: (document: unknown) => T | undefined,
): { readonly ok: true; readonly value: T } | Failure {
  if (!answer.ok) return { ok: false, reason: answer.reason, detail: `${step}: ${answer.detail}` }
  const { status, document } = answer
  if (status !== 200) return { ok: false, reason: reasonOf(status), detail: `${step}: status ${status}` }
  const value = parse(document)
  return value === undefined
    ? { ok: false, reason: 'invalid', detail: `${step}: not what it should be` }
    : { ok: true, value }
}

/**
 * 404 and 410 are `unknown`; other 4xx are `refused`, except 408 and 429, which may pass like redirects and 5xx.
 * @spec T-3
 */
function reasonOf(status: number): Failure['reason'] {
  if (status === 404 || status === 410) return 'unknown'
  const isRefusal = status >= 400 && status < 500 && status !== 408 && status !== 429
  return isRefusal ? 'refused' : 'unreachable'
}

/** Of a URL beyond ASCII no more than a host can have: a URL parser takes time quadratic in such a host. @spec T-24 */
const PARSED = /^(?:[!-~]{0,2048}|.{0,260})$/

const Url = v.pipe(
  v.string(),
  v.check((text) => PARSED.test(text) && URL.canParse(text)),
)

const PublicView = v.object({ authServer: Url })

/** The authorization server that the public view of an incoming payment names, as a URL parser writes it. */
export function parsePublicView(document: unknown): string | undefined {
  const parsed = v.safeParse(PublicView, document, { abortEarly: true })
  return parsed.success ? new URL(parsed.output.authServer).href : undefined
}

/** An access token of another server. Its value is a secret. */
export interface ForeignToken {
  readonly value: string
  /** The URI at which it is rotated. */
  readonly manage: string
  /** The seconds that it lasts; absent if its server does not say. */
  readonly expiresIn?: number
}

/** What can be sent in a header line. */
const TOKEN_VALUE = /^[\w.~+/-]+=*$/

const WireForeignToken = v.pipe(
  v.object({
    value: v.pipe(
      v.string(),
      v.maxLength(4096),
      v.check((text) => TOKEN_VALUE.test(text)),
    ),
    manage: Url,
    expires_in: v.nullish(
      v.pipe(
        v.number(),
        v.check((seconds) => Number.isSafeInteger(seconds) && seconds >= 0),
      ),
    ),
  }),
  v.transform(
    ({ value, manage, expires_in: expiresIn }): ForeignToken => ({
      value,
      manage,
      ...(expiresIn != null && { expiresIn }),
    }),
  ),
)

/** The answer to a grant request or a rotation. */
const Granted = v.object({ access_token: WireForeignToken })

/** The token in the answer to a grant request or a rotation. */
export function parseGranted(document: unknown): ForeignToken | undefined {
  const parsed = v.safeParse(Granted, document, { abortEarly: true })
  return parsed.success ? parsed.output.access_token : undefined
}

/** The same for a grant request, which may also require an interaction with a person; here there is nobody to ask. */
export function parseGrant(document: unknown): ForeignToken | 'interaction' | undefined {
  const isPutToPerson = isObject(document) && 'interact' in document
  return parseGranted(document) ?? (isPutToPerson ? 'interaction' : undefined)
}

const IlpMethod: v.GenericSchema<unknown, IlpPaymentMethod> = v.object({
  type: v.literal('ilp'),
  ilpAddress: v.pipe(v.string(), v.check(isIlpAddress)),
  sharedSecret: v.pipe(
    v.string(),
    v.check((text) => fromBase64url(text)?.length === 32),
  ),
})

/** A payment method of a type that this library does not know. */
const OtherMethod = v.pipe(
  v.object({
    type: v.pipe(
      v.string(),
      v.check((type) => type !== 'ilp'),
    ),
  }),
  v.transform(() => undefined),
)

const IncomingPayment = v.pipe(
  v.object({
    id: v.string(),
    walletAddress: v.nullish(v.unknown()),
    completed: v.nullish(v.boolean(), false),
    incomingAmount: v.nullish(Amount),
    receivedAmount: Amount,
    expiresAt: v.nullish(DateTime),
    // Counted before any of them is looked at. @spec T-4
    methods: v.nullish(v.pipe(v.array(v.unknown()), v.maxLength(20), v.array(v.union([IlpMethod, OtherMethod]))), []),
  }),
  v.check(({ incomingAmount, receivedAmount }) => !incomingAmount || isSameAsset(incomingAmount, receivedAmount)),
)

/**
 * The incoming payment at `url`; `undefined` if the document is not an incoming payment, or is another one. Whom it
 * pays decides nothing here: its wallet address may be on any host, and is left out if it is not valid by `policies`.
 * @spec QUO-9
 */
export function parseIncomingPayment(
  document: unknown,
  url: string,
  policies: { readonly loopbackHttp: boolean },
): RemoteIncomingPayment | undefined {
  const parsed = v.safeParse(IncomingPayment, document, { abortEarly: true })
  if (!parsed.success || parseReceiver(parsed.output.id)?.url !== url) return undefined
  const { completed: isCompleted, incomingAmount, receivedAmount, expiresAt, methods } = parsed.output
  const named = parsed.output.walletAddress
  const walletAddress = typeof named === 'string' ? canonicalWalletAddress(named, policies) : undefined
  return {
    url,
    ...(walletAddress !== undefined && { walletAddress }),
    isCompleted,
    ...(incomingAmount && { incomingAmount }),
    receivedAmount,
    ...(expiresAt != null && { expiresAt }),
    methods: methods.filter((method) => method !== undefined),
  }
}
