import type { ListableKind, RecordKind, RecordTypes } from '../../../src/ports/storage.ts'
import type { Amount } from '../../../src/protocol/amount.ts'
import type { Decision } from '../../../src/protocol/outgoing-payment.ts'

const MEMBER_TYPES = ['text', 'integer', 'boolean', 'bigint', 'amount', 'decision', 'json'] as const

/**
 * How a member is stored: `text`, `integer` and `boolean` in one column, `bigint` as decimal text, `amount` and
 * `decision` in several columns, `json` as JSON text.
 */
export type MemberType = (typeof MEMBER_TYPES)[number]

type TypeOf<T> = [T] extends [string]
  ? 'text' | 'json'
  : [T] extends [number]
    ? 'integer'
    : [T] extends [boolean]
      ? 'boolean'
      : [T] extends [bigint]
        ? 'bigint'
        : [T] extends [Amount]
          ? 'amount'
          : [T] extends [Decision]
            ? 'decision'
            : 'json'

/**
 * The members of a kind of record; `?` marks one that may be absent. The compiler requires every member to be named, so
 * none is ever lost.
 */
type Layout<T> = {
  readonly [M in keyof T]-?: Partial<Record<M, T[M]>> extends Pick<T, M>
    ? `${TypeOf<Exclude<T[M], undefined>>}?`
    : TypeOf<T[M]>
}

const LAYOUTS: { readonly [K in RecordKind]: Layout<RecordTypes[K]> } = {
  grant: {
    id: 'text',
    state: 'text',
    finalisation: 'text?',
    createdAt: 'integer',
    expiresAt: 'integer',
    client: 'text',
    clientKey: 'json?',
    keys: 'json',
    access: 'json',
    walletAddress: 'text?',
    account: 'text?',
    subject: 'boolean',
    secretId: 'text',
    continuationHash: 'text',
    continueAfter: 'integer',
    finish: 'json?',
    interactRefHash: 'text?',
    wrongReferences: 'integer',
    issuedAt: 'integer?',
    tokenId: 'text?',
    consentHash: 'text?',
    decidedAt: 'integer?',
  },
  interaction: {
    id: 'text',
    grantId: 'text',
    state: 'text',
    createdAt: 'integer',
    expiresAt: 'integer',
    // A stranger chose this text, and databases refuse a NUL in a text column; JSON escapes it.
    clientName: 'json?',
    sessionHash: 'text?',
    consentHash: 'text?',
  },
  'access-token': {
    id: 'text',
    manageId: 'text',
    secretId: 'text',
    state: 'text',
    grantId: 'text',
    client: 'text',
    clientKey: 'json?',
    keys: 'json',
    access: 'json',
    walletAddress: 'text?',
    account: 'text?',
    issuedAt: 'integer',
    expiresAt: 'integer',
    rotatedAt: 'integer?',
    successorId: 'text?',
  },
  'incoming-payment': {
    id: 'text',
    walletAddress: 'text',
    account: 'text',
    client: 'text',
    state: 'text',
    createdAt: 'integer',
    expiresAt: 'integer?',
    incomingAmount: 'amount?',
    received: 'amount',
    reserved: 'amount',
    metadata: 'json?',
    secretId: 'text',
  },
  quote: {
    id: 'text',
    walletAddress: 'text',
    account: 'text',
    client: 'text',
    state: 'text',
    createdAt: 'integer',
    expiresAt: 'integer',
    receiver: 'text',
    debitAmount: 'amount',
    receiveAmount: 'amount',
    fee: 'amount',
    receiveWorth: 'bigint?',
    rail: 'json?',
    outgoingPaymentId: 'text?',
  },
  'outgoing-payment': {
    id: 'text',
    walletAddress: 'text',
    client: 'text',
    state: 'text',
    states: 'json',
    createdAt: 'integer',
    quoteId: 'text?',
    receiver: 'text',
    debitAmount: 'amount',
    receiveAmount: 'amount',
    fee: 'amount',
    receiveCharge: 'bigint?',
    sentAmount: 'amount',
    metadata: 'json?',
    account: 'text',
    incomingPaymentId: 'text?',
    payeeAccount: 'text?',
    rail: 'json?',
    delivery: 'json?',
    grantId: 'text',
    spendingIds: 'json',
    chargedAfter: 'json?',
    decision: 'decision?',
    attempts: 'integer',
    keyId: 'text?',
  },
  'signed-request': {
    id: 'text',
    publicKey: 'json',
    signature: 'text',
    base: 'text',
    body: 'text',
    tokenSecretId: 'text',
    tokenManageId: 'text',
  },
  spending: {
    id: 'text',
    lastCharge: 'json?',
    debit: 'amount',
    receive: 'json',
  },
  receipt: {
    id: 'text',
    incomingPaymentId: 'text',
    state: 'text',
    amount: 'amount',
    createdAt: 'integer',
    outgoingPaymentId: 'text?',
    excess: 'bigint?',
    payeeAccount: 'text?',
    railAccountId: 'text?',
    railAmount: 'bigint?',
  },
  'rail-account': {
    id: 'text',
    assetCode: 'text',
    assetScale: 'integer',
    sent: 'bigint',
    inFlight: 'bigint',
    received: 'bigint',
  },
  'replay-claim': { id: 'text', expiresAt: 'integer' },
  'idempotency-key': { id: 'text', bodyHash: 'text', resourceId: 'text', answer: 'json', expiresAt: 'integer' },
  event: { id: 'text', event: 'json' },
}

/** One member of a kind of record and the columns that hold it. */
export interface Member {
  readonly name: string
  readonly type: MemberType
  readonly isOptional: boolean
  readonly columns: readonly string[]
  /** The place of its first column. */
  readonly at: number
}

function snakeCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
}

function columnsOf(name: string, type: MemberType): readonly string[] {
  const column = snakeCase(name)
  if (type === 'amount') return [`${column}_value`, `${column}_asset_code`, `${column}_asset_scale`]
  if (type === 'decision') return [`${column}_action`, `${column}_amount`, `${column}_fee`, `${column}_reason`]
  return [column]
}

/** The table of a kind of record, its members and their columns. */
export interface TableLayout {
  readonly table: string
  readonly members: readonly Member[]
  readonly isListable: boolean
  /** The columns of the members (the id first) and of the marks. The version is one more column, after these. */
  readonly columns: readonly string[]
  /** The place of the first mark, `due_at`. After it come `schema_version` and, if the table is listable, `is_listed`. */
  readonly marksAt: number
}

const LISTABLE: readonly ListableKind[] = ['grant', 'incoming-payment', 'outgoing-payment']

function membersOf(kind: RecordKind): readonly Member[] {
  let at = 0
  return Object.entries(LAYOUTS[kind]).map(([name, text]): Member => {
    const type = MEMBER_TYPES.find((candidate) => text === candidate || text === `${candidate}?`)
    if (type === undefined) throw new TypeError(`no such type of member: ${text}`)
    const member = { name, type, isOptional: text.endsWith('?'), columns: columnsOf(name, type), at }
    at += member.columns.length
    return member
  })
}

function tableOf(kind: string): string {
  return `op_${kind.replaceAll('-', '_')}`
}

/** The tables of all kinds. */
export const RECORD_TABLES: readonly string[] = Object.keys(LAYOUTS).map(tableOf)

/** Where and how records of a kind are stored. */
export function layoutOf(kind: RecordKind): TableLayout {
  const members = membersOf(kind)
  const isListable = LISTABLE.some((listable) => listable === kind)
  const own = members.flatMap((member) => member.columns)
  const columns = [...own, 'due_at', 'schema_version', ...(isListable ? ['is_listed'] : [])]
  return { table: tableOf(kind), members, isListable, columns, marksAt: own.length }
}
