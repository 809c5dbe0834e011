import type { Context } from '../ports/context.ts'
import { answerBefore } from '../records/deadline.ts'
import { recordsOfKind } from '../records/read-record.ts'
import { deliverEvents, subjectOf } from './notify.ts'
import { BATCH } from './sweep.ts'
import { type Tally, tallyOf } from './tally.ts'

/** How long a call waits for the host to hear of events, which it then has counted: what falls due meanwhile waits as long. */
const EVENTS_MILLISECONDS = 1000

/**
 * Tells the host of events that are due, for `recover()`. One run at a time: a slow host is not asked for more by each call.
 * If a run hangs, the next one begins a lease later. A call resolves before the host has heard of all of them if that takes
 * long, and then counts none.
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
    const told = await answerBefore(context.clock, EVENTS_MILLISECONDS, () => run)
    return told === 'late' ? tallyOf([]) : told
  }
}

/** If nobody listens they are left: events recorded by an earlier configuration wait for a process that does. */
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
