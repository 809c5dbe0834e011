import type { AuditedPayment, WireAmount } from 'open-payments-server'

/** What was added to an account under the id of a hold or a credit, or taken where it is negative. */
export interface Line {
  readonly id: string
  readonly account: string
  readonly amount: bigint
  readonly at: number
}

/** What the ledger has: all such lines, and the holds that are neither settled nor released. */
export interface Books {
  readonly lines: readonly Line[]
  readonly openHolds: readonly Pick<Line, 'id' | 'at'>[]
}

type Sums = Readonly<Record<string, bigint>>

// By state; `decided` is two. Where it says `maybe`, the payment stands between two calls of the ledger.
const EXPECTED: Readonly<
  Record<string, { readonly hold: string; readonly credit: string; readonly settlement: string }>
> = {
  created: { hold: 'maybe', credit: 'no', settlement: 'no' },
  sending: { hold: 'yes', credit: 'maybe', settlement: 'no' },
  settling: { hold: 'maybe', credit: 'yes', settlement: 'maybe' },
  releasing: { hold: 'maybe', credit: 'no', settlement: 'no' },
  completed: { hold: 'no', credit: 'yes', settlement: 'yes' },
  failed: { hold: 'no', credit: 'no', settlement: 'no' },
}
const IN_FLIGHT_MILLISECONDS = 15 * 60_000

/** Compares payments with the books, which are read after them. Each answer is something that somebody must explain. */
export async function reconcile(
  payments: AsyncIterable<AuditedPayment>,
  readBooks: () => Promise<Books>,
  now: number,
): Promise<readonly string[]> {
  const audited: AuditedPayment[] = []
  for await (const payment of payments) audited.push(payment)
  const { lines, openHolds } = await readBooks()
  const isOld = (at: number) => now - at >= IN_FLIGHT_MILLISECONDS
  const linesOf = new Map<string, Line[]>()
  for (const line of lines) linesOf.set(line.id, [...(linesOf.get(line.id) ?? []), line])

  const held = new Set(openHolds.map(({ id }) => id))
  const known = new Set(audited.flatMap(({ holdId, creditId }) => [holdId, creditId]))
  const strangers = [...openHolds, ...lines].filter(({ id, at }) => !known.has(id) && isOld(at))
  const differences = [...new Set(strangers.map(({ id }) => `${id}: held or booked for no payment`))]
  for (const payment of audited) {
    const { id, state, states, createdAt, failureReason, holdId, creditId } = payment
    if (!isOld(states.at(-1)?.at ?? createdAt)) continue
    const decided = failureReason === undefined ? 'settling' : 'releasing'
    const expected = EXPECTED[state === 'decided' ? decided : state]
    const found = {
      hold: held.has(holdId) ? 'yes' : 'no',
      credit: compare(linesOf.get(creditId), creditOf(payment)),
      settlement: compare(linesOf.get(holdId), settlementOf(payment)),
    }
    if (state !== 'completed' && state !== 'failed') differences.push(`${id}: still ${state}`)
    for (const what of ['hold', 'credit', 'settlement'] as const) {
      const isRight = found[what] === expected?.[what] || (expected?.[what] === 'maybe' && found[what] !== 'other')
      if (!isRight) differences.push(`${id}: ${state}, ${what}: ${found[what]}`)
    }
  }
  return differences
}

/** Whether just this was booked, nothing, or something else. */
function compare(lines: readonly Line[] = [], expected: Sums): 'yes' | 'no' | 'other' {
  const missing = new Map(Object.entries(expected))
  for (const { account, amount } of lines) missing.set(account, (missing.get(account) ?? 0n) - amount)
  if (lines.length === 0) return 'no'
  return [...missing.values()].every((amount) => amount === 0n) ? 'yes' : 'other'
}

function creditOf({ payeeAccount, receiveAmount }: AuditedPayment): Sums {
  const received = BigInt(receiveAmount.value)
  return { [payeeAccount]: received, [nameOf('clearing', receiveAmount)]: -received }
}

function settlementOf({ account, debitAmount, fee }: AuditedPayment): Sums {
  const [debit, kept] = [BigInt(debitAmount.value), BigInt(fee.value)]
  return { [account]: -debit, [nameOf('fees', fee)]: kept, [nameOf('clearing', debitAmount)]: debit - kept }
}

function nameOf(kind: string, { assetCode, assetScale }: WireAmount): string {
  return `${kind}:${assetCode}:${assetScale}`
}
