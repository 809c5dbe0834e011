import { type LedgerUnderTest, ledgerContract } from 'open-payments-server/testing'
import { expect, it } from 'vitest'
import { type Account, smallestLedger } from '../../examples/smallest-ledger.ts'
import { failingCalls, nextFailure } from '../support/next-failure.ts'

async function newWallet(): Promise<LedgerUnderTest> {
  const accounts = new Map<string, Account>()
  const books = new Map<string, bigint>()
  const failure = nextFailure()
  const booked = (kind: string, assetCode: string, assetScale: number) =>
    books.get(`${kind}:${assetCode}:${assetScale}`) ?? 0n
  const setPermissions = async (name: string, permissions: Pick<Account, 'canSend' | 'canReceive'>) => {
    const account = accounts.get(name)
    if (account === undefined) throw new Error(`there is no account ${name}`)
    Object.assign(account, permissions)
  }
  return {
    ledger: failingCalls(smallestLedger(accounts, books), failure),
    failNext: failure.failNext,
    openAccount: async (name, { assetCode, assetScale }, balance) =>
      void accounts.set(name, { assetCode, assetScale, canSend: true, canReceive: true, balance, held: 0n }),
    setClosed: (name, isClosed) => setPermissions(name, { canSend: !isClosed, canReceive: !isClosed }),
    setPermissions,
    available: async (name) => {
      const { balance, held } = accounts.get(name) ?? { balance: -1n, held: 0n }
      return balance - held
    },
    fees: async ({ assetCode, assetScale }) => booked('fees', assetCode, assetScale),
    total: async ({ assetCode, assetScale }) =>
      [...accounts.values()]
        .filter((account) => account.assetCode === assetCode && account.assetScale === assetScale)
        .reduce((sum, { balance }) => sum + balance, 0n) +
      booked('fees', assetCode, assetScale) +
      booked('clearing', assetCode, assetScale),
  }
}

it.each(ledgerContract().map((contractCase) => [contractCase.name, contractCase] as const))('%s', (_case, { run }) =>
  expect(run(newWallet)).resolves.toBeUndefined(),
)
