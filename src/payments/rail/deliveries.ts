import type { Deliveries } from '../../ports/context.ts'

/** Counts the payments that are with a payment method in this process. */
export function countDeliveries(): Deliveries {
  const works = new Map<Promise<unknown>, string>()
  return {
    count: () => new Set(works.values()).size,
    follow(outgoingPayment, work) {
      works.set(work, outgoingPayment)
      const forget = (): void => void works.delete(work)
      work.then(forget, forget)
    },
  }
}
