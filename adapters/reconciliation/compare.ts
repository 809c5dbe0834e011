import type { AuditedPayment, WireAmount } from '../../src/index.ts'
import type { BookedLine, Books } from './books.ts'
import { creditIdOfAny } from './credit-id.ts'
import type { Received } from './received.ts'
import { settledOf } from './settled.ts'

/** What is kept of each payment meanwhile: its proof is most of it, and is not compared. */
type Payment = Omit<AuditedPayment, 'grant' | 'signedRequest'>
type Sums = Readonly<Record<string, bigint>>
type Found = 'yes' | 'no' | 'other'
/** `maybe`: the payment stands before a call of the ledger, or after it. */
type Expected = 'yes' | 'no' | 'maybe'

/** By state, some of which are two. */
const EXPECTED: Readonly<Record<string, { readonly [what in 'hold' | 'credit' | 'settlement']: Expected }>> = {
  created: { hold: 'maybe', credit: 'no', settlement: 'no' },
  sending: { hold: 'yes', credit: 'no', settlement: 'no' },
  settling: { hold: 'yes', credit: 'yes', settlement: 'no' },
  settled: { hold: 'no', credit: 'yes', settlement: 'yes' },
  releasing: { hold: 'maybe', credit: 'no', settlement: 'no' },
  completed: { hold: 'no', credit: 'yes', settlement: 'yes' },
  failed: { hold: 'no', credit: 'no', settlement: 'no' },
  'failed in parts': { hold: 'no', credit: 'no', settlement: 'yes' },
}
const EXPECTED_CREDIT: Readonly<Record<Received['state'], Expected>> = {
  reserved: 'maybe',
  credited: 'yes',
  dropped: 'no',
}

/** What is compared, and how. */
export interface Comparison {
  readonly payments: AsyncIterable<AuditedPayment>
  readonly received: readonly Received[]
  /** Called once all payments are read: so whatever a payment claims was booked before. */
  readonly readBooks: () => Promise<Books>
  /** Ids that somebody has explained. */
  readonly noted: ReadonlySet<string>
  /** Whether what happened at a time is not in flight any more. */
  readonly isJudged: (at: number) => boolean
}

/** Compares payments, and what came from other wallets, with the books. Each answer is something to explain. */
export async function compare(comparison: Comparison): Promise<readonly string[]> {
  const { received, noted, isJudged } = comparison
  const audited: Payment[] = []
  for await (const { grant, signedRequest, ...payment } of comparison.payments) audited.push(payment)
  const books = await comparison.readBooks()
  const linesOf = new Map<string, BookedLine[]>()
  for (const line of books.lines) {
    const lines = linesOf.get(line.id)
    if (lines === undefined) linesOf.set(line.id, [line])
    else lines.push(line)
  }
  const held = new Set(books.openHolds.map(({ id }) => id))
  const differences = await findStrangers(comparison, books, linesOf, audited)
  const judge = (id: string, state: string, what: string, expected: Expected | undefined, found: Found): void => {
    const isRight = found === expected || (expected === 'maybe' && found !== 'other')
    if (!isRight) differences.push(`${id}: ${state}, ${what}: ${found}`)
  }
  for (const payment of audited) {
    const { id, state, states, createdAt, holdId, creditId } = payment
    if (!isJudged(states.at(-1)?.at ?? createdAt)) continue
    const credit = creditId === undefined ? 'no' : compareSums(linesOf.get(creditId), creditOf(payment))
    const settlement = compareSums(linesOf.get(holdId), settlementOf(payment))
    const expected = EXPECTED[stateOf(payment, credit, settlement)]
    if (state !== 'completed' && state !== 'failed') differences.push(`${id}: still ${state}`)
    judge(id, state, 'hold', expected?.hold, held.has(holdId) ? 'yes' : 'no')
    // A receiver at another wallet is credited there.
    if (creditId !== undefined) judge(id, state, 'credit', expected?.credit, credit)
    judge(id, state, 'settlement', expected?.settlement, settlement)
  }
  for (const receipt of received) {
    const { id, state, createdAt } = receipt
    if (!isJudged(createdAt)) continue
    if (state === 'reserved') differences.push(`${id}: still ${state}`)
    if (state === 'dropped' && !noted.has(id)) differences.push(`${id}: ${state}, not made good`)
    const credit = creditOf({ ...receipt, receiveAmount: receipt.amount })
    judge(id, state, 'credit', EXPECTED_CREDIT[state], compareSums(linesOf.get(id), credit))
  }
  return differences
}

/** What the books have of no payment. */
async function findStrangers(
  { received, noted, isJudged }: Comparison,
  { lines, openHolds }: Books,
  linesOf: ReadonlyMap<string, unknown>,
  audited: readonly Payment[],
): Promise<string[]> {
  const ids = audited.flatMap(({ holdId, creditId = holdId }) => [holdId, creditId])
  const known = new Set([...ids, ...received.map(({ id }) => id), ...noted])
  const found = [...openHolds, ...lines].filter(({ id, at }) => !known.has(id) && isJudged(at))
  const strangers = new Set(found.map(({ id }) => id))
  const differences = [...strangers].map((id) => `${id}: held or booked for no payment`)
  // Of what no payment names, noted or not, a credit still has its hold.
  for (const id of new Set([...strangers, ...noted])) {
    if (!linesOf.has(id) && linesOf.has(await creditIdOfAny(id)))
      differences.push(`${id}: the payee is paid, and the payer is not charged`)
  }
  return differences
}

/** Whether just this was booked, nothing, or something else. */
function compareSums(lines: readonly BookedLine[] = [], expected: Sums): Found {
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
