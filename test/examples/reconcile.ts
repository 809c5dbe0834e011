import { createHash } from 'node:crypto'
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

/** What came from another wallet: `id` is that of its credit. */
export interface Received {
  readonly id: string
  readonly state: string
  readonly payeeAccount: string
  readonly amount: WireAmount
  readonly createdAt: number
  /** The payment method and its account with the peer, such as `ilp:g.other-wallet/USD/2`. */
  readonly railAccount: string
}

/** What is kept of each payment meanwhile: its proof is most of it, and is not compared. */
type Payment = Omit<AuditedPayment, 'grant' | 'signedRequest'>
type Sums = Readonly<Record<string, bigint>>
type Found = 'yes' | 'no' | 'other'

// By state, some of which are two. `maybe`: the payment stands before a call of the ledger, or after it.
const EXPECTED: Readonly<
  Record<string, { readonly hold: string; readonly credit: string; readonly settlement: string }>
> = {
  created: { hold: 'maybe', credit: 'no', settlement: 'no' },
  sending: { hold: 'yes', credit: 'no', settlement: 'no' },
  settling: { hold: 'yes', credit: 'yes', settlement: 'no' },
  settled: { hold: 'no', credit: 'yes', settlement: 'yes' },
  releasing: { hold: 'maybe', credit: 'no', settlement: 'no' },
  completed: { hold: 'no', credit: 'yes', settlement: 'yes' },
  failed: { hold: 'no', credit: 'no', settlement: 'no' },
  'failed in parts': { hold: 'no', credit: 'no', settlement: 'yes' },
}
const EXPECTED_CREDIT: Readonly<Record<string, string>> = { reserved: 'maybe', credited: 'yes', dropped: 'no' }
const IN_FLIGHT_MILLISECONDS = 15 * 60_000

/**
 * Compares payments, and what came from other wallets, with the books, which are read after them. Each answer is something
 * that somebody must explain. `noted` has the ids that somebody has: of receipts whose money was made good, of what was
 * booked by hand, and of what a restore has forgotten.
 */
export async function reconcile(
  payments: AsyncIterable<AuditedPayment>,
  received: readonly Received[],
  readBooks: () => Promise<Books>,
  now: number,
  noted: ReadonlySet<string> = new Set(),
): Promise<readonly string[]> {
  const audited: Payment[] = []
  for await (const { grant, signedRequest, ...payment } of payments) audited.push(payment)
  const { lines, openHolds } = await readBooks()
  const isOld = (at: number) => now - at >= IN_FLIGHT_MILLISECONDS
  const linesOf = new Map<string, Line[]>()
  for (const line of lines) linesOf.set(line.id, [...(linesOf.get(line.id) ?? []), line])

  const held = new Set(openHolds.map(({ id }) => id))
  const ids = audited.flatMap(({ holdId, creditId = holdId }) => [holdId, creditId])
  const known = new Set([...ids, ...received.map(({ id }) => id), ...noted])
  const strangers = [...openHolds, ...lines].filter(({ id, at }) => !known.has(id) && isOld(at))
  const differences = [...new Set(strangers.map(({ id }) => `${id}: held or booked for no payment`))]
  // Of what no payment names, noted or not, a credit still has its hold.
  for (const id of new Set([...strangers.map((stranger) => stranger.id), ...noted]))
    if (linesOf.has(creditIdOf(id)) && !linesOf.has(id))
      differences.push(`${id}: the payee is paid, and the payer is not charged`)
  const judge = (id: string, state: string, what: string, expected: string | undefined, found: Found) => {
    const isRight = found === expected || (expected === 'maybe' && found !== 'other')
    if (!isRight) differences.push(`${id}: ${state}, ${what}: ${found}`)
  }
  for (const payment of audited) {
    const { id, state, states, createdAt, holdId, creditId } = payment
    if (!isOld(states.at(-1)?.at ?? createdAt)) continue
    const credit = creditId === undefined ? 'no' : compare(linesOf.get(creditId), creditOf(payment))
    const settlement = compare(linesOf.get(holdId), settlementOf(payment))
    const expected = EXPECTED[stateOf(payment, credit, settlement)]
    if (state !== 'completed' && state !== 'failed') differences.push(`${id}: still ${state}`)
    judge(id, state, 'hold', expected?.hold, held.has(holdId) ? 'yes' : 'no')
    // A receiver at another wallet is credited there.
    if (creditId !== undefined) judge(id, state, 'credit', expected?.credit, credit)
    judge(id, state, 'settlement', expected?.settlement, settlement)
  }
  for (const receipt of received) {
    const { id, state, createdAt } = receipt
    if (!isOld(createdAt)) continue
    if (state === 'reserved') differences.push(`${id}: still ${state}`)
    if (state === 'dropped' && !noted.has(id)) differences.push(`${id}: ${state}, not made good`)
    const credit = creditOf({ ...receipt, receiveAmount: receipt.amount })
    judge(id, state, 'credit', EXPECTED_CREDIT[state], compare(linesOf.get(id), credit))
  }
  return differences
}

/** The id of the credit to a payee on this server, by the id of the payer's hold. */
export function creditIdOf(holdId: string): string {
  return createHash('sha256').update(`credit:${holdId}`).digest('hex').slice(0, 32)
}

/** Whether just this was booked, nothing, or something else. */
function compare(lines: readonly Line[] = [], expected: Sums): Found {
  const missing = new Map(Object.entries(expected))
  for (const { account, amount } of lines) missing.set(account, (missing.get(account) ?? 0n) - amount)
  if (lines.length === 0) return 'no'
  return [...missing.values()].every((amount) => amount === 0n) ? 'yes' : 'other'
}

/** The row of `EXPECTED`. Once the payee is credited, just one is there: the hold, or the settlement. */
function stateOf(payment: Payment, credit: Found, settlement: Found): string {
  const { state } = payment
  const takes = settledOf(payment).debit > 0n
  if (state === 'decided' && !takes) return 'releasing'
  if (state === 'decided' || (state === 'sending' && credit !== 'no'))
    return settlement === 'no' ? 'settling' : 'settled'
  return state === 'failed' && takes ? 'failed in parts' : state
}

/** What of a payment is settled, once it is over: all of it, none, or the part that has left for another wallet. */
export function settledOf({ debitAmount, fee, failureReason, rail }: Payment) {
  const [debit, kept] = [BigInt(debitAmount.value), BigInt(fee.value)]
  if (failureReason === undefined) return { debit, fee: kept }
  if (rail === undefined) return { debit: 0n, fee: 0n }
  const [sent, most] = [BigInt(rail.sent.value), BigInt(rail.sendAmount.value)]
  const fixed = sent === 0n ? 0n : BigInt(rail.fixedFee?.value ?? 0)
  const partOf = (amount: bigint) => (amount * sent + most - 1n) / most
  const part = fixed + partOf(kept - fixed)
  return { debit: partOf(debit - kept) + part, fee: part }
}

function creditOf({ payeeAccount = '', receiveAmount }: Pick<AuditedPayment, 'payeeAccount' | 'receiveAmount'>): Sums {
  const received = BigInt(receiveAmount.value)
  return { [payeeAccount]: received, [nameOf('clearing', receiveAmount)]: -received }
}

function settlementOf(payment: Payment): Sums {
  const { account, debitAmount } = payment
  const { debit, fee } = settledOf(payment)
  return { [account]: -debit, [nameOf('fees', debitAmount)]: fee, [nameOf('clearing', debitAmount)]: debit - fee }
}

function nameOf(kind: string, { assetCode, assetScale }: WireAmount): string {
  return `${kind}:${assetCode}:${assetScale}`
}
