import type { ConsentAccess, ConsentData, ConsentInterval } from '../../src/ports/consent.ts'
import type { Access } from '../../src/protocol/access.ts'
import { parseInterval } from '../../src/protocol/interval.ts'

/** One detail of a right: what it is about, and what it is. */
export interface Detail {
  readonly label: string
  readonly value: string
  readonly isAmount?: boolean
}

/** A right as a person reads it. */
export interface RightInWords {
  readonly title: string
  /** What the client may do, one plain sentence each. */
  readonly sentences: readonly string[]
  /** Amounts, times and receivers that bound it. */
  readonly details: readonly Detail[]
  /** What a person should not overlook. */
  readonly warning?: string
}

/** A moment for a person, in UTC, since the windows of a limit are. */
export function momentInWords(moment: number): string {
  return `${new Intl.DateTimeFormat('en-GB', { dateStyle: 'long', timeStyle: 'short', timeZone: 'UTC' }).format(moment)} UTC`
}

/** The units that a period is counted in, in milliseconds. */
const UNITS = { week: 604_800_000, day: 86_400_000, hour: 3_600_000, minute: 60_000, second: 1000 } as const

function countInWords(count: number, unit: string): string {
  return `${count} ${unit}${count === 1 ? '' : 's'}`
}

/** How long a period is: `every month`, `every 2 weeks and 12 hours`. */
function periodInWords(interval: string): string {
  const parsed = parseInterval(interval)
  if (!parsed.ok) return interval
  const { months } = parsed.interval
  let { milliseconds } = parsed.interval
  const parts = [
    { unit: 'year', count: Math.floor(months / 12) },
    { unit: 'month', count: months % 12 },
  ]
  for (const [unit, length] of Object.entries(UNITS)) {
    const count = Math.floor(milliseconds / length)
    // 31 days read better than 4 weeks and 3 days.
    if (unit === 'week' && milliseconds % length !== 0) continue
    parts.push({ unit, count })
    milliseconds -= count * length
  }
  const counted = parts.filter(({ count }) => count > 0)
  if (counted.length === 1 && counted[0]?.count === 1) return `every ${counted[0].unit}`
  return `every ${counted.map(({ count, unit }) => countInWords(count, unit)).join(' and ')}`
}

function intervalDetails({ interval, windows, startsAt, endsAt }: ConsentInterval): readonly Detail[] {
  const period = periodInWords(interval)
  const times = windows === undefined ? `${period}, again and again` : `${period}, ${windows} times in all`
  return [
    { label: 'Period', value: windows === 1 ? 'once' : times },
    { label: windows === undefined ? 'Present period began' : 'First period begins', value: momentInWords(startsAt) },
    {
      label: 'Last period ends',
      value: endsAt === undefined ? 'never, until you take it back' : momentInWords(endsAt),
    },
  ]
}

function hasAny(access: Access, ...actions: Access['actions']): boolean {
  return actions.some((action) => access.actions.includes(action))
}

function outgoingInWords(right: ConsentAccess, account: string): RightInWords {
  const { access, debitAmount, receiveAmount, receiver, interval } = right
  const canSend = hasAny(access, 'create')
  const scope = interval ? 'in each period' : 'in total'
  const hasAmount = debitAmount !== undefined || receiveAmount !== undefined
  const isLimited = hasAmount || receiver !== undefined || interval !== undefined
  const warning = `There is no upper limit: it could send all the money in this account${interval ? ' in any one period' : ''}.`
  return {
    title: canSend ? 'Send money from your account' : 'See the payments from your account',
    sentences: [
      ...(canSend
        ? [`Send payments from ${account} without asking you again${isLimited ? ', within the limits below' : ''}.`]
        : []),
      ...(hasAny(access, 'read-all', 'list-all')
        ? [`See every payment sent from ${account}, whoever asked for it.`]
        : hasAny(access, 'read', 'list')
          ? ['See the payments that it has sent itself.']
          : []),
    ],
    details: [
      ...(debitAmount === undefined
        ? []
        : [{ label: 'At most leaves your account', value: `${debitAmount} ${scope}`, isAmount: true }]),
      ...(receiveAmount === undefined
        ? []
        : [{ label: 'At most arrives', value: `${receiveAmount} ${scope}`, isAmount: true }]),
      ...(interval ? intervalDetails(interval) : []),
      ...(canSend || receiver !== undefined ? [{ label: 'To', value: receiver ?? 'anyone it chooses' }] : []),
    ],
    ...(canSend && !hasAmount && { warning }),
  }
}

function incomingInWords({ access }: ConsentAccess, account: string): RightInWords {
  return {
    title: 'Receive money into your account',
    sentences: [
      ...(hasAny(access, 'create') ? [`Set up payments to be received on ${account}.`] : []),
      ...(hasAny(access, 'complete') ? ['Close the payments that it set up, so that they receive nothing more.'] : []),
      ...(hasAny(access, 'read-all', 'list-all')
        ? [`See every payment to be received on ${account}, whoever set it up.`]
        : hasAny(access, 'read', 'list')
          ? ['See the payments to be received that it has set up itself.']
          : []),
    ],
    details: [],
  }
}

function quoteInWords({ access }: ConsentAccess): RightInWords {
  return {
    title: 'Ask for prices',
    sentences: [
      ...(hasAny(access, 'create') ? ['Ask what a payment would cost before it is sent.'] : []),
      ...(hasAny(access, 'read-all')
        ? ['See every price that was asked for, whoever asked.']
        : hasAny(access, 'read')
          ? ['See the prices that it has asked for itself.']
          : []),
    ],
    details: [],
  }
}

/** What one right means, in words. An entry that names no wallet address covers every one of the wallet. @spec RS-5 */
export function rightInWords(right: ConsentAccess): RightInWords {
  const { access } = right
  switch (access.type) {
    case 'outgoing-payment':
      return outgoingInWords(right, access.identifier)
    case 'incoming-payment':
      return incomingInWords(right, access.identifier ?? 'any account of this wallet')
    case 'quote':
      return quoteInWords(right)
  }
}

/** Every right that is asked for, the identity among them, in words. @spec INT-11 */
export function rightsInWords(consent: ConsentData): readonly RightInWords[] {
  const identity = {
    title: 'Know who you are',
    sentences: [`Learn that you are the owner of ${consent.walletAddress}.`],
    details: [],
  }
  return [...consent.access.map(rightInWords), ...(consent.subject ? [identity] : [])]
}
