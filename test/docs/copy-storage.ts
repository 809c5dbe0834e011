import type { SqliteHandle } from 'open-payments-server/storage/sqlite'
import type { Pool } from 'pg'

const TABLES = `SELECT name FROM sqlite_master WHERE type = 'table' AND name GLOB 'op_*' AND name <> 'op_meta'`

/** Copies the records into the empty tables that `postgresStorage(to)` has made. Not while a process runs. */
export async function copyStorage(from: SqliteHandle, to: Pool): Promise<void> {
  const client = await to.connect()
  try {
    await client.query('BEGIN')
    for (const { name } of from.prepare(TABLES).all() as { name: string }[]) {
      const read = from.prepare(`SELECT rowid AS place, * FROM ${name} WHERE rowid > ? ORDER BY rowid LIMIT 1000`)
      const write = `INSERT INTO ${name} SELECT * FROM json_populate_recordset(NULL::${name}, $1)`
      let last: { place: number } | undefined = { place: 0 }
      while (last !== undefined) {
        const rows = read.all(last.place) as { place: number }[]
        await client.query(write, [JSON.stringify(rows)])
        last = rows.at(-1)
      }
    }
    await client.query('COMMIT')
  } finally {
    client.release(true) // closes the connection, and undoes what is not committed
  }
}
