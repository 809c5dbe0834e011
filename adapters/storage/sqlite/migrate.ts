import type { Migration } from '../sql/schema.ts'
import { createRunner, inTransaction, type SqliteHandle } from './handle.ts'

/**
 * Brings the schema `name` to the newest of `migrations`, once, however many processes start at the same time: the
 * transaction holds the row of the schema. Throws where the database is newer than this release.
 */
export function migrate(handle: SqliteHandle, name: string, migrations: readonly Migration[]): void {
  const { run, first } = createRunner(handle)
  inTransaction(handle, () => {
    handle.exec('CREATE TABLE IF NOT EXISTS op_meta (name TEXT NOT NULL PRIMARY KEY, version INTEGER NOT NULL)')
    run('INSERT INTO op_meta (name, version) VALUES (?, 0) ON CONFLICT (name) DO NOTHING', [name])
    run('UPDATE op_meta SET version = version WHERE name = ?', [name])
    const version = Number(first('SELECT version FROM op_meta WHERE name = ?', [name])?.['version'])
    if (version > migrations.length) {
      throw new Error(
        `the ${name} schema of this database is version ${version}; this release knows ${migrations.length}`,
      )
    }
    for (const migration of migrations.slice(version)) for (const sql of migration) handle.exec(sql)
    run('UPDATE op_meta SET version = ? WHERE name = ?', [migrations.length, name])
  })
}
