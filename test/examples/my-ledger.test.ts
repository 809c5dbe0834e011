import { memoryLedger } from 'open-payments-server/ledger/memory' // yours instead
import { type LedgerUnderTest, ledgerContract } from 'open-payments-server/testing'
import { test } from 'vitest' // or the `test` of any other runner

/** A fresh, empty ledger, and what the cases need of the wallet around it. */
async function newWallet(): Promise<LedgerUnderTest> {
  const ledger = memoryLedger()
  return {
    ledger,
    openAccount: async (account, { assetCode, assetScale }, balance) => {
      await ledger.createAccount({ account, assetCode, assetScale, balance })
    },
    setClosed: (account, isClosed) => ledger.setPermissions(account, { canSend: !isClosed, canReceive: !isClosed }),
    setPermissions: ledger.setPermissions,
    available: async (account) => (await ledger.balance(account))?.available ?? 0n,
    fees: async ({ assetCode, assetScale }) => (await ledger.balance(`fees:${assetCode}:${assetScale}`))?.total ?? 0n,
    // Customers with what is held, fees and clearing together: what came in, whatever has been paid since.
    total: async ({ assetCode, assetScale }) => {
      const totals = await ledger.totals()
      return totals.find((total) => total.assetCode === assetCode && total.assetScale === assetScale)?.value ?? 0n
    },
  }
}

const given = await newWallet()

for (const { name, needs, run } of ledgerContract()) {
  if (needs === undefined || given[needs] !== undefined) test(name, () => run(newWallet))
  else console.log(`not tested without ${needs}: ${name}`)
}
