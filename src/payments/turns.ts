import { railAccountId } from '../protocol/rail-account.ts'

/**
 * The key under which tasks that write one incoming payment take turns: in this process one runs at a time, in the
 * order in which they came (see `Serializer`). Turns only avoid conflicts; correctness rests on the versions that a
 * commit checks.
 */
export function turnAtIncoming(incomingPaymentId: string): string {
  return `incoming:${incomingPaymentId}`
}

/**
 * The key under which tasks that write one rail account take turns. A task that also writes an incoming payment takes
 * that turn first, so that no two tasks wait for each other.
 */
export function turnAtRailAccount({ method, account }: { readonly method: string; readonly account: string }): string {
  return `rail:${railAccountId(method, account)}`
}

/** The key under which tasks that write the spending records of one grant take turns. */
export function turnAtGrant(grantId: string): string {
  return `grant:${grantId}`
}
