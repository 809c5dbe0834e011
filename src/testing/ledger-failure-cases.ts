import { assertSame } from './assertions.ts'
import { assertAvailable, holdOf, type LedgerCase, type LedgerUnderTest, makeWallet, USD } from './ledger-case.ts'
import { mustAnswer, paymentsOf } from './ledger-repeat-cases.ts'

type Moment = 'before commit' | 'after commit'

const REJECTION = 'a rejection'

/** Lets the database fail once in each call, and makes the call again. */
async function failEachCall(makeLedger: () => Promise<LedgerUnderTest>, moment: Moment): Promise<void> {
  const wallet = await makeWallet(makeLedger)
  if (wallet.failNext === undefined) return
  for (const call of paymentsOf(wallet.ledger).flat()) {
    await wallet.failNext(moment)
    const answer = await call.make().catch(() => REJECTION)
    assertSame(answer, REJECTION, `${call.what}, while its database fails ${moment}`)
    const again = `${call.what}, again after its database had failed ${moment}`
    await mustAnswer({ ...call, what: again })
    await mustAnswer({ ...call, what: again })
  }
  await assertAvailable(wallet, `after calls whose database failed ${moment}`, 600n, 890n)
  assertSame([await wallet.fees(USD), await wallet.total(USD)], [10n, 1600n], 'the fees and the total')
}

/**
 * Lets the database fail once at a later commit: of the call itself where that has several, and otherwise of the same call
 * when it is made again.
 */
async function failLaterCommits(makeLedger: () => Promise<LedgerUnderTest>, moment: Moment): Promise<void> {
  const wallet = await makeWallet(makeLedger)
  if (wallet.failNext === undefined) return
  for (const skip of [1, 2]) {
    for (const { what, make, answer } of paymentsOf(wallet.ledger, 10 * skip).flat()) {
      await wallet.failNext(moment, skip)
      const answers: unknown[] = []
      for (let times = 0; times < 4; times++) answers.push(await make().catch(() => REJECTION))
      const failed = answers.indexOf(REJECTION)
      const others = answers.filter((_answer, index) => index !== failed)
      const expected = others.map(() => answer)
      assertSame(others, expected, `${what}, made four times while its database fails once, ${moment} ${skip + 1}`)
    }
  }
  // The last failure may not have happened yet: a new one, for a call without effect, replaces it.
  await wallet.failNext(moment)
  await wallet.ledger.hold(holdOf(1, 1001n)).catch(() => undefined)
  await assertAvailable(wallet, 'after calls whose database failed at their second commit or their third', 200n, 1280n)
  assertSame([await wallet.fees(USD), await wallet.total(USD)], [20n, 1600n], 'the fees and the total')
}

/** What the ledger promises of a call whose database fails. */
export const FAILURE_CASES: readonly LedgerCase[] = [
  {
    name: 'if failNext is given: a call that fails before its commit rejects, and has its one effect when it comes again',
    needs: 'failNext',
    run: (makeLedger) => failEachCall(makeLedger, 'before commit'),
  },
  {
    name: 'if failNext is given: a call that fails after its commit rejects, and has no other effect when it comes again',
    needs: 'failNext',
    run: (makeLedger) => failEachCall(makeLedger, 'after commit'),
  },
  {
    name: 'if failNext is given: a call that fails before its second or third commit has one effect when it comes again',
    needs: 'failNext',
    run: (makeLedger) => failLaterCommits(makeLedger, 'before commit'),
  },
  {
    name: 'if failNext is given: a call that fails after its second or third commit has one effect when it comes again',
    needs: 'failNext',
    run: (makeLedger) => failLaterCommits(makeLedger, 'after commit'),
  },
]
