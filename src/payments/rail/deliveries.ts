import type { Deliveries, DeliveryKey } from '../../ports/context.ts'

/** So many payments are with a payment method in one process at most. Each may hold several connections open. */
export const MOST_DELIVERIES = 256
/** So many of them are of one account: a payer whose receivers do not answer leaves room for all others. */
const MOST_OF_ACCOUNT = 32

/** Counts the payments that are with a payment method in this process, and says for which others there is room. */
export function countDeliveries(): Deliveries {
  const works = new Map<Promise<unknown>, DeliveryKey>()
  return {
    has: (outgoingPayment) => [...works.values()].some(({ id }) => id === outgoingPayment),
    openRoom() {
      const accounts = new Map([...works.values()].map(({ id, account }) => [id, account]))
      const counts = new Map<string, number>()
      let count = 0
      const enter = (account: string): void => {
        counts.set(account, (counts.get(account) ?? 0) + 1)
        count++
      }
      for (const account of accounts.values()) enter(account)
      return ({ account }) => {
        const hasRoom = count < MOST_DELIVERIES && (counts.get(account) ?? 0) < MOST_OF_ACCOUNT
        if (hasRoom) enter(account)
        return hasRoom
      }
    },
    follow(payment, work) {
      works.set(work, payment)
      const forget = (): void => void works.delete(work)
      work.then(forget, forget)
    },
  }
}
