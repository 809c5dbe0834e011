import type { Ledger, LedgerResult } from '../ports/ledger.ts'
import { assertSame } from './assertions.ts'
import {
  assertAvailable,
  creditOf,
  EUR,
  holdOf,
  idOf,
  type LedgerCase,
  makeWallet,
  mustRefuse,
  mustSucceed,
  RAIL,
  settlementOf,
  USD,
} from './ledger-case.ts'

/** A call, and what it must be answered. */
export interface Call {
  readonly what: string
  readonly make: () => Promise<LedgerResult>
  readonly answer: LedgerResult
}

/**
 * The calls of three payments, in their order: one is refused, one is released, and one moves 400, of which 10 are a fee.
 * Their ids are numbered from `first` on.
 */
export function paymentsOf(ledger: Ledger, first = 1): readonly (readonly Call[])[] {
  const done: LedgerResult = { ok: true }
  const foreign = creditOf(first + 2, 390n, { amount: { ...EUR, value: 390n } })
  const refused = [
    {
      what: 'a hold of too much',
      make: () => ledger.hold(holdOf(first, 1001n)),
      answer: { ok: false, reason: 'insufficient_funds' },
    },
  ] as const
  const released = [
    { what: 'the hold', make: () => ledger.hold(holdOf(first + 1, 400n)), answer: done },
    { what: 'the refused credit', make: () => ledger.credit(foreign), answer: { ok: false, reason: 'not_allowed' } },
    { what: 'the release', make: () => ledger.release({ id: idOf(first + 1) }), answer: done },
  ] as const
  const settled = [
    { what: 'the hold', make: () => ledger.hold(holdOf(first + 3, 400n)), answer: done },
    { what: 'the credit', make: () => ledger.credit(creditOf(first + 4, 390n)), answer: done },
    { what: 'the settlement', make: () => ledger.settle(settlementOf(first + 3, 400n, 10n)), answer: done },
  ]
  return [refused, released, settled]
}

/** All orders of some things. */
function ordersOf<T>(things: readonly T[]): readonly (readonly T[])[] {
  if (things.length < 2) return [things]
  return things.flatMap((first, index) =>
    ordersOf([...things.slice(0, index), ...things.slice(index + 1)]).map((rest) => [first, ...rest]),
  )
}

/** Makes a call; rejects unless it is answered as it must be. */
export async function mustAnswer({ make, answer, what }: Call): Promise<void> {
  assertSame(await make(), answer, what)
}

/** What the ledger promises of a call that is made again. */
export const REPEAT_CASES: readonly LedgerCase[] = [
  {
    name: 'a success is kept under its id, even if the same call would be refused by now',
    async run(makeLedger) {
      const wallet = await makeWallet(makeLedger)
      const { ledger } = wallet
      await mustSucceed(ledger.hold(holdOf(1, 1000n)), 'a hold of all there is')
      await mustSucceed(ledger.hold(holdOf(1, 1000n)), 'the hold again, with nothing available')
      await mustSucceed(ledger.credit(creditOf(2, 70n)), 'the credit')
      await wallet.setClosed('alice', true)
      await wallet.setClosed('bob', true)
      await mustSucceed(ledger.hold(holdOf(1, 1000n)), 'the hold again, of an account that was closed')
      await mustSucceed(ledger.credit(creditOf(2, 70n)), 'the credit again, of an account that was closed')
      await mustSucceed(ledger.release({ id: idOf(1) }), 'the release')
      await mustSucceed(ledger.hold(holdOf(1, 1000n)), 'the hold again, after its release')
      await assertAvailable(wallet, 'after the hold that came again after its release', 1000n, 570n)
    },
  },
  {
    name: 'a call that nobody waited for is answered the same when it is made again, meanwhile and afterwards',
    async run(makeLedger) {
      const wallet = await makeWallet(makeLedger)
      const late: { readonly call: Call; readonly answer: Promise<LedgerResult> }[] = []
      for (const call of paymentsOf(wallet.ledger).flat()) {
        const answer = call.make()
        // It is looked at in the end; until then nobody handles its failure.
        answer.catch(() => undefined)
        late.push({ call, answer })
        await mustAnswer(call)
        await mustAnswer(call)
      }
      for (const { call, answer } of late) assertSame(await answer, call.answer, `the late answer to ${call.what}`)
      await assertAvailable(wallet, 'after all calls', 600n, 890n)
      assertSame([await wallet.fees(USD), await wallet.total(USD)], [10n, 1600n], 'the fees and the total')
    },
  },
  {
    name: 'every call of a payment that is over may come again, in any order, and is answered as it was',
    async run(makeLedger) {
      const wallet = await makeWallet(makeLedger)
      for (const calls of paymentsOf(wallet.ledger)) {
        for (const call of calls) await mustAnswer(call)
        for (const order of ordersOf(calls)) for (const call of order) await mustAnswer(call)
        await Promise.all([...calls, ...calls.toReversed()].map(mustAnswer))
      }
      await assertAvailable(wallet, 'after all calls in every order', 600n, 890n)
      assertSame([await wallet.fees(USD), await wallet.total(USD)], [10n, 1600n], 'the fees and the total')
    },
  },
  {
    name: 'a hold with other arguments under the id of one that has ended is a conflict without effect',
    async run(makeLedger) {
      const wallet = await makeWallet(makeLedger)
      const { ledger } = wallet
      for (const number of [1, 2]) await mustSucceed(ledger.hold(holdOf(number, 400n)), `hold ${number}`)
      await mustSucceed(ledger.release({ id: idOf(1) }), 'the release of hold 1')
      await mustSucceed(ledger.settle(settlementOf(2, 400n)), 'the settlement of hold 2')
      for (const number of [1, 2]) {
        for (const value of [399n, 401n]) {
          await mustRefuse(
            ledger.hold(holdOf(number, value)),
            'conflict',
            `a hold of ${value} after the end of ${number}`,
          )
        }
        const other = ledger.hold(holdOf(number, 400n, { counterparty: RAIL }))
        await mustRefuse(other, 'conflict', `a hold for another receiver after the end of ${number}`)
      }
      await assertAvailable(wallet, 'after all calls', 600n)
      assertSame(await wallet.total(USD), 1600n, 'the total')
    },
  },
  {
    name: 'the same arguments are the same values, in whatever order their members stand',
    async run(makeLedger) {
      const wallet = await makeWallet(makeLedger)
      const { ledger } = wallet
      const amount = { assetScale: 2, value: 50n, assetCode: 'USD' }
      await mustSucceed(ledger.hold(holdOf(1, 50n)), 'the hold')
      const payee = { incomingPayment: 'incoming', account: 'bob', kind: 'local' } as const
      const hold = { counterparty: payee, amount, account: 'alice', id: idOf(1) }
      await mustSucceed(ledger.hold(hold), 'the hold, its members in another order')
      await mustSucceed(ledger.credit(creditOf(2, 50n)), 'the credit')
      const payer = { incomingPayment: 'incoming', account: 'alice', kind: 'local' } as const
      const credit = { counterparty: payer, amount, account: 'bob', id: idOf(2) }
      await mustSucceed(ledger.credit(credit), 'the credit, its members in another order')
      await mustSucceed(ledger.settle(settlementOf(1, 50n, 5n)), 'the settlement')
      const settlement = { fee: { ...amount, value: 5n }, amount, id: idOf(1) }
      await mustSucceed(ledger.settle(settlement), 'the settlement, its members in another order')
      await assertAvailable(wallet, 'after all calls', 950n, 550n)
    },
  },
]
