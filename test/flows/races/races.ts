import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  createIncoming,
  RECEIVING_ACCESS,
  spendingAccess,
  spent,
  spentOf,
  tokenFor,
} from '../../resource-server/observed-wallet.ts'
import { keyed } from '../../support/keyed.ts'
import { ALICE, type Answer, BASE, decideAs, requestConsent, type Sending, usd } from '../../support/test-wallet.ts'
import { type RaceWorld, sign } from './race-world.ts'
import { raceReceipts } from './receipt-races.ts'

const FIFTY = Array.from({ length: 50 }, (_, order) => order)
const OPENING = 100_000n
const PAYMENTS = `${BASE}/outgoing-payments`

function countStatuses(answers: readonly Answer[]): Readonly<Record<string, number>> {
  const counts: Record<string, number> = {}
  for (const { status, body } of answers) {
    const key = status < 300 ? String(status) : `${status} ${body.error.code}`
    counts[key] = (counts[key] ?? 0) + 1
  }
  return counts
}

/** What is in the ledger, to the unit: what Alice has paid Bob altogether, in so many lines. */
async function expectMoney({ ledger }: RaceWorld, paid: bigint, payments: number): Promise<void> {
  const balances = await Promise.all(['alice', 'bob', 'clearing:USD:2'].map((account) => ledger.balance(account)))
  expect(balances.map((balance) => [balance?.total ?? 0n, balance?.held ?? 0n])).toEqual([
    [OPENING - paid, 0n],
    [paid, 0n],
    [0n, 0n],
  ])
  const totals = (await ledger.totals()).filter(({ value }) => value !== 0n)
  expect(totals).toEqual([{ value: OPENING, assetCode: 'USD', assetScale: 2 }])
  for (const [account, amount] of [
    ['alice', -100n],
    ['bob', 100n],
  ] as const) {
    const lines = (await ledger.entries(account)).filter(({ transfer }) => !transfer.startsWith('opening:'))
    expect(lines.map((line) => line.amount)).toEqual(Array.from({ length: payments }, () => amount))
    expect(new Set(lines.map(({ transfer }) => transfer)).size).toBe(payments)
  }
}

/** What a client needs to pay Bob for Alice, in steps of 100. */
async function preparePayments(world: RaceWorld, limits?: Readonly<Record<string, unknown>>) {
  const { wallet } = world
  const receiving = await tokenFor(wallet, RECEIVING_ACCESS)
  const token = await tokenFor(wallet, spendingAccess(limits))
  const incoming = await createIncoming(wallet, receiving)
  const signPayment = (members: Readonly<Record<string, unknown>>, sending: Sending = {}) =>
    sign(wallet, 'POST', PAYMENTS, { token, json: { walletAddress: ALICE, ...members }, ...sending })
  return { token, incoming, signPayment }
}

/** The payments of a token that are there, as its client sees them; those that are over, with all that they sent. */
async function completedPayments({ wallet }: RaceWorld, token: string): Promise<readonly string[]> {
  const url = `${PAYMENTS}?wallet-address=${encodeURIComponent(ALICE)}&first=100`
  const { body } = await wallet.send('GET', url, { token })
  return body.result.filter(({ sentAmount }) => sentAmount.value === '100').map(({ id }) => id)
}

/** Whether the resource server accepts a token. */
async function isAccepted({ wallet }: RaceWorld, token: string): Promise<boolean> {
  return (await wallet.send('GET', `${BASE}/outgoing-payment-grant`, { token })).status === 200
}

function tokensOf(answers: readonly Answer[]): readonly string[] {
  return [...new Set(answers.flatMap(({ body }) => body?.access_token?.value ?? []))]
}

function signRotation({ wallet }: RaceWorld, { body }: Answer) {
  return sign(wallet, 'POST', body.access_token.manage, { token: body.access_token.value })
}

/** A grant that its owner has approved and its client has not continued yet. */
async function approvedGrant({ wallet }: RaceWorld) {
  const pending = await requestConsent(wallet, spendingAccess())
  const redirect = await decideAs(wallet, pending)
  wallet.clock.advance(5_000)
  const json = { interact_ref: redirect?.searchParams.get('interact_ref') }
  const { uri, access_token } = pending.body.continue
  const continuation = () => sign(wallet, 'POST', uri, { token: access_token.value, json })
  const cancellation = () => sign(wallet, 'DELETE', uri, { token: access_token.value })
  return { continuation, cancellation }
}

const TWELVE = FIFTY.slice(0, 12)

/** Races with signed requests over the servers of a world: who comes through, and what it costs. */
export function describeRaces(name: string, openWorld: () => Promise<RaceWorld>): void {
  describe(`on ${name}`, () => {
    let world: RaceWorld
    let paid = 0n
    let payments = 0

    /** What these races have cost so far is what is in the ledger. */
    const expectPaid = async (count: number): Promise<void> => {
      paid += 100n * BigInt(count)
      payments += count
      await expectMoney(world, paid, payments)
    }

    beforeAll(async () => {
      world = await openWorld()
    })
    afterAll(() => world?.close())

    it('T-28 LIM-8 fifty payments under a grant that admits ten: exactly ten', async () => {
      const { token, incoming, signPayment } = await preparePayments(world, { debitAmount: usd('1000') })
      const order = { incomingPayment: incoming.id, debitAmount: usd('100') }
      const requests = FIFTY.map((number) => signPayment({ ...order, metadata: { number } }))
      const answers = await world.fire(await Promise.all(requests))
      expect(countStatuses(answers)).toEqual({ '201': 10, '403 grant_limit_exceeded': 40 })
      const made = answers.filter(({ status }) => status === 201).map(({ body }) => body.id)
      expect([...(await completedPayments(world, token))].sort()).toEqual([...made].sort())
      expect(await spentOf(world.wallet, token)).toEqual(spent('1000'))
      await expectPaid(10)
    })

    it('T-27 QUO-7 one quote fifty times: exactly one payment', async () => {
      const { token, incoming, signPayment } = await preparePayments(world)
      const json = { walletAddress: ALICE, method: 'ilp', receiver: incoming.id, debitAmount: usd('100') }
      const quote = await world.wallet.send('POST', `${BASE}/quotes`, { token, json })
      const requests = FIFTY.map((number) => signPayment({ quoteId: quote.body.id, metadata: { number } }))
      const answers = await world.fire(await Promise.all(requests))
      expect(countStatuses(answers)).toEqual({ '201': 1, '400 invalid_quote': 49 })
      expect(await spentOf(world.wallet, token)).toEqual(spent('100'))
      await expectPaid(1)
    })

    it('OUT-12 one order under one key fifty times, the same bytes and signed anew: one payment and fifty equal answers', async () => {
      const { token, incoming, signPayment } = await preparePayments(world)
      const key = keyed('order-7')
      const order = { incomingPayment: incoming.id, debitAmount: usd('100') }
      const requests = FIFTY.map((number) =>
        signPayment(order, number % 2 === 0 ? key : { ...key, nonce: `nonce-${number}` }),
      )
      const answers = await world.fire(await Promise.all(requests))
      expect(countStatuses(answers)).toEqual({ '201': 50 })
      expect(new Set(answers.map(({ text }) => text)).size).toBe(1)
      expect(await spentOf(world.wallet, token)).toEqual(spent('100'))
      await expectPaid(1)
    })

    it('CON-4 CON-5 one grant continued twelve times: one token', async () => {
      const { continuation } = await approvedGrant(world)
      const answers = await world.fire(await Promise.all(TWELVE.map(continuation)))
      expect(countStatuses(answers)).toEqual({ '200': 12 })
      const tokens = tokensOf(answers)
      expect(tokens).toHaveLength(1)
      for (const token of tokens) expect(await isAccepted(world, token)).toBe(true)
    })

    it('TOK-7 one token rotated twelve times, and its successor again: one lineage', async () => {
      const { continuation } = await approvedGrant(world)
      const [first] = await world.fire([await continuation()])
      const lineage: string[] = []
      let current = first
      for (let generation = 0; generation < 2; generation++) {
        if (current === undefined) throw new Error('a rotation was not answered')
        const last = current
        const answers = await world.fire(await Promise.all(TWELVE.map(() => signRotation(world, last))))
        expect(countStatuses(answers)).toEqual({ '200': 12 })
        expect(tokensOf(answers)).toHaveLength(1)
        lineage.push(last.body.access_token.value)
        current = answers[0]
      }
      for (const token of lineage) expect(await isAccepted(world, token)).toBe(false)
      expect(await isAccepted(world, current?.body.access_token.value ?? '')).toBe(true)
    })

    it('TOK-7 CON-8 a token rotated while its grant is cancelled: no token is left', async () => {
      for (const cancelled of [0, 7]) {
        const { continuation, cancellation } = await approvedGrant(world)
        const [granted] = await world.fire([await continuation()])
        if (granted === undefined) throw new Error('a continuation was not answered')
        const requests = TWELVE.map((number) => (number === cancelled ? cancellation() : signRotation(world, granted)))
        const answers = await world.fire(await Promise.all(requests))
        expect(answers[cancelled]?.status).toBe(204)
        const tokens = tokensOf(answers)
        expect(tokens.length).toBeLessThanOrEqual(1)
        for (const token of [granted.body.access_token.value, ...tokens]) {
          expect(await isAccepted(world, token)).toBe(false)
        }
      }
      // Nobody has paid anything meanwhile.
      await expectPaid(0)
    })

    raceReceipts(() => world)

    it('INC-5 what a rail reports moves nothing in the ledger', () => expectPaid(0))
  })
}
