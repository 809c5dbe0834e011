import * as v from 'valibot'
import { type Asset, isSameAsset } from './amount.ts'
import { type IntervalCounting, parseInterval, windowCount } from './interval.ts'
import { Limits, type WireLimits } from './limits.ts'
import { UrlText } from './url-text.ts'

/** What a right lets a client do; `read-all` implies `read`, `list-all` implies `list`, nothing else implies anything. */
export type Action = 'create' | 'complete' | 'read' | 'read-all' | 'list' | 'list-all'

/** A right to incoming payments, on one wallet address or (without `identifier`) on all of this server. */
export interface IncomingPaymentAccess {
  readonly type: 'incoming-payment'
  readonly actions: readonly Action[]
  readonly identifier?: string
}

/** A right to quotes. It names no wallet address. */
export interface QuoteAccess {
  readonly type: 'quote'
  readonly actions: readonly Action[]
}

/** A right to outgoing payments of one wallet address, within limits. */
export interface OutgoingPaymentAccess {
  readonly type: 'outgoing-payment'
  readonly actions: readonly Action[]
  readonly identifier: string
  readonly limits?: WireLimits
}

/** One right of a grant, in the form in which it is requested, stored and answered. */
export type Access = IncomingPaymentAccess | QuoteAccess | OutgoingPaymentAccess

/** The three types of resource that a right can name. */
export type AccessType = Access['type']

function actions<const T extends readonly Action[]>(allowed: T): v.GenericSchema<Action[], Action[]> {
  return v.pipe(
    v.array(v.picklist(allowed, 'unknown action')),
    v.minLength(1, 'actions must not be empty'),
    v.check((list) => new Set(list).size === list.length, 'repeated action'),
  )
}

/** One access entry of a grant request; a member that its type does not name is refused. @internal @spec GRT-3 @spec GRT-4 */
export const Access: v.GenericSchema<unknown, Access> = v.variant(
  'type',
  [
    v.strictObject({
      type: v.literal('incoming-payment'),
      actions: actions(['create', 'complete', 'read', 'read-all', 'list', 'list-all']),
      identifier: v.exactOptional(UrlText),
    }),
    v.strictObject({
      type: v.literal('outgoing-payment'),
      actions: actions(['create', 'read', 'read-all', 'list', 'list-all']),
      identifier: UrlText,
      limits: v.exactOptional(Limits),
    }),
    v.strictObject({ type: v.literal('quote'), actions: actions(['create', 'read', 'read-all']) }),
  ],
  'unknown access type',
)

const MAX_ENTRIES = 3

/** The access entries of a grant: at most three, no two of them equal. @spec GRT-3 */
export const AccessList: v.GenericSchema<unknown, Access[]> = v.pipe(
  v.array(v.unknown(), 'must be an array'),
  v.maxLength(MAX_ENTRIES, 'has more than 3 entries'),
  v.array(Access),
  v.check((list) => !repeatsEntry(list), 'access repeats an entry'),
)

/** Whether two entries mean the same, in whatever order their actions and however their interval is written. @spec GRT-3 */
export function repeatsEntry(list: readonly Access[]): boolean {
  return list.length > 1 && new Set(list.map(meaningOf)).size < list.length
}

function meaningOf(access: Access): string {
  const limits = limitsOf(access)
  const interval = limits?.interval === undefined ? undefined : parseInterval(limits.interval)
  // The schema has already put the members of all limits in one order, and amounts and receivers in their canonical
  // spelling.
  return JSON.stringify([access.type, access.actions.toSorted(), identifierOf(access), { ...limits, interval }])
}

/** The wallet address that an entry names. */
export function identifierOf(access: Access): string | undefined {
  return access.type === 'quote' ? undefined : access.identifier
}

/** The limits of an entry, which only outgoing payments have. */
export function limitsOf(access: Access): WireLimits | undefined {
  return access.type === 'outgoing-payment' ? access.limits : undefined
}

/** Whether an entry holds an action, directly or through its `-all` form. */
export function allowsAction(access: Access, action: Action): boolean {
  if (access.actions.includes(action)) return true
  if (action === 'read') return access.actions.includes('read-all')
  return action === 'list' && access.actions.includes('list-all')
}

/**
 * Why the limits of an entry make no sense for an account of this asset; `undefined` if they do.
 * @spec GRT-10 @spec IVL-6
 */
export function refuseLimits(access: Access, account: Asset, counting: IntervalCounting): string | undefined {
  const { debitAmount, interval } = limitsOf(access) ?? {}
  if (debitAmount !== undefined && !isSameAsset(debitAmount, account))
    return 'limits.debitAmount is not in the asset of the wallet address'
  if (interval === undefined) return undefined
  const parsed = parseInterval(interval)
  const isEmpty = parsed === undefined || windowCount(parsed, counting) === 0
  return isEmpty ? 'limits.interval has no window' : undefined
}

/** Whether a right of this type needs the consent of its owner, which one to pay always does. @spec GRT-5 */
export function needsConsent(type: AccessType, withoutInteraction: readonly AccessType[]): boolean {
  return type === 'outgoing-payment' || !withoutInteraction.includes(type)
}

/** Whether an entry covers a wallet address: one without `identifier` covers every one of this server. @spec RS-4 @spec RS-5 */
export function coversWalletAddress(access: Access, walletAddress: string): boolean {
  const identifier = identifierOf(access)
  return identifier === undefined || identifier === walletAddress
}
