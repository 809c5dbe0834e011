import { answerWithin } from '../deadline/answer-within.ts'
import type { Context } from '../ports/context.ts'
import { askHost, millisecondsLeft } from '../records/ask-host.ts'
import type { LedgerCall } from '../records/tell-fault.ts'

/**
 * The context for a creating request that came at `startedAt`: what the host and other servers must be asked before it is
 * answered, the client's keys included, has `holdSeconds` in total.
 */
export function withAnswerDeadline(context: Context, startedAt: number): Context {
  return { ...context, answerDueAt: startedAt + context.limits.holdSeconds * 1000 }
}

/**
 * The context for the hold of an order: its deadline is `holdSeconds / 2` later, so the hold always has at least
 * that long, however much time was used before. By default everything ends after 4.5 seconds; deployed clients give up
 * after 5.
 */
export function withHoldDeadline(context: Context): Context {
  const { clock, limits, answerDueAt } = context
  if (answerDueAt === undefined) return context
  return { ...context, answerDueAt: Math.max(answerDueAt, clock.now()) + limits.holdSeconds * 500 }
}

/**
 * Calls the wallet's own code, or another server, under a deadline: if it does not answer in time the result is `late`.
 * Rejects if the call does.
 */
export async function answerBeforeDeadline<T>(context: Context, call: () => Promise<T>): Promise<T | 'late'> {
  return answerWithin(context.clock, millisecondsLeft(context, context.answerDueAt), call)
}

/** The same for a call that changes nothing: throws "unavailable" if it is late or fails, and reports that as a fault. */
export async function askHostInTime<T>(
  context: Context,
  what: string,
  call: () => Promise<T>,
  about?: LedgerCall,
): Promise<T> {
  return askHost(context, what, millisecondsLeft(context, context.answerDueAt), call, about)
}
