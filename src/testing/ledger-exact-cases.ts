import type { Counterparty, Ledger } from '../ports/ledger.ts'
import { type Asset, amountOf, MAX_AMOUNT_VALUE } from '../protocol/amount.ts'
import { assertSame } from './assertions.ts'
import {
  assertAvailable,
  creditOf,
  FINER_USD,
  holdOf,
  idOf,
  type LedgerCase,
  LOCAL,
  makeWallet,
  mustNotSucceed,
  mustRefuse,
  mustSucceed,
  RAIL,
  settlementOf,
  USD,
} from './ledger-case.ts'

/** Balances that a JavaScript `Number` takes for one unit more: where its whole numbers end, and the largest of all. */
const BALANCES: readonly (readonly [string, bigint])[] = [
  ['alice', 2n ** 53n],
  ['bob', MAX_AMOUNT_VALUE - 1n],
]

const LARGEST_ID = 'f'.repeat(32)

/** The largest id with another digit at some places: first and last, and next to where 64, 53 and 32 bits end. */
function idsWith(digit: string): readonly string[] {
  return [0, 15, 16, 18, 19, 23, 24, 31].map((at) => `${LARGEST_ID.slice(0, at)}${digit}${LARGEST_ID.slice(at + 1)}`)
}

const LONG_NAME = 'a'.repeat(64)

/** Names that databases take for one another or for "alice": padded, with accents, with what is not seen, numbers, or cut. */
const NAMES: readonly string[] = [
  ...['alice ', ' alice', 'alice\t', 'alice\u200b', 'alic\u00e9', 'alice\u0301', 'alice\u{1f600}', 'alice\u{1f601}'],
  ...['7', '007', '7.0', '10', '1e1', `${LONG_NAME}1`, `${LONG_NAME}2`],
]

/** Assets whose codes begin alike, or differ in case from one that is there; the longest there are. One has no decimals. */
const ASSETS: readonly Asset[] = [
  ...['usd', 'USDCOIN12345', 'USDCOIN12346'].map((assetCode) => ({ assetCode, assetScale: 2 })),
  { assetCode: 'JPY', assetScale: 0 },
]

/** A text of so many characters. */
function longText(length: number, begin: string, end: string): string {
  return begin.padEnd(length - end.length, 'x') + end
}

/** A receiver elsewhere whose names are the longest there are. */
function longRail(address: string, walletAddress: string): Extract<Counterparty, { kind: 'rail' }> {
  return {
    ...RAIL,
    address: longText(1023, 'g.other.', address),
    walletAddress: longText(2048, 'https://other-wallet.example/', walletAddress),
  }
}

/** The account of a peer, which a credit names instead. The longest that `ilp` makes. */
function longPeer(end: string): Extract<Counterparty, { kind: 'rail' }> {
  const { kind, method } = RAIL
  return { kind, method, address: longText(977, 'g.other.', end) }
}

/** Accounts of the ledger whose names are nearly the same. */
const ALIKE: readonly string[] = ['alic\u00e9', 'alice\u0301', 'alic\u00c9', 'alice']

/** A counterparty, and some that are nearly the same. */
type Alike = readonly [Counterparty, readonly Counterparty[]]

const [LOCAL_ONE = LOCAL, ...LOCAL_OTHERS] = ALIKE.map((account) => ({ ...LOCAL, account }))
const PAYEES: readonly Alike[] = [
  [
    longRail('a', 'a'),
    [longRail('b', 'a'), longRail('a', 'b'), longRail('a', 'A'), { ...longRail('a', 'a'), method: 'other' }],
  ],
  [LOCAL_ONE, LOCAL_OTHERS],
]
const PAYERS: readonly Alike[] = [
  [longPeer('a'), [longPeer('b'), longPeer('A'), { ...longPeer('a'), method: 'other' }]],
  [LOCAL_ONE, LOCAL_OTHERS],
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
    name: 'an asset is its code and its scale: fees and clearing of one code and two scales are kept apart',
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
      const credit = creditOf(9, 3n, { account: 'dora', amount: amountOf(FINER_USD, 3n) })
      await mustSucceed(wallet.ledger.credit(credit), 'a credit of dora')
      const totals = [await wallet.total(USD), await wallet.total(FINER_USD)]
      assertSame(totals, [1600n, 5_000_000n], 'the totals of both after a credit of dora')
      assertSame(await wallet.available('dora'), 1_000_003n, 'available to dora after the credit')
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
  {
    name: 'names that differ in an accent, in what is not seen, as numbers do or after 64 characters are of different accounts',
    async run(makeLedger) {
      const wallet = await makeWallet(makeLedger)
      const { ledger } = wallet
      for (const [index, account] of NAMES.entries()) {
        const what = `the account ${JSON.stringify(account)} before it is opened`
        assertSame((await ledger.account(account)) ?? undefined, undefined, what)
        await wallet.openAccount(account, USD, BigInt(index))
        await mustSucceed(ledger.credit(creditOf(index, 70n, { account })), `a credit of ${JSON.stringify(account)}`)
      }
      for (const [index, account] of NAMES.entries()) {
        const what = `available to ${JSON.stringify(account)}`
        assertSame(await wallet.available(account), BigInt(index) + 70n, what)
      }
      await assertAvailable(wallet, 'after credits of others', 1000n)
      for (const account of ['constructor', '__proto__']) {
        const what = `the account ${account}, which nobody has opened`
        assertSame((await ledger.account(account)) ?? undefined, undefined, what)
      }
    },
  },
  {
    name: 'ids of 128 bits that differ in one digit are not taken for one another',
    async run(makeLedger) {
      const wallet = await makeWallet(makeLedger)
      const { ledger } = wallet
      const held = [LARGEST_ID, ...idsWith('e')]
      // An amount of its own for each, so that ids which are taken for one another come to a conflict.
      for (const [index, id] of held.entries()) {
        await mustSucceed(ledger.hold(holdOf(1, BigInt(index + 1), { id })), `the hold ${id}`)
      }
      await assertAvailable(wallet, 'after holds of 1 to 9', 955n)
      for (const id of held) await mustSucceed(ledger.release({ id }), `the release of ${id}`)
      await assertAvailable(wallet, 'after their release', 1000n)
      for (const [index, id] of idsWith('d').entries()) {
        await mustSucceed(ledger.credit(creditOf(1, BigInt(index + 1), { id })), `the credit ${id}`)
      }
      await assertAvailable(wallet, 'after credits of 1 to 8', 1000n, 536n)
    },
  },
  {
    name: 'balances, fees and clearing go beyond 64 bits, and are exact there',
    async run(makeLedger) {
      const wallet = await makeLedger()
      const { ledger } = wallet
      const account = 'bob'
      await wallet.openAccount('alice', USD, MAX_AMOUNT_VALUE)
      await wallet.openAccount('bob', USD, 0n)
      for (let number = 1; number <= 6; number++) {
        await mustSucceed(ledger.credit(creditOf(number, MAX_AMOUNT_VALUE)), `credit ${number} of the largest amount`)
      }
      const odd = 2n ** 53n + 1n
      await mustSucceed(ledger.credit(creditOf(7, odd)), `a credit of ${odd}`)
      const sum = 6n * MAX_AMOUNT_VALUE + odd
      await assertAvailable(wallet, 'after the credits', MAX_AMOUNT_VALUE, sum)
      assertSame(await wallet.total(USD), MAX_AMOUNT_VALUE, 'the total after the credits')
      // A fee beyond 32 bits, one that is all of its amount, and one that is too large for any signed number of 64 bits.
      const settlements = [
        [2n ** 32n, 2n ** 31n],
        [odd, odd],
        [MAX_AMOUNT_VALUE, 2n ** 63n + 1n],
      ] as const
      for (const [index, [value, fee]] of settlements.entries()) {
        await mustSucceed(ledger.hold(holdOf(index + 8, value, { account })), `a hold of ${value}`)
        const what = `a settlement of ${value} with a fee of ${fee}`
        await mustSucceed(ledger.settle(settlementOf(index + 8, value, fee)), what)
      }
      await assertAvailable(wallet, 'after the settlements', MAX_AMOUNT_VALUE, sum - 2n ** 32n - odd - MAX_AMOUNT_VALUE)
      assertSame(await wallet.fees(USD), 2n ** 31n + odd + 2n ** 63n + 1n, 'the fees')
      assertSame(await wallet.total(USD), MAX_AMOUNT_VALUE, 'the total')
    },
  },
  {
    name: 'what is held of an account, fees and positive clearing go beyond 64 bits, and are exact there',
    async run(makeLedger) {
      const wallet = await makeLedger()
      const { ledger } = wallet
      const account = 'bob'
      const most = MAX_AMOUNT_VALUE
      await wallet.openAccount('bob', USD, most)
      await wallet.openAccount('alice', USD, 0n)
      for (const number of [1, 2, 3]) await mustSucceed(ledger.credit(creditOf(number, most)), 'a credit')
      for (const number of [4, 5, 6]) await mustSucceed(ledger.hold(holdOf(number, most, { account })), 'a hold')
      assertSame(await wallet.available('bob'), most, 'available to bob while three times that is held')
      await mustSucceed(ledger.hold(holdOf(7, most - 1n, { account })), 'a hold of all that is left but one unit')
      await mustRefuse(ledger.hold(holdOf(8, 2n, { account })), 'insufficient_funds', 'a hold of one unit more')
      for (const number of [4, 5]) await mustSucceed(ledger.settle(settlementOf(number, most, most)), 'a fee of all')
      await mustSucceed(ledger.settle(settlementOf(6, most)), 'a settlement without a fee')
      await mustSucceed(ledger.release({ id: idOf(7) }), 'the release')
      assertSame([await wallet.available('bob'), await wallet.fees(USD)], [most, 2n * most], 'available, and the fees')
      // Three were credited and one has left without being credited: four more turn clearing into twice the largest amount.
      for (const number of [11, 12, 13, 14]) {
        await wallet.openAccount(`payer${number}`, USD, most)
        await mustSucceed(ledger.hold(holdOf(number, most, { account: `payer${number}` })), 'a hold of a payer')
        await mustSucceed(ledger.settle(settlementOf(number, most)), 'a settlement of a payer')
      }
      assertSame(await wallet.total(USD), 5n * most, 'the total')
    },
  },
  {
    name: 'the longest counterparties there are, and those that differ in one character, are told apart',
    async run(makeLedger) {
      const wallet = await makeWallet(makeLedger)
      const { ledger } = wallet
      for (const account of ALIKE) if (account !== 'alice') await wallet.openAccount(account, USD, 0n)
      const tell = async (
        call: (counterparty: Counterparty) => ReturnType<Ledger['hold']>,
        alike: Alike,
        what: string,
      ) => {
        const [counterparty, others] = alike
        await mustSucceed(call(counterparty), what)
        await mustSucceed(call(counterparty), `${what} again`)
        for (const [index, other] of others.entries())
          await mustRefuse(call(other), 'conflict', `${what} with counterparty ${index} that is alike`)
      }
      for (const [number, alike] of PAYEES.entries())
        await tell((to) => ledger.hold(holdOf(number, 10n, { counterparty: to })), alike, `hold ${number}`)
      for (const [number, alike] of PAYERS.entries())
        await tell(
          (from) => ledger.credit(creditOf(number + 10, 10n, { counterparty: from })),
          alike,
          `credit ${number}`,
        )
      await assertAvailable(wallet, 'after two holds and two credits of 10', 980n, 520n)
    },
  },
  {
    name: 'assets whose codes differ in case or after eleven characters, or whose scale is 0, are assets of their own',
    async run(makeLedger) {
      const wallet = await makeWallet(makeLedger)
      const { ledger } = wallet
      for (const [index, asset] of ASSETS.entries()) {
        const { assetCode } = asset
        const account = `holder${index}`
        const amount = amountOf(asset, 10n)
        const [foreign, other, held] = [10 * index, 10 * index + 1, 10 * index + 2]
        await wallet.openAccount(account, asset, 1000n)
        const opened = { ...asset, canSend: true, canReceive: true }
        assertSame({ ...(await ledger.account(account)) }, opened, `the account ${account}`)
        await mustRefuse(ledger.hold(holdOf(foreign, 10n, { account })), 'not_allowed', `USD of ${account}`)
        await mustRefuse(ledger.hold(holdOf(other, 10n, { amount })), 'not_allowed', `${assetCode} of alice`)
        await mustSucceed(ledger.hold(holdOf(held, 10n, { account, amount })), `a hold of ${assetCode}`)
        const settled = ledger.settle({ id: idOf(held), amount, fee: amountOf(asset, 3n) })
        await mustSucceed(settled, `a settlement of ${assetCode}`)
        const sums = [await wallet.fees(asset), await wallet.fees(USD), await wallet.total(asset)]
        assertSame(sums, [3n, 0n, 1000n], `the fees in ${assetCode} and in USD, and the total of ${assetCode}`)
      }
      assertSame(await wallet.total(USD), 1600n, 'the total of USD')
    },
  },
]
