import type { ConsentAccess, ConsentData, ConsentInterval } from '../../src/ports/consent.ts'
import type { Access } from '../../src/protocol/access.ts'
import { parseInterval } from '../../src/protocol/interval.ts'

/** One detail of a right: a label and its value. */
export interface Detail {
  readonly label: string
  readonly value: string
}

/** The most that a right allows to be moved. */
export interface Ceiling {
  readonly label: string
  /** The amount, as `1,200.00 USD`. */
  readonly amount: string
  /** The period that it applies to: `in total`, `every month`. */
  readonly scope: string
}

/** A right as a person reads it. */
export interface RightInWords {
  readonly title: string
  /** What the client may do, one plain sentence each. */
  readonly sentences: readonly string[]
  /** The amounts that bound it. */
  readonly ceilings: readonly Ceiling[]
  /** Times and receivers that bound it. */
  readonly details: readonly Detail[]
  /** What a person should not overlook. */
  readonly warning?: string
}

/** A time for a person to read; in UTC, because the windows of a limit are in UTC. */
export function momentInWords(moment: number): string {
  return `${new Intl.DateTimeFormat('en-GB', { dateStyle: 'long', timeStyle: 'short', timeZone: 'UTC' }).format(moment)} UTC`
}

/** An amount with its thousands set apart, since nobody counts zeros: `1,200.00 USD` for `1200.00 USD`. */
function groupThousands(amount: string): string {
  return amount.replace(/^\d+/, (whole) => whole.replace(/\B(?=(?:\d{3})+$)/g, ','))
}

/** The units that a period is counted in, in milliseconds. */
const UNITS = { week: 604_800_000, day: 86_400_000, hour: 3_600_000, minute: 60_000, second: 1000 } as const

function countInWords(count: number, unit: string): string {
  return `${count} ${unit}${count === 1 ? '' : 's'}`
}

/** How long a period is: `every month`, `every 2 weeks and 12 hours`. */
function periodInWords(interval: string): string {
  const parsed = parseInterval(interval)
  if (parsed === undefined) return interval
  const { months } = parsed
  let { milliseconds } = parsed
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

function repetitionInWords({ interval, windows, endsAt }: ConsentInterval): string {
  const period = periodInWords(interval).replace('every', 'Every')
  if (windows !== undefined) return `${period}, ${windows} times in all`
  return endsAt === undefined ? `${period}, until you take it back` : `${period}, again and again`
}

/** Windows that are counted back from an end may begin before the year 1, which would look like a future year. */
function beginningInWords(startsAt: number): string {
  return startsAt < 0 ? 'Before 1970' : momentInWords(startsAt)
}

function intervalDetails(interval: ConsentInterval): readonly Detail[] {
  const { windows, phase, startsAt, endsAt } = interval
  const began = windows === undefined ? 'Present period began' : 'Began'
  return [
    ...(windows === 1 ? [] : [{ label: 'How often', value: repetitionInWords(interval) }]),
    ...(phase === 'over' ? [] : [{ label: phase === 'ahead' ? 'Begins' : began, value: beginningInWords(startsAt) }]),
    { label: phase === 'over' ? 'Ended' : 'Ends', value: endsAt === undefined ? 'Never' : momentInWords(endsAt) },
  ]
}

function hasAny(access: Access, ...actions: Access['actions']): boolean {
  return actions.some((action) => access.actions.includes(action))
}

/** What the client may see: everything, only its own, or nothing. */
function seeingInWords(access: Access, everything: string, own: string): readonly string[] {
  if (hasAny(access, 'read-all', 'list-all')) return [everything]
  return hasAny(access, 'read', 'list') ? [own] : []
}

function isSending({ access }: ConsentAccess): boolean {
  return access.type === 'outgoing-payment' && hasAny(access, 'create')
}

/**
 * The period that an amount applies to. If there are several rights, each counts alone, so none says "in total".
 * @spec LIM-10
 */
function scopeInWords(interval: ConsentInterval | undefined, isAlone: boolean): string {
  const period = interval && interval.windows !== 1 ? periodInWords(interval.interval) : undefined
  if (isAlone) return period ?? 'in total'
  return period === undefined ? 'for this right alone' : `${period}, for this right alone`
}

function outgoingInWords(right: ConsentAccess, account: string, isAlone: boolean): RightInWords {
  const { access, debitAmount, receiveAmount, receiver, interval } = right
  const canSend = isSending(right)
  const scope = scopeInWords(interval, isAlone)
  const ceiling = (label: string, amount: string): Ceiling => ({ label, amount: groupThousands(amount), scope })
  const hasAmount = debitAmount !== undefined || receiveAmount !== undefined
  const isLimited = hasAmount || receiver !== undefined || interval !== undefined
  const warning = `There is no upper limit: it could send all the money in this account${interval ? ' in any one period' : ''}.`
  return {
    title: canSend ? 'Send money' : 'See your payments',
    sentences: [
      ...(canSend
        ? [`Send payments from this account without asking you again${isLimited ? ', within these limits' : ''}.`]
        : []),
      ...(canSend && receiveAmount !== undefined && debitAmount === undefined
        ? ['Fees and exchange may come on top of what arrives, for each payment.']
        : []),
      ...seeingInWords(
        access,
        'See every payment sent from this account, whoever asked for it.',
        'See the payments that it has sent itself.',
      ),
    ],
    ceilings: [
      ...(debitAmount === undefined ? [] : [ceiling('Leaves your account, at most', debitAmount)]),
      ...(receiveAmount === undefined ? [] : [ceiling('Arrives, at most', receiveAmount)]),
    ],
    details: [
      { label: 'From', value: account },
      ...(canSend || receiver !== undefined ? [{ label: 'To', value: receiver ?? 'Anyone it chooses' }] : []),
      ...(interval ? intervalDetails(interval) : []),
    ],
    ...(canSend && !hasAmount && { warning }),
  }
}

function incomingInWords({ access }: ConsentAccess, account: string): RightInWords {
  return {
    title: 'Receive money',
    sentences: [
      ...(hasAny(access, 'create') ? [`Set up payments to be received on ${account}.`] : []),
      ...(hasAny(access, 'complete') ? ['Close the payments that it set up, so that they receive nothing more.'] : []),
      ...seeingInWords(
        access,
        `See every payment to be received on ${account}, whoever set it up.`,
        'See the payments to be received that it has set up itself.',
      ),
    ],
    ceilings: [],
    details: [],
  }
}

function quoteInWords({ access }: ConsentAccess): RightInWords {
  return {
    title: 'Ask for prices',
    sentences: [
      ...(hasAny(access, 'create') ? ['Ask what a payment would cost before it is sent.'] : []),
      ...seeingInWords(
        access,
        'See every price that was asked for, whoever asked.',
        'See the prices that it has asked for itself.',
      ),
    ],
    ceilings: [],
    details: [],
  }
}

/**
 * What one right means, in words; `isAlone` if no other right sends money. An entry without a wallet address covers
 * every wallet address of the wallet.
 * @spec RS-5
 */
export function rightInWords(right: ConsentAccess, isAlone: boolean): RightInWords {
  const { access } = right
  switch (access.type) {
    case 'outgoing-payment':
      return outgoingInWords(right, access.identifier, isAlone)
    case 'incoming-payment':
      return incomingInWords(right, access.identifier ?? 'any account of this wallet')
    case 'quote':
      return quoteInWords(right)
  }
}

/** Numbers titles that occur several times: `Send money (1 of 2)`. */
function numbered(rights: readonly RightInWords[]): readonly RightInWords[] {
  return rights.map((right) => {
    const same = rights.filter(({ title }) => title === right.title)
    return same.length < 2
      ? right
      : { ...right, title: `${right.title} (${same.indexOf(right) + 1} of ${same.length})` }
  })
}

/** Every right that is requested, including the identity, in words; rights to send money come first. @spec INT-11 */
export function rightsInWords(consent: ConsentData): readonly RightInWords[] {
  const identity = {
    title: 'Know who you are',
    sentences: [`Learn that you are the owner of ${consent.walletAddress}.`],
    ceilings: [],
    details: [],
  }
  const isOutgoing = ({ access }: ConsentAccess): boolean => access.type === 'outgoing-payment'
  const access = [...consent.access.filter(isOutgoing), ...consent.access.filter((right) => !isOutgoing(right))]
  const isAlone = consent.access.filter(isSending).length < 2
  return numbered([...access.map((right) => rightInWords(right, isAlone)), ...(consent.subject ? [identity] : [])])
}

/** What a person should know about several rights to send money; `undefined` if there is at most one. @spec LIM-10 */
export function additionInWords({ access }: ConsentData): string | undefined {
  const count = access.filter(isSending).length
  if (count < 2) return undefined
  return `It asks for ${count} rights to send money. Each counts on its own: what they let leave your account adds up.`
}

/** A summary of the whole request, to follow the client's name: `asks to send money from your account`. */
export function requestInWords({ access, subject }: ConsentData): string {
  if (access.some(isSending)) return 'asks to send money from your account'
  return access.length === 0 && subject ? 'asks to know who you are' : 'asks to use your account'
}
