import { isComplete, META_TABLE, type Migration, readSchemaState } from '../sql/schema.ts'
import { createRunner, inTransaction, type SqliteHandle } from './handle.ts'

/**
 * Brings the schema `name` to the newest of `migrations`, once, however many processes start at the same time: the
 * transaction holds the row of the schema. `readableFrom` is the number of the last step that did more than add. If a
 * newer release has taken the schema further, it is left as it is. Throws if this release cannot work with that.
 */
export function migrate(
  handle: SqliteHandle,
  name: string,
  migrations: readonly Migration[],
  readableFrom: number,
): void {
  const { run, first } = createRunner(handle)
  inTransaction(handle, () => {
    handle.exec(META_TABLE)
    run('INSERT INTO op_meta (name, version, readable_from) VALUES (?, 0, 0) ON CONFLICT (name) DO NOTHING', [name])
    const state = readSchemaState(first('SELECT version, readable_from FROM op_meta WHERE name = ?', [name]) ?? [])
    if (isComplete(name, state, migrations.length)) return
    for (const migration of migrations.slice(state.version)) for (const sql of migration) handle.exec(sql)
    const cells = [migrations.length, readableFrom, name]
    run('UPDATE op_meta SET version = ?, readable_from = ? WHERE name = ?', cells)
  })
}
