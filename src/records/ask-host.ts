import { answerWithin } from '../deadline/answer-within.ts'
import { unavailable } from '../errors/conditions.ts'
import type { Context } from '../ports/context.ts'
import { type LedgerCall, tellFault } from './tell-fault.ts'

/**
 * How long an answer may take: `holdSeconds`, or what a creating request has left of its own answer's time (below 0 once that is
 * over).
 */
export function millisecondsLeft(
  { clock, limits }: Pick<Context, 'clock' | 'limits'>,
  answerDueAt = Number.POSITIVE_INFINITY,
): number {
  return Math.min(limits.holdSeconds * 1000, answerDueAt - clock.now())
}

/**
 * Asks the wallet's own code something that changes nothing. If it fails or does not answer in time, that is reported
 * as a fault, and "unavailable" is thrown. `what` is asked, in words; `about` is the call, if it is one of the ledger.
 */
export async function askHost<T>(
  context: Pick<Context, 'clock' | 'emit'>,
  what: string,
  milliseconds: number,
  call: () => Promise<T>,
  about?: LedgerCall,
): Promise<T> {
  const fail = (message: string, cause: unknown): never => {
    tellFault(context, message, cause, about)
    throw unavailable(message)
  }
  const asking = answerWithin(context.clock, milliseconds, call)
  const answer = await asking.catch((cause) => fail(`${what} failed`, cause))
  return answer === 'late' ? fail(`${what} did not answer in time`, undefined) : answer
}
