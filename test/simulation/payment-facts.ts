import { createHash } from 'node:crypto'
import type { RecordTypes } from 'open-payments-server'
import { INTERVALS } from '../properties/model/state.ts'

export type OutgoingPayment = RecordTypes['outgoing-payment']

/** Whether nothing more happens to a payment. */
export const isOver = ({ state }: OutgoingPayment): boolean => ['refused', 'completed', 'failed'].includes(state)

/** Whether a payment counts in what its grant has spent. */
export const isCounted = ({ state }: OutgoingPayment): boolean => state !== 'refused' && state !== 'failed'

/** The entry of its grant that a payment was charged to. */
export const entryOf = ({ spendingIds: [id = ''] }: OutgoingPayment): number => Number(id.split(':')[1])

/** Which window of an interval a moment lies in; 0 without an interval, `undefined` outside of all. */
export function windowOf(interval: string | undefined, at: number): number | undefined {
  const windows = interval === undefined ? undefined : INTERVALS[interval]
  if (windows === undefined) return interval === undefined ? 0 : undefined
  const index = Math.floor((at - windows.startsAt) / windows.length)
  return index >= 0 && index < windows.count ? index : undefined
}

/** The id under which a payment's receiver is credited. */
export const creditIdOf = (paymentId: string): string =>
  createHash('sha256').update(`credit:${paymentId}`).digest('hex').slice(0, 32)
