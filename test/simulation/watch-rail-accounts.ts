import type { RecordBook } from './record-book.ts'

/** Checks an account of a rail: what it has moved is what its payments have sent, or may have, and what its receipts have brought. */
export function watchRailAccounts(book: RecordBook, violate: (text: string) => void): (id: string) => void {
  const must = (isTrue: boolean, text: () => string): void => {
    if (!isTrue) violate(text())
  }
  return (id) => {
    const sent = book.payments.ofRailAccount(id).reduce((sum, { delivery }) => {
      return sum + BigInt(delivery?.sent ?? 0) + BigInt(delivery?.inFlightSent ?? 0)
    }, 0n)
    const received = book.receiptsOfRailAccount(id).reduce((sum, { railAmount }) => sum + (railAmount ?? 0n), 0n)
    const account = book.find('rail-account', id) ?? { sent: 0n, received: 0n }
    must(account.sent === sent, () => `rail: ${id} has sent ${account.sent}, its payments ${sent}`)
    must(account.received === received, () => `rail: ${id} has received ${account.received}, its receipts ${received}`)
  }
}
