import type { BoundStatement } from '../sql/statements.ts'
import type { Statement } from './database.ts'

/** A statement of the common SQL in PostgreSQL's form: its parameters are numbered, and text. */
export function toStatement({ sql, parameters }: BoundStatement): Statement {
  let next = 1
  const text = sql.replaceAll('?', () => `$${next++}`)
  return { text, parameters: parameters.map((cell) => (cell === null ? null : String(cell))), isRepeated: true }
}
