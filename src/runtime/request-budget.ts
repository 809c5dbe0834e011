import type { Clock } from '../ports/clock.ts'
import type { ChargeLookup } from '../ports/outbound-requests.ts'
import { payersOf } from '../protocol/client.ts'
import { networkOf } from './public-address.ts'
import { type TokenBucketOptions, tokenBuckets } from './token-buckets.ts'

/** Which requests may go out now. Each that is admitted counts. @spec T-5 */
export interface RequestBudget {
  /** One more to this host, with its port. */
  admitsHost(host: string): boolean
  /** And then to whichever of these addresses, which are public: its name means them. */
  admitsAddresses(addresses: readonly string[]): boolean
}

/** For requests that nobody can cause at will. */
export const UNLIMITED: RequestBudget = { admitsHost: () => true, admitsAddresses: () => true }

const REFILL_MILLISECONDS = 10_000
const BUCKET = { capacity: 100, refillMilliseconds: REFILL_MILLISECONDS }
const HOSTS = 1000

/** What one source, or client, may cause of what strangers may: one alone must not use up the budget of a host. @spec T-5 */
export const FROM_SOURCE: TokenBucketOptions = { ...BUCKET, capacity: 20, maximumKeys: 1000 }

/** The same of what is known: a quarter of what one host is asked. */
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
    const wait = (isKnown ? takeOfKnown : takeOfStrangers)(...payersOf(client, source))
    return Math.ceil(wait / 1000)
  }
}

/** A name may mean 16 of them: who would push out what was spent has to make this server connect 600 times elsewhere. */
const ADDRESSES = 10_000

/**
 * For requests on strangers' words: 100 to one host, at once and again per 10 seconds, and as many to one address, whatever
 * it is called: names cost nothing. That is no load worth borrowing this server for.
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

/** The budget of one request, which costs nothing if it was answered well, or did not go out for want of it. */
export interface FailureBudget extends RequestBudget {
  /** Whether the request did not go out for want of it. */
  isSpent(): boolean
  /** It did not fail: what it took is there for the next. */
  giveBack(): void
}

/**
 * For requests to hosts that should answer well: 100 that do not per host and per address, at once and again per 10 seconds,
 * apart from those of strangers. So all clients of one wallet are soon asked for again after its outage, or a restart of this
 * server; and a name that is pointed at a victim, who cannot answer for it, brings that one no more than strangers do.
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

/** As a large wallet's payments need. */
const TO_KNOWN = 2000

/**
 * For hosts that have answered as what they were taken for: 2000 to each. Others at its address, which it may share with
 * half the internet, take nothing from that if they are answered well; but names that were known and are pointed at a
 * victim bring it 2000 in all.
 * @spec T-5
 */
export function knownBudget(clock: Clock): () => FailureBudget {
  const takeFromHost = tokenBuckets(clock, { ...BUCKET, capacity: TO_KNOWN, maximumKeys: HOSTS })
  const budgetOfAddresses = failuresBudget(clock, TO_KNOWN)
  return () => ({ ...budgetOfAddresses(), admitsHost: (host) => takeFromHost(host) === 0 })
}
