import * as v from 'valibot'
import { type Access, AccessList, allowsAction, identifierOf, limitsOf } from './access.ts'
import { isSameAsset, storedAmount, type WireAmount } from './amount.ts'
import type { WireLimits } from './limits.ts'

/**
 * Reads the access that a resource owner grants: each entry must be equal to or narrower than a requested one, and no
 * two may use the same one. `undefined` if it is malformed or exceeds that. It may be empty, which grants no access.
 * @spec GRT-13
 */
export function parseGrantedAccess(asked: readonly Access[], given: unknown): readonly Access[] | undefined {
  const parsed = v.safeParse(AccessList, given, { abortEarly: true })
  return parsed.success && isCovered(asked, parsed.output) ? parsed.output : undefined
}

/**
 * Whether each entry can be given a requested one to itself: two that narrow the same one would get its budget twice.
 */
function isCovered(asked: readonly Access[], [first, ...others]: readonly Access[]): boolean {
  if (first === undefined) return true
  return asked.some((entry, at) => isNarrower(entry, first) && isCovered(asked.toSpliced(at, 1), others))
}

/** Whether the requested entry allows everything that the given one allows. @spec GRT-13 */
export function isNarrower(asked: Access, given: Access): boolean {
  return (
    given.type === asked.type &&
    identifierOf(given) === identifierOf(asked) &&
    given.actions.every((action) => allowsAction(asked, action)) &&
    hasNarrowerLimits(limitsOf(asked) ?? {}, limitsOf(given) ?? {})
  )
}

function hasNarrowerLimits(asked: WireLimits, given: WireLimits): boolean {
  // Without an interval, an amount limits the whole life of the grant; the same amount in each window would be more.
  const isTimed = (asked.interval ?? asked.debitAmount ?? asked.receiveAmount) !== undefined
  return (
    (asked.receiver === undefined || given.receiver === asked.receiver) &&
    (!isTimed || given.interval === asked.interval) &&
    isAtMost(asked.debitAmount, given.debitAmount) &&
    isAtMost(asked.receiveAmount, given.receiveAmount)
  )
}

function isAtMost(asked: WireAmount | undefined, given: WireAmount | undefined): boolean {
  if (asked === undefined) return true
  return given !== undefined && isSameAsset(asked, given) && storedAmount(given.value) <= storedAmount(asked.value)
}
