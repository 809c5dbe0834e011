import { type AuditedPayment, auditPayments } from './ase/audit.ts'
import { createGrants, type Grants } from './ase/grants.ts'
import { createInteractions } from './ase/interactions.ts'
import { authServerRoutes } from './auth-server/routes.ts'
import { createContext } from './create-context.ts'
import { fromFetchRequest, toFetchResponse } from './http/fetch-exchange.ts'
import { findLocalWalletAddress } from './http/local-wallet-address.ts'
import { createPipeline } from './http/pipeline.ts'
import { answerByRail, railEndpoints } from './http/rail-endpoints.ts'
import { createRouter } from './http/router.ts'
import type { OpenPaymentsOptions } from './options.ts'
import {
  type DecisionResult,
  decideByHost,
  listUndecided,
  type UndecidedPayment,
} from './payments/rail/host-decisions.ts'
import { createRailServer } from './payments/rail/rail-server.ts'
import { type ReceivedPayment, receivePayment } from './payments/receive-payment.ts'
import { createRecovery } from './payments/recover.ts'
import { sweepRecords } from './payments/sweep.ts'
import type { Interactions } from './ports/consent.ts'
import type { Context } from './ports/context.ts'
import type { HttpRequest, HttpResponse } from './ports/http-exchange.ts'
import type { Amount } from './protocol/amount.ts'
import { walletAddressPath } from './protocol/wallet-address.ts'
import { tellFailure, tellFault } from './records/tell-fault.ts'
import { resourceServerRoutes } from './resource-server/routes.ts'
import { walletAddressServerRoutes } from './wallet-address-server/routes.ts'

/**
 * How a host learns of work that continues after a response, such as the delivery of a payment. A host's own object that has
 * this method can be passed as it is, such as the execution context of a Worker: the method is called on it.
 */
export interface HandleOptions {
  /**
   * Called with a promise for each piece of such work; none of them rejects. A host that may freeze after a response must
   * stay awake until they have resolved.
   */
  readonly waitUntil?: (work: Promise<unknown>) => void
}

/** What only the host knows about a Fetch request. */
export interface FetchOptions extends HandleOptions {
  /** The address that the request came from, like `source` of an `HttpRequest`. Default: none, so no limits per source. */
  readonly source?: string | undefined
}

/** An Open Payments server inside a wallet's own. */
export interface OpenPayments {
  /**
   * Answers a request. Never rejects: a refusal is a 4xx; a fault is a 5xx without detail, and an event. HEAD for what
   * anyone may read (wallet addresses, their keys, incoming payments) is answered like GET, and the host omits the body;
   * elsewhere it is 404 or 405.
   */
  handle(request: HttpRequest, options?: HandleOptions): Promise<HttpResponse>
  /** The same for any Fetch host. Fetch normalises URLs and joins header lines before this sees them. */
  fetch(request: Request, options?: FetchOptions): Promise<Response>
  /**
   * Whether a request is for this server: for an endpoint of its authorization or resource server, with a method of that
   * endpoint; for the endpoint of a payment method; or for a wallet address that exists (or its `/jwks.json`). A framework
   * lets everything else fall through to its own routes, which may use the same paths with other methods. But if a base URL
   * has a path, an endpoint below it is this server's with any method: the wrong one gets 405. `target` is the raw
   * `/path?query`.
   *
   * This asks the directory whether the wallet address exists; `handle` asks again. Rejects if the directory fails: then
   * the request may be this server's, and `handle` answers it with a 5xx.
   */
  owns(method: string, target: string): Promise<boolean>
  /** For a wallet's own consent screen. */
  readonly interactions: Interactions
  /** What an account's owner has granted. */
  readonly grants: Grants
  /** For money that reaches the wallet from elsewhere, and that the wallet itself reports. */
  readonly incomingPayments: {
    /**
     * Counts a transfer, once per `transferId`: the same call gets the same answer forever, even a refusal. Only `completed`
     * and `wrong_asset` become `unknown` once `sweep()` has deleted the incoming payment (30 days after it ended, if it had
     * received nothing, and no order or counted or refused transfer names it), and these three `conflict` once the transfer has
     * been counted, or refused in another way, with other arguments. `id` is the last segment of its URL; anything else gets
     * `unknown`, and a whole URL also emits a fault. Rejects with `TypeError` or `RangeError` if another argument is invalid.
     * Also rejects if the storage or directory fails, or if the directory names another account than the payment was made for;
     * then call again with the same arguments.
     */
    received(id: string, amount: Amount, transferId: string): Promise<ReceivedPayment>
  }
  /**
   * For payments whose rail does not know what became of the money (`delivery_unknown`): a person, or another process,
   * finds out and says so here. That decides the payment and is final: the same call again gets the same answer, the other
   * one gets `conflict`. `id` is the last segment of the payment's URL; anything else rejects with `TypeError`. Also rejects
   * if the storage fails; then make the same call again to find out.
   */
  readonly outgoingPayments: {
    /** What was in flight has arrived: it counts as sent. */
    sent(id: string): Promise<DecisionResult>
    /** What was in flight has not arrived and never will: it does not count. */
    failed(id: string): Promise<DecisionResult>
    /** All payments that still await such a decision, the oldest first. */
    undecided(): Promise<readonly UndecidedPayment[]>
  }
  /**
   * The outgoing payments of a wallet address (in any spelling of its URL), newest first, each with what proves who ordered
   * it: the client's signed request, the grant and the ids in the ledger. Plain JSON. The iteration rejects with `TypeError`
   * if the text is not a wallet address under this server's `walletAddressServer`; it also rejects if the storage fails, or if
   * a payment or its proof is damaged.
   * @spec T-42
   */
  audit(walletAddress: string): AsyncIterable<AuditedPayment>
  /**
   * Resumes what was interrupted: payments, credits of money from other servers, and events that were not acknowledged. Call
   * it at start and on a timer, in any number of processes. It looks at 100 of each and resolves with how many it resumed; if
   * that is 100 or more, call it again. What could not be committed stays due and is not counted, so a loop that calls again
   * always makes progress. Rejects if the storage cannot be read.
   *
   * Payments to other servers are only started here. They continue afterwards, and so do payments and credits for which the
   * ledger has not answered within a second, and the delivery of events about what was resumed; `drain()` waits for all of it.
   * While the ledger keeps one of them waiting, no other that asks it about the same account is taken up in this process.
   * Events that were due are waited for at most one second, and not at all if payments and receipts already make 100; those
   * not delivered by then are not counted, nor are those that the host rejects, if there is nothing else. A process has at
   * most 256 payments with a payment method at a time, at most 32 of one account and 24 of one grant, whether they were
   * ordered there or resumed; others stay due. If so many are left due that nothing else can be seen behind them, all but the
   * first 256 are postponed, by `leaseSeconds` and up to four minutes more, and are counted.
   */
  recover(): Promise<number>
  /**
   * Expires and deletes what is over. Call it on a timer, in any number of processes. It looks at 100 records of each kind
   * and resolves with how many changed; if that is 100 or more, call it again. `onEvent` is called afterwards, and `drain()`
   * waits for that. Rejects if the storage cannot be read.
   */
  sweep(): Promise<number>
  /**
   * Resolves once all running work has ended: work after responses, `recover()` and `sweep()`, and what continues after
   * these. Payments to other servers that still wait for a place are not started meanwhile: they stay due, for a later
   * `recover()` in any process. Call it before closing the storage.
   */
  drain(): Promise<void>
}

/** Creates a server. Every option is checked here: a mistake throws a `ConfigurationError` that names it. */
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
  const pipeline = createPipeline(context, match)
  const { keep, drain } = context.ongoing
  const tracked = (work: Promise<number>): Promise<number> => {
    keep(work)
    return work
  }
  const credits = new Set<Promise<unknown>>()
  const keepCredit = (work: Promise<unknown>): void => {
    const kept: Promise<unknown> = keep(work).finally(() => credits.delete(kept))
    credits.add(kept)
  }
  const recover = createRecovery(context)
  for (const method of context.paymentMethods) method.connect?.(createRailServer(context, method.type, keepCredit))
  const railAt = railEndpoints(context.paymentMethods, routes, bases)
  const handle: OpenPayments['handle'] = async (request, host = {}) => {
    const rail = railAt(request.method, request.target)
    if (rail === undefined) return pipeline(request, (work) => tellHost(context, host, keep(work)))
    const response = await answerByRail(context, rail, request)
    // Money that the rail has taken is credited after the answer.
    tellHost(context, host, Promise.all(credits))
    return response
  }
  return {
    handle,
    fetch: async (request, host = {}) =>
      toFetchResponse(await handle(fromFetchRequest(request, host.source), host), request.method),
    owns: async (method, target) => {
      if (railAt(method, target) !== undefined) return true
      const found = match(method, target)
      // Below a base path of its own, an endpoint is the library's with any method; at the root, other methods may be the host's.
      if (!found.ok) return found.refusal.condition.status === 405 && bases[found.role] !== ''
      if (found.route.role !== 'wallet-address-server') return true
      const path = walletAddressPath(found.path)
      return (await findLocalWalletAddress(context, `${context.walletAddressServer}${path}`)) !== undefined
    },
    interactions,
    grants: createGrants(context),
    incomingPayments: { received: (id, amount, transferId) => receivePayment(context, id, amount, transferId) },
    outgoingPayments: {
      sent: (id) => decideByHost(context, id, 'sent'),
      failed: (id) => decideByHost(context, id, 'failed'),
      undecided: () => listUndecided(context),
    },
    audit: (walletAddress) => auditPayments(context, walletAddress),
    recover: () => tracked(tellFailure(context, 'recover() failed', recover)),
    sweep: () => tracked(tellFailure(context, 'sweep() failed', () => sweepRecords(context))),
    drain: () => context.deliveries.beginNoneDuring(drain),
  }
}

/** A `waitUntil` that throws must not make what was done fail: the client would order it again. */
function tellHost(context: Context, host: HandleOptions, work: Promise<unknown>): void {
  try {
    host.waitUntil?.(work)
  } catch (cause) {
    tellFault(context, 'waitUntil failed', cause)
  }
}

function basePath(url: string): string {
  const { pathname } = new URL(url)
  return pathname === '/' ? '' : pathname
}
