import fc from 'fast-check'
import { ALICE, BOB, CAROL } from '../../support/test-wallet.ts'
import { EUR, INACTIVE, INTERVALS, type Money, money, UNKNOWN, USD } from './state.ts'

/** Chooses among what there is, the newest first: a fitting one, any, or something that there is not. */
export interface Choice {
  readonly kind: 'apt' | 'any' | 'unknown' | 'foreign'
  readonly pick: number
}

/** What stands in `Authorization`, and whose key signs: without `signer` that of the right client. */
export interface Bearer {
  readonly kind: 'apt' | 'any' | 'none' | 'garbage' | 'continuation'
  readonly pick: number
  readonly signer?: number | undefined
}

export interface EntryChoice {
  readonly type: string
  readonly actions: readonly string[]
  readonly identifier?: string | undefined
  readonly debitAmount?: Money | undefined
  readonly receiveAmount?: Money | undefined
  readonly interval?: string | undefined
  /** An incoming payment, where there is one by then. */
  readonly receiver?: number | undefined
}

const maybe = <T>(arbitrary: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> =>
  fc.option(arbitrary, { nil: undefined, freq: 2 })

/** Absent, but for one time in 14 or as many as that. */
const rarely = <T>(arbitrary: fc.Arbitrary<T>, absent = 13): fc.Arbitrary<T | undefined> =>
  fc.oneof({ weight: absent, arbitrary: fc.constant(undefined) }, { weight: 1, arbitrary })

const pick = fc.nat(5)
const signer = rarely(fc.nat(2))

function weighted<const T>(...choices: readonly (readonly [weight: number, value: T])[]): fc.Arbitrary<T> {
  return fc.oneof(...choices.map(([weight, value]) => ({ weight, arbitrary: fc.constant(value) })))
}

const choice: fc.Arbitrary<Choice> = fc.record({
  kind: weighted([16, 'apt'], [4, 'any'], [1, 'unknown'], [1, 'foreign']),
  pick,
})
const bearer: fc.Arbitrary<Bearer> = fc.record({
  kind: weighted([20, 'apt'], [4, 'any'], [1, 'none'], [1, 'garbage'], [1, 'continuation']),
  pick,
  signer,
})
const payer = weighted([12, ALICE], [3, BOB], [1, CAROL], [1, INACTIVE], [1, UNKNOWN])
const payee = weighted([10, BOB], [4, CAROL], [2, ALICE], [1, INACTIVE], [1, UNKNOWN])
const session = weighted([5, 'session-1'], [1, 'session-2'])
const isOwner = weighted([12, true], [1, false])
const value = fc.oneof(
  { weight: 6, arbitrary: fc.integer({ min: 1, max: 2000 }) },
  { weight: 1, arbitrary: fc.constantFrom(0, 60_000) },
)
const usd = value.map((amount) => money(USD, BigInt(amount)))
const eur = value.map((amount) => money(EUR, BigInt(amount)))
const amount = fc.oneof({ weight: 6, arbitrary: usd }, { weight: 2, arbitrary: eur })

const cap = fc.integer({ min: 300, max: 6000 })
const capUsd = cap.map((most) => money(USD, BigInt(most)))
const capEur = cap.map((most) => money(EUR, BigInt(most) * 90n))

const identifier = weighted([10, ALICE], [4, BOB], [1, CAROL], [1, INACTIVE], [1, UNKNOWN])
const actions = (...names: readonly string[]): fc.Arbitrary<string[]> => fc.subarray([...names], { minLength: 1 })

const incomingEntry = fc.record({
  type: fc.constant('incoming-payment'),
  actions: actions('create', 'complete', 'read', 'list', 'read-all', 'list-all'),
  identifier: maybe(identifier),
})
const quoteEntry = fc.record({ type: fc.constant('quote'), actions: actions('create', 'read', 'read-all') })
const limits = {
  debitAmount: maybe(fc.oneof({ weight: 12, arbitrary: capUsd }, { weight: 1, arbitrary: capEur })),
  interval: maybe(fc.constantFrom(...Object.keys(INTERVALS))),
  receiver: rarely(fc.nat(2), 3),
}
const receiveLimits = {
  ...limits,
  debitAmount: fc.constant(undefined),
  receiveAmount: fc.oneof({ weight: 3, arbitrary: capUsd }, { weight: 1, arbitrary: capEur }),
}
const outgoing = { type: fc.constant('outgoing-payment'), identifier }
const outgoingActions = actions('create', 'read', 'list', 'read-all', 'list-all')
const outgoingEntry = fc.oneof(
  { weight: 6, arbitrary: fc.record({ ...outgoing, actions: outgoingActions, ...limits }) },
  { weight: 4, arbitrary: fc.record({ ...outgoing, actions: outgoingActions, ...receiveLimits }) },
  { weight: 1, arbitrary: fc.record({ ...outgoing, actions: outgoingActions, ...limits, receiveAmount: amount }) },
)
const access: fc.Arbitrary<readonly EntryChoice[]> = fc.array(fc.oneof(incomingEntry, quoteEntry, outgoingEntry), {
  maxLength: 3,
})

/** Access with which much can be done: often two entries with limits of their own. */
const rights = weighted(
  [2, ['create', 'read', 'list']],
  [1, ['create', 'read-all', 'list-all']],
  [1, ['create', 'read', 'list-all']],
)
const spending = { type: fc.constant('outgoing-payment'), actions: rights }
const spendingEntry = fc.oneof(
  fc.record({ ...spending, ...limits, debitAmount: maybe(capUsd) }),
  fc.record({ ...spending, ...receiveLimits }),
)
const receivingEntry = { type: 'incoming-payment', actions: ['create', 'complete', 'read', 'list'] }
const wideAccess = fc
  .tuple(weighted([4, ALICE], [1, BOB]), spendingEntry, fc.option(spendingEntry, { freq: 3 }))
  .map(([identifier, first, second]): readonly EntryChoice[] => [
    { ...first, identifier },
    second === null ? receivingEntry : { ...second, identifier },
    { type: 'quote', actions: ['create', 'read'] },
  ])

/** Whether a value has no number that is refused because it may lose digits. */
function isExact(value: unknown): boolean {
  if (typeof value === 'number') return Math.abs(value) <= Number.MAX_SAFE_INTEGER
  return typeof value !== 'object' || value === null || Object.values(value).every(isExact)
}

// As it travels: a minus before a zero does not.
const metadata: fc.Arbitrary<unknown> = fc
  .dictionary(fc.string(), fc.jsonValue({ maxDepth: 2 }), { maxKeys: 3 })
  .filter(isExact)
  .map((drawn) => JSON.parse(JSON.stringify(drawn)))

const client: fc.Arbitrary<number> = weighted([4, 0], [4, 1], [1, 2])
const interact = weighted([1, 'none'], [4, 'poll'], [4, 'finish'])
const form = fc.boolean()

/** A command with its name; of `weight` in all of them. */
function named<const N extends string, V>(name: N, weight: number, members: fc.Arbitrary<V>) {
  return { weight, arbitrary: members.map((rest) => ({ name, ...rest })) }
}

/** Something that somebody does. */
export const command = fc.oneof(
  named(
    'grant',
    6,
    fc.record({ client, signer, form, access: fc.oneof(access, wideAccess), interact, subject: rarely(identifier) }),
  ),
  /** Asks for a grant with consent, and gets it. */
  named(
    'consented',
    6,
    fc.record({ client: fc.nat(1), form, access: wideAccess, interact: weighted([1, 'poll'], [1, 'finish']) }),
  ),
  /** A grant that the client without a wallet address gets, too. */
  /** The same, but that the client has not come back yet. */
  named(
    'approved',
    5,
    fc.record({ client: fc.nat(1), form, access: wideAccess, interact: weighted([1, 'poll'], [2, 'finish']) }),
  ),
  named('guess', 2, fc.record({ grant: choice, times: fc.integer({ min: 2, max: 7 }) })),
  named('receiving', 3, fc.record({ client: fc.nat(2), form, identifier: maybe(payee), isAll: fc.boolean() })),
  named('open', 5, fc.record({ grant: choice, session, isOwner })),
  named(
    'decide',
    6,
    fc.record({ grant: choice, session, isOwner, isBound: isOwner, isApproved: weighted([5, true], [1, false]) }),
  ),
  named(
    'continue',
    10,
    fc.record({
      grant: choice,
      signer,
      presented: weighted([12, 'own'], [1, 'other'], [1, 'access token']),
      reference: weighted([6, 'right'], [2, 'none'], [4, 'wrong'], [2, 'other']),
      isPatient: weighted([5, true], [1, false]),
    }),
  ),
  named('cancel', 1, fc.record({ grant: choice, signer, presented: weighted([12, 'own'], [1, 'other']) })),
  named('ownerRevokes', 1, fc.record({ grant: choice, isOwner })),
  named('ownerLists', 1, fc.record({ walletAddress: fc.constantFrom(ALICE, BOB) })),
  named(
    'rotate',
    3,
    fc.record({
      token: choice,
      signer,
      isOther: weighted([1, true], [10, false]),
      hasBody: weighted([1, true], [10, false]),
    }),
  ),
  named('revoke', 2, fc.record({ token: choice, signer, isOther: weighted([1, true], [10, false]) })),
  /** Ends a token, its grant, or both, and tries what is then over. */
  named(
    'afterEnd',
    3,
    fc.record({
      token: choice,
      how: fc.subarray(['rotate', 'revoke', 'cancel', 'ownerRevokes'] as const, { minLength: 1 }),
    }),
  ),
  named(
    'createIncoming',
    8,
    fc.record({
      bearer,
      walletAddress: payee,
      amount: maybe(fc.integer({ min: 0, max: 3000 })),
      isWrongAsset: weighted([1, true], [12, false]),
      expiresIn: maybe(fc.constantFrom(-1, 0, 1, 60_000, 600_000, 3_600_000, 3_600_001)),
      metadata: maybe(metadata),
    }),
  ),
  named('readIncoming', 3, fc.record({ bearer, incoming: choice })),
  named('listIncomings', 4, fc.record({ bearer, walletAddress: payee })),
  named('complete', 1, fc.record({ bearer, incoming: choice })),
  named('receive', 1, fc.record({ incoming: choice, amount: fc.integer({ min: 1, max: 2000 }), transfer: fc.nat(5) })),
  named(
    'createQuote',
    8,
    fc.record({ bearer, walletAddress: payer, incoming: choice, debit: maybe(amount), receive: maybe(amount) }),
  ),
  named('readQuote', 2, fc.record({ bearer, quote: choice })),
  named(
    'payQuote',
    12,
    fc.record({
      bearer,
      walletAddress: rarely(payer),
      quote: choice,
      /** Whose account the wallet has closed just for now. */
      closed: weighted([10, undefined], [2, 'payee'], [1, 'payer']),
    }),
  ),
  named('payIncoming', 8, fc.record({ bearer, walletAddress: payer, incoming: choice, debit: amount })),
  /** Pays several receivers with one token, and asks what that has spent. */
  named(
    'payInRow',
    6,
    fc.record({ pick, debits: fc.array(fc.integer({ min: 50, max: 1500 }), { minLength: 2, maxLength: 5 }) }),
  ),
  named('readPayment', 3, fc.record({ bearer, payment: choice })),
  named('listPayments', 4, fc.record({ bearer, walletAddress: payer })),
  named('readSpent', 4, fc.record({ bearer })),
  named('documents', 1, fc.record({ walletAddress: payee })),
  named(
    'permissions',
    2,
    fc.record({
      account: fc.constantFrom('alice', 'bob', 'carol'),
      canSend: weighted([3, true], [1, false]),
      canReceive: weighted([3, true], [1, false]),
    }),
  ),
  named(
    'wait',
    4,
    fc.record({
      milliseconds: weighted(
        [4, 1],
        [4, 1000],
        [6, 5000],
        [3, 61_000],
        [3, 300_000],
        [1, 600_000],
        [1, 3_600_000],
        [1, 90_000_000],
        [1, 2_700_000_000],
      ),
    }),
  ),
  /** Goes to where something is just over, and looks. */
  named(
    'atEndOf',
    12,
    fc.record({
      what: fc.constantFrom(
        'token',
        'quote',
        'incoming',
        'interaction',
        'continuation',
        'repeat',
        'rotation',
        'window',
      ),
      interact: weighted([1, 'poll'], [1, 'finish']),
      late: fc.constantFrom(-1, 0, 1),
    }),
  ),
  named('recover', 1, fc.record({})),
  named('sweep', 2, fc.record({})),
)

export type Command = typeof command extends fc.Arbitrary<infer C> ? C : never

/** The commands of one name. */
export type CommandOf<N extends Command['name']> = Extract<Command, { readonly name: N }>
