import type { PaymentSource } from 'open-payments-server/reconciliation'

/** The same source without what was made before `at`. No payment was unfinished then. */
export function sinceMove<S extends PaymentSource>(source: S, at: number): S {
  const { openPayments, readReceived = () => [] } = source
  async function* audit(walletAddress: string) {
    for await (const payment of openPayments.audit(walletAddress)) {
      if (payment.createdAt < at) return // all that follow are older
      yield payment
    }
  }
  const received = async () => (await readReceived()).filter(({ createdAt }) => createdAt >= at)
  return { ...source, openPayments: { audit }, readReceived: received }
}
