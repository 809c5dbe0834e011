import type { Granted } from './grants.ts'
import type { Order } from './orders.ts'
import type { Packet } from './rail-transfers.ts'
import type { Transfer } from './transfers.ts'
import type { SimulatedClient } from './world.ts'

/** What the clients of a run know: what was made, and with which tokens. */
export interface Knowledge {
  readonly receiving: Granted[]
  readonly spending: Granted[]
  readonly incomings: {
    readonly url: string
    readonly walletAddress: string
    readonly granted: Granted
    /** Where others pay it, as the answer says that made it. */
    readonly ilpAddress?: string
  }[]
  readonly quotes: { readonly url: string; readonly walletAddress: string; readonly client: SimulatedClient }[]
  readonly orders: Order[]
  readonly transfers: Transfer[]
  readonly packets: Packet[]
  keys: number
}

/** What is there from the start; it is not shared with another run. */
export const newKnowledge = ({
  spending,
  receiving,
  incomings,
}: {
  readonly [Name in 'spending' | 'receiving' | 'incomings']: readonly Knowledge[Name][number][]
}): Knowledge => ({
  receiving: receiving.map((granted) => ({ ...granted })),
  spending: spending.map((granted) => ({ ...granted })),
  incomings: [...incomings],
  quotes: [],
  orders: [],
  transfers: [],
  packets: [],
  keys: 0,
})
