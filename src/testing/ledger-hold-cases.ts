import type { Hold } from '../ports/ledger.ts'
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
  LOCAL,
  makeWallet,
  mustAgree,
  mustNotSucceed,
  mustRefuse,
  mustSucceed,
  RAIL,
  settlementOf,
  USD,
} from './ledger-case.ts'

/** What the ledger promises of `account` and `hold`. */
export const HOLD_CASES: readonly LedgerCase[] = [
  {
    name: 'account tells asset and permissions, and nothing of an account that is unknown',
    async run(makeLedger) {
      const wallet = await makeWallet(makeLedger)
      const { ledger } = wallet
      assertSame({ ...(await ledger.account('alice')) }, { ...USD, canSend: true, canReceive: true }, 'alice')
      assertSame((await ledger.account('nobody')) ?? undefined, undefined, 'nobody')
      await wallet.setClosed('alice', true)
      const closed = await ledger.account('alice')
      assertSame([closed?.canSend ?? false, closed?.canReceive ?? false], [false, false], 'alice once closed')
    },
  },
  {
    name: 'a hold reserves all that is available, and not one unit more',
    async run(makeLedger) {
      const wallet = await makeWallet(makeLedger)
      await mustRefuse(wallet.ledger.hold(holdOf(1, 1001n)), 'insufficient_funds', 'a hold of one unit more')
      await assertAvailable(wallet, 'after the refused hold', 1000n)
      await mustSucceed(wallet.ledger.hold(holdOf(2, 600n)), 'a hold of a part')
      await mustRefuse(wallet.ledger.hold(holdOf(3, 401n)), 'insufficient_funds', 'a hold of more than the rest')
      await mustSucceed(wallet.ledger.hold(holdOf(4, 400n)), 'a hold of the rest')
      await assertAvailable(wallet, 'after a hold of the rest', 0n)
      assertSame(await wallet.total(USD), 1600n, 'the total')
    },
  },
  {
    name: 'a hold that is repeated has one effect and the same answer, also at the same time and after its end',
    async run(makeLedger) {
      const wallet = await makeWallet(makeLedger)
      const { ledger } = wallet
      await mustAgree(FIFTY, () => ledger.hold(holdOf(1, 400n)), { ok: true }, 'a repeated hold')
      await assertAvailable(wallet, 'after the hold, made fifty times', 600n)
      await mustSucceed(ledger.settle(settlementOf(1, 400n)), 'the settlement')
      await mustSucceed(ledger.hold(holdOf(1, 400n)), 'a hold repeated after its settlement')
      await mustSucceed(ledger.hold(holdOf(2, 100n)), 'another hold')
      await mustSucceed(ledger.release({ id: idOf(2) }), 'the release')
      await mustSucceed(ledger.hold(holdOf(2, 100n)), 'a hold repeated after its release')
      await assertAvailable(wallet, 'after holds repeated after their end', 600n)
    },
  },
  {
    name: 'a hold with other arguments under a known id is a conflict without effect',
    async run(makeLedger) {
      const wallet = await makeWallet(makeLedger)
      const { ledger } = wallet
      await wallet.openAccount('erin', EUR, 1000n)
      await mustSucceed(ledger.hold(holdOf(1, 50n)), 'the hold')
      const others: readonly Partial<Hold>[] = [
        { amount: amountOf(USD, 51n) },
        { amount: amountOf(USD, 49n) },
        { amount: amountOf(EUR, 50n) },
        { amount: amountOf(FINER_USD, 50n) },
        { account: 'carol' },
        { account: 'nobody' },
        { account: 'erin', amount: amountOf(EUR, 50n) },
        { counterparty: RAIL },
        { counterparty: { ...LOCAL, account: 'carol' } },
        { counterparty: { ...LOCAL, incomingPayment: 'other' } },
      ]
      for (const [index, other] of others.entries()) {
        const what = `hold ${index}, with another ${Object.keys(other).join(' and ')}`
        await mustRefuse(ledger.hold(holdOf(1, 50n, other)), 'conflict', what)
      }
      await mustSucceed(ledger.hold(holdOf(2, 10n, { counterparty: RAIL })), 'a hold for a rail')
      const elsewhere = holdOf(2, 10n, { counterparty: { ...RAIL, address: 'g.other.carol' } })
      await mustRefuse(ledger.hold(elsewhere), 'conflict', 'another address of the rail')
      await assertAvailable(wallet, 'after the holds and the conflicts', 940n)
      assertSame([await wallet.available('carol'), await wallet.available('erin')], [100n, 1000n], 'carol and erin')
    },
  },
  {
    name: 'a refusal is kept under its id, even when money has come since',
    async run(makeLedger) {
      const wallet = await makeWallet(makeLedger)
      const { ledger } = wallet
      await mustRefuse(ledger.hold(holdOf(1, 1500n)), 'insufficient_funds', 'the hold')
      await mustSucceed(ledger.credit(creditOf(2, 1000n, { account: 'alice' })), 'money for alice')
      await mustRefuse(ledger.hold(holdOf(1, 1500n)), 'insufficient_funds', 'the hold again')
      await mustRefuse(ledger.hold(holdOf(1, 1n)), 'conflict', 'another amount under the id of a refusal')
      await mustSucceed(ledger.hold(holdOf(3, 1500n)), 'a hold of the same amount under another id')
      await mustNotSucceed(ledger.settle(settlementOf(1, 1500n)), 'a settlement of the refused hold')
      await assertAvailable(wallet, 'after another hold', 500n)
    },
  },
  {
    name: 'a closed or unknown account refuses holds, and keeps that answer once it is open',
    async run(makeLedger) {
      const wallet = await makeWallet(makeLedger)
      await wallet.setClosed('alice', true)
      await mustRefuse(wallet.ledger.hold(holdOf(1, 10n)), 'account_closed', 'a hold on a closed account')
      await wallet.setClosed('alice', false)
      await mustRefuse(wallet.ledger.hold(holdOf(1, 10n)), 'account_closed', 'the same hold once the account is open')
      await mustRefuse(
        wallet.ledger.hold(holdOf(1, 11n)),
        'conflict',
        'another amount under the id of the refused hold',
      )
      await mustSucceed(wallet.ledger.hold(holdOf(2, 10n)), 'another hold')
      const unknown = () => wallet.ledger.hold(holdOf(3, 10n, { account: 'nobody' }))
      await mustRefuse(unknown(), 'account_closed', 'a hold on an account that does not exist')
      await wallet.openAccount('nobody', USD, 100n)
      await mustRefuse(unknown(), 'account_closed', 'the same hold once the account exists')
      const other = wallet.ledger.hold(holdOf(3, 11n, { account: 'nobody' }))
      await mustRefuse(other, 'conflict', 'another amount under the id of the hold that was refused as unknown')
      assertSame(await wallet.available('nobody'), 100n, 'available to who was unknown')
      await mustSucceed(wallet.ledger.hold(holdOf(4, 10n, { account: 'nobody' })), 'another hold of who was unknown')
      await assertAvailable(wallet, 'after another hold', 990n)
    },
  },
  {
    name: 'an amount in another asset or scale than the account is not allowed',
    async run(makeLedger) {
      const wallet = await makeWallet(makeLedger)
      for (const [index, asset] of [EUR, FINER_USD].entries()) {
        const amount = amountOf(asset, 1n)
        await mustRefuse(wallet.ledger.hold(holdOf(index, 1n, { amount })), 'not_allowed', 'the hold')
        await mustRefuse(wallet.ledger.credit(creditOf(index + 9, 1n, { amount })), 'not_allowed', 'the credit')
      }
      await assertAvailable(wallet, 'after what was not allowed', 1000n)
    },
  },
  {
    name: 'of fifty holds of a tenth, made at the same time, ten succeed',
    async run(makeLedger) {
      const wallet = await makeWallet(makeLedger)
      const holds = Array.from({ length: FIFTY }, (_, index) => wallet.ledger.hold(holdOf(index, 100n)))
      const answers = await Promise.all(holds)
      assertSame(answers.filter(({ ok }) => ok).length, 10, 'how many holds succeeded')
      for (const answer of answers) {
        if (!answer.ok) assertSame(answer.reason, 'insufficient_funds', 'why the others did not')
      }
      await assertAvailable(wallet, 'after fifty holds', 0n)
    },
  },
]
