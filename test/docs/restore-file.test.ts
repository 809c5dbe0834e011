import { cpSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type SqliteHandle, sqliteLedger } from 'open-payments-server/ledger/sqlite'
import { openSqlite, sqliteStorage } from 'open-payments-server/storage/sqlite'
import { describe, expect, it, onTestFinished } from 'vitest'

// What docs/production.md says of putting the backup of an SQLite file where the file of a killed process is.

const [FILE, BACKUP] = ['wallet.db', 'backup.db']

/** How many accounts the backup has. */
const EARLY = 100

/** Opens accounts in the ledger, and keeps a claim beside each. */
async function fill(handle: SqliteHandle, count: number, name: string): Promise<void> {
  const [ledger, storage] = [sqliteLedger(handle), sqliteStorage(handle)]
  for (let number = 0; number < count; number++) {
    const account = `${name}-${number}`
    await ledger.createAccount({ account, assetCode: 'USD', assetScale: 2, balance: 100n })
    await storage.commit([{ action: 'insert', kind: 'replay-claim', value: { id: account, expiresAt: 1 } }])
  }
}

/** The folder that a process leaves that is killed after `later` more accounts than its backup has. */
async function killed(later: number): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'killed-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const [alive, left] = [join(folder, 'alive'), join(folder, 'left')]
  mkdirSync(alive)
  const handle = await openSqlite(join(alive, FILE))
  await fill(handle, EARLY, 'early')
  handle.exec(`VACUUM INTO '${join(alive, BACKUP)}'`)
  await fill(handle, later, 'late')
  // A kill leaves the files as they are; an end of the handle would write the log into the database.
  cpSync(alive, left, { recursive: true })
  handle.close()
  expect(readdirSync(left).toSorted()).toEqual([BACKUP, FILE, `${FILE}-shm`, `${FILE}-wal`])
  return left
}

function copyBackup(folder: string): void {
  cpSync(join(folder, BACKUP), join(folder, FILE))
}

/** Where the old files are kept. */
function moveAway(folder: string): string {
  const kept = join(folder, 'kept')
  mkdirSync(kept)
  for (const name of readdirSync(folder)) {
    if (name === FILE || name.startsWith(`${FILE}-`)) renameSync(join(folder, name), join(kept, name))
  }
  return kept
}

/** What SQLite finds wrong in a file, and how many accounts and claims there are. */
async function stateOf(folder: string): Promise<readonly unknown[]> {
  const handle = await openSqlite(join(folder, FILE))
  onTestFinished(() => handle.close())
  sqliteLedger(handle)
  sqliteStorage(handle)
  const counts = handle.prepare(
    'SELECT (SELECT count(*) FROM ledger_account) AS accounts, (SELECT count(*) FROM op_replay_claim) AS claims',
  )
  return [handle.prepare('PRAGMA integrity_check(1)').get(), counts.get()]
}

function whole(count: number): readonly unknown[] {
  return [{ integrity_check: 'ok' }, { accounts: count, claims: count }]
}

describe.each([3, 100])('a process that is killed %i accounts after its backup', (later) => {
  it('leaves what its backup replaces, if its files are moved away together', async () => {
    const folder = await killed(later)
    const kept = moveAway(folder)
    copyBackup(folder)
    expect(await stateOf(folder)).toMatchObject(whole(EARLY))
    expect(await stateOf(kept)).toMatchObject(whole(EARLY + later))
  })

  it('leaves a log that is written over its backup, if only that is copied', async () => {
    const folder = await killed(later)
    copyBackup(folder)
    const found = await stateOf(folder).catch(String)
    expect(found).not.toMatchObject(whole(EARLY))
  })
})
