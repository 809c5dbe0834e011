import type { OpenPaymentsOptions } from 'open-payments-server'
import type { Random } from './random.ts'

/** How often a call of a port meets what; each is a probability. */
export interface FaultRates {
  /** It rejects and has no effect. */
  readonly fails: number
  /** It takes effect, and then rejects. */
  readonly losesReply: number
  /** It rejects, and takes effect afterwards. */
  readonly isOvertaken: number
  /** It has no effect and no answer. */
  readonly isLost: number
  /** It takes effect and has no answer. */
  readonly isUnanswered: number
  /** It is delivered once more, perhaps much later. */
  readonly isRepeated: number
  /** Its effect, or its reply, takes longer than any deadline. */
  readonly isSlow: number
}

export const NO_FAULTS: FaultRates = {
  fails: 0,
  losesReply: 0,
  isOvertaken: 0,
  isLost: 0,
  isUnanswered: 0,
  isRepeated: 0,
  isSlow: 0,
}

/** What the rail of a run is like, and the wallet at its other end. */
export interface RailShape {
  /** Whether the far side can be asked again what became of a part; else that may stay unknown. */
  readonly isAskable: boolean
  /** Whether it fails for ever in the end where something is in flight. */
  readonly isBroken: boolean
  /** In how many parts a payment leaves, and how many of them at once, at most. */
  readonly parts: number
  readonly window: number
  /** The probability that it stops somewhere on its way, in one of the ways that its port leaves open. */
  readonly oddness: number
  /** The probability that the far side rejects a part. */
  readonly rejects: number
  /** How far one side of an account may be above the other one. */
  readonly limit: bigint | undefined
  /** What becomes of calls between this wallet, the rail and the other one. */
  readonly faults: FaultRates
  /** The share of payments that go there. */
  readonly share: number
  /** What is lost on the way, in hundredths. */
  readonly slippage: bigint
  /** Whether dollars leave for euros, or the wallet has changed them before. */
  readonly isExchangedByRail: boolean
}

/** What one run is like. Drawn from its seed, so that different seeds differ in kind. */
export interface Shape {
  readonly processes: number
  readonly users: number
  readonly actions: number
  /** How long a call or a reply usually takes, at most, in milliseconds; 0: everything is ready at once. */
  readonly latency: number
  /** How long one that is slow takes, at most. */
  readonly slowest: number
  /** What a ledger takes at least for each answer about money, in milliseconds. */
  readonly ledgerPause: number
  /** The only account of which that is so; absent: all are. */
  readonly slowAccount?: string
  readonly storage: FaultRates
  readonly ledger: FaultRates
  readonly others: FaultRates
  /** The probability of a crash before any step. */
  readonly crash: number
  /** The probability that the clocks are set anew before any step. */
  readonly clockStep: number
  /** How far apart the clocks of processes are, in milliseconds. */
  readonly skew: number
  /** How long a user thinks before each action, at most. */
  readonly thinking: number
  /** The share of orders that name an `Idempotency-Key`. */
  readonly keyed: number
  readonly openingBalance: bigint
  /** How often each process recovers and sweeps, in milliseconds. */
  readonly recoverEvery: number
  /** Absent where no payment method is configured. */
  readonly rail?: RailShape
  readonly settings: NonNullable<OpenPaymentsOptions['settings']>
}

/** Nothing goes wrong, nothing takes time. */
export const CALM: Shape = {
  processes: 1,
  users: 1,
  actions: 0,
  latency: 0,
  slowest: 0,
  ledgerPause: 0,
  storage: NO_FAULTS,
  ledger: NO_FAULTS,
  others: NO_FAULTS,
  crash: 0,
  clockStep: 0,
  skew: 0,
  thinking: 0,
  keyed: 0.5,
  openingBalance: 100_000n,
  recoverEvery: 0,
  settings: { lifetimes: { accessTokenSeconds: 10_000_000 } },
}

/** Each kind of fault is there in some runs only: else every run would be the same mixture. */
function drawRates(random: Random, most: number): FaultRates {
  const rate = (): number => (random.chance(0.4) ? random.next() * most : 0)
  return {
    fails: rate(),
    losesReply: rate(),
    isOvertaken: rate(),
    isLost: rate(),
    isUnanswered: rate(),
    isRepeated: rate(),
    isSlow: rate(),
  }
}

/** A rail on which nothing goes wrong. */
export const CALM_RAIL: RailShape = {
  isAskable: true,
  isBroken: false,
  parts: 3,
  window: 1,
  oddness: 0,
  rejects: 0,
  limit: undefined,
  faults: NO_FAULTS,
  share: 0,
  slippage: 0n,
  isExchangedByRail: true,
}

function drawRail(random: Random, isCalm: boolean): RailShape {
  const most = random.pick([0.3, 0.6])
  return {
    isAskable: random.chance(0.75),
    isBroken: !isCalm && random.chance(0.3),
    parts: random.between(1, 5),
    window: random.between(1, 3),
    oddness: isCalm || random.chance(0.2) ? 0 : random.pick([0.1, 0.3, 0.5]),
    rejects: isCalm || random.chance(0.3) ? 0 : random.pick([0.05, 0.3]),
    limit: random.chance(0.65) ? undefined : BigInt(random.pick([50, 300])),
    faults: isCalm || random.chance(0.2) ? NO_FAULTS : drawRates(random, most),
    share: random.pick([0.5, 0.9]),
    slippage: BigInt(random.between(0, 4)),
    isExchangedByRail: random.chance(0.5),
  }
}

/** A lease covers five holds at least. */
function limitsOf(lease: number, holdSeconds: number): NonNullable<Shape['settings']['limits']> {
  return { leaseSeconds: Math.max(lease, 5 * holdSeconds), holdSeconds }
}

export function drawShape(random: Random): Shape {
  const isCalm = random.chance(0.12)
  const most = random.pick([0.05, 0.15, 0.4])
  const rates = (): FaultRates => (isCalm || random.chance(0.25) ? NO_FAULTS : drawRates(random, most))
  const lease = random.pick([9, 15, 30, 30])
  // A rail needs a longer lease than that.
  const hasRail = lease >= 15 && random.chance(0.75)
  const isSlowLedger = !isCalm && random.chance(0.08)
  return {
    processes: random.weigh([
      [3, 1],
      [4, 2],
      [2, 3],
      [1, 4],
    ]),
    users: random.between(1, 8),
    // A rail is more to see.
    actions: random.between(5, 18) + (hasRail ? 6 : 0),
    latency: random.pick([0, 5, 40, 400]),
    slowest: random.pick([5_000, 20_000, 90_000]),
    ledgerPause: isSlowLedger ? random.pick([3_001, 5_000, 20_000, 100_000]) : 0,
    ...(isSlowLedger && random.chance(0.6) && { slowAccount: random.pick(['alice', 'bob', 'carol']) }),
    storage: rates(),
    ledger: rates(),
    others: rates(),
    crash: isCalm || random.chance(0.3) ? 0 : random.pick([0.001, 0.004, 0.012]),
    clockStep: isCalm || random.chance(0.6) ? 0 : random.pick([0.002, 0.01]),
    skew: isCalm ? 0 : random.pick([0, 0, 50, 2_000, 20_000]),
    thinking: random.pick([0, 50, 2_000, 20_000]),
    keyed: random.pick([0, 0.5, 0.5, 1]),
    openingBalance: random.pick([60n, 300n, 3_000n, 100_000n]),
    recoverEvery: random.pick([0, 2_000, 10_000]),
    ...(hasRail && { rail: drawRail(random, isCalm) }),
    settings: {
      lifetimes: { accessTokenSeconds: random.chance(0.9) ? 10_000_000 : 600 },
      limits: limitsOf(lease, random.pick([1, 3, 3])),
      policies: {
        excessReceipt: random.pick(['cap', 'accept', 'refuse'] as const),
        replay: random.pick(['payments', 'all'] as const),
        quoteBinding: random.pick(['walletAddress', 'client'] as const),
      },
    },
  }
}
