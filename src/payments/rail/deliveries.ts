import type { Deliveries, DeliveryKey } from '../../ports/context.ts'

/** So many payments are with a payment method in one process at most. Each may hold several connections open. */
export const MOST_DELIVERIES = 256
/** So many of them are of one account: a payer whose receivers do not answer leaves places for all others. */
const MOST_OF_ACCOUNT = 32
/** So many payments of one account are remembered that found no place; others are found by `recover()`. */
const MOST_WAITING_OF_ACCOUNT = 100

/**
 * Counts the payments that are with a payment method in this process, and says for which others there is a place. A place
 * that becomes free belongs to those that wait for it, accounts in turn, before any that are ordered later.
 */
export function createDeliveries(): Deliveries {
  const works = new Map<Promise<unknown>, DeliveryKey>()
  const waiting = new Map<string, Set<string>>()
  let begin: ((payment: DeliveryKey) => Promise<unknown>) | undefined
  let pauses = 0

  const handOutPlaces: Deliveries['handOutPlaces'] = () => {
    const accounts = new Map([...works.values()].map(({ id, account }) => [id, account]))
    const counts = new Map<string, number>()
    let count = 0
    const enter = (account: string): void => {
      counts.set(account, (counts.get(account) ?? 0) + 1)
      count++
    }
    for (const account of accounts.values()) enter(account)
    return ({ account }) => {
      const hasPlace = count < MOST_DELIVERIES && (counts.get(account) ?? 0) < MOST_OF_ACCOUNT
      if (hasPlace) enter(account)
      return hasPlace
    }
  }
  const stopWaiting = ({ id, account }: DeliveryKey): void => {
    const ids = waiting.get(account)
    if (ids?.delete(id) && ids.size === 0) waiting.delete(account)
  }
  /** The one that has waited longest of the first account that has a place. That account comes last then. */
  const nextWaiting = (): DeliveryKey | undefined => {
    if (waiting.size === 0) return undefined
    const takePlace = handOutPlaces()
    for (const [account, ids] of waiting) {
      const [id] = ids
      if (id === undefined || !takePlace({ account })) continue
      waiting.delete(account)
      waiting.set(account, ids)
      return { id, account }
    }
    return undefined
  }
  const beginWaiting = (): void => {
    if (begin === undefined || pauses > 0) return
    for (let payment = nextWaiting(); payment !== undefined; payment = nextWaiting()) follow(payment, begin(payment))
  }
  const follow: Deliveries['follow'] = (payment, work) => {
    stopWaiting(payment)
    works.set(work, payment)
    const forget = (): void => {
      works.delete(work)
      beginWaiting()
    }
    work.then(forget, forget)
  }
  return {
    has: (outgoingPayment) => [...works.values()].some(({ id }) => id === outgoingPayment),
    hasPlaceFor: (payment) => handOutPlaces()(payment),
    handOutPlaces,
    follow,
    wait(payment) {
      const ids = waiting.get(payment.account) ?? new Set()
      if (ids.size < MOST_WAITING_OF_ACCOUNT) waiting.set(payment.account, ids.add(payment.id))
      // One may have become free since it was asked for.
      beginWaiting()
    },
    onPlace(takeUp) {
      begin = takeUp
    },
    async beginNoneDuring(work) {
      pauses++
      try {
        await work()
      } finally {
        pauses--
      }
    },
  }
}
