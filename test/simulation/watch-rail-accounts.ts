import type { RecordBook } from './record-book.ts'

/** Checks an account of a rail: it has moved what its payments have sent, or may have, and what its receipts have brought. */
export function watchRailAccounts(book: RecordBook, violate: (text: string) => void): (id: string) => void {
  const must = (isTrue: boolean, text: () => string): void => {
    if (!isTrue) violate(text())
  }
  return (id) => {
    const deliveries = book.payments.ofRailAccount(id).flatMap(({ delivery }) => delivery ?? [])
    const inFlight = deliveries.reduce((sum, { inFlightSent }) => sum + BigInt(inFlightSent), 0n)
    const sent = deliveries.reduce((sum, delivery) => sum + BigInt(delivery.sent), inFlight)
    const received = book.receiptsOfRailAccount(id).reduce((sum, { railAmount }) => sum + (railAmount ?? 0n), 0n)
    const account = book.find('rail-account', id) ?? { sent: 0n, inFlight: 0n, received: 0n }
    must(account.sent === sent, () => `rail: ${id} has sent ${account.sent}, its payments ${sent}`)
    must(account.inFlight === inFlight, () => `rail: ${id} has ${account.inFlight} in flight, its payments ${inFlight}`)
    must(account.received === received, () => `rail: ${id} has received ${account.received}, its receipts ${received}`)
  }
}
