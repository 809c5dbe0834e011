import type { Secrets } from '../ports/secrets.ts'
import { inOrderOfTime } from '../protocol/identifiers.ts'

/** An id for what is made at this time: 12 digits of the time in milliseconds, then 32 random ones. @spec GRT-15 */
export function freshId(secrets: Secrets, milliseconds: number): string {
  return inOrderOfTime(milliseconds) + secrets.randomId()
}
