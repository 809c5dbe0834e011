import { answerOrStop } from '../deadline/answer-within.ts'
import { requireBoolean, requireMethods, requireOptionsOf } from '../errors/check-option.ts'
import { ConfigurationError } from '../errors/configuration-error.ts'
import type { Clock } from '../ports/clock.ts'
import type { KeyResolver, KeySetResult } from '../ports/key-resolver.ts'
import type { OutboundNetwork } from '../ports/outbound-network.ts'
import type { OutboundAnswer } from '../ports/outbound-requests.ts'
import { plainName } from '../protocol/client.ts'
import { isObject } from '../protocol/is-object.ts'
import { findKey, parseKeySet } from '../protocol/json-web-key.ts'
import { bareOrigin } from '../protocol/wallet-address.ts'
import { cacheDocuments, type Loaded, type Standing } from './document-cache.ts'
import {
  DEADLINE_SECONDS,
  type GuardedRequests,
  LATE,
  parseOutboundUrl,
  sendGuarded,
  UNFETCHABLE,
  unreachable,
} from './guarded-request.ts'
import { hostNetwork } from './pinned-connection.ts'
import { FROM_SOURCE, failuresBudget, strangersBudget, UNLIMITED } from './request-budget.ts'
import { systemClock } from './system-clock.ts'
import { tokenBuckets } from './token-buckets.ts'

/** How client keys are fetched. */
export interface FetchKeyResolverOptions {
  /** Default: the system's clock. */
  readonly clock?: Clock
  /**
   * Whether http and any port are admitted on loopback names, for development. Default `false`, also if
   * `settings.policies.loopbackHttp` is `true`. @spec WAS-2
   */
  readonly loopbackHttp?: boolean
  /** How other servers are reached. Default: by the `node:https` of the host; required on a host without it. */
  readonly network?: OutboundNetwork
}

interface LoadedKeySet extends Loaded<KeySetResult> {
  /** The other side says that there is none at this URL. */
  readonly isMissing: boolean
}

function invalid(detail: string) {
  return { ok: false, reason: 'invalid', detail } as const
}

/**
 * A key resolver that fetches, guarded against server-side request forgery. Throws a `ConfigurationError` if an
 * option is unknown or of the wrong type, or if it is given no `network` on a host without `node:https`.
 * @spec KEY-6 @spec KEY-7 @spec KEY-12 @spec T-1 @spec T-2 @spec T-3 @spec T-4 @spec T-5 @spec T-35
 */
export function fetchKeyResolver(options: FetchKeyResolverOptions = {}): KeyResolver {
  requireOptionsOf('fetchKeyResolver', options, ['clock', 'loopbackHttp', 'network'])
  const { clock = systemClock(), loopbackHttp = false, network = hostNetwork() } = options
  if (network === undefined) throw new ConfigurationError('keyResolver is required on a host without node:https')
  requireMethods('fetchKeyResolver.clock', clock, ['now', 'sleep'])
  requireMethods('fetchKeyResolver.network', network, ['resolveHost', 'dial'])
  requireBoolean('fetchKeyResolver.loopbackHttp', loopbackHttp)
  const takeFromSource = tokenBuckets(clock, FROM_SOURCE)
  // Together with the cache of 60 seconds, this budget suffices for 600 active clients of one wallet.
  const requests: GuardedRequests = { clock, loopbackHttp, budget: strangersBudget(clock), network }

  const budgetOfKnown = failuresBudget(clock)

  // Strangers and known clients have separate budgets, so whatever strangers make this server fetch from a host, or
  // from its address under other names, shuts out no client that is known there. A known client's fetch is charged only
  // if it fails, and not at all if its last one was good. So a name that was good and is then pointed at a victim
  // reaches the victim once uncharged, and again only after its owner's own server has given another good answer.
  const loadKeySet = async (url: string, standing: Standing, signal: AbortSignal): Promise<LoadedKeySet> => {
    if (standing === 'stranger') return readKeySet(await fetchJson(requests, url, signal))
    if (standing === 'proven') return readKeySet(await fetchJson({ ...requests, budget: UNLIMITED }, url, signal))
    const budget = budgetOfKnown()
    const loaded = readKeySet(await fetchJson({ ...requests, budget }, url, signal))
    const isUnasked = budget.isSpent()
    // If the fetch was not sent because the budget of its address is spent, that is not another failure of the host.
    if (loaded.isGood || isUnasked) budget.giveBack()
    return { ...loaded, isUnasked }
  }

  // Clients put `/jwks.json` behind their wallet address as they write it, which may be the origin alone. Both are asked in the
  // time of one, and each pays for itself.
  const keySets = cacheDocuments(clock, async (walletAddress, standing) => {
    const found = await answerOrStop(clock, DEADLINE_SECONDS * 1000, async (signal) => {
      const loaded = await loadKeySet(`${walletAddress}/jwks.json`, standing, signal)
      const origin = loaded.isMissing ? bareOrigin(walletAddress) : undefined
      return origin === undefined ? loaded : loadKeySet(`${origin}/jwks.json`, standing, signal)
    })
    return found === 'late' ? readKeySet(unreachable(LATE)) : found
  })
  const names = cacheDocuments(clock, async (walletAddress) =>
    readName(documentOf(await fetchJson(requests, walletAddress)), walletAddress),
  )

  const waitOf = (source: string | undefined): number => (source === undefined ? 0 : takeFromSource(source))

  const isFetchable = (walletAddress: string): boolean => parseOutboundUrl(walletAddress, loopbackHttp) !== undefined

  return {
    async keySet(walletAddress, unknownKid, { source, isHolder } = {}) {
      if (!isFetchable(walletAddress)) return invalid(UNFETCHABLE)
      return keySets(withoutSlash(walletAddress), {
        isEnough: (held) => unknownKid === undefined || (held.ok && findKey(held.keys, unknownKid) !== undefined),
        ...(isHolder && { isKnown: true }),
        refuse: () => {
          const wait = waitOf(source)
          if (wait === 0) return undefined
          return { value: { ok: false, reason: 'rate_limited', retryAfterSeconds: Math.ceil(wait / 1000) } }
        },
      })
    },
    async publicName(walletAddress, { source } = {}) {
      if (!isFetchable(walletAddress)) return undefined
      return names(withoutSlash(walletAddress), {
        refuse: () => (waitOf(source) === 0 ? undefined : { value: undefined }),
      })
    },
  }
}

function withoutSlash(walletAddress: string): string {
  return walletAddress.endsWith('/') ? walletAddress.slice(0, -1) : walletAddress
}

function fetchJson(requests: GuardedRequests, url: string, signal?: AbortSignal): Promise<OutboundAnswer> {
  return sendGuarded(requests, { method: 'GET', url, headers: { accept: 'application/json' } }, signal)
}

/** The answer if it is a document: with another status there is none, and a body that is not JSON is `invalid`. */
function documentOf(answer: OutboundAnswer): OutboundAnswer {
  if (!answer.ok) return answer
  if (answer.status !== 200) return { ok: false, reason: 'unreachable', detail: `status ${answer.status}` }
  const isDocument = answer.document !== undefined
  return isDocument ? answer : invalid('its body is no uncompressed application/json of at most 64 KiB')
}

function readKeySet(answer: OutboundAnswer): LoadedKeySet {
  const fetched = documentOf(answer)
  const isMissing = answer.ok && answer.status === 404
  if (!fetched.ok) return { isGood: false, isMissing, value: fetched }
  const keys = parseKeySet(fetched.document)
  if (keys === undefined)
    return { isGood: false, isMissing, value: invalid('it is no key set, or has more than 20 keys') }
  return { isGood: true, isMissing, value: { ok: true, keys } }
}

/**
 * The name in a wallet address document. A document with another wallet address as its `id` belongs to somebody else.
 * @spec T-35
 */
function readName(fetched: OutboundAnswer, walletAddress: string): Loaded<string | undefined> {
  if (!fetched.ok || !isObject(fetched.document)) return { isGood: false, value: undefined }
  const { id, publicName } = fetched.document
  if (typeof id !== 'string' || withoutSlash(id) !== walletAddress) return { isGood: false, value: undefined }
  return { isGood: true, value: typeof publicName === 'string' ? plainName(publicName) : undefined }
}
