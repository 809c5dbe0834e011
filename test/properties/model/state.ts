import { ALICE, BASE, BOB, CAROL } from '../../support/test-wallet.ts'

// The specification in plain data: what each request must be answered, written without a look at the code that answers.

export interface Money {
  readonly value: string
  readonly assetCode: string
  readonly assetScale: number
}

export interface Asset {
  readonly assetCode: string
  readonly assetScale: number
}

export const USD: Asset = { assetCode: 'USD', assetScale: 2 }
export const EUR: Asset = { assetCode: 'EUR', assetScale: 4 }

export const money = (asset: Asset, value: bigint): Money => ({ value: value.toString(), ...asset })

/** An access entry as it travels. */
export interface Entry {
  readonly type: string
  readonly actions: readonly string[]
  readonly identifier?: string
  readonly limits?: {
    readonly receiver?: string
    readonly interval?: string
    readonly debitAmount?: Money
    readonly receiveAmount?: Money
  }
}

export interface GrantModel {
  readonly client: number
  readonly asked: readonly Entry[]
  /** Whose consent it needs; nobody's where absent. */
  readonly owner: string | undefined
  readonly subject: boolean
  readonly hasFinish: boolean
  readonly createdAt: number
  readonly expiresAt: number
  readonly continueUri: string
  readonly continueToken: string
  readonly redirect: string
  readonly nonce: string
  access: readonly Entry[]
  state: 'pending' | 'approved' | 'issued' | 'rejected' | 'over'
  /** `undefined` once nobody remembers it. */
  interaction: 'created' | 'opened' | 'approved' | 'denied' | undefined
  session: string | undefined
  csrf: string | undefined
  continueAfter: number
  issuedAt: number | undefined
  interactRef: string | undefined
  wrongReferences: number
  token: TokenModel | undefined
  /** When it is forgotten. */
  keptUntil: number
  isForgotten: boolean
}

export interface TokenModel {
  readonly grant: GrantModel
  readonly value: string
  readonly manage: string
  readonly isFirst: boolean
  readonly expiresAt: number
  state: 'active' | 'rotated' | 'revoked'
  rotatedAt: number
  successor: TokenModel | undefined
  keptUntil: number
  isForgotten: boolean
}

export interface IncomingModel {
  readonly url: string
  readonly walletAddress: string
  readonly client: number
  readonly createdAt: number
  readonly expiresAt: number
  readonly asset: Asset
  readonly amount: bigint | undefined
  readonly metadata: unknown
  readonly methods: unknown
  received: bigint
  isCompleted: boolean
}

export interface QuoteModel {
  readonly url: string
  readonly walletAddress: string
  readonly client: number
  readonly createdAt: number
  readonly expiresAt: number
  readonly receiver: IncomingModel
  readonly debit: Money
  readonly receive: Money
  readonly fee: bigint
  isUsed: boolean
  isForgotten: boolean
}

export interface PaymentModel {
  readonly url: string
  readonly walletAddress: string
  readonly client: number
  readonly createdAt: number
  readonly quote: QuoteModel | undefined
  readonly receiver: IncomingModel
  readonly debit: Money
  readonly receive: Money
  readonly fee: bigint
  readonly metadata: unknown
  readonly grant: GrantModel
  readonly entry: number
  /** Start of the window in which it was created; 0 without an interval. */
  readonly window: number
  isFailed: boolean
}

export interface AccountModel {
  readonly asset: Asset
  balance: bigint
  canSend: boolean
  canReceive: boolean
}

export interface Model {
  readonly grants: GrantModel[]
  readonly tokens: TokenModel[]
  readonly incomings: IncomingModel[]
  readonly quotes: QuoteModel[]
  readonly payments: PaymentModel[]
  readonly accounts: Readonly<Record<string, AccountModel>>
  /** Transfers that a rail reported and that were accepted. */
  readonly transfers: Map<
    string,
    { readonly incoming: IncomingModel; readonly amount: bigint; readonly excess: bigint | undefined }
  >
}

/** A wallet address that exists and takes part in nothing. */
export const INACTIVE = `${BASE}/closed`
export const UNKNOWN = `${BASE}/nobody`

/** The wallet addresses of this server that take part, with their accounts. */
const OWNERS: Readonly<Record<string, { readonly account: string; readonly asset: Asset }>> = {
  [ALICE]: { account: 'alice', asset: USD },
  [BOB]: { account: 'bob', asset: USD },
  [CAROL]: { account: 'carol', asset: EUR },
}

export const ownerOf = (walletAddress: string): { readonly account: string; readonly asset: Asset } | undefined =>
  OWNERS[walletAddress]

export const isSameAsset = (a: Asset, b: Asset): boolean => a.assetCode === b.assetCode && a.assetScale === b.assetScale

export function newModel(): Model {
  const account = (asset: Asset, balance: bigint): AccountModel => ({ asset, balance, canSend: true, canReceive: true })
  return {
    grants: [],
    tokens: [],
    incomings: [],
    quotes: [],
    payments: [],
    accounts: { alice: account(USD, 100_000n), bob: account(USD, 0n), carol: account(EUR, 0n) },
    transfers: new Map(),
  }
}

/** The intervals of limits, as windows of one length: when the first one starts, and how many there are. */
export const INTERVALS: Readonly<
  Record<string, { readonly startsAt: number; readonly length: number; readonly count: number }>
> = {
  'R/2026-03-01T12:00:00Z/PT10M': {
    startsAt: Date.UTC(2026, 2, 1, 12),
    length: 600_000,
    count: Number.POSITIVE_INFINITY,
  },
  'R1/2026-03-01T12:00:00Z/PT5M': { startsAt: Date.UTC(2026, 2, 1, 12), length: 300_000, count: 2 },
  'R0/2026-03-01T12:05:00Z/P1D': { startsAt: Date.UTC(2026, 2, 1, 12, 5), length: 86_400_000, count: 1 },
  'R2/PT5M/2026-03-01T12:20:00Z': { startsAt: Date.UTC(2026, 2, 1, 12, 5), length: 300_000, count: 3 },
}

/** The start of the current window of an entry; `undefined` where none is current. */
export function windowOf({ limits }: Entry, now: number): number | undefined {
  if (limits?.interval === undefined) return 0
  const interval = INTERVALS[limits.interval]
  if (interval === undefined) throw new Error(`no windows are known for ${limits.interval}`)
  const index = Math.floor((now - interval.startsAt) / interval.length)
  return index >= 0 && index < interval.count ? interval.startsAt + index * interval.length : undefined
}

/** What must come back: a refusal, or a success with its body and what it makes true. */
export type Expected =
  | { readonly status: number; readonly code: string }
  | { readonly status: number; readonly body: unknown; readonly learn?: (body: AnswerBody) => void }

export type AnswerBody = import('../../support/answer-body.ts').AnswerBody

export const refused = (status: number, code: string): Expected => ({ status, code })
