import { amountOf } from '../protocol/amount.ts'
import { assertSame } from './assertions.ts'
import {
  assertAvailable,
  creditOf,
  EUR,
  FINER_USD,
  holdOf,
  type LedgerCase,
  LOCAL,
  makeWallet,
  mustRefuse,
  mustSucceed,
  settlementOf,
  USD,
} from './ledger-case.ts'

const BOTH = { canSend: true, canReceive: true }
const SEND_ONLY = { canSend: true, canReceive: false }
const RECEIVE_ONLY = { canSend: false, canReceive: true }

/** What the ledger promises of accounts that may do one thing and not another. */
export const PERMISSION_CASES: readonly LedgerCase[] = [
  {
    name: 'what was not allowed is kept under its id, and is a conflict with what is',
    async run(makeLedger) {
      const wallet = await makeWallet(makeLedger)
      const { ledger } = wallet
      for (const [index, asset] of [EUR, FINER_USD].entries()) {
        const [held, credited] = [index, index + 9]
        const amount = amountOf(asset, 70n)
        const hold = () => ledger.hold(holdOf(held, 70n, { amount }))
        const credit = () => ledger.credit(creditOf(credited, 70n, { amount }))
        await mustRefuse(hold(), 'not_allowed', 'a hold in another asset')
        await mustRefuse(credit(), 'not_allowed', 'a credit in another asset')
        await mustRefuse(ledger.hold(holdOf(held, 70n)), 'conflict', "the hold in the account's own asset")
        await mustRefuse(ledger.credit(creditOf(credited, 70n)), 'conflict', "the credit in the account's own asset")
        await mustRefuse(hold(), 'not_allowed', 'the first hold again')
        await mustRefuse(credit(), 'not_allowed', 'the first credit again')
      }
      await assertAvailable(wallet, 'after what was not allowed', 1000n)
    },
  },
  {
    name: 'if setPermissions is given: an account that may only send is not credited, and keeps that answer afterwards',
    needs: 'setPermissions',
    async run(makeLedger) {
      const wallet = await makeWallet(makeLedger)
      if (wallet.setPermissions === undefined) return
      const { ledger } = wallet
      const credit = () => ledger.credit(creditOf(1, 70n))
      await wallet.setPermissions('bob', SEND_ONLY)
      assertSame({ ...(await ledger.account('bob')) }, { ...USD, ...SEND_ONLY }, 'the account of bob')
      await mustRefuse(credit(), 'not_allowed', 'a credit of an account that may only send')
      // To another account: a ledger may judge the payee of a hold, too.
      const hold = holdOf(2, 30n, { account: 'bob', counterparty: { ...LOCAL, account: 'carol' } })
      await mustSucceed(ledger.hold(hold), 'a hold of an account that may only send')
      await wallet.setPermissions('bob', BOTH)
      await mustRefuse(credit(), 'not_allowed', 'the same credit, once it may receive')
      await mustSucceed(ledger.credit(creditOf(3, 10n)), 'another credit')
      await assertAvailable(wallet, 'after a hold of 30 and a credit of 10', 1000n, 480n)
    },
  },
  {
    name: 'if setPermissions is given: an account that may only receive holds nothing, and keeps that answer afterwards',
    needs: 'setPermissions',
    async run(makeLedger) {
      const wallet = await makeWallet(makeLedger)
      if (wallet.setPermissions === undefined) return
      const { ledger } = wallet
      const hold = () => ledger.hold(holdOf(1, 70n))
      await mustSucceed(ledger.hold(holdOf(2, 30n)), 'a hold of an account that may do both')
      await wallet.setPermissions('alice', RECEIVE_ONLY)
      assertSame({ ...(await ledger.account('alice')) }, { ...USD, ...RECEIVE_ONLY }, 'the account of alice')
      await mustRefuse(hold(), 'not_allowed', 'a hold of an account that may only receive')
      await mustSucceed(ledger.credit(creditOf(3, 10n, { account: 'alice' })), 'a credit of it')
      await mustSucceed(ledger.settle(settlementOf(2, 30n)), 'a settlement of what was held before')
      await wallet.setPermissions('alice', BOTH)
      await mustRefuse(hold(), 'not_allowed', 'the same hold, once it may send')
      await mustSucceed(ledger.hold(holdOf(4, 20n)), 'another hold')
      await assertAvailable(wallet, 'after a settlement of 30, a credit of 10 and a hold of 20', 960n)
    },
  },
]
