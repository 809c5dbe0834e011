import type { Storage } from 'open-payments-server'
import { type DoubleEntryLedger, memoryLedger } from 'open-payments-server/ledger/memory'
import { sqliteLedger } from 'open-payments-server/ledger/sqlite'
import { memoryStorage } from 'open-payments-server/storage/memory'
import { type OpenedSqlite, openSqlite, sqliteStorage } from 'open-payments-server/storage/sqlite'

/** The few texts that the sandbox itself needs again after a restart. */
export interface Notes {
  read(name: string): string | undefined
  write(name: string, text: string): void
}

/** Everything that the sandbox keeps: in one SQLite file, or in memory, where nothing survives a restart. */
export interface Database {
  readonly storage: Storage
  readonly ledger: DoubleEntryLedger
  readonly notes: Notes
  /** Whether everything is forgotten at the end. */
  readonly isVolatile: boolean
  close(): void
}

function memoryDatabase(): Database {
  const notes = new Map<string, string>()
  return {
    storage: memoryStorage(),
    ledger: memoryLedger(),
    notes: { read: (name) => notes.get(name), write: (name, text) => void notes.set(name, text) },
    isVolatile: true,
    close: () => {},
  }
}

function sqliteNotes(handle: OpenedSqlite): Notes {
  handle.exec('CREATE TABLE IF NOT EXISTS sandbox_meta (name TEXT PRIMARY KEY, text TEXT NOT NULL)')
  const read = handle.prepare('SELECT text FROM sandbox_meta WHERE name = ?')
  const write = handle.prepare('INSERT OR REPLACE INTO sandbox_meta (name, text) VALUES (?, ?)')
  return {
    read(name) {
      const row = read.get(name)
      return typeof row === 'object' && row !== null && 'text' in row ? String(row.text) : undefined
    },
    write: (name, text) => void write.run(name, text),
  }
}

/** The file if none is asked for. */
export const DEFAULT_FILE = 'open-payments-sandbox.db'

async function hasSqlite(open: typeof openSqlite): Promise<boolean> {
  try {
    const probe = await open(':memory:')
    probe.close()
    return true
  } catch {
    return false
  }
}

/**
 * Opens the database: the default file if `path` is `undefined`. Then, if there is no SQLite at all, it says so through
 * `warn` and keeps everything in memory. Without SQLite, a file that was asked for is refused: nothing would be in it.
 */
export async function openDatabase(
  path: string | undefined,
  warn: (line: string) => void,
  open = openSqlite,
): Promise<Database> {
  if (path === ':memory:') return memoryDatabase()
  if (path === undefined && !(await hasSqlite(open))) {
    warn(
      'no SQLite here (npm install libsql, or use Node 22.13 or later): everything is kept in memory and forgotten at the end',
    )
    return memoryDatabase()
  }
  const handle = await open(path ?? DEFAULT_FILE)
  return {
    storage: sqliteStorage(handle),
    ledger: sqliteLedger(handle),
    notes: sqliteNotes(handle),
    isVolatile: false,
    close: () => handle.close(),
  }
}
