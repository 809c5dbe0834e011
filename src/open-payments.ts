import { createGrants, type Grants } from './ase/grants.ts'
import { createInteractions } from './ase/interactions.ts'
import { authServerRoutes } from './auth-server/routes.ts'
import { ConfigurationError } from './errors/configuration-error.ts'
import { fromFetchRequest, toFetchResponse } from './http/fetch-exchange.ts'
import { createHandler } from './http/handle.ts'
import { findLocalWalletAddress } from './http/local-wallet-address.ts'
import { ANY_PATH, createRouter, originFormPath } from './http/router.ts'
import { type OpenPaymentsOptions, resolveSettings } from './options.ts'
import { type ReceivedPayment, receivePayment } from './payments/receive-payment.ts'
import { recoverPayments, sweepRecords } from './payments/recover.ts'
import type { Interactions } from './ports/consent.ts'
import type { Context } from './ports/context.ts'
import type { OnEvent, ServiceEvent } from './ports/events.ts'
import type { HttpRequest, HttpResponse } from './ports/http-exchange.ts'
import type { Pricing } from './ports/pricing.ts'
import { isSameAsset } from './protocol/amount.ts'
import { createSerializer } from './records/serializer.ts'
import { resourceServerRoutes } from './resource-server/routes.ts'
import { derivedSecrets } from './runtime/derived-secrets.ts'
import { fetchKeyResolver } from './runtime/fetch-key-resolver.ts'
import { reportFaults } from './runtime/report-faults.ts'
import { systemClock } from './runtime/system-clock.ts'
import { webCryptography } from './runtime/web-crypto.ts'
import { walletAddressServerRoutes } from './wallet-address-server/routes.ts'

/** How a host hears of work that goes on after a response, such as the delivery of a payment. */
export interface HandleOptions {
  /** Given every such promise; none of them rejects. A host that may freeze after a response keeps itself awake for them. */
  readonly waitUntil?: (work: Promise<unknown>) => void
}

/** An Open Payments server inside a wallet's own. */
export interface OpenPayments {
  /** Answers a request. Never rejects: a refusal is a 4xx, a fault a 5xx without detail, and an event. */
  handle(request: HttpRequest, options?: HandleOptions): Promise<HttpResponse>
  /** The same for any Fetch host. Fetch normalises URLs and joins header lines before this sees them. */
  fetch(request: Request, options?: HandleOptions): Promise<Response>
  /**
   * Whether this server answers a request: a route of its authorization or resource server, or a wallet address that
   * exists. A framework lets everything else fall through to its own routes. `target` is the raw `/path?query`.
   */
  owns(method: string, target: string): Promise<boolean>
  /** For a wallet's own consent screen. */
  readonly interactions: Interactions
  /** What an account's owner has granted. */
  readonly grants: Grants
  /** For money that reaches the wallet on a rail of its own. */
  readonly incomingPayments: {
    /** Counts a transfer, once per `transferId`. `id` is the last segment of the incoming payment's URL; `amount` is in its smallest unit. */
    received(id: string, amount: bigint, transferId: string): Promise<ReceivedPayment>
  }
  /** Moves interrupted payments and unacknowledged events on: at start and on a timer. Resolves with how many; 100 or more: call again. */
  recover(): Promise<number>
  /** Expires and deletes what is over: on a timer. Resolves with how many records changed. */
  sweep(): Promise<number>
  /** Resolves once everything that is running after responses has ended: before the host closes its storage. */
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
  const answer = createHandler(context, routes, bases)
  const match = createRouter(routes, bases)
  const running = new Set<Promise<unknown>>()
  const handle: OpenPayments['handle'] = (request, { waitUntil } = {}) =>
    answer(request, (work) => {
      const kept: Promise<unknown> = work.catch(() => undefined).finally(() => running.delete(kept))
      running.add(kept)
      waitUntil?.(kept)
    })
  return {
    handle,
    fetch: async (request, handling) => toFetchResponse(await handle(fromFetchRequest(request), handling)),
    owns: async (method, target) => {
      const found = await match(method, target)
      if (!found.ok) return found.refusal.condition.status === 405
      if (found.row.path !== ANY_PATH) return true
      const path = originFormPath(target) ?? '/'
      return (await findLocalWalletAddress(context, `${context.walletAddressServer}${path}`)) !== undefined
    },
    interactions,
    grants: createGrants(context),
    incomingPayments: { received: (id, amount, transferId) => receivePayment(context, id, amount, transferId) },
    recover: () => recoverPayments(context),
    sweep: () => sweepRecords(context),
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
  if (keyResolver === undefined) throw new ConfigurationError('keyResolver is required on a host without node:https')
  const onEvent: OnEvent = options.onEvent ?? reportFaults
  const { authServer, resourceServer, storage, ledger, walletAddresses } = options
  return Object.freeze({
    authServer,
    resourceServer,
    walletAddressServer,
    storage,
    ledger,
    walletAddresses,
    keyResolver,
    cryptography,
    secrets: derivedSecrets(options.secrets, cryptography),
    clock,
    pricing: options.pricing ?? EVEN_PRICING,
    paymentMethods: options.paymentMethods ?? [],
    lifetimes,
    limits,
    policies,
    emit: emitBestEffort(onEvent),
    // Money events are only kept where somebody asked for them: the default sink would acknowledge and drop them.
    ...(options.onEvent && { deliverEvent: async (event) => onEvent(event) }),
    serialize: createSerializer(),
  } satisfies Context)
}

/** A sink that fails must not fail the request that it is told about. */
function emitBestEffort(onEvent: OnEvent): (event: ServiceEvent) => void {
  return (event) => {
    try {
      Promise.resolve(onEvent(event)).catch(() => undefined)
    } catch {
      // The host's own sink is the last place to report to.
    }
  }
}
