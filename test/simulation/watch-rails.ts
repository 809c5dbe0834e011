import type { FarSide } from './far-side.ts'
import type { RecordBook } from './record-book.ts'
import { type DeliveryWatch, watchDeliveries } from './watch-deliveries.ts'
import { watchRailAccounts } from './watch-rail-accounts.ts'
import { type TransferWatch, watchTransfers } from './watch-transfers.ts'

/** What must be true of everything that a rail does, and of what is written down of it. */
export interface RailWatch extends DeliveryWatch, TransferWatch {
  checkAccount(id: string): void
}

interface Watching {
  readonly book: RecordBook
  readonly far: FarSide
  /** What above the remainder becomes of a transfer. */
  readonly excess: 'accept' | 'cap' | 'refuse'
  violate(text: string): void
  met(what: string): void
}

export function watchRails(watching: Watching): RailWatch {
  const checkAccount = watchRailAccounts(watching.book, watching.violate)
  const deliveries = watchDeliveries({ ...watching, checkAccount })
  const transfers = watchTransfers({ ...watching, checkAccount })
  return {
    ...deliveries,
    ...transfers,
    checkAccount,
    onEvent(event) {
      deliveries.onEvent(event)
      transfers.onEvent(event)
    },
  }
}
