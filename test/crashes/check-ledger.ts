import { createHash } from 'node:crypto'
import type { RecordTypes } from 'open-payments-server'
import type { AccountBalance, Books, Line } from './books.ts'
import { ACCOUNTS, ASSETS } from './wallet-process/accounts.ts'

type OutgoingPayment = RecordTypes['outgoing-payment']

/** The id of the credit that a payment causes, worked out apart from the code that is tested. @spec OUT-6 */
export function creditIdOf(paymentId: string): string {
  return createHash('sha256').update(`credit:${paymentId}`).digest('hex').slice(0, 32)
}

function sumBy<T>(list: readonly T[], value: (item: T) => bigint): bigint {
  return list.reduce((sum, item) => sum + value(item), 0n)
}

/** Per asset the sum over all accounts is what it was at first. */
function checkSums(balances: readonly AccountBalance[]): readonly string[] {
  return ASSETS.flatMap(({ assetCode }) => {
    const own = balances.filter((balance) => balance.assetCode === assetCode)
    const opened = sumBy(
      [...ACCOUNTS].filter((account) => account.assetCode === assetCode),
      ({ balance }) => balance,
    )
    const sum = sumBy(own, ({ total }) => total)
    return sum === opened ? [] : [`the accounts in ${assetCode} sum up to ${sum}, at first ${opened}`]
  })
}

/** The lines that a payment which was settled and credited has in the accounts of its payer and its payee. */
function linesOf(payment: OutgoingPayment): readonly Line[] {
  return [
    { transfer: payment.id, account: payment.account, amount: -payment.debitAmount.value },
    { transfer: creditIdOf(payment.id), account: payment.payeeAccount ?? '', amount: payment.receiveAmount.value },
  ]
}

function textOf({ transfer, account, amount }: Line): string {
  return `${transfer} ${account} ${amount}`
}

function isCustomers({ account }: Pick<Line, 'account'>): boolean {
  return ACCOUNTS.some((one) => one.account === account)
}

/**
 * At any moment: the sums are right, and no line is there twice or for something that no record orders. The ledger is
 * read first, because what orders a line is durable before the line is: for a credit its receipt; for a settlement the
 * decision, or the credit that it follows, which is a line itself.
 */
export async function checkLedgerUnderWay(books: Books): Promise<readonly string[]> {
  const balances = await books.balances()
  const lines = (await books.lines()).filter(isCustomers).map(textOf)
  const payments = (await books.records('outgoing-payment')).map(({ value }) => value)
  const credited = new Set(
    (await books.records('receipt')).filter(({ value }) => value.state !== 'dropped').map(({ value }) => value.id),
  )
  const ordered = payments.flatMap((payment) => {
    const [settlement, credit] = linesOf(payment).map(textOf)
    // Once the payee is credited no other end is left, and the ledger is told before that is committed.
    const isPaid = payment.state === 'sending' && credit !== undefined && lines.includes(credit)
    const isSettling = isPaid || payment.decision?.action === 'settle'
    return [...(isSettling ? [settlement] : []), ...(credited.has(creditIdOf(payment.id)) ? [credit] : [])]
  })
  const unknown = lines.filter((line) => !ordered.includes(line))
  return [
    ...checkSums(balances),
    ...unknown.map((line) => `no record orders the line ${line}`),
    ...(new Set(lines).size === lines.length ? [] : ['a line of the ledger is there twice']),
  ]
}

/** In the end: every completed payment was settled and credited once, no other one moved anything, nothing is held. */
export async function checkLedgerAtRest(books: Books): Promise<readonly string[]> {
  const balances = await books.balances()
  const completed = (await books.records('outgoing-payment'))
    .map(({ value }) => value)
    .filter(({ state }) => state === 'completed')
  const lines = (await books.lines()).filter(isCustomers).map(textOf).sort()
  const expected = completed.flatMap(linesOf).map(textOf).sort()
  return [
    ...checkSums(balances),
    ...balances.flatMap(({ account, held }) => (held === 0n ? [] : [`${held} is still held on ${account}`])),
    ...lines.filter((line) => !expected.includes(line)).map((line) => `the line ${line} belongs to no payment`),
    ...expected.filter((line) => !lines.includes(line)).map((line) => `the line ${line} is missing`),
    ...(lines.length === expected.length ? [] : [`there are ${lines.length} lines instead of ${expected.length}`]),
    ...checkInternal(balances, completed),
  ]
}

/** What the wallet has earned, and its position in each asset. */
function checkInternal(balances: readonly AccountBalance[], completed: readonly OutgoingPayment[]): readonly string[] {
  return ASSETS.flatMap(({ assetCode, assetScale }) => {
    const paid = completed.filter(({ debitAmount }) => debitAmount.assetCode === assetCode)
    const received = completed.filter(({ receiveAmount }) => receiveAmount.assetCode === assetCode)
    const fees = sumBy(paid, ({ fee }) => fee.value)
    const sent = sumBy(paid, ({ debitAmount }) => debitAmount.value) - fees
    const clearing = sent - sumBy(received, ({ receiveAmount }) => receiveAmount.value)
    const totalOf = (kind: string): bigint =>
      balances.find(({ account }) => account === `${kind}:${assetCode}:${assetScale}`)?.total ?? 0n
    return [
      ...(totalOf('fees') === fees ? [] : [`the fees in ${assetCode} are ${totalOf('fees')} instead of ${fees}`]),
      ...(totalOf('clearing') === clearing
        ? []
        : [`clearing in ${assetCode} is ${totalOf('clearing')} instead of ${clearing}`]),
    ]
  })
}
