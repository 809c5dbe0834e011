import { isComplete, META_TABLE, type Migration, readSchemaState } from '../sql/schema.ts'
import { createRunner, inTransaction, type SqliteHandle } from './handle.ts'

const READ_STATE = 'SELECT version, readable_from FROM op_meta WHERE name = ?'

/**
 * Brings the schema `name` to the newest of `migrations`, once, however many processes start at the same time: the
 * transaction holds the row of the schema. `readableFrom` is the number of the last step that did more than add. If a
 * newer release has taken the schema further, it is left as it is. Throws if this release cannot work with that. A schema
 * that is complete is only read: a process can start, and answer reads, while another one keeps the write lock.
 */
export function migrate(
  handle: SqliteHandle,
  name: string,
  migrations: readonly Migration[],
  readableFrom: number,
): void {
  const { run, first } = createRunner(handle)
  const hasMeta = first("SELECT 1 FROM sqlite_master WHERE name = 'op_meta'", []) !== undefined
  const known = hasMeta ? first(READ_STATE, [name]) : undefined
  if (known !== undefined && isComplete(name, readSchemaState(known), migrations.length)) return
  inTransaction(handle, () => {
    handle.exec(META_TABLE)
    run('INSERT INTO op_meta (name, version, readable_from) VALUES (?, 0, 0) ON CONFLICT (name) DO NOTHING', [name])
    // Read again: another process may have taken steps meanwhile.
    const state = readSchemaState(first(READ_STATE, [name]) ?? [])
    if (isComplete(name, state, migrations.length)) return
    for (const migration of migrations.slice(state.version)) for (const sql of migration) handle.exec(sql)
    const cells = [migrations.length, readableFrom, name]
    run('UPDATE op_meta SET version = ?, readable_from = ? WHERE name = ?', cells)
  })
}
