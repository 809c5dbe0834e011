import type { Context } from '../ports/context.ts'
import { backOffMilliseconds, LONGEST_BACK_OFF } from '../records/decide.ts'

/** How often in a row a worker tries what is not answered, before it leaves that to `recover()`. */
export const TRIES_AT_ONCE = 3

/** Waits between two of these tries, for 80 to 160 ms. */
export async function pauseBetweenTries(context: Context): Promise<void> {
  await context.clock.sleep(backOffMilliseconds(context, LONGEST_BACK_OFF))
}
