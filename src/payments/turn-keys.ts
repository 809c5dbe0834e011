import { railAccountId } from '../protocol/rail-account.ts'

/**
 * The key under which tasks that write one incoming payment take turns: in this process one runs at a time, in the order in
 * which they came, except that its completion goes before those that wait (see `InTurn`). Turns only avoid conflicts;
 * correctness rests on the versions that a commit checks.
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

/** The key under which the writes of one worker about how far a delivery has come take turns. */
export function turnAtDelivery(outgoingPaymentId: string): string {
  return `delivery:${outgoingPaymentId}`
}

/** The key under which deliveries of the events of one subject take turns. */
export function turnAtEvents(subject: string): string {
  return `events:${subject}`
}

/** The key under which the claims of due records that have failed are tried again. */
export const TURN_AT_CLAIMS = 'claims'
