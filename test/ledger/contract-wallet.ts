import type { DoubleEntryLedger } from '../../adapters/ledger/memory.ts'
import type { Ledger } from '../../src/ports/ledger.ts'
import { isSameAsset } from '../../src/protocol/amount.ts'
import type { LedgerUnderTest } from '../../src/testing/ledger-case.ts'

/** The wallet of the contract around a ledger; `called` is the ledger whose calls are tested. */
export function walletOf(books: DoubleEntryLedger, called: Ledger = books): LedgerUnderTest {
  return {
    ledger: called,
    async openAccount(account, { assetCode, assetScale }, balance) {
      await books.createAccount({ account, assetCode, assetScale, balance })
    },
    setClosed: (account, isClosed) => books.setPermissions(account, { canSend: !isClosed, canReceive: !isClosed }),
    setPermissions: books.setPermissions,
    available: async (account) => (await books.balance(account))?.available ?? -1n,
    fees: async ({ assetCode, assetScale }) => (await books.balance(`fees:${assetCode}:${assetScale}`))?.total ?? 0n,
    total: async (asset) => (await books.totals()).find((total) => isSameAsset(total, asset))?.value ?? 0n,
  }
}
