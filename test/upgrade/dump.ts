import type { Query } from './wallet-on-disk.ts'

function literal(cell: unknown): string {
  if (cell === null || typeof cell === 'number' || typeof cell === 'bigint') return String(cell)
  return `'${String(cell).replaceAll("'", "''")}'`
}

async function tablesOf(query: Query): Promise<readonly string[]> {
  const tables = await query("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name")
  return tables.map(({ name }) => String(name))
}

/** The statements that make the tables and indexes of a SQLite database. */
export async function dumpSchema(query: Query): Promise<string> {
  const made = await query('SELECT sql FROM sqlite_master WHERE sql IS NOT NULL ORDER BY type DESC, name')
  return `${made.map(({ sql }) => `${sql};`).join('\n')}\n`
}

/** The statements that fill some tables; any SQL database reads them. */
export async function dumpRows(query: Query, isWanted: (table: string) => boolean): Promise<string> {
  const statements: string[] = []
  for (const table of (await tablesOf(query)).filter(isWanted)) {
    for (const row of await query(`SELECT * FROM ${table} ORDER BY 1`)) {
      const columns = Object.keys(row)
      const cells = columns.map((column) => literal(row[column]))
      statements.push(`INSERT INTO ${table} (${columns.join(', ')}) VALUES (${cells.join(', ')});`)
    }
  }
  return `${statements.join('\n')}\n`
}
