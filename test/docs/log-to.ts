import type { Ledger } from 'open-payments-server'
import { type LoggedCall, loggedLedger, repeatCalls } from 'open-payments-server/reconciliation'

/** The ledger for `createOpenPayments`. `append` resolves once the line is durable. */
export function logTo(ledger: Ledger, append: (line: string) => Promise<void>): Ledger {
  const asText = (_: string, value: unknown) => (typeof value === 'bigint' ? `${value}` : value) // JSON has no bigint
  return loggedLedger(ledger, (call) => append(JSON.stringify(call, asText)))
}

/** After a restore: makes the calls of the log again, oldest line first. Answers what the ledger refused. */
export function repeatLog(ledger: Ledger, lines: readonly string[]): Promise<readonly string[]> {
  const asBigint = (name: string, value: string) => (name === 'value' ? BigInt(value) : value)
  return repeatCalls(
    ledger,
    lines.map((line): LoggedCall => JSON.parse(line, asBigint)),
  )
}
