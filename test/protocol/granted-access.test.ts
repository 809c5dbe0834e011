import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type Access, type Action, allowsAction, coversWalletAddress } from '../../src/protocol/access.ts'
import { isNarrower, parseGrantedAccess } from '../../src/protocol/granted-access.ts'
import { parseInterval, windowAt } from '../../src/protocol/interval.ts'
import type { WireLimits } from '../../src/protocol/limits.ts'

const ALICE = 'https://wallet.example/alice'
const BOB = 'https://wallet.example/bob'
const RECEIVER = 'https://other.example/incoming-payments/1'
const MONTHLY = 'R2/2026-01-01T00:00:00Z/P1M'
const ONCE = 'R0/2026-01-01T00:00:00Z/P1M'
const usd = (value: string) => ({ value, assetCode: 'USD', assetScale: 2 })
const eur = (value: string) => ({ value, assetCode: 'EUR', assetScale: 2 })

const outgoing = (limits?: WireLimits, actions: readonly Action[] = ['create', 'read-all']): Access => ({
  type: 'outgoing-payment',
  actions,
  identifier: ALICE,
  ...(limits && { limits }),
})
const incoming = (actions: readonly Action[], identifier?: string): Access => ({
  type: 'incoming-payment',
  actions,
  ...(identifier !== undefined && { identifier }),
})
const quote = (actions: readonly Action[]): Access => ({ type: 'quote', actions })

const LESS: readonly (readonly [string, Access, Access])[] = [
  ['the same', outgoing({ debitAmount: usd('100') }), outgoing({ debitAmount: usd('100') })],
  ['fewer actions', outgoing(), outgoing(undefined, ['create'])],
  ['read of a read-all', outgoing(), outgoing(undefined, ['read'])],
  ['list of a list-all', incoming(['list-all'], ALICE), incoming(['list'], ALICE)],
  ['the same without an identifier', incoming(['create', 'read']), incoming(['read'])],
  ['fewer quote actions', quote(['create', 'read']), quote(['create'])],
  ['a smaller debit amount', outgoing({ debitAmount: usd('100') }), outgoing({ debitAmount: usd('99') })],
  ['a smaller receive amount', outgoing({ receiveAmount: eur('100') }), outgoing({ receiveAmount: eur('0') })],
  ['a debit amount where there was none', outgoing(), outgoing({ debitAmount: usd('1') })],
  ['a receive amount where there was none', outgoing({}), outgoing({ receiveAmount: eur('1') })],
  [
    'a receiver where there was none',
    outgoing({ interval: MONTHLY }),
    outgoing({ interval: MONTHLY, receiver: RECEIVER }),
  ],
  ['an interval where there was no limit', outgoing(), outgoing({ interval: MONTHLY })],
  [
    'an amount in each window of its interval',
    outgoing({ interval: MONTHLY }),
    outgoing({ interval: MONTHLY, debitAmount: usd('1') }),
  ],
  ['limits that hold nothing', outgoing(), outgoing({})],
]

const MORE: readonly (readonly [string, Access, Access])[] = [
  ['another type', quote(['create', 'read']), incoming(['create', 'read'])],
  ['another wallet address', outgoing(), { type: 'outgoing-payment', actions: ['create'], identifier: BOB }],
  ['every wallet address', incoming(['read'], ALICE), incoming(['read'])],
  ['a wallet address where none was named', incoming(['read']), incoming(['read'], ALICE)],
  ['another action', outgoing(undefined, ['create']), outgoing(undefined, ['create', 'read'])],
  ['read-all of a read', outgoing(undefined, ['read']), outgoing(undefined, ['read-all'])],
  ['a larger debit amount', outgoing({ debitAmount: usd('99') }), outgoing({ debitAmount: usd('100') })],
  ['a larger receive amount', outgoing({ receiveAmount: usd('9') }), outgoing({ receiveAmount: usd('10') })],
  ['a debit amount of another asset', outgoing({ debitAmount: usd('99') }), outgoing({ debitAmount: eur('1') })],
  ['a receive amount of another asset', outgoing({ receiveAmount: usd('99') }), outgoing({ receiveAmount: eur('1') })],
  ['no debit amount', outgoing({ debitAmount: usd('99') }), outgoing({})],
  ['no receive amount', outgoing({ receiveAmount: usd('99') }), outgoing({})],
  ['no limits', outgoing({ debitAmount: usd('99') }), outgoing()],
  [
    'a receive amount in place of the debit amount',
    outgoing({ debitAmount: usd('99') }),
    outgoing({ receiveAmount: usd('1') }),
  ],
  ['no receiver', outgoing({ receiver: RECEIVER }), outgoing({})],
  ['another receiver', outgoing({ receiver: RECEIVER }), outgoing({ receiver: `${RECEIVER}2` })],
  ['no interval', outgoing({ interval: MONTHLY }), outgoing({})],
  ['another interval', outgoing({ interval: ONCE }), outgoing({ interval: MONTHLY })],
  [
    'a debit amount each month in place of once',
    outgoing({ debitAmount: usd('9') }),
    outgoing({ debitAmount: usd('9'), interval: MONTHLY }),
  ],
  [
    'a receive amount each month in place of once',
    outgoing({ receiveAmount: usd('9') }),
    outgoing({ receiveAmount: usd('9'), interval: MONTHLY }),
  ],
]

describe('what an owner may grant of one entry', () => {
  it.each(LESS)('GRT-13 %s', (_name, asked, given) => expect(isNarrower(asked, given)).toBe(true))
  it.each(MORE)('GRT-13 not %s', (_name, asked, given) => expect(isNarrower(asked, given)).toBe(false))

  const limits: fc.Arbitrary<WireLimits> = fc
    .record(
      {
        receiver: fc.constantFrom(RECEIVER, `${RECEIVER}2`),
        interval: fc.constantFrom(MONTHLY, ONCE),
        amount: fc.constantFrom(usd('1'), usd('2'), eur('2')),
        isDebit: fc.boolean(),
      },
      { requiredKeys: ['isDebit'] },
    )
    .map(({ amount, isDebit, ...others }) => ({
      ...others,
      ...(amount && (isDebit ? { debitAmount: amount } : { receiveAmount: amount })),
    }))
  const actions = (...names: readonly Action[]): fc.Arbitrary<Action[]> => fc.subarray([...names], { minLength: 1 })
  const entry: fc.Arbitrary<Access> = fc.oneof(
    fc
      .tuple(actions('create', 'read', 'read-all'), fc.option(limits, { nil: undefined }), fc.constantFrom(ALICE, BOB))
      .map(([held, limited, identifier]) => ({ ...outgoing(limited, held), identifier })),
    fc
      .tuple(actions('read', 'read-all', 'list', 'list-all'), fc.constantFrom(ALICE, undefined))
      .map(([held, identifier]) => incoming(held, identifier)),
    actions('create', 'read', 'read-all').map(quote),
  )

  /** Two entries, the second more often than not made of the first. */
  const pair: fc.Arbitrary<readonly [Access, Access]> = entry.chain((asked) =>
    fc.tuple(
      fc.constant(asked),
      asked.type === 'outgoing-payment'
        ? fc.tuple(fc.subarray([...asked.actions], { minLength: 1 }), limits).map(([held, limited]) => ({
            ...asked,
            actions: held,
            limits: limited,
          }))
        : entry,
    ),
  )

  interface Payments {
    readonly at: readonly number[]
    readonly receiver: string
    readonly debit: string
    readonly receive: string
  }
  const month = (number: number): number => Date.UTC(2026, number, 10)
  const PAYMENTS: readonly Payments[] = [[-1], [0], [0, 0], [0, 1], [0, 1, 1], [3]].flatMap((months) =>
    [RECEIVER, `${RECEIVER}2`].flatMap((receiver) =>
      ['USD', 'EUR'].flatMap((debit) =>
        ['USD', 'EUR'].map((receive) => ({ at: months.map(month), receiver, debit, receive })),
      ),
    ),
  )

  /** Whether an entry allows a client all of these payments of one smallest unit. */
  function pays(access: Access, { at, receiver: payee, debit, receive }: Payments): boolean {
    const { interval, receiver, debitAmount, receiveAmount } =
      access.type === 'outgoing-payment' && access.limits !== undefined ? access.limits : {}
    const parsed = interval === undefined ? undefined : parseInterval(interval)
    const windows = at.map((moment) =>
      interval === undefined ? 0 : parsed && windowAt(parsed, moment, 'additional')?.index,
    )
    const most = Number((debitAmount ?? receiveAmount)?.value ?? 99)
    return (
      allowsAction(access, 'create') &&
      (debitAmount?.assetCode ?? debit) === debit &&
      (receiveAmount?.assetCode ?? receive) === receive &&
      (receiver ?? payee) === payee &&
      windows.every((own) => own !== undefined && windows.filter((window) => window === own).length <= most)
    )
  }

  it('GRT-13 whatever the narrower entry allows, the one that was asked for allows', () => {
    const names: readonly Action[] = ['create', 'complete', 'read', 'read-all', 'list', 'list-all']
    let narrower = 0
    fc.assert(
      fc.property(pair, ([asked, given]) => {
        if (!isNarrower(asked, given)) return
        narrower++
        expect(given.type).toBe(asked.type)
        for (const name of names) if (allowsAction(given, name)) expect(allowsAction(asked, name)).toBe(true)
        for (const address of [ALICE, BOB])
          if (coversWalletAddress(given, address)) expect(coversWalletAddress(asked, address)).toBe(true)
        for (const run of PAYMENTS) if (pays(given, run)) expect(pays(asked, run)).toBe(true)
      }),
      { seed: 13, numRuns: 4000 },
    )
    expect(narrower).toBeGreaterThan(200)
  })
})

describe('what an owner may grant of a request', () => {
  const small = outgoing({ debitAmount: usd('10') })
  const large = outgoing({ debitAmount: usd('100') })
  const reads = quote(['read'])

  it.each([
    ['all of it', [small, large, reads], [small, large, reads]],
    ['nothing', [small], []],
    ['in another order', [small, large, reads], [reads, large, small]],
    ['the one that fits leaves the other for the next', [large, small], [small, outgoing({ debitAmount: usd('99') })]],
  ])('GRT-13 %s', (_name, asked, given) => expect(parseGrantedAccess(asked, given)).toEqual(given))

  it.each([
    ['two entries out of one', [large], [small, outgoing({ debitAmount: usd('20') })]],
    ['the larger budget twice', [small, large], [large, outgoing({ debitAmount: usd('99') })]],
    ['one entry twice', [small, large], [small, small]],
    ['one entry that fits and one that does not', [large, reads], [small, quote(['create'])]],
    ['anything where nothing was asked', [], [reads]],
    ['no list', [small], small],
    ['null', [small], null],
    ['an entry with another member', [small], [{ ...small, note: 'x' }]],
    ['an entry without actions', [small], [{ ...small, actions: [] }]],
    ['an amount that is none', [small], [outgoing({ debitAmount: usd('') })]],
    ['a receiver that is none', [outgoing()], [outgoing({ receiver: ALICE })]],
    ['an interval that is none', [outgoing()], [outgoing({ interval: 'monthly' })]],
    ['both amounts', [small], [outgoing({ debitAmount: usd('1'), receiveAmount: usd('1') })]],
  ])('GRT-13 not %s', (_name, asked, given) => expect(parseGrantedAccess(asked, given)).toBeUndefined())

  it('GRT-13 AMT-6 members that an amount does not have are dropped', () => {
    const noted = { ...small, limits: { debitAmount: { ...usd('10'), note: 'x' } } }
    expect(parseGrantedAccess([large], [noted])).toEqual([small])
  })
})
