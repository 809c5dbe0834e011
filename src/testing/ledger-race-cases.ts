import type { Ledger, LedgerResult } from '../ports/ledger.ts'
import { assertSame } from './assertions.ts'
import {
  assertAvailable,
  creditOf,
  FIFTY,
  holdOf,
  idOf,
  type LedgerCase,
  makeWallet,
  mustAgree,
  mustSucceed,
  settlementOf,
  succeeds,
  USD,
} from './ledger-case.ts'

const AMOUNTS: readonly bigint[] = Array.from({ length: FIFTY }, (_, index) => BigInt(index + 1))

/** Makes calls with one id and different amounts at the same time; returns the amount of the one that succeeded. */
async function raceForOne(call: (value: bigint) => Promise<LedgerResult>, what: string): Promise<bigint> {
  const answers = await Promise.all(AMOUNTS.map(call))
  const winners = AMOUNTS.filter((_value, index) => answers[index]?.ok)
  assertSame(winners.length, 1, `how many of fifty ${what} of one id succeeded`)
  const [winner = 0n] = winners
  const expectedOf = (value: bigint) => (value === winner ? { ok: true } : { ok: false, reason: 'conflict' })
  for (const [index, value] of AMOUNTS.entries()) {
    assertSame(answers[index], expectedOf(value), `the one of ${value}`)
  }
  // Two of those that lost stand for all: on a slow database every call counts.
  const [one = 0n, other = 0n] = AMOUNTS.filter((value) => value !== winner)
  for (const value of [winner, one, other])
    assertSame(await call(value), expectedOf(value), `the one of ${value}, again`)
  return winner
}

/** A payment of 10 with a fee of 1. As in a wallet, both accounts are read first. */
async function pay(ledger: Ledger, number: number, from: string, to: string): Promise<void> {
  await Promise.all([ledger.account(from), ledger.account(to)])
  await mustSucceed(ledger.hold(holdOf(number, 10n, { account: from })), `a hold for ${to}`)
  await mustSucceed(ledger.credit(creditOf(number + 1000, 9n, { account: to })), `a credit from ${from}`)
  await mustSucceed(ledger.settle(settlementOf(number, 10n, 1n)), `a settlement for ${to}`)
}

/** What the ledger promises of different calls that are made at the same time. */
export const RACE_CASES: readonly LedgerCase[] = [
  {
    name: 'of a settlement and a release at the same time exactly one succeeds, and both are answered so for ever',
    async run(makeLedger) {
      const wallet = await makeWallet(makeLedger)
      let expected = 1000n
      for (let round = 0; round < 10; round++) {
        await mustSucceed(wallet.ledger.hold(holdOf(round, 10n)), 'the hold')
        const settle = () => wallet.ledger.settle(settlementOf(round, 10n))
        const release = () => wallet.ledger.release({ id: idOf(round) })
        const calls = round % 2 === 0 ? [settle, release] : [release, settle]
        const answers = await Promise.all([...calls, ...calls, ...calls].map((call) => call()))
        const [first, second] = answers
        const isFirst = first?.ok === true
        const [done, conflict] = [{ ok: true }, { ok: false, reason: 'conflict' }]
        const outcome = isFirst ? [done, conflict] : [conflict, done]
        assertSame([first, second], outcome, 'the answers to both')
        assertSame(answers, [...outcome, ...outcome, ...outcome], 'the answers to both, three times each')
        for (const [index, call] of calls.entries()) assertSame(await call(), outcome[index], 'the answer afterwards')
        if (isFirst === (round % 2 === 0)) expected -= 10n
      }
      await assertAvailable(wallet, 'after the settlements and the releases', expected)
      assertSame(await wallet.total(USD), 1600n, 'the total')
    },
  },
  {
    name: 'of fifty calls of one id with different arguments at the same time exactly one has an effect',
    async run(makeLedger) {
      const wallet = await makeWallet(makeLedger)
      const { ledger } = wallet
      const held = await raceForOne((value) => ledger.hold(holdOf(1, value)), 'holds')
      await assertAvailable(wallet, 'after the holds', 1000n - held)
      const credited = await raceForOne((value) => ledger.credit(creditOf(2, value)), 'credits')
      await assertAvailable(wallet, 'after the credits', 1000n - held, 500n + credited)
      await mustSucceed(ledger.release({ id: idOf(1) }), 'the release')
      await mustSucceed(ledger.hold(holdOf(3, BigInt(FIFTY))), 'another hold')
      const settled = await raceForOne((value) => ledger.settle(settlementOf(3, value)), 'settlements')
      await assertAvailable(wallet, 'after the settlements', 1000n - settled, 500n + credited)
      assertSame(await wallet.total(USD), 1600n, 'the total')
    },
  },
  {
    name: 'a hold that is asked for again while money comes in has one answer for all who ask',
    async run(makeLedger) {
      const wallet = await makeWallet(makeLedger)
      const { ledger } = wallet
      for (let round = 1; round <= 5; round++) {
        const available = await wallet.available('alice')
        const hold = () => ledger.hold(holdOf(round, available + 10n))
        const before = Array.from({ length: FIFTY / 2 }, hold)
        const money = ledger.credit(creditOf(round + 1000, 10n, { account: 'alice' }))
        const answers = await Promise.all([...before, ...Array.from({ length: FIFTY / 2 }, hold)])
        await mustSucceed(money, 'money for alice')
        const [first] = answers
        const expected = first?.ok ? { ok: true } : { ok: false, reason: 'insufficient_funds' }
        for (const answer of [...answers, await hold()]) assertSame(answer, expected, 'an answer to the hold')
        await assertAvailable(wallet, `after the hold of round ${round}`, first?.ok ? 0n : available + 10n)
        if (first?.ok) await mustSucceed(ledger.release({ id: idOf(round) }), 'the release')
      }
    },
  },
  {
    name: 'a hold of all there is, or of too much, made fifty times at once, has one answer for all',
    async run(makeLedger) {
      const wallet = await makeWallet(makeLedger)
      const { ledger } = wallet
      // The refusal comes first, so that a pool has opened its connections before the holds race.
      const refused = { ok: false, reason: 'insufficient_funds' } as const
      await mustAgree(FIFTY, () => ledger.hold(holdOf(1, 1001n)), refused, 'a hold of too much')
      await mustAgree(FIFTY, () => ledger.hold(holdOf(2, 1000n)), { ok: true }, 'a hold of all there is')
      const more = () => ledger.hold(holdOf(3, 300n, { account: 'bob' }))
      await mustAgree(FIFTY, more, { ok: true }, 'a hold of more than half')
      await assertAvailable(wallet, 'after three holds, each made fifty times', 0n, 200n)
    },
  },
  {
    name: 'what a settlement takes is at no moment free for a hold, and what it leaves always is',
    async run(makeLedger) {
      const wallet = await makeWallet(makeLedger)
      const { ledger } = wallet
      for (let round = 0; round < 20; round++) {
        const account = `payer${round}`
        const first = 100 * round
        await wallet.openAccount(account, USD, 1000n)
        await mustSucceed(ledger.hold(holdOf(first, 600n, { account })), 'the hold of 600 of 1000')
        const hold = (number: number, value: bigint) => ledger.hold(holdOf(first + number, value, { account }))
        const holdMore = (number: number) => hold(number, 401n)
        const before = [1, 2, 3, 4].map(holdMore)
        const [settled, rest, ...answers] = await Promise.all([
          ledger.settle(settlementOf(first, 600n, 10n)),
          hold(5, 400n),
          ...before,
          ...[6, 7, 8, 9, 10, 11, 12].map(holdMore),
        ])
        const what = 'a hold of 401, where 400 are available before the settlement and after it'
        for (const answer of answers) assertSame(answer, { ok: false, reason: 'insufficient_funds' }, what)
        const ok = { ok: true }
        assertSame(rest, ok, 'a hold of 400, which are available before the settlement and after it')
        assertSame(settled, ok, 'the settlement')
        assertSame(await wallet.available(account), 0n, `available to ${account} after the settlement`)
      }
    },
  },
  {
    name: 'a hold that ends while the same call still runs stays ended',
    async run(makeLedger) {
      const wallet = await makeWallet(makeLedger)
      const { ledger } = wallet
      for (let round = 0; round < 10; round++) {
        const calls = Array.from({ length: 20 }, () => ledger.hold(holdOf(round, 100n)))
        await mustSucceed(Promise.race(calls), 'the first answer to the hold')
        await mustSucceed(ledger.release({ id: idOf(round) }), 'the release, while the hold is still asked for')
        for (const answer of await Promise.all(calls)) assertSame(answer, { ok: true }, 'a late answer to the hold')
        await assertAvailable(wallet, 'after the release and the late answers', 1000n)
      }
    },
  },
  {
    name: 'of holds that meet money on its way those that succeed are held, and the others are not',
    async run(makeLedger) {
      const wallet = await makeWallet(makeLedger)
      const { ledger } = wallet
      for (let round = 0; round < 20; round++) {
        const account = `payer${round}`
        const first = 100 * round
        await wallet.openAccount(account, USD, 100n)
        const hold = (number: number) => ledger.hold(holdOf(first + number, 110n, { account }))
        const before = [1, 2, 3, 4, 5, 6].map(hold)
        const [money, ...answers] = await Promise.all([
          ledger.credit(creditOf(first, 10n, { account })),
          ...before,
          ...[7, 8, 9, 10, 11, 12].map(hold),
        ])
        assertSame(money, { ok: true }, `money for ${account}`)
        const available = 110n - 110n * BigInt(answers.filter(({ ok }) => ok).length)
        assertSame(await wallet.available(account), available, `available to ${account} after the holds that succeeded`)
      }
    },
  },
  {
    name: 'payments in both directions, and of an account to itself, at the same time all come through',
    async run(makeLedger) {
      const wallet = await makeWallet(makeLedger)
      const { ledger } = wallet
      await Promise.all(
        Array.from({ length: 15 }, async (_, number) => {
          const there = pay(ledger, number, 'alice', 'bob')
          const back = pay(ledger, number + 100, 'bob', 'alice')
          await Promise.all([there, back, pay(ledger, number + 200, 'alice', 'alice')])
        }),
      )
      // Each of them costs its payer 10 and gives its payee 9.
      await assertAvailable(wallet, 'after the payments', 1000n - 15n * (10n - 9n + 1n), 500n - 15n)
      assertSame([await wallet.fees(USD), await wallet.total(USD)], [45n, 1600n], 'the fees and the total')
    },
  },
  {
    // The library gives every hold and every credit an id of its own, so whether both may have one is the ledger's
    // choice; but an answer must be true.
    name: 'a hold and a credit of one id do not pass for one another',
    async run(makeLedger) {
      const wallet = await makeWallet(makeLedger)
      const { ledger } = wallet
      await mustSucceed(ledger.hold(holdOf(1, 70n)), 'the hold')
      const credit = () => ledger.credit(creditOf(1, 70n))
      const isCredited = await succeeds(credit())
      await assertAvailable(wallet, 'after the hold and the credit of one id', 930n, isCredited ? 570n : 500n)
      assertSame(await succeeds(credit()), isCredited, 'whether the credit succeeds again')
      await mustSucceed(ledger.settle(settlementOf(1, 70n)), 'the settlement')
      const bob = isCredited ? 570n : 500n
      await assertAvailable(wallet, 'after the settlement', 930n, bob)
      await mustSucceed(ledger.credit(creditOf(2, 30n)), 'a credit')
      const isHeld = await succeeds(ledger.hold(holdOf(2, 30n)))
      const alice = isHeld ? 900n : 930n
      await assertAvailable(wallet, 'after the credit and the hold of another id', alice, bob + 30n)
      assertSame(await wallet.total(USD), 1600n, 'the total')
      await mustSucceed(ledger.hold(holdOf(3, 20n)), 'a hold')
      const isAdded = await succeeds(ledger.credit(holdOf(3, 20n)))
      const left = isAdded ? alice : alice - 20n
      await assertAvailable(wallet, 'after a hold and a credit that differ in nothing else', left, bob + 30n)
    },
  },
]
