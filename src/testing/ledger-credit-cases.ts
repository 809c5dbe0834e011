import type { Credit, Ledger } from '../ports/ledger.ts'
import { amountOf, MAX_AMOUNT_VALUE } from '../protocol/amount.ts'
import { assertSame } from './assertions.ts'
import {
  assertAvailable,
  creditOf,
  EUR,
  FIFTY,
  holdOf,
  type LedgerCase,
  makeWallet,
  mustAgree,
  mustNotSucceed,
  mustRefuse,
  mustSucceed,
  RAIL,
  settlementOf,
  USD,
} from './ledger-case.ts'

/** What the ledger promises of `credit`, and of all movements together. */
export const CREDIT_CASES: readonly LedgerCase[] = [
  {
    name: 'a credit that is repeated adds once, also at the same time',
    async run(makeLedger) {
      const wallet = await makeWallet(makeLedger)
      await mustAgree(FIFTY, () => wallet.ledger.credit(creditOf(1, 70n)), { ok: true }, 'a repeated credit')
      await mustSucceed(wallet.ledger.credit(creditOf(1, 70n)), 'the credit again')
      await assertAvailable(wallet, 'after the credits', 1000n, 570n)
      assertSame(await wallet.total(USD), 1600n, 'the total')
    },
  },
  {
    name: 'a credit with other arguments under a known id is a conflict without effect',
    async run(makeLedger) {
      const wallet = await makeWallet(makeLedger)
      await mustSucceed(wallet.ledger.credit(creditOf(1, 70n)), 'the credit')
      const others: readonly Partial<Credit>[] = [
        { amount: amountOf(USD, 71n) },
        { amount: amountOf(EUR, 70n) },
        { account: 'carol' },
        { counterparty: RAIL },
        { counterparty: { kind: 'local', account: 'alice', incomingPayment: 'other' } },
      ]
      for (const [index, other] of others.entries()) {
        const what = `credit ${index}, with another ${Object.keys(other).join()}`
        await mustRefuse(wallet.ledger.credit(creditOf(1, 70n, other)), 'conflict', what)
      }
      await assertAvailable(wallet, 'after the credit and the conflicts', 1000n, 570n)
      assertSame(await wallet.available('carol'), 100n, 'available to carol')
    },
  },
  {
    name: 'a closed or unknown account refuses credits, and keeps that answer once it is open',
    async run(makeLedger) {
      const wallet = await makeWallet(makeLedger)
      await wallet.setClosed('bob', true)
      await mustRefuse(wallet.ledger.credit(creditOf(1, 70n)), 'account_closed', 'a credit of a closed account')
      await wallet.setClosed('bob', false)
      await mustRefuse(wallet.ledger.credit(creditOf(1, 70n)), 'account_closed', 'the same credit once it is open')
      const more = wallet.ledger.credit(creditOf(1, 71n))
      await mustRefuse(more, 'conflict', 'another amount under the id of the refused credit')
      const unknown = () => wallet.ledger.credit(creditOf(2, 70n, { account: 'nobody' }))
      await mustRefuse(unknown(), 'account_closed', 'a credit of an account that does not exist')
      await assertAvailable(wallet, 'after the refused credits', 1000n)
      assertSame(await wallet.total(USD), 1600n, 'the total')
      await wallet.openAccount('nobody', USD, 100n)
      await mustRefuse(unknown(), 'account_closed', 'the same credit once the account exists')
      const other = wallet.ledger.credit(creditOf(2, 71n, { account: 'nobody' }))
      await mustRefuse(other, 'conflict', 'another amount under the id of the credit that was refused as unknown')
      assertSame(await wallet.available('nobody'), 100n, 'available to who was unknown')
      await mustSucceed(
        wallet.ledger.credit(creditOf(4, 5n, { account: 'nobody' })),
        'another credit of who was unknown',
      )
      await mustSucceed(wallet.ledger.credit(creditOf(3, 70n)), 'another credit')
      await assertAvailable(wallet, 'after another credit', 1000n, 570n)
    },
  },
  {
    name: 'amounts of 64 bits are exact to the last unit',
    async run(makeLedger) {
      const wallet = await makeLedger()
      const { ledger } = wallet
      await wallet.openAccount('alice', USD, MAX_AMOUNT_VALUE)
      await wallet.openAccount('bob', USD, 0n)
      await mustSucceed(ledger.hold(holdOf(1, MAX_AMOUNT_VALUE - 1n)), 'the hold')
      await assertAvailable(wallet, 'after the hold', 1n, 0n)
      await mustRefuse(ledger.hold(holdOf(2, 2n)), 'insufficient_funds', 'a hold of one unit more')
      await mustRefuse(ledger.hold(holdOf(1, MAX_AMOUNT_VALUE - 2n)), 'conflict', 'a hold of one unit less')
      await mustSucceed(ledger.credit(creditOf(3, MAX_AMOUNT_VALUE - 2n)), 'the credit')
      await mustRefuse(ledger.credit(creditOf(3, MAX_AMOUNT_VALUE - 3n)), 'conflict', 'a credit of one unit less')
      await mustNotSucceed(ledger.settle(settlementOf(1, MAX_AMOUNT_VALUE)), 'a settlement of one unit more')
      await mustSucceed(ledger.settle(settlementOf(1, MAX_AMOUNT_VALUE - 1n, 1n)), 'the settlement')
      const less = settlementOf(1, MAX_AMOUNT_VALUE - 2n, 1n)
      await mustRefuse(ledger.settle(less), 'conflict', 'a settlement of one unit less')
      await assertAvailable(wallet, 'after the settlement', 1n, MAX_AMOUNT_VALUE - 2n)
      assertSame(await wallet.fees(USD), 1n, 'the fees')
      assertSame(await wallet.total(USD), MAX_AMOUNT_VALUE, 'the total')
    },
  },
  {
    name: 'payments of every outcome, all at the same time, neither make nor lose money in any asset',
    async run(makeLedger) {
      const wallet = await makeWallet(makeLedger)
      await wallet.openAccount('erin', EUR, 1000n)
      await Promise.all(Array.from({ length: 40 }, (_, number) => pay(wallet.ledger, number)))
      assertSame([await wallet.total(USD), await wallet.total(EUR)], [1600n, 1000n], 'the totals')
      // Settled are 4, 12, 20, 28 and 36 (30 - 2 fee each), in part 1, 5, …, 37 (10 each).
      await assertAvailable(wallet, 'after all payments', 1000n - 5n * 30n - 10n * 10n, 500n + 5n * 28n + 10n * 10n)
      assertSame(await wallet.available('erin'), 1000n + 5n * 27n, 'available to erin')
      assertSame([await wallet.fees(USD), await wallet.fees(EUR)], [5n * 2n, 0n], 'the fees')
    },
  },
]

/** One payment, its outcome by its number. */
async function pay(ledger: Ledger, number: number): Promise<void> {
  const hold = holdOf(number, 15n)
  if (number % 4 === 0) {
    const toErin = creditOf(number + 1000, 27n, { account: 'erin', amount: amountOf(EUR, 27n) })
    if (number % 8 === 0) return mustSucceed(ledger.credit(toErin), 'a credit in another asset')
    await mustSucceed(ledger.hold(holdOf(number, 30n)), 'the hold')
    await mustSucceed(ledger.credit(creditOf(number + 1000, 28n)), 'the credit')
    return mustSucceed(ledger.settle(settlementOf(number, 30n, 2n)), 'the settlement')
  }
  await mustSucceed(ledger.hold(hold), 'the hold')
  if (number % 4 !== 1) return mustSucceed(ledger.release({ id: hold.id }), 'the release')
  await mustSucceed(ledger.credit(creditOf(number + 1000, 10n)), 'the credit of a part')
  return mustSucceed(ledger.settle(settlementOf(number, 10n)), 'the settlement of a part')
}
