import { leftOf, type RailPayment, sumOf, type WalletState } from './read-wallet.ts'
import { internalAccount, type Line } from './wallet-books.ts'
import { ACCOUNTS, ASSETS, FEE, RATES } from './wallet-process/wallets.ts'

/** What is wrong with one wallet's own books at rest; whether they agree with the other wallet's is checked elsewhere. */
export function checkWallet(state: WalletState): readonly string[] {
  return [
    ...checkSums(state),
    ...checkHolds(state),
    ...checkLines(state),
    ...state.payments.flatMap((payment) => checkPayment(payment, state)),
    ...checkUndecided(state),
    ...state.incoming.flatMap((payment) => checkIncoming(payment, state)),
    ...checkSpendings(state),
  ].map((wrong) => `${state.name}: ${wrong}`)
}

/** Per asset the sum over all accounts is what it was at first. */
function checkSums({ balances }: WalletState): readonly string[] {
  return ASSETS.flatMap(({ assetCode }) => {
    const own = [...balances.values()].filter((balance) => balance.assetCode === assetCode)
    const sum = sumOf(own, ({ total }) => total)
    const opened = sumOf(
      [...ACCOUNTS].filter((account) => account.assetCode === assetCode),
      ({ balance }) => balance,
    )
    return sum === opened ? [] : [`the accounts in ${assetCode} sum up to ${sum}, at first ${opened}`]
  })
}

/** Whether a payment waits for a word of the host. */
export function isUndecided({ state, delivery }: RailPayment): boolean {
  return state === 'sending' && delivery?.isLeftToHost !== undefined
}

/** Money is held for undecided payments alone. */
function checkHolds({ balances, payments }: WalletState): readonly string[] {
  return ACCOUNTS.flatMap(({ account }) => {
    const own = payments.filter((payment) => payment.account === account && isUndecided(payment))
    const expected = sumOf(own, ({ debitAmount }) => debitAmount.value)
    const held = balances.get(account)?.held ?? 0n
    return held === expected ? [] : [`${held} is held on ${account} instead of ${expected}`]
  })
}

/** What an amount is worth in another asset at the price of the wallets here, rounded down. */
export function exchange(amount: bigint, from: string, to: string): bigint {
  if (from === to) return amount
  const [whole = '', decimals = ''] = (from === 'USD' ? RATES.USD : RATES.EUR).split('.')
  const [multiplied, divided] = from === 'USD' ? [amount * 100n, 1n] : [amount, 100n]
  return (multiplied * BigInt(whole + decimals)) / (divided * 10n ** BigInt(decimals.length))
}

/** What a payment must have cost, by what was priced and by how much of it has left, worked out apart from the code that is tested. */
export function costOf(payment: RailPayment): { readonly debit: bigint; readonly fee: bigint } {
  const [debit, fee] = [payment.debitAmount.value, payment.fee.value]
  if (payment.state === 'completed') return { debit, fee }
  const sendAmount = BigInt(payment.rail.sendAmount.value)
  const { sent } = leftOf(payment)
  const part = (debit - fee) * sent
  const ownPart = part / sendAmount + (part % sendAmount === 0n ? 0n : 1n)
  // Of the fee 1 is fixed, and due once anything has left.
  const shared = (fee - FEE.fixed) * sent
  const feePart = sent === 0n ? 0n : FEE.fixed + shared / sendAmount + (shared % sendAmount === 0n ? 0n : 1n)
  return payment.state === 'failed' ? { debit: ownPart + feePart, fee: feePart } : { debit: 0n, fee: 0n }
}

/** The ledger has the lines that payments and receipts have caused, each once, and no others. */
function checkLines({ payments, receipts, lines }: WalletState): readonly string[] {
  const expected = [
    ...payments.flatMap((payment): readonly Line[] => {
      const { debit, fee } = costOf(payment)
      const { id: transfer, account, debitAmount } = payment
      const code = debitAmount.assetCode === 'USD' ? 'USD' : 'EUR'
      return [
        { transfer, account, amount: -debit },
        { transfer, account: internalAccount('fees', code), amount: fee },
        { transfer, account: internalAccount('clearing', code), amount: debit - fee },
      ]
    }),
    ...receipts
      .filter(({ state }) => state === 'credited')
      .flatMap(({ id: transfer, payeeAccount = '', amount }): readonly Line[] => {
        const code = amount.assetCode === 'USD' ? 'USD' : 'EUR'
        return [
          { transfer, account: payeeAccount, amount: amount.value },
          { transfer, account: internalAccount('clearing', code), amount: -amount.value },
        ]
      }),
  ].filter(({ amount }) => amount !== 0n)
  return compare('line of the ledger', lines.map(lineText), expected.map(lineText))
}

function lineText({ transfer, account, amount }: Line): string {
  return `${transfer} ${account} ${amount}`
}

/** What is there and should not be, and the other way round. */
export function compare(what: string, found: readonly string[], expected: readonly string[]): readonly string[] {
  const [there, due] = [new Set(found), new Set(expected)]
  return [
    ...[...there].filter((one) => !due.has(one)).map((one) => `the ${what} ${one} belongs to nothing`),
    ...[...due].filter((one) => !there.has(one)).map((one) => `the ${what} ${one} is missing`),
    ...(found.length === there.size ? [] : [`a ${what} is there twice`]),
  ]
}

/** Every payment has come to an end that fits to what has left, or is one that its host was asked about. */
function checkPayment(payment: RailPayment, { undecided }: WalletState): readonly string[] {
  const { id, state, rail, delivery, receiveAmount } = payment
  const sendAmount = BigInt(rail.sendAmount.value)
  const { sent, inFlight } = leftOf(payment)
  const received = BigInt(delivery?.received ?? 0)
  const isWithin = sent + inFlight <= sendAmount && sent >= 0n && inFlight >= 0n
  // What is done lacks nothing. What ended in between may: the last packet that was planned makes up for those before it, and if
  // of all that were in the air with it (64 at most) some came back, each of those took a unit with it at most.
  const lacking = sent * receiveAmount.value - received * sendAmount
  const isWorth = state === 'completed' ? lacking <= 0n : lacking < 64n * sendAmount
  const isWhole = rail.isFixedReceive ? received >= receiveAmount.value : sent === sendAmount
  const isRight = {
    created: false,
    sending: isUndecided(payment) && inFlight > 0n && undecided.includes(id),
    decided: false,
    refused: sent === 0n && inFlight === 0n,
    completed: isWhole && inFlight === 0n,
    failed: inFlight === 0n,
  }[state]
  // What leaves at most is what the debit is worth without the fee; to the unit where the payer has said how much to send.
  const [debit, fee] = [payment.debitAmount.value, payment.fee.value]
  const worth = exchange(debit - fee, payment.debitAmount.assetCode, rail.sendAmount.assetCode)
  const isPriced =
    fee === (debit + 99n) / 100n + 1n && (rail.isFixedReceive ? sendAmount <= worth : sendAmount === worth)
  const cost = costOf(payment).debit
  // OUT-8: what failed shows less than its debit, even where a part of it has cost all of that.
  const failed = cost === debit ? cost - 1n : cost
  const sentAmount = { completed: debit, failed }[String(state)] ?? 0n
  return [
    ...(isRight && isWithin && isWorth && isPriced ? [] : [`the payment ${id} is left ${state}: ${describe(payment)}`]),
    ...(payment.sentAmount.value === sentAmount
      ? []
      : [`the payment ${id} says that it has cost ${payment.sentAmount.value} instead of ${sentAmount}`]),
  ]
}

function describe({ rail, delivery, attempts, decision, receiveAmount, ...payment }: RailPayment): string {
  const { details: _details, ...shown } = delivery ?? {}
  const text = {
    rail,
    delivery: shown,
    attempts,
    decision,
    receiveAmount,
    debit: payment.debitAmount,
    fee: payment.fee.value,
  }
  return JSON.stringify(text, (_name, value) => (typeof value === 'bigint' ? `${value}` : value))
}

/** What waits for a word of the host is what it is shown. */
function checkUndecided({ payments, undecided }: WalletState): readonly string[] {
  const waiting = payments.filter(isUndecided).map(({ id }) => id)
  return compare('payment that the host is asked about', undecided, waiting)
}

/** What was received is the sum of what was credited, nothing is reserved, and nobody was paid more than asked for. */
function checkIncoming(payment: WalletState['incoming'][number], { receipts }: WalletState): readonly string[] {
  const { id, incomingAmount, received, reserved, state } = payment
  const credited = receipts.filter((receipt) => receipt.incomingPaymentId === id && receipt.state === 'credited')
  const expected = sumOf(credited, ({ amount }) => amount.value)
  const isReached = incomingAmount !== undefined && expected >= incomingAmount.value
  const isRight =
    received.value === expected &&
    reserved.value === 0n &&
    (incomingAmount === undefined || expected <= incomingAmount.value) &&
    (!isReached || state === 'completed')
  return isRight ? [] : [`the incoming payment ${id} is ${state}, ${received.value} of ${expected}, ${reserved.value}`]
}

/** What each grant has spent is what its payments have cost, and may still. */
function checkSpendings({ spendings, payments }: WalletState): readonly string[] {
  return spendings.flatMap(({ id, debit }) => {
    const charged = payments.filter(({ spendingIds, state }) => spendingIds.includes(id) && state !== 'refused')
    const expected = sumOf(charged, (payment) =>
      isUndecided(payment) ? payment.debitAmount.value : costOf(payment).debit,
    )
    return debit.value === expected ? [] : [`${id} says that ${debit.value} was spent, its payments ${expected}`]
  })
}
