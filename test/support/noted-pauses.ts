import type { Clock } from 'open-payments-server'
import { turns } from './turns.ts'

/**
 * A clock whose pauses last some turns, and are noted as they begin and end: whoever only starts a pause goes on before its
 * end. Deadlines, which have a signal, are those of `clock`.
 */
export function notedPauses(clock: Clock, order: string[]): Clock {
  return {
    ...clock,
    async sleep(milliseconds, signal) {
      if (signal !== undefined) return clock.sleep(milliseconds, signal)
      order.push('pause')
      await turns(20)
      order.push('over')
    },
  }
}
