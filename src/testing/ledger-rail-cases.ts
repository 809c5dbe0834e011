import { assertSame } from './assertions.ts'
import {
  assertAvailable,
  creditOf,
  holdOf,
  idOf,
  type LedgerCase,
  makeWallet,
  mustAgree,
  mustRefuse,
  mustSucceed,
  RAIL,
  settlementOf,
  USD,
} from './ledger-case.ts'

const TO = { counterparty: RAIL }
const PEER = { kind: 'rail', method: 'ilp', address: 'g.other-wallet/USD/2' } as const
const FROM = { counterparty: PEER }

/** What the ledger promises of money for other wallets, and from them: the same as of money that stays here. */
export const RAIL_CASES: readonly LedgerCase[] = [
  {
    name: 'money for another wallet is held, settled and released as money for an account here is',
    async run(makeLedger) {
      const wallet = await makeWallet(makeLedger)
      const { ledger } = wallet
      const tooMuch = () => ledger.hold(holdOf(1, 1001n, TO))
      await mustRefuse(tooMuch(), 'insufficient_funds', 'a hold of more than there is')
      await mustSucceed(ledger.hold(holdOf(2, 400n, TO)), 'the hold of 400')
      await mustSucceed(ledger.hold(holdOf(3, 300n, TO)), 'the hold of 300')
      await mustRefuse(ledger.hold(holdOf(4, 301n, TO)), 'insufficient_funds', 'a hold of more than is left')
      await mustSucceed(ledger.settle(settlementOf(2, 100n, 10n)), 'the settlement of 100 of 400')
      await assertAvailable(wallet, 'after the settlement', 600n)
      await mustSucceed(ledger.release({ id: idOf(3) }), 'the release of 300')
      await assertAvailable(wallet, 'after the release', 900n)
      assertSame([await wallet.fees(USD), await wallet.total(USD)], [10n, 1600n], 'the fees and the total')
      await mustSucceed(ledger.credit(creditOf(5, 1000n, { account: 'alice' })), 'money for alice')
      await mustRefuse(tooMuch(), 'insufficient_funds', 'the refused hold again, now that there is enough')
      await assertAvailable(wallet, 'after the refused hold', 1900n)
      const payee = { ...RAIL, walletAddress: 'https://other-wallet.example/bob' } as const
      const toPayee = () => ledger.hold(holdOf(6, 50n, { counterparty: payee }))
      await mustSucceed(toPayee(), 'a hold that names the wallet address of the payee')
      await mustSucceed(toPayee(), 'the same hold again')
      const others = { another: { ...payee, walletAddress: 'https://other-wallet.example/bobby' }, no: RAIL }
      for (const [which, counterparty] of Object.entries(others)) {
        const other = ledger.hold(holdOf(6, 50n, { counterparty }))
        await mustRefuse(other, 'conflict', `the hold with ${which} wallet address`)
      }
      await assertAvailable(wallet, 'after the hold for a wallet address', 1850n)
    },
  },
  {
    name: 'money from another wallet is credited and refused as money of an account here is',
    async run(makeLedger) {
      const wallet = await makeWallet(makeLedger)
      const { ledger } = wallet
      await mustAgree(5, () => ledger.credit(creditOf(1, 70n, FROM)), { ok: true }, 'a credit, five times at once')
      await mustSucceed(ledger.credit(creditOf(1, 70n, FROM)), 'the credit again')
      await assertAvailable(wallet, 'after the credit', 1000n, 570n)
      for (const other of [{ method: 'other' }, { address: 'g.third-wallet/USD/2' }]) {
        const credit = ledger.credit(creditOf(1, 70n, { counterparty: { ...PEER, ...other } }))
        await mustRefuse(credit, 'conflict', `the credit with another ${Object.keys(other).join()}`)
      }
      const toClosed = () => ledger.credit(creditOf(2, 70n, FROM))
      await wallet.setClosed('bob', true)
      await mustRefuse(toClosed(), 'account_closed', 'a credit of a closed account')
      await wallet.setClosed('bob', false)
      await mustRefuse(toClosed(), 'account_closed', 'the same credit once the account is open')
      await mustSucceed(ledger.credit(creditOf(3, 30n, FROM)), 'another credit')
      await assertAvailable(wallet, 'after another credit', 1000n, 600n)
      assertSame(await wallet.total(USD), 1600n, 'the total')
    },
  },
]
