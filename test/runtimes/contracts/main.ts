import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import process from 'node:process'
import { sqliteLedger } from 'open-payments-server/ledger/sqlite'
import { sqliteStorage } from 'open-payments-server/storage/sqlite'
import { ledgerContract, storageContract } from 'open-payments-server/testing'
import { walletOf } from '../../ledger/contract-wallet.ts'
import { openHandle, type SqliteFile } from '../wallet/places.ts'

// A process that runs the contracts of storages and of ledgers with a driver of SQLite, each case on a file of its own in a
// folder. It prints the name of each and what broke it, if anything did, as a line of JSON.

const { driver, folder }: { driver: SqliteFile['driver']; folder: string } = JSON.parse(process.argv[2] ?? '')
const open = () => openHandle({ driver, file: join(folder, `${randomUUID()}.db`) })
const storages = storageContract().map((one) => ({
  ...one,
  run: () => one.run(async () => sqliteStorage(await open())),
}))
const ledgers = ledgerContract().map((one) => ({
  ...one,
  run: () => one.run(async () => walletOf(sqliteLedger(await open()))),
}))
for (const { name, needs, run } of [...storages, ...ledgers]) {
  if (needs !== undefined) continue
  const end = await run().catch((error: Error) => error.stack ?? error.message)
  process.stdout.write(`${JSON.stringify([name, ...(end === undefined ? [] : [end])])}\n`)
}
