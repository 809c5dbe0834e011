import { amountOf } from '../protocol/amount.ts'
import { assertSame } from './assertions.ts'
import {
  assertAvailable,
  creditOf,
  EUR,
  FIFTY,
  FINER_USD,
  holdOf,
  idOf,
  type LedgerCase,
  makeWallet,
  mustAgree,
  mustNotSucceed,
  mustRefuse,
  mustSucceed,
  settlementOf,
  USD,
} from './ledger-case.ts'

/** What the ledger promises of `settle` and `release`. */
export const END_CASES: readonly LedgerCase[] = [
  {
    name: 'a settlement takes its amount once and frees the rest',
    async run(makeLedger) {
      const wallet = await makeWallet(makeLedger)
      const { ledger } = wallet
      await mustSucceed(ledger.hold(holdOf(1, 400n)), 'the hold')
      const settle = () => ledger.settle(settlementOf(1, 300n))
      await mustAgree(FIFTY, settle, { ok: true }, 'a repeated settlement')
      await mustSucceed(settle(), 'the settlement again')
      await assertAvailable(wallet, 'after the settlement', 700n)
      assertSame(await wallet.total(USD), 1600n, 'the total')
      await mustSucceed(ledger.hold(holdOf(2, 700n)), 'a hold of all that is left')
    },
  },
  {
    name: 'a fee goes to the wallet, out of the amount and not on top of it',
    async run(makeLedger) {
      const wallet = await makeWallet(makeLedger)
      await mustSucceed(wallet.ledger.hold(holdOf(1, 400n)), 'the hold')
      await mustSucceed(wallet.ledger.settle(settlementOf(1, 400n, 25n)), 'the settlement')
      await mustSucceed(wallet.ledger.settle(settlementOf(1, 400n, 25n)), 'the settlement again')
      assertSame(await wallet.fees(USD), 25n, 'the fees')
      await assertAvailable(wallet, 'after the settlement', 600n)
      assertSame(await wallet.total(USD), 1600n, 'the total')
    },
  },
  {
    name: 'a settlement with other arguments is a conflict without effect',
    async run(makeLedger) {
      const wallet = await makeWallet(makeLedger)
      await mustSucceed(wallet.ledger.hold(holdOf(1, 400n)), 'the hold')
      await mustSucceed(wallet.ledger.settle(settlementOf(1, 300n, 10n)), 'the settlement')
      await mustRefuse(wallet.ledger.settle(settlementOf(1, 301n, 10n)), 'conflict', 'another amount')
      await mustRefuse(wallet.ledger.settle(settlementOf(1, 300n, 11n)), 'conflict', 'another fee')
      for (const asset of [EUR, FINER_USD]) {
        const other = { id: idOf(1), amount: amountOf(asset, 300n), fee: amountOf(asset, 10n) }
        await mustRefuse(
          wallet.ledger.settle(other),
          'conflict',
          `the same in ${asset.assetCode} at scale ${asset.assetScale}`,
        )
      }
      await assertAvailable(wallet, 'after the settlement and the conflicts', 700n)
      assertSame(await wallet.fees(USD), 10n, 'the fees')
    },
  },
  {
    name: 'a settlement beyond its hold, a fee beyond its amount, or one in another asset does nothing',
    async run(makeLedger) {
      const wallet = await makeWallet(makeLedger)
      const { ledger } = wallet
      await mustSucceed(ledger.hold(holdOf(1, 400n)), 'the hold')
      await mustNotSucceed(ledger.settle(settlementOf(1, 401n)), 'more than is held')
      await mustNotSucceed(ledger.settle(settlementOf(1, 300n, 301n)), 'a fee of more than the amount')
      for (const asset of [EUR, FINER_USD]) {
        const foreign = { id: idOf(1), amount: amountOf(asset, 400n), fee: amountOf(asset, 0n) }
        await mustNotSucceed(ledger.settle(foreign), `all in ${asset.assetCode} at scale ${asset.assetScale}`)
      }
      await assertAvailable(wallet, 'after the settlements that do nothing', 600n)
      await mustSucceed(ledger.release({ id: idOf(1) }), 'the release')
      await assertAvailable(wallet, 'after the release', 1000n)
    },
  },
  {
    name: 'a fee in another asset than its amount is a conflict and moves nothing',
    async run(makeLedger) {
      const wallet = await makeWallet(makeLedger)
      const { ledger } = wallet
      await wallet.openAccount('erin', EUR, 70n)
      await mustSucceed(ledger.hold(holdOf(1, 400n)), 'the hold')
      const settlement = settlementOf(1, 300n, 25n)
      for (const asset of [EUR, FINER_USD]) {
        const what = `a fee in ${asset.assetCode} at scale ${asset.assetScale}`
        await mustRefuse(ledger.settle({ ...settlement, fee: amountOf(asset, 25n) }), 'conflict', what)
      }
      assertSame([await wallet.fees(USD), await wallet.fees(EUR)], [0n, 0n], 'the fees before the settlement')
      await assertAvailable(wallet, 'before the settlement', 600n)
      await mustSucceed(ledger.settle(settlement), 'the settlement with its fee in the asset of the amount')
      for (const asset of [EUR, FINER_USD]) {
        const again = ledger.settle({ ...settlement, fee: amountOf(asset, 25n) })
        await mustRefuse(again, 'conflict', 'a fee in another asset after the settlement')
      }
      await assertAvailable(wallet, 'after the settlement', 700n)
      assertSame([await wallet.fees(USD), await wallet.fees(EUR)], [25n, 0n], 'the fees')
      assertSame([await wallet.total(USD), await wallet.total(EUR)], [1600n, 70n], 'the totals')
    },
  },
  {
    name: 'a release frees all that is held, once, and a settlement afterwards is a conflict',
    async run(makeLedger) {
      const wallet = await makeWallet(makeLedger)
      const { ledger } = wallet
      await mustSucceed(ledger.hold(holdOf(1, 400n)), 'the hold')
      await mustSucceed(ledger.hold(holdOf(2, 100n)), 'another hold')
      await mustAgree(FIFTY, () => ledger.release({ id: idOf(1) }), { ok: true }, 'a repeated release')
      await mustSucceed(ledger.release({ id: idOf(1) }), 'the release again')
      await mustRefuse(ledger.settle(settlementOf(1, 400n)), 'conflict', 'a settlement after the release')
      await assertAvailable(wallet, 'after the release, while 100 are held', 900n)
    },
  },
  {
    name: 'the end of one hold leaves the others of its account held',
    async run(makeLedger) {
      const wallet = await makeWallet(makeLedger)
      const { ledger } = wallet
      await mustSucceed(ledger.hold(holdOf(1, 400n)), 'the hold of 400')
      await mustSucceed(ledger.hold(holdOf(2, 300n)), 'the hold of 300')
      await mustSucceed(ledger.hold(holdOf(3, 200n)), 'the hold of 200')
      await mustSucceed(ledger.settle(settlementOf(1, 100n, 10n)), 'the settlement of 100 of 400')
      await assertAvailable(wallet, 'while 300 and 200 are held', 400n)
      await mustRefuse(ledger.hold(holdOf(4, 401n)), 'insufficient_funds', 'a hold of one unit that is held')
      await mustSucceed(ledger.release({ id: idOf(2) }), 'the release of 300')
      await assertAvailable(wallet, 'while 200 are held', 700n)
      await mustRefuse(ledger.hold(holdOf(5, 701n)), 'insufficient_funds', 'a hold of one unit that is held')
      await mustSucceed(ledger.settle(settlementOf(3, 200n)), 'the settlement of 200')
      await assertAvailable(wallet, 'when nothing is held', 700n)
    },
  },
  {
    name: 'a release after a settlement is a conflict',
    async run(makeLedger) {
      const wallet = await makeWallet(makeLedger)
      await mustSucceed(wallet.ledger.hold(holdOf(1, 400n)), 'the hold')
      await mustSucceed(wallet.ledger.settle(settlementOf(1, 300n)), 'the settlement')
      await mustRefuse(wallet.ledger.release({ id: idOf(1) }), 'conflict', 'the release')
      await assertAvailable(wallet, 'after the settlement and the refused release', 700n)
    },
  },
  {
    // Whether a hold may still come under an id that was released in vain is the ledger's choice: the library releases
    // nothing before it has been told that it is held.
    name: 'what was never held is neither settled nor released',
    async run(makeLedger) {
      const wallet = await makeWallet(makeLedger)
      await mustNotSucceed(wallet.ledger.settle(settlementOf(1, 10n)), 'a settlement')
      await mustNotSucceed(wallet.ledger.release({ id: idOf(1) }), 'a release')
      await mustRefuse(wallet.ledger.hold(holdOf(2, 1001n)), 'insufficient_funds', 'a hold of too much')
      await mustNotSucceed(wallet.ledger.settle(settlementOf(2, 10n)), 'a settlement of the refused hold')
      await mustNotSucceed(wallet.ledger.release({ id: idOf(2) }), 'a release of the refused hold')
      await mustSucceed(wallet.ledger.credit(creditOf(3, 10n, { account: 'carol' })), 'a credit')
      await mustNotSucceed(wallet.ledger.settle(settlementOf(3, 10n)), 'a settlement of the credit')
      await mustNotSucceed(wallet.ledger.release({ id: idOf(3) }), 'a release of the credit')
      assertSame(await wallet.available('carol'), 110n, 'available to carol')
      await assertAvailable(wallet, 'after settlements and releases of nothing', 1000n)
      assertSame(await wallet.total(USD), 1600n, 'the total')
    },
  },
  {
    name: 'a settlement that came before its hold is no answer for good: once it is held, it settles',
    async run(makeLedger) {
      const wallet = await makeWallet(makeLedger)
      const settle = () => wallet.ledger.settle(settlementOf(1, 300n, 10n))
      await mustNotSucceed(settle(), 'a settlement before its hold')
      await mustSucceed(wallet.ledger.hold(holdOf(1, 400n)), 'the hold')
      await mustSucceed(settle(), 'the same settlement after its hold')
      await mustSucceed(settle(), 'the settlement again')
      await assertAvailable(wallet, 'after the settlement', 700n)
      assertSame([await wallet.fees(USD), await wallet.total(USD)], [10n, 1600n], 'the fees and the total')
    },
  },
  {
    name: 'neither a credit nor a settlement is refused because the payer was closed or emptied meanwhile',
    async run(makeLedger) {
      const wallet = await makeWallet(makeLedger)
      await mustSucceed(wallet.ledger.hold(holdOf(1, 400n)), 'the hold')
      await mustSucceed(wallet.ledger.hold(holdOf(2, 600n)), 'a hold of all the rest')
      await wallet.setClosed('alice', true)
      await mustSucceed(wallet.ledger.credit(creditOf(3, 400n)), 'the credit, whose counterparty alice is closed')
      await mustSucceed(wallet.ledger.settle(settlementOf(1, 400n)), 'the settlement')
      await mustSucceed(wallet.ledger.release({ id: idOf(2) }), 'the release')
      await assertAvailable(wallet, 'after the credit, the settlement and the release', 600n, 900n)
    },
  },
]
