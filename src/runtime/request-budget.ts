import type { Clock } from '../ports/clock.ts'
import type { ChargeLookup } from '../ports/outbound-requests.ts'
import { quotaKeysOf } from '../protocol/client.ts'
import { networkOf } from './public-address.ts'
import { type TokenBucketOptions, tokenBuckets } from './token-buckets.ts'

/** Decides which requests may go out now. Each one that is admitted is counted. @spec T-5 */
export interface RequestBudget {
  /** Whether one more request may go to this host (with its port). */
  admitsHost(host: string): boolean
  /** Whether it may then go to any of these addresses, which its name resolves to and which are public. */
  admitsAddresses(addresses: readonly string[]): boolean
}

/** For requests that nobody can cause at will. */
export const UNLIMITED: RequestBudget = { admitsHost: () => true, admitsAddresses: () => true }

const BUCKET = { capacity: 100, refillMilliseconds: 10_000 }
const HOSTS = 1000

/** What one source or client may cause as a stranger: one alone must not use up the budget of a host. @spec T-5 */
export const FROM_SOURCE: TokenBucketOptions = { ...BUCKET, capacity: 20, maximumKeys: 1000 }

/** The same for hosts that are known: a quarter of what one known host may be asked. */
const OF_KNOWN: TokenBucketOptions = { ...FROM_SOURCE, capacity: 500 }

/**
 * What one client, and one source, may look up in 10 seconds: 20 receivers at servers that this one does not know, and 500
 * at those that it does.
 * @spec T-5
 */
export function lookupsBudget(clock: Clock): ChargeLookup {
  const takeOfStrangers = tokenBuckets(clock, FROM_SOURCE)
  const takeOfKnown = tokenBuckets(clock, OF_KNOWN)
  return ({ client, source }, isKnown) => {
    const wait = (isKnown ? takeOfKnown : takeOfStrangers)(...quotaKeysOf(client, source))
    return Math.ceil(wait / 1000)
  }
}

/**
 * The most addresses whose count is kept. A name may have 16, so to push a count out, somebody must make this server
 * connect elsewhere 600 times.
 */
const ADDRESSES = 10_000

/**
 * For requests that strangers cause: 100 to one host, at once and again per 10 seconds, and as many to one address,
 * under whatever names, since names cost nothing. So little load is not worth abusing this server for.
 * @spec T-5
 */
export function strangersBudget(clock: Clock): RequestBudget {
  const takeFromHost = tokenBuckets(clock, { ...BUCKET, maximumKeys: HOSTS })
  const takeFromNetworks = tokenBuckets(clock, { ...BUCKET, maximumKeys: ADDRESSES })
  return {
    admitsHost: (host) => takeFromHost(host) === 0,
    admitsAddresses: (addresses) => takeFromNetworks(...new Set(addresses.map(networkOf))) === 0,
  }
}

/** The budget of one request, which is not charged if it was answered well or could not be sent for want of budget. */
export interface FailureBudget extends RequestBudget {
  /** Whether the request was not sent because the budget is spent. */
  isSpent(): boolean
  /** Returns what the request took, because it did not fail. */
  giveBack(): void
}

/**
 * For requests to hosts that should answer well: 100 failures per host and per address, at once and again per 10
 * seconds, counted apart from those of strangers. So all clients of a wallet are soon fetched again after its outage,
 * or after a restart of this server; and a name that is pointed at a victim, which cannot answer well, sends it no more
 * requests than strangers could.
 * @spec T-5
 */
export function failuresBudget(clock: Clock, capacity = BUCKET.capacity): () => FailureBudget {
  const take = tokenBuckets(clock, { ...BUCKET, capacity, maximumKeys: ADDRESSES })
  return () => {
    const taken: string[] = []
    let isSpent = false
    const admits = (keys: readonly string[]): boolean => {
      isSpent = take(...keys) > 0
      if (!isSpent) taken.push(...keys)
      return !isSpent
    }
    return {
      admitsHost: (host) => admits([host]),
      admitsAddresses: (addresses) => admits([...new Set(addresses.map(networkOf))]),
      isSpent: () => isSpent,
      giveBack: () => take.giveBack(...taken),
    }
  }
}

/** As many as the payments of a large wallet need. */
const TO_KNOWN = 2000

/**
 * For hosts that have proved to be what they claimed: 2000 requests to each. Other hosts at its address, which it may
 * share with half the internet, use up nothing of that if they answer well; but names that were known and are then
 * pointed at a victim send it at most 2000 requests in all.
 * @spec T-5
 */
export function knownBudget(clock: Clock): () => FailureBudget {
  const takeFromHost = tokenBuckets(clock, { ...BUCKET, capacity: TO_KNOWN, maximumKeys: HOSTS })
  const budgetOfAddresses = failuresBudget(clock, TO_KNOWN)
  return () => ({ ...budgetOfAddresses(), admitsHost: (host) => takeFromHost(host) === 0 })
}
