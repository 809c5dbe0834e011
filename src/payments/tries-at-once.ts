import type { Context } from '../ports/context.ts'
import { backOffMilliseconds, LONGEST_BACK_OFF } from '../records/decide.ts'

/** How many times in a row a worker tries a call that gets no answer before it leaves it to `recover()`. */
export const TRIES_AT_ONCE = 3

/** The pause between two of these tries: 80 to 160 ms. */
export async function pauseBetweenTries(context: Context): Promise<void> {
  await context.clock.sleep(backOffMilliseconds(context, LONGEST_BACK_OFF))
}
