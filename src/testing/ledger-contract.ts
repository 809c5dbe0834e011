import type { Counterparty, Credit, Hold, Ledger, LedgerResult } from '../ports/ledger.ts'
import { type Asset, amountOf, MAX_AMOUNT_VALUE } from '../protocol/amount.ts'
import { assertSame } from './assertions.ts'

/** A ledger and what its cases need of the wallet around it. */
export interface LedgerUnderTest {
  readonly ledger: Ledger
  /** Opens an account with a balance in the smallest unit of its asset. */
  openAccount(account: string, asset: Asset, balance: bigint): Promise<void>
  /** Closes an account, or opens it again. */
  setClosed(account: string, isClosed: boolean): Promise<void>
  /** What an account may spend: its balance without what is held. */
  available(account: string): Promise<bigint>
  /** What the wallet has kept as fees. */
  fees(asset: Asset): Promise<bigint>
  /** The sum over every account of an asset: customers with what is held, fees, clearing. */
  total(asset: Asset): Promise<bigint>
}

/** One promise of the `Ledger` port. */
export interface LedgerCase {
  readonly name: string
  /** Rejects with an `Error` that says what was expected and what came, where the ledger breaks the promise. */
  run(makeLedger: () => Promise<LedgerUnderTest>): Promise<void>
}

const USD: Asset = { assetCode: 'USD', assetScale: 2 }
const FINER_USD: Asset = { assetCode: 'USD', assetScale: 4 }
const EUR: Asset = { assetCode: 'EUR', assetScale: 2 }

const LOCAL: Counterparty = { kind: 'local', account: 'bob', incomingPayment: 'incoming' }
const RAIL: Counterparty = { kind: 'rail', method: 'ilp', address: 'g.other.bob' }

function idOf(number: number): string {
  return number.toString(16).padStart(32, '0')
}

function holdOf(number: number, value: bigint, members: Partial<Hold> = {}): Hold {
  return { id: idOf(number), account: 'alice', amount: amountOf(USD, value), counterparty: LOCAL, ...members }
}

function creditOf(number: number, value: bigint, members: Partial<Credit> = {}): Credit {
  const from: Counterparty = { kind: 'local', account: 'alice', incomingPayment: 'incoming' }
  return { id: idOf(number), account: 'bob', amount: amountOf(USD, value), counterparty: from, ...members }
}

function settlementOf(number: number, value: bigint, fee = 0n) {
  return { id: idOf(number), amount: amountOf(USD, value), fee: amountOf(USD, fee) }
}

/** A wallet in which alice has 1000, bob 500 and carol 100 of one asset. */
async function makeWallet(makeLedger: () => Promise<LedgerUnderTest>): Promise<LedgerUnderTest> {
  const wallet = await makeLedger()
  await wallet.openAccount('alice', USD, 1000n)
  await wallet.openAccount('bob', USD, 500n)
  await wallet.openAccount('carol', USD, 100n)
  return wallet
}

async function mustSucceed(answer: Promise<LedgerResult>, what: string): Promise<void> {
  assertSame(await answer, { ok: true }, what)
}

async function mustRefuse(
  answer: Promise<LedgerResult>,
  reason: Extract<LedgerResult, { ok: false }>['reason'],
  what: string,
): Promise<void> {
  assertSame(await answer, { ok: false, reason }, what)
}

/** For calls that the library never makes: a ledger may refuse or reject, but must do nothing. */
async function mustNotSucceed(answer: Promise<LedgerResult>, what: string): Promise<void> {
  const isOk = await answer.then(
    ({ ok }) => ok,
    () => false,
  )
  if (isOk) throw new Error(`${what}: succeeded`)
}

async function assertAvailable(wallet: LedgerUnderTest, alice: bigint, bob = 500n): Promise<void> {
  assertSame(
    [await wallet.available('alice'), await wallet.available('bob')],
    [alice, bob],
    'available to alice and bob',
  )
}

const HOLDS: readonly LedgerCase[] = [
  {
    name: 'account tells asset and permissions, and undefined where there is none',
    async run(makeLedger) {
      const wallet = await makeWallet(makeLedger)
      const { ledger } = wallet
      assertSame({ ...(await ledger.account('alice')) }, { ...USD, canSend: true, canReceive: true }, 'alice')
      assertSame(await ledger.account('nobody'), undefined, 'nobody')
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
      await assertAvailable(wallet, 1000n)
      await mustSucceed(wallet.ledger.hold(holdOf(2, 600n)), 'a hold of a part')
      await mustRefuse(wallet.ledger.hold(holdOf(3, 401n)), 'insufficient_funds', 'a hold of more than the rest')
      await mustSucceed(wallet.ledger.hold(holdOf(4, 400n)), 'a hold of the rest')
      await assertAvailable(wallet, 0n)
      assertSame(await wallet.total(USD), 1600n, 'the total')
    },
  },
  {
    name: 'a hold that is repeated has one effect and the same answer, also at the same time and after its end',
    async run(makeLedger) {
      const wallet = await makeWallet(makeLedger)
      const { ledger } = wallet
      const answers = await Promise.all(Array.from({ length: 10 }, () => ledger.hold(holdOf(1, 400n))))
      for (const answer of answers) assertSame(answer, { ok: true }, 'a repeated hold')
      await assertAvailable(wallet, 600n)
      await mustSucceed(ledger.settle(settlementOf(1, 400n)), 'the settlement')
      await mustSucceed(ledger.hold(holdOf(1, 400n)), 'a hold repeated after its settlement')
      await mustSucceed(ledger.hold(holdOf(2, 100n)), 'another hold')
      await mustSucceed(ledger.release({ id: idOf(2) }), 'the release')
      await mustSucceed(ledger.hold(holdOf(2, 100n)), 'a hold repeated after its release')
      await assertAvailable(wallet, 600n)
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
        await mustRefuse(ledger.hold(holdOf(1, 50n, other)), 'conflict', `argument ${index}`)
      }
      await mustSucceed(ledger.hold(holdOf(2, 10n, { counterparty: RAIL })), 'a hold for a rail')
      const elsewhere = holdOf(2, 10n, { counterparty: { ...RAIL, address: 'g.other.carol' } })
      await mustRefuse(ledger.hold(elsewhere), 'conflict', 'another address of the rail')
      const { incomingPayment, account, kind } = { kind: 'local', account: 'bob', incomingPayment: 'incoming' } as const
      const reordered = holdOf(1, 50n, { counterparty: { incomingPayment, account, kind } })
      await mustSucceed(ledger.hold(reordered), 'the same counterparty, members in another order')
      await assertAvailable(wallet, 940n)
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
      await assertAvailable(wallet, 500n)
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
      await mustSucceed(wallet.ledger.hold(holdOf(2, 10n)), 'another hold')
      await mustNotSucceed(wallet.ledger.hold(holdOf(3, 10n, { account: 'nobody' })), 'a hold on no account')
      await assertAvailable(wallet, 990n)
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
      await assertAvailable(wallet, 1000n)
    },
  },
  {
    name: 'of fifty holds of a tenth, made at the same time, ten succeed',
    async run(makeLedger) {
      const wallet = await makeWallet(makeLedger)
      const holds = Array.from({ length: 50 }, (_, index) => wallet.ledger.hold(holdOf(index, 100n)))
      const answers = await Promise.all(holds)
      assertSame(answers.filter(({ ok }) => ok).length, 10, 'how many holds succeeded')
      for (const answer of answers) {
        if (!answer.ok) assertSame(answer.reason, 'insufficient_funds', 'why the others did not')
      }
      await assertAvailable(wallet, 0n)
    },
  },
]

const ENDS: readonly LedgerCase[] = [
  {
    name: 'a settlement takes its amount once and frees the rest',
    async run(makeLedger) {
      const wallet = await makeWallet(makeLedger)
      const { ledger } = wallet
      await mustSucceed(ledger.hold(holdOf(1, 400n)), 'the hold')
      const settle = () => ledger.settle(settlementOf(1, 300n))
      for (const answer of await Promise.all([settle(), settle(), settle()])) assertSame(answer, { ok: true }, 'settle')
      await mustSucceed(settle(), 'the settlement again')
      await assertAvailable(wallet, 700n)
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
      await assertAvailable(wallet, 600n)
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
      await assertAvailable(wallet, 700n)
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
      const foreign = { id: idOf(1), amount: amountOf(EUR, 400n), fee: amountOf(EUR, 0n) }
      await mustNotSucceed(ledger.settle(foreign), 'another asset')
      await assertAvailable(wallet, 600n)
      await mustSucceed(ledger.release({ id: idOf(1) }), 'the release')
      await assertAvailable(wallet, 1000n)
    },
  },
  {
    name: 'a release frees all that is held, once, and a settlement afterwards is a conflict',
    async run(makeLedger) {
      const wallet = await makeWallet(makeLedger)
      const { ledger } = wallet
      await mustSucceed(ledger.hold(holdOf(1, 400n)), 'the hold')
      await mustSucceed(ledger.hold(holdOf(2, 100n)), 'another hold')
      await mustSucceed(ledger.release({ id: idOf(1) }), 'the release')
      await mustSucceed(ledger.release({ id: idOf(1) }), 'the release again')
      await mustRefuse(ledger.settle(settlementOf(1, 400n)), 'conflict', 'a settlement after the release')
      await assertAvailable(wallet, 900n)
    },
  },
  {
    name: 'a release after a settlement is a conflict',
    async run(makeLedger) {
      const wallet = await makeWallet(makeLedger)
      await mustSucceed(wallet.ledger.hold(holdOf(1, 400n)), 'the hold')
      await mustSucceed(wallet.ledger.settle(settlementOf(1, 300n)), 'the settlement')
      await mustRefuse(wallet.ledger.release({ id: idOf(1) }), 'conflict', 'the release')
      await assertAvailable(wallet, 700n)
    },
  },
  {
    name: 'of a settlement and a release at the same time exactly one succeeds',
    async run(makeLedger) {
      const wallet = await makeWallet(makeLedger)
      let expected = 1000n
      for (let round = 0; round < 10; round++) {
        await mustSucceed(wallet.ledger.hold(holdOf(round, 10n)), 'the hold')
        const settle = () => wallet.ledger.settle(settlementOf(round, 10n))
        const release = () => wallet.ledger.release({ id: idOf(round) })
        const calls = round % 2 === 0 ? [settle, release] : [release, settle]
        const answers = await Promise.all(calls.map((call) => call()))
        assertSame(answers.filter(({ ok }) => ok).length, 1, 'how many succeeded')
        if ((await settle()).ok) expected -= 10n
      }
      await assertAvailable(wallet, expected)
      assertSame(await wallet.total(USD), 1600n, 'the total')
    },
  },
  {
    name: 'what was never held is neither settled nor released',
    async run(makeLedger) {
      const wallet = await makeWallet(makeLedger)
      await mustNotSucceed(wallet.ledger.settle(settlementOf(1, 10n)), 'a settlement')
      await mustNotSucceed(wallet.ledger.release({ id: idOf(1) }), 'a release')
      await assertAvailable(wallet, 1000n)
      assertSame(await wallet.total(USD), 1600n, 'the total')
    },
  },
  {
    name: 'a settlement is not refused because the account was closed or emptied meanwhile',
    async run(makeLedger) {
      const wallet = await makeWallet(makeLedger)
      await mustSucceed(wallet.ledger.hold(holdOf(1, 400n)), 'the hold')
      await mustSucceed(wallet.ledger.hold(holdOf(2, 600n)), 'a hold of all the rest')
      await wallet.setClosed('alice', true)
      await mustSucceed(wallet.ledger.settle(settlementOf(1, 400n)), 'the settlement')
      await mustSucceed(wallet.ledger.release({ id: idOf(2) }), 'the release')
      await assertAvailable(wallet, 600n)
    },
  },
]

const CREDITS: readonly LedgerCase[] = [
  {
    name: 'a credit that is repeated adds once, also at the same time',
    async run(makeLedger) {
      const wallet = await makeWallet(makeLedger)
      const credits = Array.from({ length: 10 }, () => wallet.ledger.credit(creditOf(1, 70n)))
      for (const answer of await Promise.all(credits)) assertSame(answer, { ok: true }, 'a repeated credit')
      await mustSucceed(wallet.ledger.credit(creditOf(1, 70n)), 'the credit again')
      await assertAvailable(wallet, 1000n, 570n)
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
        await mustRefuse(wallet.ledger.credit(creditOf(1, 70n, other)), 'conflict', `argument ${index}`)
      }
      await assertAvailable(wallet, 1000n, 570n)
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
      await mustNotSucceed(wallet.ledger.credit(creditOf(2, 70n, { account: 'nobody' })), 'a credit of no account')
      await assertAvailable(wallet, 1000n)
      assertSame(await wallet.total(USD), 1600n, 'the total')
      await mustSucceed(wallet.ledger.credit(creditOf(3, 70n)), 'another credit')
      await assertAvailable(wallet, 1000n, 570n)
    },
  },
]

const CONSERVATION: readonly LedgerCase[] = [
  {
    name: 'amounts of 64 bits are exact to the last unit',
    async run(makeLedger) {
      const wallet = await makeLedger()
      const { ledger } = wallet
      await wallet.openAccount('alice', USD, MAX_AMOUNT_VALUE)
      await wallet.openAccount('bob', USD, 0n)
      await mustSucceed(ledger.hold(holdOf(1, MAX_AMOUNT_VALUE - 1n)), 'the hold')
      await assertAvailable(wallet, 1n, 0n)
      await mustRefuse(ledger.hold(holdOf(2, 2n)), 'insufficient_funds', 'a hold of one unit more')
      await mustRefuse(ledger.hold(holdOf(1, MAX_AMOUNT_VALUE - 2n)), 'conflict', 'a hold of one unit less')
      await mustSucceed(ledger.credit(creditOf(3, MAX_AMOUNT_VALUE - 2n)), 'the credit')
      await mustSucceed(ledger.settle(settlementOf(1, MAX_AMOUNT_VALUE - 1n, 1n)), 'the settlement')
      await assertAvailable(wallet, 1n, MAX_AMOUNT_VALUE - 2n)
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
      await assertAvailable(wallet, 1000n - 5n * 30n - 10n * 10n, 500n + 5n * 28n + 10n * 10n)
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

/**
 * Everything that the `Ledger` port promises, as cases for any test runner. Each case makes a fresh, empty ledger:
 *
 * `for (const { name, run } of ledgerContract()) test(name, () => run(makeLedger))`
 */
export function ledgerContract(): readonly LedgerCase[] {
  return [...HOLDS, ...ENDS, ...CREDITS, ...CONSERVATION]
}
