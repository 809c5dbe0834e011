import type { HttpRequest } from 'open-payments-server'
import type { SignedRequestOptions } from 'open-payments-server/testing'
import { describe, expect, it } from 'vitest'
import { readText } from '../architecture/source-tree.ts'
import type { Call } from '../payments/faulty-ports.ts'
import {
  ask,
  grantTokens,
  moneyWorld,
  OPENING,
  type PreparedPayment,
  type ProcessAnswer,
  preparePayment,
  recoverUntilQuiet,
  signedBy,
  type World,
} from '../payments/money-world.ts'
import { keyed } from '../support/keyed.ts'
import { ALICE, BASE, usd, usdAmount } from '../support/test-wallet.ts'

const page = readText('docs/payment-lifecycle.md').replaceAll('\n', ' ')

/** The rows of the page's tables of deaths, by their first cell. */
const rows = new Map(
  readText('docs/payment-lifecycle.md')
    .split('\n')
    .filter((line) => /^\| [AB]\d \|/.test(line))
    .map((line) => line.split('|').map((cell) => cell.trim().replaceAll('`', '')))
    .map(([, row = '', , ...cells]) => [row, cells.slice(0, -1)]),
)

/** Where a process ends: before or after a call has its effect. */
interface Death {
  readonly at: (call: Call) => boolean
  readonly when: 'before' | 'after'
}

/** The commit that brings the payment into a state. */
function intoState(state: string): Death['at'] {
  return ({ name, arguments: [changes] }) =>
    name === 'commit' &&
    Array.isArray(changes) &&
    changes.some(({ kind, value }) => kind === 'outgoing-payment' && value?.state === state)
}

/** The commit that notes that the host has heard of the end. */
const acknowledgement: Death['at'] = ({ name, arguments: [changes] }) =>
  name === 'commit' &&
  Array.isArray(changes) &&
  changes.some(({ action, kind, id }) => action === 'delete' && kind === 'event' && /:2$/.test(id))

function toLedger(call: string): Death['at'] {
  return ({ port, name }) => port === 'ledger' && name === call
}

/** What a process left behind. */
interface Dead {
  readonly world: World
  readonly prepared: PreparedPayment
  readonly request: HttpRequest
  readonly answer: ProcessAnswer | undefined
}

interface Play {
  readonly death: Death
  readonly refused?: 'alice' | 'bob'
  readonly isKeyed?: true
  /** A call of the ledger that throws, without an effect. */
  readonly unanswered?: 'settle'
  readonly meanwhile?: (world: World, prepared: PreparedPayment) => Promise<unknown>
}

/** The rows of the two tables of the page: where the process ends, and what else there is to each. */
const PLAYS = {
  A1: { death: { at: intoState('created'), when: 'before' } },
  A2: { death: { at: intoState('created'), when: 'after' } },
  A3: { death: { at: toLedger('hold'), when: 'after' } },
  A4: { death: { at: intoState('sending'), when: 'after' } },
  A5: { death: { at: toLedger('credit'), when: 'after' } },
  A6: { death: { at: toLedger('settle'), when: 'after' } },
  A7: { death: { at: intoState('decided'), when: 'after' }, unanswered: 'settle' },
  A8: { death: { at: intoState('completed'), when: 'after' } },
  A9: { death: { at: acknowledgement, when: 'before' } },
  B1: { death: { at: toLedger('hold'), when: 'after' }, refused: 'alice' },
  B2: { death: { at: toLedger('hold'), when: 'after' }, refused: 'alice', isKeyed: true },
  B3: { death: { at: toLedger('credit'), when: 'after' }, refused: 'bob' },
  B4: { death: { at: toLedger('release'), when: 'after' }, refused: 'bob' },
  B5: {
    death: { at: toLedger('hold'), when: 'after' },
    meanwhile: ({ wallet }, { incomingId }) =>
      wallet.openPayments.incomingPayments.received(incomingId, usdAmount(10n), 'by wire'),
  },
} satisfies Readonly<Record<string, Play>>

const KEYED = keyed('order-7')

async function die({ death, refused, isKeyed, unanswered, meanwhile }: Play): Promise<Dead> {
  const world = await moneyWorld()
  const prepared = await preparePayment(world, await grantTokens(world, { debitAmount: usd('10') }))
  if (refused)
    await world.ledger.setPermissions(refused, { canSend: refused === 'bob', canReceive: refused === 'alice' })
  const process = world.start()
  process.ports.plan = (call) => {
    if (death.at(call)) return `crashes ${death.when}`
    return call.name === unanswered ? 'throws' : undefined
  }
  const request = await order(world, prepared, isKeyed && KEYED)
  const answer = await ask(process, request)
  await Promise.race([process.openPayments.drain(), process.ports.crashed])
  await meanwhile?.(world, prepared)
  return { world, prepared, request, answer }
}

function order(
  world: World,
  { token, body }: PreparedPayment,
  more: Partial<SignedRequestOptions> = {},
): Promise<HttpRequest> {
  return signedBy(world, 'POST', `${BASE}/outgoing-payments`, token, body, more)
}

/** The state of the payment in the storage. */
async function stateOf({ storage }: World): Promise<string | undefined> {
  const [record] = await storage.all('outgoing-payment')
  return record?.value.state
}

/** What the client sees that lists its payments. */
async function seenBy({ wallet }: World, { token }: PreparedPayment): Promise<string> {
  const url = `${BASE}/outgoing-payments?wallet-address=${encodeURIComponent(ALICE)}`
  const [payment] = (await wallet.send('GET', url, { token })).body.result
  return payment === undefined ? 'nothing' : `sent ${payment.sentAmount.value}`
}

/** Alice's and Bob's money, in the words of the page. */
async function moneyOf({ ledger }: World): Promise<string> {
  const [alice, bob] = await Promise.all([ledger.balance('alice'), ledger.balance('bob')])
  const payer = alice?.held === 10n ? 'held' : alice?.total === OPENING - 10n ? 'taken' : 'untouched'
  return `${payer}, ${bob?.total === 10n ? 'credited' : 'untouched'}`
}

/** Starts another process, which recovers once the lease is over; tells what it asked the ledger. */
async function recover(world: World): Promise<readonly string[]> {
  const next = world.start()
  world.wallet.clock.advance(30_000)
  await next.openPayments.recover()
  await next.openPayments.drain()
  return next.ports.calls.filter(({ port }) => port === 'ledger').map(({ name }) => name)
}

describe('T-31 the page about a process that dies', () => {
  it('has a row for every moment that is played here', () => {
    expect([...rows.keys()]).toEqual(Object.keys(PLAYS))
  })

  it.each(Object.entries(PLAYS))('is right about %s', async (row, play) => {
    const { world, prepared, answer } = await die(play)
    const found = [
      (await stateOf(world)) ?? 'nothing',
      await moneyOf(world),
      `${answer?.status ?? 'nothing'}`,
      await seenBy(world, prepared),
      (await recover(world)).join(', ') || 'nothing',
      (await stateOf(world)) ?? 'there is no payment',
    ]
    expect(found).toEqual(rows.get(row))
    await recoverUntilQuiet(world)
    const isPaid = (await stateOf(world)) === 'completed'
    expect(await moneyOf(world)).toBe(isPaid ? 'taken, credited' : 'untouched, untouched')
    const ids = world.told().map(({ id }) => id)
    // In A9 the last event, in the others the first: it is told while the ledger is asked.
    expect(ids.length - new Set(ids).size).toBe(['A5', 'A9', 'B3'].includes(row) ? 1 : 0)
  })
})

describe('T-31 OUT-12 a client that heard nothing', () => {
  const dead = (row: 'A1' | 'A2' | 'A4', isKeyed?: true) => die({ ...PLAYS[row], ...(isKeyed && { isKeyed }) })
  const again = async ({ world }: Dead, request: HttpRequest): Promise<readonly unknown[]> => {
    const answer = await ask(world.start(), request)
    await world.wallet.openPayments.drain()
    await recoverUntilQuiet(world)
    return [answer?.status, answer?.body.error?.code, (await world.storage.all('outgoing-payment')).length]
  }

  it.each(['A1', 'A2', 'A4'] as const)('%s gets one payment under its key', async (row) => {
    const one = await dead(row, true)
    expect(await again(one, await order(one.world, one.prepared, KEYED))).toEqual([201, undefined, 1])
  })

  it.each(['A2', 'A4'] as const)('%s cannot pay twice by one quote', async (row) => {
    const one = await dead(row)
    one.world.wallet.clock.advance(1000)
    expect(await again(one, await order(one.world, one.prepared))).toEqual([400, 'invalid_quote', 1])
  })

  it('A1 may send the same bytes again', async () => {
    const one = await dead('A1')
    expect(await again(one, one.request)).toEqual([201, undefined, 1])
  })

  it.each(['A2', 'A4'] as const)('%s cannot pay twice with the same bytes and a quote', async (row) => {
    const one = await dead(row)
    expect(await again(one, one.request)).toEqual([400, 'invalid_quote', 1])
  })

  it('A4 is answered the same bytes under its key, unless they are signed with a nonce', async () => {
    const one = await dead('A4', true)
    expect(await again(one, one.request)).toEqual([201, undefined, 1])
    const { world, prepared } = one
    const withNonce = await order(world, prepared, { ...KEYED, nonce: 'one' })
    expect(await again(one, withNonce)).toEqual([201, undefined, 1])
    const refused = await ask(world.start(), withNonce)
    expect([refused?.status, refused?.body.error.code]).toEqual([401, 'invalid_signature'])
    expect(page).toContain(`"${refused?.body.error.description.replace('Signature validation error: ', '')}"`)
    expect(await again(one, await order(world, prepared, { ...KEYED, nonce: 'two' }))).toEqual([201, undefined, 1])
  })

  it.each([
    ['the same bytes', '20', [401, 'invalid_signature', 1]],
    ['a new signature, its grant used up', '10', [403, 'grant_limit_exceeded', 1]],
    ['a new signature, its grant admitting it', '20', [201, undefined, 2]],
  ] as const)('orders without quote and key with %s', async (what, limit, expected) => {
    const world = await moneyWorld()
    const tokens = await grantTokens(world, { debitAmount: usd(limit) })
    const prepared = await preparePayment(world, tokens, { from: 'incoming payment', incoming: {} })
    const process = world.start()
    process.ports.plan = (call) => (intoState('created')(call) ? 'crashes after' : undefined)
    const request = await order(world, prepared)
    const answer = await ask(process, request)
    if (what !== 'the same bytes') world.wallet.clock.advance(1000)
    const second = what === 'the same bytes' ? request : await order(world, prepared)
    expect(await again({ world, prepared, request, answer }, second)).toEqual(expected)
  })
})

describe('D8 a client that orders again within the second', () => {
  const REPLAYED = [401, 'invalid_signature']
  const orderTwice = async (
    more: readonly [Partial<SignedRequestOptions>, Partial<SignedRequestOptions>],
    { seconds = 0, debit = '5' }: { readonly seconds?: number; readonly debit?: string } = {},
  ): Promise<readonly unknown[]> => {
    const world = await moneyWorld()
    const tokens = await grantTokens(world, { debitAmount: usd(`${OPENING * 10n}`) })
    const prepared = await preparePayment(world, tokens, { from: 'incoming payment', incoming: {} })
    const incomingPayment = `${BASE}/incoming-payments/${prepared.incomingId}`
    const body = { walletAddress: ALICE, incomingPayment, debitAmount: usd(debit) }
    const process = world.start()
    const answers: unknown[] = []
    for (const members of more) {
      const answer = await ask(process, await order(world, { ...prepared, body }, members))
      await process.openPayments.drain()
      answers.push([answer?.status, answer?.body.error?.code])
      world.wallet.clock.advance(seconds * 1000)
    }
    return answers
  }
  const CREATED = [201, undefined]
  const POOR = [403, 'insufficient_funds']
  const BEYOND = `${OPENING + 1n}`

  it('is refused: what it signed is the same, and was used', async () => {
    expect(await orderTwice([{}, {}])).toEqual([CREATED, REPLAYED])
    expect(await orderTwice([{}, {}], { debit: BEYOND })).toEqual([POOR, REPLAYED])
  })

  it.each([
    ['in the next second', [{}, {}], 1],
    ['with a nonce of its own in each signature', [{ nonce: 'one' }, { nonce: 'two' }], 0],
    ['under an Idempotency-Key of its own for each', [keyed('one'), keyed('two')], 0],
  ] as const)('is another order %s', async (_, more, seconds) => {
    expect(await orderTwice(more, { seconds })).toEqual([CREATED, CREATED])
    expect(await orderTwice(more, { seconds, debit: BEYOND })).toEqual([POOR, POOR])
  })

  it('repeats an order that was made under its Idempotency-Key, and after a refusal only with a new signature', async () => {
    expect(await orderTwice([KEYED, KEYED])).toEqual([CREATED, CREATED])
    expect(await orderTwice([KEYED, KEYED], { debit: BEYOND })).toEqual([POOR, REPLAYED])
    expect(await orderTwice([KEYED, KEYED], { seconds: 1, debit: BEYOND })).toEqual([POOR, POOR])
    const withNonces = [
      { ...KEYED, nonce: 'one' },
      { ...KEYED, nonce: 'two' },
    ] as const
    expect(await orderTwice(withNonces, { debit: BEYOND })).toEqual([POOR, POOR])
  })
})
