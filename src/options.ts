import {
  hasMethod,
  refuseUnknown,
  requireBaseUrl,
  requireFunction,
  requireMethods,
  requireMilliseconds,
  requireObject,
  requireOnly,
  requirePositive,
  requireSecrets,
} from './errors/check-option.ts'
import { ConfigurationError } from './errors/configuration-error.ts'
import type { Clock } from './ports/clock.ts'
import type { Consent } from './ports/consent.ts'
import type { Cryptography } from './ports/cryptography.ts'
import type { OnEvent } from './ports/events.ts'
import type { KeyResolver } from './ports/key-resolver.ts'
import type { Ledger } from './ports/ledger.ts'
import type { PaymentMethod } from './ports/payment-method.ts'
import type { Pricing } from './ports/pricing.ts'
import type { RemoteReceivers } from './ports/remote-receivers.ts'
import type { Lifetimes, Policies, RequestLimits, SomeOf } from './ports/settings.ts'
import type { Storage } from './ports/storage.ts'
import type { WalletAddresses } from './ports/wallet-addresses.ts'
import { isAppScheme } from './protocol/finish.ts'
import { isIlpPrefix } from './protocol/payment-method.ts'
import { shownValue } from './protocol/shown-value.ts'
import { canonicalWalletAddress, RESERVED_SEGMENTS } from './protocol/wallet-address.ts'

/** What a wallet provides. */
export interface OpenPaymentsOptions {
  /** Public base URL of the authorization server, without a trailing slash; also the grant endpoint. */
  readonly authServer: string
  /** Public base URL of the resource server, without a trailing slash. */
  readonly resourceServer: string
  /** Origin under which the wallet addresses live. Default: the origin of `resourceServer`. */
  readonly walletAddressServer?: string | undefined
  /**
   * Secrets of at least 32 characters, without white space at their ends. New values are derived from the first one; the
   * others keep earlier values valid. Generate one with `openssl rand -base64 32`.
   */
  readonly secrets: readonly string[]
  /** Where grants and payments are kept: `sqliteStorage`, `postgresStorage`, or your own. */
  readonly storage: Storage
  /** Your ledger, behind five calls. */
  readonly ledger: Ledger
  /** Your directory: which account is behind a wallet address. */
  readonly walletAddresses: WalletAddresses
  /** What a person sees when asked for a grant: `consentPage`, `consentRedirect`, or your own. */
  readonly consent: Consent
  /** What payments cost. Default: one to one within an asset, no fee, no exchange. */
  readonly pricing?: Pricing
  /**
   * How money goes to and comes from other servers, such as `ilp()`; at most one of each type. Default: none, so that only
   * receivers on this server can be paid.
   */
  readonly paymentMethods?: readonly PaymentMethod[]
  /** Finds the keys of clients. Default: fetches them over https, guarded; needs a host with `node:https`. */
  readonly keyResolver?: KeyResolver
  /** Reads receivers elsewhere, for a payment method. Default: over https, guarded; needs a host with `node:https`. */
  readonly remoteReceivers?: RemoteReceivers
  /** Default: the host's WebCrypto. */
  readonly cryptography?: Cryptography
  /** Default: the system's clock. */
  readonly clock?: Clock
  /**
   * Receives every event. Default: `reportFaults`, which prints faults and what needs a person on the error stream. Your own
   * function replaces it; if it throws or rejects for such an event, that is still printed. Money events are recorded only by
   * processes with an `onEvent` of their own: when a process without one ends a payment, nobody hears of it.
   */
  readonly onEvent?: OnEvent
  /** Lifetimes, limits and policies. Each has a default, which `undefined` selects, too. */
  readonly settings?: {
    readonly lifetimes?: SomeOf<Lifetimes> | undefined
    readonly limits?: SomeOf<RequestLimits> | undefined
    readonly policies?: SomeOf<Policies> | undefined
  }
}

const DAY_SECONDS = 86_400
const CENTURY_SECONDS = 36_525 * DAY_SECONDS

/** More than anybody needs, and less than milliseconds taken for seconds; the others may be as long as dates and timers can. */
const MOST_SECONDS: Readonly<Record<string, number>> = {
  signatureAgeSeconds: 3600,
  signatureSkewSeconds: 3600,
  quoteSeconds: DAY_SECONDS,
  leaseSeconds: 3600,
}

const LIFETIMES: Lifetimes = {
  accessTokenSeconds: 600,
  interactionSeconds: 600,
  quoteSeconds: 300,
  incomingPaymentSeconds: 30 * 24 * 3600,
  continuationWaitSeconds: 5,
  signatureAgeSeconds: 300,
  signatureSkewSeconds: 60,
}

const LIMITS: RequestLimits = {
  bodyBytes: 65_536,
  bodySeconds: 10,
  holdSeconds: 3,
  commitSeconds: 3,
  leaseSeconds: 30,
  createdPerHour: 100_000,
}

const POLICIES: Policies = {
  signatureProfile: 'open-payments',
  legacySignatureSyntax: ['php', 'rust'],
  finishHashEncoding: 'auto',
  intervalCounting: 'additional',
  finishOnDenial: 'result',
  replay: 'payments',
  keyBinding: 'client',
  quoteBinding: 'walletAddress',
  excessReceipt: 'cap',
  exchangeToleranceBasisPoints: 500,
  withoutInteraction: ['incoming-payment', 'quote'],
  quoteAsUri: false,
  loopbackHttp: false,
  finishSchemes: [],
  localIlpPrefix: 'test.local',
}

/** The settings of a server, complete and checked. */
export interface Settings {
  readonly walletAddressServer: string
  readonly lifetimes: Lifetimes
  readonly limits: RequestLimits
  readonly policies: Policies
}

/** Checks every option at construction and fills in the defaults; throws a `ConfigurationError` that names the option. */
export function resolveSettings(options: OpenPaymentsOptions): Settings {
  requireObject('the argument of createOpenPayments', options)
  const { settings = {} } = options
  requireOnly('settings', settings, ['lifetimes', 'limits', 'policies'])
  const lifetimes = withDefaults('settings.lifetimes', LIFETIMES, settings.lifetimes)
  const limits = withDefaults('settings.limits', LIMITS, settings.limits)
  const policies = withDefaults('settings.policies', POLICIES, settings.policies, ['clientWalletAddress'])
  for (const [name, value] of Object.entries(lifetimes))
    requirePositive(`settings.lifetimes.${name}`, value, MOST_SECONDS[name] ?? CENTURY_SECONDS)
  for (const [name, value] of Object.entries(limits)) {
    const most = name.endsWith('Seconds') ? DAY_SECONDS : undefined
    requirePositive(`settings.limits.${name}`, value, MOST_SECONDS[name] ?? most)
  }
  // Whoever is at a payment must not lose it to recovery: under one lease the ledger is waited for four times at most, for a
  // hold in the request and three repeats, or for three credits and the settlement; and then something is committed.
  if (limits.leaseSeconds < limits.holdSeconds * 5)
    throw new ConfigurationError('settings.limits.leaseSeconds must be at least five times holdSeconds')
  // Else a grant would be over before its client may continue it. @spec CON-3 @spec GRT-17
  if (lifetimes.interactionSeconds <= lifetimes.continuationWaitSeconds)
    throw new ConfigurationError('settings.lifetimes.interactionSeconds must be more than continuationWaitSeconds')
  checkPolicies(policies)
  requireBaseUrl('authServer', options.authServer, policies)
  requireBaseUrl('resourceServer', options.resourceServer, policies)
  const { walletAddressServer = new URL(options.resourceServer).origin } = options
  requireBaseUrl('walletAddressServer', walletAddressServer, policies)
  if (new URL(walletAddressServer).origin !== walletAddressServer)
    throw new ConfigurationError('walletAddressServer must be an origin, without a path')
  // The directory would never be asked: nothing at such an origin is a wallet address. @spec WAS-2
  if (canonicalWalletAddress(walletAddressServer, policies) === undefined)
    throw new ConfigurationError(
      'walletAddressServer (by default the origin of resourceServer) must have neither a port nor a final dot',
    )
  refuseHiddenEndpoints('authServer', options.authServer, options.resourceServer)
  refuseHiddenEndpoints('resourceServer', options.resourceServer, options.authServer)
  checkClientWalletAddress(policies, walletAddressServer)
  requireSecrets(options.secrets)
  checkPorts(options)
  checkPaymentMethods(options.paymentMethods)
  // A rail that works renews the lease every five seconds; a record or two may be slow.
  if (options.paymentMethods?.length && limits.leaseSeconds < 15)
    throw new ConfigurationError('settings.limits.leaseSeconds must be at least 15 with a payment method')
  return { walletAddressServer, lifetimes, limits, policies }
}

/** Requests are routed by path alone: a server at an endpoint of the other one would be asked instead of that. */
function refuseHiddenEndpoints(name: string, url: string, other: string): void {
  const [path, base] = [new URL(url).pathname, `${new URL(other).pathname.replace(/\/$/, '')}/`]
  const [segment = ''] = path.startsWith(base) ? path.slice(base.length).split('/') : []
  if (RESERVED_SEGMENTS.has(segment))
    throw new ConfigurationError(`${name} must not be at an endpoint of the other server (${segment})`)
}

/** A copy. Each member is read by its name: configuration classes have getters, which are no entries. */
function withDefaults<T extends object>(
  name: string,
  defaults: T,
  given: SomeOf<T> = {},
  withoutDefault: readonly string[] = [],
): T {
  const known = [...Object.keys(defaults), ...withoutDefault]
  requireOnly(name, given, known)
  const copy = (value: unknown): unknown => (Array.isArray(value) ? [...value] : value)
  const chosen = known.map((member) => [member, copy(Reflect.get(given, member))] as const)
  return Object.freeze({ ...defaults, ...Object.fromEntries(chosen.filter(([, value]) => value !== undefined)) })
}

const CHOICES: Readonly<Record<string, readonly unknown[]>> = {
  signatureProfile: ['open-payments', 'gnap'],
  finishHashEncoding: ['auto', 'base64', 'base64url'],
  intervalCounting: ['additional', 'total'],
  finishOnDenial: ['result', 'gnap'],
  replay: ['payments', 'all'],
  keyBinding: ['client', 'key'],
  quoteBinding: ['walletAddress', 'client'],
  excessReceipt: ['accept', 'cap', 'refuse'],
  quoteAsUri: [true, false],
  loopbackHttp: [true, false],
}

const LIST_CHOICES: Readonly<Record<string, readonly unknown[]>> = {
  legacySignatureSyntax: ['php', 'rust'],
  // Money never leaves without its owner: outgoing-payment cannot be listed here. @spec GRT-5
  withoutInteraction: ['incoming-payment', 'quote'],
}

function checkPolicies(policies: Policies): void {
  for (const [name, value] of Object.entries(policies)) {
    const choices = CHOICES[name]
    if (choices !== undefined && !choices.includes(value))
      throw new ConfigurationError(
        `settings.policies.${name} must be one of ${choices.join(', ')}, not ${shownValue(value)}`,
      )
    const members = LIST_CHOICES[name]
    if (members !== undefined && !(Array.isArray(value) && value.every((member) => members.includes(member))))
      throw new ConfigurationError(`settings.policies.${name} may list ${members.join(', ')}`)
  }
  const { exchangeToleranceBasisPoints: tolerance } = policies
  if (!Number.isInteger(tolerance) || tolerance < 0 || tolerance > 9999)
    throw new ConfigurationError('settings.policies.exchangeToleranceBasisPoints must be an integer from 0 to 9999')
  if (typeof policies.localIlpPrefix !== 'string' || !isIlpPrefix(policies.localIlpPrefix))
    throw new ConfigurationError('settings.policies.localIlpPrefix is not an ILP address prefix')
  if (!Array.isArray(policies.finishSchemes) || !policies.finishSchemes.every(isAppScheme))
    throw new ConfigurationError('settings.policies.finishSchemes must list app schemes in lower case, without a colon')
}

/** Its key set must be one that this server answers, or nobody could verify what this server signs. */
function checkClientWalletAddress({ clientWalletAddress, loopbackHttp }: Policies, walletAddressServer: string): void {
  if (clientWalletAddress === undefined) return
  const name = 'settings.policies.clientWalletAddress'
  const canonical =
    typeof clientWalletAddress === 'string' ? canonicalWalletAddress(clientWalletAddress, { loopbackHttp }) : undefined
  if (canonical === undefined || new URL(canonical).origin !== walletAddressServer)
    throw new ConfigurationError(`${name} must be a wallet address under ${walletAddressServer}`)
  if (canonical !== clientWalletAddress) throw new ConfigurationError(`${name} must be written as ${canonical}`)
}

const PORT_METHODS = {
  storage: ['get', 'list', 'due', 'commit'],
  ledger: ['account', 'hold', 'settle', 'release', 'credit'],
  walletAddresses: ['find'],
  consent: ['respond'],
  pricing: ['price'],
  keyResolver: ['keySet', 'publicName'],
  remoteReceivers: ['find'],
  cryptography: ['randomBytes', 'sha256', 'sha512', 'hmacSha256', 'verifyEd25519', 'ed25519PublicKey', 'signEd25519'],
  clock: ['now', 'sleep'],
} as const

const OPTIONS: readonly string[] = [
  'authServer',
  'resourceServer',
  'walletAddressServer',
  'secrets',
  'paymentMethods',
  'onEvent',
  'settings',
]

function checkPorts(options: OpenPaymentsOptions): void {
  refuseUnknown('options', options, [...OPTIONS, ...Object.keys(PORT_METHODS)])
  for (const [name, methods] of Object.entries(PORT_METHODS)) {
    const port: unknown = Reflect.get(options, name)
    const isRequired = ['storage', 'ledger', 'walletAddresses', 'consent'].includes(name)
    if (port === undefined && !isRequired) continue
    requireMethods(name, port, methods)
  }
  const { clock, consent, onEvent } = options
  if (clock !== undefined) requireMilliseconds('clock.now()', clock.now())
  for (const [name, given] of Object.entries({ onEvent, 'consent.failed': consent.failed }))
    if (given !== undefined) requireFunction(name, given)
}

function checkPaymentMethods(methods: readonly PaymentMethod[] = []): void {
  const functions = ['createDetails', 'quote', 'deliver']
  if (!Array.isArray(methods) || !methods.every((method) => functions.every((name) => hasMethod(method, name))))
    throw new ConfigurationError('paymentMethods must be a list of payment methods')
  const untyped = methods.findIndex(({ type }) => typeof type !== 'string' || type === '')
  if (untyped !== -1) throw new ConfigurationError(`paymentMethods[${untyped}].type must be a string, such as 'ilp'`)
  // Payments remember the type that carries them.
  const types = methods.map(({ type }) => type)
  if (new Set(types).size !== types.length) throw new ConfigurationError('paymentMethods must be of one type each')
}
