import { recentlyUsed } from '../protocol/recently-used.ts'

/** A collection of incoming payments that was read before. */
export interface KnownCollection {
  /** The authorization server whose token last read it. */
  readonly authServer: string
  /** Set after a read through it failed: then the public view is asked again which authorization server it is. */
  readonly isDoubted: boolean
}

/** The collections that were read before. No answer to a later read makes a collection a stranger again. */
export interface KnownCollections {
  get(collection: string): KnownCollection | undefined
  /** Notes that it was read; `isOrdered`: for a payment that was ordered. */
  trust(collection: string, authServer: string, isOrdered: boolean): void
  doubt(collection: string): void
}

/**
 * Remembers collections. Those that were paid are kept apart: lookups cost nothing, whereas an order takes the money of
 * a payer who has consented; so nobody's lookups can push out the servers that this server's customers pay.
 * @spec T-5
 */
export function knownCollections(): KnownCollections {
  const read = recentlyUsed<KnownCollection>()
  const paid = recentlyUsed<KnownCollection>()
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
