import { type AuditedPayment, auditPayments } from './ase/audit.ts'
import { createGrants, type Grants } from './ase/grants.ts'
import { createInteractions } from './ase/interactions.ts'
import { authServerRoutes } from './auth-server/routes.ts'
import { createRemoteReceivers } from './client/remote-receivers.ts'
import { ConfigurationError } from './errors/configuration-error.ts'
import { fromFetchRequest, toFetchResponse } from './http/fetch-exchange.ts'
import { createHandler } from './http/handle.ts'
import { findLocalWalletAddress } from './http/local-wallet-address.ts'
import { answerByRail, railEndpoints } from './http/rail-endpoints.ts'
import { createRouter } from './http/router.ts'
import { type OpenPaymentsOptions, resolveSettings } from './options.ts'
import { createLateAnswers } from './payments/late-answers.ts'
import { countDeliveries } from './payments/rail/deliveries.ts'
import {
  decideByHost,
  type HostDecision,
  listUndecided,
  type UndecidedPayment,
} from './payments/rail/host-decisions.ts'
import { createRailServer } from './payments/rail/rail-server.ts'
import { type ReceivedPayment, receivePayment } from './payments/receive-payment.ts'
import { recoverPayments, sweepRecords } from './payments/recover.ts'
import { tellFailure } from './payments/tell-failure.ts'
import type { Clock } from './ports/clock.ts'
import type { Interactions } from './ports/consent.ts'
import type { Context } from './ports/context.ts'
import type { MoneyEvent, OnEvent } from './ports/events.ts'
import type { HttpRequest, HttpResponse } from './ports/http-exchange.ts'
import type { Pricing } from './ports/pricing.ts'
import type { RemoteReceivers } from './ports/remote-receivers.ts'
import { type Amount, isSameAsset } from './protocol/amount.ts'
import { clientWalletAddress } from './protocol/client.ts'
import { answerBefore } from './records/deadline.ts'
import { guardDirectory } from './records/guard-directory.ts'
import { guardStorage } from './records/guard-storage.ts'
import { createSerializer } from './records/serializer.ts'
import { resourceServerRoutes } from './resource-server/routes.ts'
import { derivedSecrets } from './runtime/derived-secrets.ts'
import { fetchKeyResolver } from './runtime/fetch-key-resolver.ts'
import { outboundRequests } from './runtime/outbound-requests.ts'
import { hostNetwork } from './runtime/pinned-connection.ts'
import { reportFaults } from './runtime/report-faults.ts'
import { systemClock } from './runtime/system-clock.ts'
import { tokenBuckets } from './runtime/token-buckets.ts'
import { webCryptography } from './runtime/web-crypto.ts'
import { walletAddressServerRoutes } from './wallet-address-server/routes.ts'

/** How a host hears of work that goes on after a response, such as the delivery of a payment. */
export interface HandleOptions {
  /** Given every such promise; none of them rejects. A host that may freeze after a response keeps itself awake for them. */
  readonly waitUntil?: (work: Promise<unknown>) => void
}

/** What only the host knows of a Fetch request. */
export interface FetchOptions extends HandleOptions {
  /** The address that the request came from, as `source` of an `HttpRequest`. Default: none, no limits per source. */
  readonly source?: string | undefined
}

/** An Open Payments server inside a wallet's own. */
export interface OpenPayments {
  /**
   * Answers a request. Never rejects: a refusal is a 4xx, a fault a 5xx without detail, and an event. HEAD is answered as
   * GET; its host leaves the body away.
   */
  handle(request: HttpRequest, options?: HandleOptions): Promise<HttpResponse>
  /** The same for any Fetch host. Fetch normalises URLs and joins header lines before this sees them. */
  fetch(request: Request, options?: FetchOptions): Promise<Response>
  /**
   * Whether this server answers a request: an endpoint of its authorization or resource server with its method, or a
   * wallet address that exists (and its `/jwks.json`). A framework lets everything else fall through to its own routes,
   * which may stand beside these on the same paths with other methods. `target` is the raw `/path?query`.
   */
  owns(method: string, target: string): Promise<boolean>
  /** For a wallet's own consent screen. */
  readonly interactions: Interactions
  /** What an account's owner has granted. */
  readonly grants: Grants
  /** For money that reaches the wallet on a rail of its own. */
  readonly incomingPayments: {
    /**
     * Counts a transfer, once per `transferId`: the same call gets the same answer, a refusal too, for ever. `id` is the last segment
     * of the incoming payment's URL. Rejects with `TypeError` or `RangeError` where an argument is none; otherwise
     * where the storage fails, and then the same call finds out.
     */
    received(id: string, amount: Amount, transferId: string): Promise<ReceivedPayment>
  }
  /**
   * For money of which its rail does not know what became of it (`delivery_unknown`): a person, or a process beside this one,
   * finds out and says so. That decides the payment, and is final: the same call again gets the same answer, the other
   * one `conflict`. Rejects where the storage fails, and then the same call finds out.
   */
  readonly outgoingPayments: {
    /** What was in flight has arrived: it counts as sent. `id` is the last segment of the payment's URL. */
    sent(id: string): Promise<HostDecision>
    /** What was in flight has not arrived and never will: it does not count. */
    failed(id: string): Promise<HostDecision>
    /** All payments that wait for such a word, the longest waiting first. */
    undecided(): Promise<readonly UndecidedPayment[]>
  }
  /**
   * The outgoing payments of a wallet address (its canonical URL), newest first, each with the client's signed request,
   * the grant and the ids in the ledger: what proves who ordered it. Plain JSON; rejects where the storage fails.
   * @spec T-42
   */
  audit(walletAddress: string): AsyncIterable<AuditedPayment>
  /**
   * Moves interrupted payments and unacknowledged events on: at start and on a timer, in any number of processes. Looks
   * at 100 of each. Resolves with how many; 100 or more: call again. What could not be committed stays due, and is not
   * counted, so there is always progress. Payments to other servers it only takes up: they go on afterwards, and `drain()`
   * waits for them. While 256 are with a payment method in this process, others stay due, and are not counted. Rejects
   * where the storage cannot be read.
   */
  recover(): Promise<number>
  /**
   * Expires and deletes what is over: on a timer, in any number of processes. Looks at 100 records of each kind.
   * Resolves with how many changed; 100 or more: call again. Rejects where the storage cannot be read.
   */
  sweep(): Promise<number>
  /** Resolves once all that runs has ended: after responses, in `recover()` and `sweep()`, and what `recover()` took up. Before the host closes its storage. */
  drain(): Promise<void>
}

/** One to one within an asset; no way across. */
const EVEN_PRICING: Pricing = {
  price: async ({ from, to }) => (isSameAsset(from, to) ? { rate: '1' } : undefined),
}

/** Puts a server together. Every option is checked here: a mistake is a `ConfigurationError` that names it. */
export function createOpenPayments(options: OpenPaymentsOptions): OpenPayments {
  const context = createContext(options)
  const interactions = createInteractions(context)
  const routes = [
    ...authServerRoutes(options.consent, interactions),
    ...resourceServerRoutes(),
    ...walletAddressServerRoutes(),
  ]
  const bases = {
    'auth-server': basePath(context.authServer),
    'resource-server': basePath(context.resourceServer),
    'wallet-address-server': '',
  }
  const match = createRouter(routes, bases)
  const answer = createHandler(context, match)
  const running = new Set<Promise<unknown>>()
  const keep = (work: Promise<unknown>): Promise<unknown> => {
    const kept: Promise<unknown> = work.catch(() => undefined).finally(() => running.delete(kept))
    running.add(kept)
    return kept
  }
  const tracked = (work: Promise<number>): Promise<number> => {
    keep(work)
    return work
  }
  const credits = new Set<Promise<unknown>>()
  const keepCredit = (work: Promise<unknown>): void => {
    const kept: Promise<unknown> = keep(work).finally(() => credits.delete(kept))
    credits.add(kept)
  }
  for (const method of context.paymentMethods) method.connect?.(createRailServer(context, method.type, keepCredit))
  const railAt = railEndpoints(context.paymentMethods, routes, bases)
  const handle: OpenPayments['handle'] = async (request, { waitUntil } = {}) => {
    const rail = railAt(request.method, request.target)
    if (rail !== undefined) {
      const response = await answerByRail(context, rail, request)
      // What the rail has taken is credited after the answer.
      waitUntil?.(Promise.all(credits))
      return response
    }
    return answer(request, (work) => {
      const kept = keep(work)
      waitUntil?.(kept)
    })
  }
  return {
    handle,
    fetch: async (request, { source, ...handling } = {}) =>
      toFetchResponse(await handle(fromFetchRequest(request, source), handling), request.method),
    owns: async (method, target) => {
      if (railAt(method, target) !== undefined) return true
      const found = match(method, target)
      // Under a base path of its own every path is the library's; at a root it may be a page of the host's.
      if (!found.ok) return found.refusal.condition.status === 405 && bases[found.role] !== ''
      if (found.row.role !== 'wallet-address-server') return true
      const path = found.path.replace(/\/jwks\.json\/?$/, '')
      return (await findLocalWalletAddress(context, `${context.walletAddressServer}${path}`)) !== undefined
    },
    interactions,
    grants: createGrants(context),
    incomingPayments: { received: (id, amount, transferId) => receivePayment(context, id, amount, transferId, keep) },
    outgoingPayments: {
      sent: (id) => decideByHost(context, id, 'sent', keep),
      failed: (id) => decideByHost(context, id, 'failed', keep),
      undecided: () => listUndecided(context),
    },
    audit: (walletAddress) => auditPayments(context, walletAddress),
    recover: () => tracked(tellFailure(context, 'recover() failed', () => recoverPayments(context, keep))),
    sweep: () => tracked(tellFailure(context, 'sweep() failed', () => sweepRecords(context))),
    drain: async () => {
      while (running.size > 0) await Promise.all(running)
    },
  }
}

function basePath(url: string): string {
  const { pathname } = new URL(url)
  return pathname === '/' ? '' : pathname
}

function createContext(options: OpenPaymentsOptions): Context {
  const { walletAddressServer, lifetimes, limits, policies } = resolveSettings(options)
  const clock = options.clock ?? systemClock()
  const cryptography = options.cryptography ?? webCryptography()
  const keyResolver = options.keyResolver ?? fetchKeyResolver({ clock, loopbackHttp: policies.loopbackHttp })
  const onEvent: OnEvent = options.onEvent ?? reportFaults
  const { authServer, resourceServer, storage, ledger, walletAddresses, paymentMethods = [] } = options
  const emit = emitBestEffort(onEvent)
  const secrets = derivedSecrets(options.secrets, cryptography)
  const own = { clock, cryptography, secrets, emit, policies }
  const remoteReceivers = options.remoteReceivers ?? (paymentMethods.length > 0 ? readReceivers(own) : undefined)
  return Object.freeze({
    authServer,
    resourceServer,
    walletAddressServer,
    storage: guardStorage(storage, () => clock.now(), emit),
    ledger,
    lateAnswers: createLateAnswers(),
    deliveries: countDeliveries(),
    walletAddresses: guardDirectory(walletAddresses, { clock, seconds: limits.holdSeconds, emit }),
    keyResolver,
    cryptography,
    secrets,
    clock,
    pricing: options.pricing ?? EVEN_PRICING,
    paymentMethods,
    ...(paymentMethods.length > 0 && remoteReceivers && { remoteReceivers }),
    lifetimes,
    limits,
    policies,
    chargeCreation: meterCreations(clock, limits.createdPerHour),
    chargeRefusal: tokenBuckets(clock, REFUSALS),
    emit,
    // Money events are only kept where somebody asked for them: the default sink would acknowledge and drop them.
    ...(options.onEvent && { deliverEvent: (event) => acknowledge(clock, onEvent, event) }),
    serialize: createSerializer(),
  } satisfies Context)
}

function readReceivers({
  policies,
  ...own
}: Pick<Context, 'clock' | 'cryptography' | 'secrets' | 'emit' | 'policies'>): RemoteReceivers {
  const network = hostNetwork()
  if (network === undefined) throw new ConfigurationError('remoteReceivers is required on a host without node:https')
  const { clientWalletAddress, loopbackHttp } = policies
  const send = outboundRequests({ clock: own.clock, loopbackHttp, network })
  return createRemoteReceivers({ ...own, send, ...(clientWalletAddress !== undefined && { clientWalletAddress }) })
}

const HOUR_MILLISECONDS = 3_600_000

/** How many clients and sources are remembered, in a few megabytes at most. */
const METERED = 10_000

const REFUSALS = { capacity: 20, refillMilliseconds: HOUR_MILLISECONDS, maximumKeys: 100_000 }

/** @spec T-37 */
function meterCreations(clock: Clock, createdPerHour: number): Context['chargeCreation'] {
  const take = tokenBuckets(clock, {
    capacity: createdPerHour,
    refillMilliseconds: HOUR_MILLISECONDS,
    maximumKeys: METERED,
  })
  return (client, source) => {
    // Where the source is known, it alone is charged for a client that has no wallet address: such names are free to
    // make, and remembering them would push out what others have used up.
    const isFree = source !== undefined && clientWalletAddress(client) === undefined
    const payers = [...(isFree ? [] : [`client ${client}`]), ...(source === undefined ? [] : [`source ${source}`])]
    return Math.ceil(take(...payers) / 1000)
  }
}

const ACKNOWLEDGE_SECONDS = 10

/** Hands a money event over. A host that never answers counts as one that refused: else it would hold up everything behind it. */
async function acknowledge(clock: Clock, onEvent: OnEvent, event: MoneyEvent): Promise<void> {
  const answer = await answerBefore(clock, ACKNOWLEDGE_SECONDS * 1000, async () => onEvent(event))
  if (answer === 'late') throw new Error(`onEvent did not resolve within ${ACKNOWLEDGE_SECONDS} seconds`)
}

/** A sink that fails must not fail the request that it is told about. */
function emitBestEffort(onEvent: OnEvent): Context['emit'] {
  return (event) => {
    try {
      const told = onEvent(event)
      if (told !== undefined) Promise.resolve(told).catch(() => undefined)
    } catch {
      // The host's own sink is the last place to report to.
    }
  }
}
