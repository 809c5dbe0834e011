import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll } from 'vitest'
import { type OpenedSqlite, openSqlite } from '../../adapters/storage/sqlite.ts'

/** Opens databases and closes them at the end of the file, where their files are removed. */
export interface SqliteDatabases {
  /** Opens a file, or a database in memory. */
  open(path?: string): Promise<OpenedSqlite>
  /** The path of a file that is not there yet. */
  newFile(): string
  /** Takes what was opened otherwise, to close it as well. */
  readonly opened: OpenedSqlite[]
}

/** To be called once at the top of a file of tests. */
export function useSqlite(): SqliteDatabases {
  const folder = mkdtempSync(join(tmpdir(), 'sqlite-'))
  const opened: OpenedSqlite[] = []
  let files = 0
  afterAll(() => {
    for (const handle of opened) handle.close()
    rmSync(folder, { recursive: true })
  })
  return {
    async open(path = ':memory:') {
      const handle = await openSqlite(path)
      opened.push(handle)
      return handle
    },
    newFile: () => join(folder, `${++files}.db`),
    opened,
  }
}
