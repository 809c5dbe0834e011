import type { WalletAddress } from 'open-payments-server'
import type { IlpOptions } from 'open-payments-server/ilp'
import * as v from 'valibot'

/** One account of the sandbox. */
export interface AccountConfiguration {
  /** Its wallet address on this server. */
  readonly path: string
  /** What the world sees as its name. */
  readonly name?: string
  readonly assetCode: string
  readonly assetScale: number
  /** The opening balance, in the smallest unit. */
  readonly balance: string
  /** The keys with which this account signs as a client. */
  readonly jwks?: { readonly keys: NonNullable<WalletAddress['keys']> }
}

/** Major units of `to` for one major unit of `from`. */
export interface Rate {
  readonly from: string
  readonly to: string
  readonly rate: string
}

/** The JSON file that `--config` names; every key is optional. */
export interface Configuration {
  readonly accounts?: readonly AccountConfiguration[]
  readonly lifetimes?: {
    readonly accessTokenSeconds?: number
    readonly interactionSeconds?: number
    readonly quoteSeconds?: number
    readonly incomingPaymentSeconds?: number
    readonly continuationWaitSeconds?: number
  }
  readonly rates?: readonly Rate[]
  readonly fee?: { readonly basisPoints?: number; readonly fixed?: string }
  /** Whether clients may live on this machine, over http. Default yes. */
  readonly loopbackKeys?: boolean
  /** This server's own address on Interledger. Needed if there are peers. */
  readonly ilpAddress?: string
  /** The servers that payments to other wallets go through, and those from them. Default none. */
  readonly peers?: IlpOptions['peers']
}

/** A configuration that was read, or the one line that says what is wrong with it. */
export type ReadConfiguration =
  | { readonly ok: true; readonly configuration: Configuration }
  | { readonly ok: false; readonly message: string }

/** Paths that the sandbox and the resource server need for themselves. */
const TAKEN: ReadonlySet<string> = new Set([
  'auth',
  'client',
  'sandbox',
  'ilp',
  'incoming-payments',
  'outgoing-payments',
  'quotes',
  'outgoing-payment-grant',
  'wallet-address',
  'jwks.json',
  'continue',
  'token',
  'interact',
])

const Text = v.string('must be a string')
const UNITS = 'must be a whole number of the smallest unit, as a string'
const Units = v.pipe(v.string(UNITS), v.regex(/^(?:0|[1-9]\d{0,18})$/, UNITS))
const BigUnits = v.pipe(
  Units,
  v.transform((text) => BigInt(text)),
)
const AssetCode = v.pipe(Text, v.regex(/^[!-~]{1,12}$/, 'must be 1 to 12 visible characters'))
const Integer = (from: number, to: number) =>
  v.pipe(
    v.number(),
    v.integer('must be a whole number'),
    v.minValue(from, `must be at least ${from}`),
    v.maxValue(to, `must be at most ${to}`),
  )
const Seconds = v.exactOptional(Integer(1, 31_536_000))

const Path = v.pipe(
  Text,
  v.regex(/^(?:\/[\w.~-]+)+$/, 'must look like /alice'),
  v.check((path) => !path.split('/').some((segment) => TAKEN.has(segment)), 'is taken by the sandbox itself'),
)

const Key = v.object({
  kid: Text,
  kty: v.literal('OKP'),
  crv: v.literal('Ed25519'),
  x: Text,
  alg: v.exactOptional(v.picklist(['EdDSA', 'Ed25519'])),
  use: v.exactOptional(v.literal('sig')),
  d: v.exactOptional(v.never('is private and does not belong here')),
})

const Account = v.strictObject({
  path: Path,
  name: v.exactOptional(Text),
  assetCode: AssetCode,
  assetScale: Integer(0, 255),
  balance: v.exactOptional(Units, '0'),
  jwks: v.exactOptional(v.strictObject({ keys: v.array(Key) })),
})

const Peer = v.strictObject({
  address: Text,
  url: Text,
  outgoingToken: Text,
  incomingTokens: v.array(Text),
  asset: v.strictObject({ assetCode: AssetCode, assetScale: Integer(0, 255) }),
  maxPacketAmount: v.exactOptional(BigUnits),
  prefixes: v.exactOptional(v.array(Text)),
  isDefault: v.exactOptional(v.boolean()),
  limits: v.exactOptional(v.strictObject({ sending: v.exactOptional(BigUnits), receiving: v.exactOptional(BigUnits) })),
  isIdempotent: v.exactOptional(v.boolean()),
})

const Members: v.GenericSchema<unknown, Configuration> = v.strictObject({
  accounts: v.exactOptional(
    v.pipe(
      v.array(Account),
      v.check((accounts) => new Set(accounts.map(({ path }) => path)).size === accounts.length, 'names a path twice'),
    ),
  ),
  lifetimes: v.exactOptional(
    v.strictObject({
      accessTokenSeconds: Seconds,
      interactionSeconds: Seconds,
      quoteSeconds: Seconds,
      incomingPaymentSeconds: Seconds,
      continuationWaitSeconds: Seconds,
    }),
  ),
  rates: v.exactOptional(
    v.array(
      v.strictObject({
        from: AssetCode,
        to: AssetCode,
        rate: v.pipe(
          Text,
          v.maxLength(40),
          v.regex(/^(?=.*[1-9])\d+(?:\.\d+)?$/, 'must be an exact decimal above zero, as a string'),
        ),
      }),
    ),
  ),
  fee: v.exactOptional(
    v.strictObject({ basisPoints: v.exactOptional(Integer(0, 9999)), fixed: v.exactOptional(Units) }),
  ),
  loopbackKeys: v.exactOptional(v.boolean()),
  ilpAddress: v.exactOptional(Text),
  peers: v.exactOptional(v.array(Peer)),
})

const Schema = v.pipe(
  Members,
  v.check(
    ({ ilpAddress, peers }) => peers === undefined || ilpAddress !== undefined,
    'peers: they must know this sandbox by an ilpAddress',
  ),
)

function describeIssue(issue: v.BaseIssue<unknown>): string {
  const path = v.getDotPath(issue)
  if (issue.type === 'strict_object' && issue.expected === 'never') return `there is no key ${path}`
  // No value in JSON is undefined, so this is a key that is not there.
  const message = issue.type === 'strict_object' && issue.received === 'undefined' ? 'is missing' : issue.message
  return path === null ? message : `${path}: ${message}`
}

/** Reads the text of a configuration file. An unknown key is refused, and named. */
export function readConfiguration(text: string): ReadConfiguration {
  let json: unknown
  try {
    json = JSON.parse(text)
  } catch {
    return { ok: false, message: 'is not JSON' }
  }
  if (Array.isArray(json)) return { ok: false, message: 'is no JSON object' }
  const parsed = v.safeParse(Schema, json)
  if (!parsed.success) return { ok: false, message: describeIssue(parsed.issues[0]) }
  return { ok: true, configuration: parsed.output }
}

/** The accounts of a sandbox that nobody configured. */
export const DEFAULT_ACCOUNTS: readonly AccountConfiguration[] = [
  { path: '/alice', name: 'Alice', assetCode: 'USD', assetScale: 2, balance: '100000' },
  { path: '/bob', name: 'Bob', assetCode: 'USD', assetScale: 2, balance: '50000' },
  { path: '/chloe', name: 'Chloé', assetCode: 'EUR', assetScale: 2, balance: '75000' },
  { path: '/dalal', name: 'Dalal', assetCode: 'KWD', assetScale: 3, balance: '250000' },
]

const KNOWN_RATES: readonly Rate[] = [
  { from: 'USD', to: 'EUR', rate: '0.92' },
  { from: 'EUR', to: 'USD', rate: '1.08' },
  { from: 'USD', to: 'KWD', rate: '0.31' },
  { from: 'KWD', to: 'USD', rate: '3.2' },
  { from: 'EUR', to: 'KWD', rate: '0.33' },
  { from: 'KWD', to: 'EUR', rate: '2.95' },
]

/** A rate for every ordered pair of the given assets: invented, but plausible for the default ones. */
export function defaultRates(assetCodes: readonly string[]): readonly Rate[] {
  const codes = [...new Set(assetCodes)]
  return codes.flatMap((from) =>
    codes
      .filter((to) => to !== from)
      .map((to) => KNOWN_RATES.find((known) => known.from === from && known.to === to) ?? { from, to, rate: '1' }),
  )
}
