import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Fault } from '../payments/faulty-ports.ts'
import { ALICE, BASE } from '../support/test-wallet.ts'
import { type LimitsWorld, limitsWorld, listedPayments } from './limits-world.ts'
import { admittingEntry, type Charged, sumOf } from './model/payments.ts'
import { receiveExactly, sendExactly } from './model/prices.ts'
import { type Asset, EUR, INTERVALS, isSameAsset, type Money, money, USD, windowOf } from './model/state.ts'
import { checkProperty, PROPERTY_MILLISECONDS } from './property-parameters.ts'
import { clientKeys } from './seeded-cryptography.ts'

const keys = clientKeys()

const cap = (asset: typeof USD, factor: bigint): fc.Arbitrary<Money> =>
  fc.integer({ min: 100, max: 1500 }).map((value) => money(asset, BigInt(value) * factor))

const limits = fc.record({
  amount: fc.oneof(
    cap(USD, 1n).map((debitAmount) => ({ debitAmount })),
    cap(USD, 1n).map((receiveAmount) => ({ receiveAmount })),
    cap(EUR, 90n).map((receiveAmount) => ({ receiveAmount })),
    fc.constant({}),
  ),
  interval: fc.option(fc.constantFrom(...Object.keys(INTERVALS)), { freq: 2 }),
  receiver: fc.constantFrom(null, null, null, 0, 1, 2),
})

const payment = fc.record({
  name: fc.constant('pay' as const),
  debit: fc.oneof(
    { weight: 12, arbitrary: fc.integer({ min: 2, max: 500 }) },
    { weight: 1, arbitrary: fc.constant(200_000) },
    // All that the first entry has left, or one more.
    { weight: 6, arbitrary: fc.constantFrom('rest' as const, 'more' as const) },
  ),
  receiver: fc.nat(2),
  isQuoted: fc.boolean(),
  /** What happens to a call of the ledger, and whether to all of them. */
  trouble: fc.oneof(
    { weight: 6, arbitrary: fc.constant(undefined) },
    {
      weight: 4,
      arbitrary: fc.record({
        call: fc.constantFrom('hold', 'credit', 'settle', 'release'),
        fault: fc.constantFrom<Fault>('throws', 'loses the reply', 'hangs'),
        isLasting: fc.boolean(),
      }),
    },
    {
      weight: 3,
      arbitrary: fc.record({
        call: fc.constantFrom('hold', 'credit'),
        fault: fc.constantFrom<Fault>({ refuse: 'not_allowed' }, { refuse: 'account_closed' }),
        isLasting: fc.constant(false),
      }),
    },
  ),
})
const step = fc.record({
  name: fc.constant('step' as const),
  milliseconds: fc.constantFrom(-2000, -1, 0, 1, 1000, 59_999, 150_000, 300_000, 600_000),
})
const others = fc.record({ name: fc.constantFrom('rotate' as const, 'recover' as const) })
const command = fc.oneof(
  { weight: 8, arbitrary: payment },
  { weight: 4, arbitrary: step },
  { weight: 1, arbitrary: others },
)

type Command = typeof command extends fc.Arbitrary<infer C> ? C : never
type Pay = Extract<Command, { readonly name: 'pay' }>

interface Paid extends Charged {
  readonly url: string
}

/** The payments that count in a window, by what the list says of those that were charged to it. */
async function spendingOf(world: LimitsWorld, paid: readonly Paid[]) {
  const listed = await listedPayments(world)
  return ({ entry, window }: Charged): readonly { readonly debit: Money; readonly receive: Money }[] =>
    paid.flatMap((one) => {
      const item = listed.get(one.url)
      expect(item, 'every payment is listed').toBeDefined()
      const isSpent = one.entry === entry && one.window === window && item?.failed === false
      return isSpent ? [{ debit: item.debitAmount, receive: item.receiveAmount }] : []
    })
}

/** What the wallet must say that a window has spent; `undefined` for what it leaves open. */
function spentAmounts(own: readonly { readonly debit: Money; readonly receive: Money }[]) {
  const assets = new Set(own.map(({ receive }) => receive.assetCode))
  const [first] = own
  if (first === undefined) return { debit: money(USD, 0n), receive: expect.objectContaining({ value: '0' }) }
  const debit = money(USD, sumOf(own.map(({ debit: one }) => one)))
  const received = { ...first.receive, value: sumOf(own.map(({ receive }) => receive)).toString() }
  return { debit, receive: assets.size > 1 ? null : received }
}

/** What the first entry has left for a receiver of an asset; something where it says nothing about that. */
function restOf(
  { access, wallet }: LimitsWorld,
  asset: Asset,
  spentIn: Awaited<ReturnType<typeof spendingOf>>,
): bigint {
  const [right] = access
  const window = right && windowOf(right, wallet.clock.now())
  const { debitAmount, receiveAmount } = right?.limits ?? {}
  if (window === undefined) return 10n
  const spent = spentIn({ entry: 0, window })
  const debits = debitAmount && BigInt(debitAmount.value) - sumOf(spent.map(({ debit }) => debit))
  if (debits !== undefined) return debits > 0n ? debits : 10n
  if (receiveAmount === undefined || !isSameAsset(receiveAmount, asset)) return 10n
  const left = BigInt(receiveAmount.value) - sumOf(spent.map(({ receive }) => receive))
  return left > 0n ? receiveExactly(USD, asset, left).debit : 10n
}

async function pay(world: LimitsWorld, command: Pay, paid: Paid[]): Promise<void> {
  const { wallet, ports, access, send } = world
  const { trouble, isQuoted } = command
  const receiver = world.receivers[command.receiver] ?? ''
  const asset = command.receiver === 2 ? EUR : USD
  const spentBefore = await spendingOf(world, paid)
  const value = typeof command.debit === 'number' ? BigInt(command.debit) : restOf(world, asset, spentBefore)
  const debit = money(USD, command.debit === 'more' ? value + 1n : value)
  const receive = money(asset, sendExactly(USD, asset, BigInt(debit.value)).receive)
  const isPayable = receive.value !== '0'
  let body: unknown = { walletAddress: ALICE, incomingPayment: receiver, debitAmount: debit }
  if (isQuoted && isPayable) {
    const quote = await send('POST', `${BASE}/quotes`, {
      walletAddress: ALICE,
      receiver,
      method: 'ilp',
      debitAmount: debit,
    })
    body = { walletAddress: ALICE, quoteId: quote.body.id }
  }
  const charge = { walletAddress: ALICE, receiver: { url: receiver }, debit, receive }
  const charged = admittingEntry(access, wallet.clock.now(), charge, spentBefore)

  let calls = 0
  ports.plan = ({ name }) =>
    name === trouble?.call && (calls++ === 0 || trouble.isLasting) ? trouble.fault : undefined
  const answer = await send('POST', `${BASE}/outgoing-payments`, body)
  ports.plan = () => undefined

  const said = [answer.status, answer.body.error?.code]
  const expected = expectedOf(command, isPayable, charged)
  expect(said).toEqual(expected === undefined ? [201, undefined] : expected)
  if (expected !== undefined || charged === undefined) return
  const { body: made } = answer
  const spent = spentAmounts([...spentBefore(charged), charge])
  expect(made, 'invariant 15').toMatchObject({ grantSpentDebitAmount: spent.debit })
  if (spent.receive === null) expect(made).not.toHaveProperty('grantSpentReceiveAmount')
  else expect(made, 'invariant 15').toMatchObject({ grantSpentReceiveAmount: spent.receive })
  paid.push({ url: made.id, ...charged })
}

/** Why a payment must be refused; `undefined` where it must not. */
function expectedOf({ debit, trouble }: Pay, isPayable: boolean, charged: Charged | undefined) {
  if (!isPayable) return [400, 'non_positive_receive_amount']
  if (charged === undefined) return [403, 'grant_limit_exceeded']
  const fault = trouble?.call === 'hold' ? trouble.fault : undefined
  if (typeof fault === 'object' && 'refuse' in fault) return [403, fault.refuse]
  // A ledger that did not answer has not refused yet.
  return debit === 200_000 && fault === undefined ? [403, 'insufficient_funds'] : undefined
}

/** What the grant says that it has spent: the sum over the list, of the window of an entry that was charged. */
async function checkSpent(world: LimitsWorld, paid: readonly Paid[]): Promise<void> {
  const { send, access, wallet } = world
  const { body } = await send('GET', `${BASE}/outgoing-payment-grant`)
  const spentIn = await spendingOf(world, paid)
  const charged = [...new Set(paid.map(({ entry }) => entry))]
  const now = wallet.clock.now()
  const possible = charged.map((entry) => {
    const right = access[entry]
    const window = right && windowOf(right, now)
    const spent = window === undefined ? { debit: null, receive: null } : spentAmounts(spentIn({ entry, window }))
    return { spentDebitAmount: spent.debit, spentReceiveAmount: spent.receive }
  })
  const nothing = { spentDebitAmount: null, spentReceiveAmount: null }
  // Which of several entries was charged last is no matter of sums.
  expect(possible.length === 0 ? [nothing] : possible, 'invariant 15').toContainEqual(body)
}

const entriesOf = (
  given: readonly (typeof limits extends fc.Arbitrary<infer L> ? L : never)[],
  receivers: readonly string[],
) =>
  given.map(({ amount, interval, receiver }) => ({
    type: 'outgoing-payment',
    actions: ['create', 'list'],
    identifier: ALICE,
    limits: {
      ...amount,
      ...(interval !== null && { interval }),
      ...(receiver !== null && { receiver: receivers[receiver] ?? '' }),
    },
  }))

describe('LIM-1 a grant with limits, whatever happens to its payments', () => {
  const grants = fc.uniqueArray(limits, { minLength: 1, maxLength: 2, selector: (one) => JSON.stringify(one) })
  const commands = fc.array(command, { minLength: 4, maxLength: 25, size: 'max' })

  it('never exceeds a window, refuses nothing that fits, and says what it has spent', {
    timeout: PROPERTY_MILLISECONDS,
  }, async () => {
    await checkProperty(40, fc.record({ grants, commands }), async ({ grants: given, commands: all }) => {
      const [key] = await keys
      if (key === undefined) throw new Error('no key')
      const world = await limitsWorld(key, (receivers) => entriesOf(given, receivers))
      const paid: Paid[] = []
      for (const one of all) {
        if (one.name === 'pay') await pay(world, one, paid)
        if (one.name === 'step') world.wallet.clock.advance(one.milliseconds)
        if (one.name === 'rotate') await world.rotate()
        if (one.name === 'recover') {
          world.wallet.clock.advance(7_200_000)
          await world.wallet.openPayments.recover()
        }
        expect(world.exceeded, 'invariant 2').toEqual([])
        await checkSpent(world, paid)
      }
    })
  })
})
