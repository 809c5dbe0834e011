import type { Context } from '../ports/context.ts'
import type { Change } from '../ports/storage.ts'
import { conflictsOf } from './decide.ts'

/**
 * Commits changes together, except those whose records another process changed first. Returns how many it committed.
 */
export async function commitUncontested(
  { storage }: Pick<Context, 'storage'>,
  changes: readonly Change[],
): Promise<number> {
  let left = changes
  while (left.length > 0) {
    const conflicts = conflictsOf(await storage.commit(left), left)
    if (conflicts.length === 0) break
    left = left.filter((change) => !conflicts.includes(change))
  }
  return left.length
}
