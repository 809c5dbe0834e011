import type { Ledger } from 'open-payments-server'
import { type LoggedCall, loggedLedger, repeatCalls } from 'open-payments-server/reconciliation'

/** The ledger for `createOpenPayments`. `append` resolves once the line is durable. */
export function logTo(ledger: Ledger, append: (line: string) => Promise<void>): Ledger {
  const asText = (_: string, value: unknown) => (typeof value === 'bigint' ? `${value}` : value) // JSON has no bigint
  return loggedLedger(ledger, (call) => append(JSON.stringify({ ...call, at: Date.now() }, asText)))
}

/** After a restore: makes the calls of all logs again, oldest first. Answers what the ledger refused. */
export async function repeatLog(ledger: Ledger, lines: readonly string[]): Promise<readonly string[]> {
  const asBigint = (name: string, value: string) => (name === 'value' ? BigInt(value) : value)
  const calls = lines.map((line): LoggedCall & { at: number } => JSON.parse(line, asBigint))
  return repeatCalls(
    ledger,
    calls.sort((one, other) => one.at - other.at),
  )
}
