import { recentlyUsed } from './recently-used.ts'

/** A collection of incoming payments that was read before. */
export interface KnownCollection {
  /** The authorization server by which it was read the last time. */
  readonly authServer: string
  /** That one does not do by now, or a payment could not be read: the public view is asked which one it is. */
  readonly isDoubted: boolean
}

/** Which collections were read before. Nothing that one of their payments is answered with makes them strangers again. */
export interface KnownCollections {
  get(collection: string): KnownCollection | undefined
  /** That it was read; for a payment that `isOrdered`, or not. */
  trust(collection: string, authServer: string, isOrdered: boolean): void
  doubt(collection: string): void
}

/** How many are remembered of those that were read, and as many of those that are paid. */
const REMEMBERED = 1000

/** How many of them a host keeps if there is no room for more. */
const SHARE_OF_HOST = 100

/**
 * Remembers collections. Those that are paid are apart: lookups are free, and an order takes the money of a payer who has
 * consented, so that nobody's lookups push out where this server's customers pay.
 * @spec T-5
 */
export function knownCollections(): KnownCollections {
  const read = recentlyUsed<KnownCollection>(REMEMBERED, SHARE_OF_HOST)
  const paid = recentlyUsed<KnownCollection>(REMEMBERED, SHARE_OF_HOST)
  const get = (collection: string): KnownCollection | undefined => paid.get(collection) ?? read.get(collection)
  const set = (collection: string, known: KnownCollection, isPaid: boolean): void =>
    (isPaid || paid.get(collection) !== undefined ? paid : read).set(collection, known)
  return {
    get,
    trust: (collection, authServer, isOrdered) => set(collection, { authServer, isDoubted: false }, isOrdered),
    doubt(collection) {
      const known = get(collection)
      if (known !== undefined) set(collection, { ...known, isDoubted: true }, false)
    },
  }
}
