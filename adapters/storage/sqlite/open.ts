import { thrownMessage } from '../../../src/errors/thrown-message.ts'
import { ConfigurationError } from '../../../src/index.ts'
import { shownValue } from '../../../src/protocol/shown-value.ts'
import type { SqliteHandle } from './handle.ts'

/** A connection that can be closed. */
export interface OpenedSqlite extends SqliteHandle {
  /** Closes the connection; it must not be used afterwards. */
  close(): void
}

type Constructor = new (path: string) => OpenedSqlite

function isConstructor(value: unknown): value is Constructor {
  return typeof value === 'function'
}

/** `DatabaseSync` of `node:sqlite`, if the runtime has it: Node 22.13 and later, Bun and Deno. */
export function builtInSqlite(): Constructor | undefined {
  const builtIn = typeof process === 'undefined' ? undefined : process.getBuiltinModule('node:sqlite')
  const found: unknown = builtIn === undefined ? undefined : Reflect.get(builtIn, 'DatabaseSync')
  return isConstructor(found) ? found : undefined
}

/** `Database` of the package `libsql`. Rejects with the reason if that cannot be loaded, which may be here all the same. */
async function libsql(): Promise<Constructor> {
  let cause: unknown
  try {
    const { default: found } = await import('libsql')
    if (isConstructor(found)) return found
  } catch (error) {
    cause = error
  }
  throw new Error(
    'no SQLite: this runtime has no node:sqlite (Node 22.13 and later, Bun and Deno have it); npm install libsql',
    { cause },
  )
}

/**
 * Opens a SQLite file, or `:memory:`, with the runtime's own `node:sqlite` or otherwise with the package `libsql`. Rejects
 * if there is neither, or if the file cannot be opened; with a `ConfigurationError` if the path is empty: SQLite would make a
 * database of it that is deleted when it is closed.
 */
export async function openSqlite(path: string): Promise<OpenedSqlite> {
  if (typeof path !== 'string' || path === '')
    throw new ConfigurationError(`openSqlite: the path must be that of a file, or ':memory:', not ${shownValue(path)}`)
  const Database = builtInSqlite() ?? (await libsql())
  try {
    return new Database(path)
  } catch (cause) {
    throw new Error(`SQLite cannot open ${shownValue(path)}: ${thrownMessage(cause)}`, { cause })
  }
}
