import type { Context } from '../ports/context.ts'
import { answerWithin } from '../records/deadline.ts'
import { recordsOfKind } from '../records/read-record.ts'
import { deliverEvents, subjectOf } from './notify.ts'
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
 * they are done, and counts none of them.
 */
export function createEventRecovery(context: Context): () => Promise<Tally> {
  let endsAt = 0
  return async () => {
    const now = context.clock.now()
    if (now < endsAt) return tallyOf([])
    const until = now + context.limits.leaseSeconds * 1000
    endsAt = until
    const run = recoverEvents(context).finally(() => {
      if (endsAt === until) endsAt = 0
    })
    context.ongoing.keep(run)
    const told = await answerWithin(context.clock, EVENTS_MILLISECONDS, () => run)
    return told === 'late' ? tallyOf([]) : told
  }
}

/** If this host does not listen, events that an earlier configuration recorded are left for a process that does. */
async function recoverEvents(context: Context): Promise<Tally> {
  if (context.deliverEvent === undefined) return tallyOf([])
  const due = recordsOfKind(await context.storage.due('event', context.clock.now(), BATCH), 'event')
  const subjects = due.map(({ value }) => subjectOf(value.id))
  const told = [...new Set(subjects)].map(
    async (id) => [id, await deliverEvents(context, id, { onlyDue: true })] as const,
  )
  const outcomes = new Map(await Promise.all(told))
  return tallyOf(subjects.flatMap((id) => outcomes.get(id) ?? []))
}
