import type { Books } from './books.ts'
import { readRecords, tableOf } from './books.ts'
import { ACCOUNTS, ASSETS } from './wallet-process/accounts.ts'
import { openSqliteStores, type SqlitePlace } from './wallet-process/sqlite-stores.ts'

const INTERNAL = ASSETS.flatMap(({ assetCode, assetScale }) =>
  ['fees', 'clearing'].map((kind) => `${kind}:${assetCode}:${assetScale}`),
)

/** The books of a wallet on SQLite, with the ledger of the package. */
export async function openSqliteBooks(place: SqlitePlace): Promise<Books> {
  const { storage, ledger, records, money, close } = await openSqliteStores(place)
  for (const account of ACCOUNTS) await ledger.createAccount(account)
  const names = [...ACCOUNTS.map(({ account }) => account), ...INTERNAL]
  return {
    storage,
    ledger,
    records: async (kind) => {
      const rows = records.prepare(`SELECT id FROM ${tableOf(kind)}`).all()
      return readRecords(
        storage,
        kind,
        rows.map((row) => String(Reflect.get(Object(row), 'id'))),
      )
    },
    balances: async () => {
      // The ledger reads as it is called, so all of it reads what one transaction sees.
      money.exec('BEGIN')
      const reading = names.map(async (account) => ({ account, balance: await ledger.balance(account) }))
      money.exec('COMMIT')
      const found = await Promise.all(reading)
      return found.flatMap(({ account, balance }) => (balance === undefined ? [] : [{ account, ...balance }]))
    },
    lines: async () => {
      const entries = await Promise.all(names.map((account) => ledger.entries(account)))
      return entries.flat().filter(({ transfer }) => !transfer.startsWith('opening:'))
    },
    setOpen: (account, isOpen) => ledger.setPermissions(account, { canSend: isOpen, canReceive: isOpen }),
    close: async () => close(),
  }
}
