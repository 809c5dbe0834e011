import { answerWithin } from '../deadline/answer-within.ts'
import type { Context } from '../ports/context.ts'
import { readDue } from '../records/read-record.ts'
import type { TakenUp } from '../records/try-commit.ts'
import { leaseEnd } from './lease.ts'
import { deliverEvents, subjectOf } from './money-events.ts'
import { BATCH } from './sweep.ts'
import { type Tally, tallyOf } from './tally.ts'

/**
 * How long a call waits for the host to receive events, so that it can count them. Whatever falls due meanwhile also
 * waits.
 */
const EVENTS_MILLISECONDS = 1000

/**
 * Delivers the events that are due, for `recover()`. One run at a time, so that repeated calls do not pile more work on
 * a slow host; if a run hangs, the next one begins a lease later. If the deliveries take long, a call resolves before
 * they are done, and counts those that are.
 */
export function createEventRecovery(context: Context): () => Promise<Tally> {
  let endsAt = 0
  return async () => {
    const now = context.clock.now()
    if (now < endsAt) return tallyOf([])
    const until = leaseEnd(context, now)
    endsAt = until
    const outcomes: TakenUp[] = []
    const run = recoverEvents(context, (outcome) => outcomes.push(outcome)).finally(() => {
      if (endsAt === until) endsAt = 0
    })
    context.ongoing.keep(run)
    await answerWithin(context.clock, EVENTS_MILLISECONDS, () => run)
    return tallyOf(outcomes)
  }
}

/**
 * Delivers the events that are due, and calls `say` with what became of each. If this host does not listen, events that an
 * earlier configuration recorded are left for a process that does.
 */
async function recoverEvents(context: Context, say: (outcome: TakenUp) => void): Promise<void> {
  if (context.deliverEvent === undefined) return
  const due = await readDue(context.storage, 'event', context.clock.now(), BATCH)
  const subjects = due.map(({ value }) => subjectOf(value.id))
  const deliveries = [...new Set(subjects)].map(async (id) => {
    const own = due.filter((_, index) => subjects[index] === id)
    const outcome = await deliverEvents(context, id, { due: own })
    for (const _ of own) say(outcome)
  })
  await Promise.all(deliveries)
}
