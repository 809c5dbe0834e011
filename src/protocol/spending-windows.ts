import { type Access, allowsAction, type OutgoingPaymentAccess } from './access.ts'
import type { AccessToken } from './access-token.ts'
import { type IntervalCounting, parseInterval, windowAt } from './interval.ts'

/**
 * An access entry at one moment, with the ids of its two spending records: one for the current window, one for its whole
 * life.
 */
export interface EntryWindow {
  readonly access: OutgoingPaymentAccess
  /** Absent if the entry has an interval and no window of it is current. @spec LIM-3 */
  readonly windowId?: string
  readonly lifeId: string
}

/** The outgoing-payment entries of a token that allow creation, each with its window at this moment. */
export function entryWindows(
  { access: entries, grantId }: Pick<AccessToken, 'access' | 'grantId'>,
  now: number,
  counting: IntervalCounting,
): readonly EntryWindow[] {
  return entries.flatMap((access, entry) => {
    if (!isCreateEntry(access)) return []
    const lifeId = `${grantId}:${entry}:life`
    const interval = access.limits?.interval
    if (interval === undefined) return [{ access, windowId: lifeId, lifeId }]
    const parsed = parseInterval(interval)
    const window = parsed && windowAt(parsed, now, counting)
    return [{ access, lifeId, ...(window && { windowId: `${grantId}:${entry}:${window.startsAt}` }) }]
  })
}

function isCreateEntry(access: Access): access is OutgoingPaymentAccess {
  return access.type === 'outgoing-payment' && allowsAction(access, 'create')
}

/** The ids of the records of what some entries have spent, in their windows and in their whole lives. */
export function spendingIdsOf(windows: readonly EntryWindow[]): readonly string[] {
  return [
    ...new Set(windows.flatMap(({ windowId, lifeId }) => (windowId === undefined ? [lifeId] : [windowId, lifeId]))),
  ]
}
