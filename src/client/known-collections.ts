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
  /** That it was read. */
  trust(collection: string, authServer: string): void
  doubt(collection: string): void
}

/** How many are remembered. */
const REMEMBERED = 1000

/** How many of them a host keeps if there is no room for more. */
const SHARE_OF_HOST = 100

/** Remembers collections. @spec T-5 */
export function knownCollections(): KnownCollections {
  const { get, set } = recentlyUsed<KnownCollection>(REMEMBERED, SHARE_OF_HOST)
  return {
    get,
    trust: (collection, authServer) => set(collection, { authServer, isDoubted: false }),
    doubt(collection) {
      const known = get(collection)
      if (known !== undefined) set(collection, { ...known, isDoubted: true })
    },
  }
}
