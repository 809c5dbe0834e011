import type { Deliveries, DeliveryKey } from '../../ports/context.ts'

/** The most payments that are with a payment method at once in one process. Each may hold several connections open. */
export const MOST_DELIVERIES = 256
/** The most of them for one account: a payer whose receivers do not answer leaves places for all others. */
const MOST_OF_ACCOUNT = 32
/** The most payments of one account that are remembered because they found no place; `recover()` finds the others. */
const MOST_WAITING_OF_ACCOUNT = 100

/**
 * Hands out the places at payment methods: the number of payments that they work on at once in this process is limited.
 * A place that becomes free goes to a payment that waits for one, accounts in turn, before any that are ordered later.
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
  /** The longest waiting payment of the first account that may have a place. That account then comes last. */
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
      // A place may have become free since the payment was refused one.
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
