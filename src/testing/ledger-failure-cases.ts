import { assertSame } from './assertions.ts'
import { assertAvailable, type LedgerCase, type LedgerUnderTest, makeWallet, USD } from './ledger-case.ts'
import { mustAnswer, paymentsOf } from './ledger-repeat-cases.ts'

const REJECTION = 'a rejection'

/** Lets the database fail once in each call, and makes the call again. */
async function failEachCall(
  makeLedger: () => Promise<LedgerUnderTest>,
  moment: 'before commit' | 'after commit',
): Promise<void> {
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

/** What the ledger promises of a call whose database fails. */
export const FAILURE_CASES: readonly LedgerCase[] = [
  {
    name: 'if failNext is given: a call that fails before its commit rejects, and has its one effect when it comes again',
    run: (makeLedger) => failEachCall(makeLedger, 'before commit'),
  },
  {
    name: 'if failNext is given: a call that fails after its commit rejects, and has no other effect when it comes again',
    run: (makeLedger) => failEachCall(makeLedger, 'after commit'),
  },
]
