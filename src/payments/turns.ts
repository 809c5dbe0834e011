import { railAccountId } from '../protocol/rail-account.ts'

/** The key under which those who write one incoming payment take turns in this process. */
export function turnAtIncoming(incomingPaymentId: string): string {
  return `incoming:${incomingPaymentId}`
}

/**
 * The key under which those who write one account of a rail take turns in this process. If an incoming payment is written
 * too, its turn comes first.
 */
export function turnAtRailAccount({ method, account }: { readonly method: string; readonly account: string }): string {
  return `rail:${railAccountId(method, account)}`
}

/** The key under which those who write what one grant has spent take turns in this process. */
export function turnAtGrant(grantId: string): string {
  return `grant:${grantId}`
}
