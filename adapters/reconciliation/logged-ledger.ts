import { requireFunction } from '../../src/errors/check-option.ts'
import type {
  Amount,
  Credit,
  Hold,
  Ledger,
  LedgerResult,
  MaybePromise,
  Settlement,
  SettlementResult,
} from '../../src/index.ts'
import { requireLedger } from './options.ts'

/** A call that a ledger has taken. Its amounts are `bigint`, which JSON does not have: write them as text. */
export type LoggedCall =
  | { readonly name: 'hold'; readonly argument: Hold }
  | { readonly name: 'credit'; readonly argument: Credit }
  | { readonly name: 'settle'; readonly argument: Settlement }
  | { readonly name: 'release'; readonly argument: { readonly id: string } }

/**
 * A ledger that logs each call that moves money, once it has taken it and before the payment goes on. `log` resolves once the
 * line is durable; if it rejects, so does the call, whose outcome then counts as unknown, and the call is made again. So a
 * call may be logged twice. A refusal is not logged. Throws a `ConfigurationError` if an argument is not valid.
 */
export function loggedLedger(ledger: Ledger, log: (call: LoggedCall) => MaybePromise<void>): Ledger {
  requireLedger('loggedLedger', ledger)
  requireFunction('loggedLedger: log', log)
  const logged = async <T extends LedgerResult | SettlementResult>(call: LoggedCall, asked: Promise<T>): Promise<T> => {
    const answer = await asked
    if (answer.ok) await log(call)
    return answer
  }
  return {
    account: (account) => ledger.account(account),
    hold: (hold) => logged({ name: 'hold', argument: hold }, ledger.hold(hold)),
    credit: (credit) => logged({ name: 'credit', argument: credit }, ledger.credit(credit)),
    settle: (settlement) => logged({ name: 'settle', argument: settlement }, ledger.settle(settlement)),
    release: (release) => logged({ name: 'release', argument: release }, ledger.release(release)),
  }
}

/**
 * Makes the calls of a log again, on a ledger that was restored to an earlier moment. `calls`: as they were logged, oldest
 * first. First come the credits, then what ends older holds, and then each hold with its end right after it: so no hold is
 * refused for money that another one had freed, or that came in. What the ledger has booked already does not move again.
 *
 * Resolves with what the ledger refused, each as `<name> <id>: <reason>`; `[]`: nothing. Rejects with a `TypeError` before any
 * call if one of them is no logged call; with the error of a call, after which all of it is to be repeated.
 */
export async function repeatCalls(ledger: Ledger, calls: readonly LoggedCall[]): Promise<readonly string[]> {
  requireLedger('repeatCalls', ledger)
  if (!Array.isArray(calls)) throw new TypeError('repeatCalls: calls must be a list')
  for (const [index, call] of calls.entries()) requireCall(index, call)
  const holds = calls.filter(({ name }) => name === 'hold')
  const held = new Set(holds.map(({ argument }) => argument.id))
  const ends = new Map<string, LoggedCall[]>()
  for (const call of calls) {
    const { id } = call.argument
    if (call.name === 'settle' || call.name === 'release') ends.set(id, [...(ends.get(id) ?? []), call])
  }
  const ordered = [
    ...calls.filter(({ name }) => name === 'credit'),
    ...[...ends].flatMap(([id, older]) => (held.has(id) ? [] : older)),
    ...holds.flatMap((hold) => [hold, ...(ends.get(hold.argument.id) ?? [])]),
  ]
  const refused: string[] = []
  for (const call of ordered) {
    const answer = await repeat(ledger, call)
    if (!answer.ok) refused.push(`${call.name} ${call.argument.id}: ${answer.reason}`)
  }
  return refused
}

function repeat(ledger: Ledger, { name, argument }: LoggedCall): Promise<LedgerResult> {
  switch (name) {
    case 'hold':
      return ledger.hold(argument)
    case 'credit':
      return ledger.credit(argument)
    case 'settle':
      return ledger.settle(argument)
    case 'release':
      return ledger.release(argument)
  }
}

/** Amounts that are still text would be other arguments under the same id: a conflict, or worse. */
function requireCall(index: number, call: LoggedCall): void {
  const name = `repeatCalls: calls[${index}]`
  if (!['hold', 'credit', 'settle', 'release'].includes(call?.name)) throw new TypeError(`${name} is no logged call`)
  if (typeof call.argument?.id !== 'string') throw new TypeError(`${name} has no id`)
  if (amountsOf(call).some((amount) => typeof amount?.value !== 'bigint'))
    throw new TypeError(`${name} has an amount that is no bigint`)
}

function amountsOf({ name, argument }: LoggedCall): readonly (Amount | undefined)[] {
  if (name === 'release') return []
  return name === 'settle' ? [argument.amount, argument.fee] : [argument.amount]
}
