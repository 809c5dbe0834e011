import { type Asset, amountOf, MAX_AMOUNT_VALUE } from '../protocol/amount.ts'
import { assertSame } from './assertions.ts'
import {
  assertAvailable,
  creditOf,
  FINER_USD,
  holdOf,
  idOf,
  type LedgerCase,
  makeWallet,
  mustNotSucceed,
  mustRefuse,
  mustSucceed,
  settlementOf,
  USD,
} from './ledger-case.ts'

/** Balances that a JavaScript `Number` takes for one unit more: where its whole numbers end, and the largest of all. */
const BALANCES: readonly (readonly [string, bigint])[] = [
  ['alice', 2n ** 53n],
  ['bob', MAX_AMOUNT_VALUE - 1n],
]

/** What the ledger promises of things that are nearly the same: amounts, assets, names. */
export const EXACT_CASES: readonly LedgerCase[] = [
  {
    name: 'amounts that floating point takes for the same are told apart',
    async run(makeLedger) {
      const wallet = await makeLedger()
      const { ledger } = wallet
      for (const [account, balance] of BALANCES) await wallet.openAccount(account, USD, balance)
      for (const [index, [account, balance]] of BALANCES.entries()) {
        const [refused, held] = [2 * index, 2 * index + 1]
        const more = ledger.hold(holdOf(refused, balance + 1n, { account }))
        await mustRefuse(more, 'insufficient_funds', `a hold of ${balance + 1n} where ${balance} is available`)
        await mustSucceed(ledger.hold(holdOf(held, balance, { account })), `a hold of ${balance}, which is all`)
        await mustNotSucceed(ledger.settle(settlementOf(held, balance + 1n)), 'a settlement of one unit more')
        await mustNotSucceed(ledger.settle(settlementOf(held, balance, balance + 1n)), 'a fee of one unit more')
        await mustSucceed(ledger.settle(settlementOf(held, balance, 1n)), 'the settlement')
      }
      await assertAvailable(wallet, 'after the settlements of all there was', 0n, 0n)
      assertSame(await wallet.fees(USD), 2n, 'the fees')
    },
  },
  {
    name: 'an asset is its code and its scale: fees of one code and two scales are kept apart',
    async run(makeLedger) {
      const wallet = await makeWallet(makeLedger)
      await wallet.openAccount('dora', FINER_USD, 5_000_000n)
      const payments: readonly (readonly [string, Asset, bigint, bigint])[] = [
        ['alice', USD, 400n, 25n],
        ['dora', FINER_USD, 4_000_000n, 250_001n],
      ]
      for (const [index, [account, asset, value, fee]] of payments.entries()) {
        const [id, amount] = [idOf(index), amountOf(asset, value)]
        await mustSucceed(wallet.ledger.hold(holdOf(index, value, { account, amount })), `the hold of ${account}`)
        const settlement = wallet.ledger.settle({ id, amount, fee: amountOf(asset, fee) })
        await mustSucceed(settlement, `the settlement of ${account}`)
      }
      assertSame([await wallet.fees(USD), await wallet.fees(FINER_USD)], [25n, 250_001n], 'the fees of both assets')
      assertSame([await wallet.total(USD), await wallet.total(FINER_USD)], [1600n, 5_000_000n], 'the totals of both')
      assertSame(await wallet.available('dora'), 1_000_000n, 'available to dora')
    },
  },
  {
    name: 'names of accounts compare exactly: alice and Alice are two',
    async run(makeLedger) {
      const wallet = await makeWallet(makeLedger)
      const { ledger } = wallet
      await wallet.openAccount('Alice', USD, 10n)
      await mustSucceed(ledger.credit(creditOf(1, 70n, { account: 'Alice' })), 'a credit of Alice')
      await mustRefuse(ledger.credit(creditOf(1, 70n, { account: 'alice' })), 'conflict', 'the same of alice')
      await mustRefuse(ledger.hold(holdOf(2, 81n, { account: 'Alice' })), 'insufficient_funds', 'a hold of Alice')
      await mustSucceed(ledger.hold(holdOf(3, 81n)), 'a hold of alice')
      await assertAvailable(wallet, 'after a hold of alice and a credit of Alice', 919n)
      assertSame(await wallet.available('Alice'), 80n, 'available to Alice')
      assertSame((await ledger.account('ALICE')) ?? undefined, undefined, 'the account ALICE, which nobody has opened')
    },
  },
]
