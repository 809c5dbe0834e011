import { describe, expect, it } from 'vitest'
import { keyed } from '../support/keyed.ts'
import { randomNumbers } from '../support/random-numbers.ts'
import { ALICE, BASE, spendingToken, usd } from '../support/test-wallet.ts'
import { turns } from '../support/turns.ts'
import { scene } from './joint-world.ts'
import { checkMoney } from './money-invariants.ts'
import { ask, HOUR, type Process, type ProcessAnswer, recoverUntilQuiet, signedBy } from './money-world.ts'

const DAY = 24 * HOUR
const MONTH = { settings: { lifetimes: { incomingPaymentSeconds: 30 * 24 * 3600 } } }

/** An order under a key: in which moments it was given and answered, and what was answered. */
interface Given {
  readonly key: string
  readonly amount: string
  readonly from: number
  readonly to: number
  readonly answeredAt: number
  readonly answer: ProcessAnswer | undefined
}

/**
 * Three processes that get orders under two keys and two grants, some of them again and some with another amount, in many
 * orders, and sweep meanwhile.
 */
async function giveByChance(seed: number) {
  const random = randomNumbers(seed)
  const below = (count: number): number => Math.floor(random() * count)
  const { world, tokens, incomingUrl } = await scene(MONTH)
  const grants = [tokens.spending, await spendingToken(world.wallet, { debitAmount: usd('100') })]
  const { clock } = world.wallet
  const start = (): Process => {
    const process = world.start()
    process.ports.plan = async ({ name }) => {
      await turns(below(name === 'commit' ? 20 : 5))
      return name === 'hold' && random() < 0.15 ? { refuse: 'not_allowed' } : undefined
    }
    return process
  }
  const processes = [start(), start(), start()]
  const given: Given[] = []
  let moment = 0
  let last: Awaited<ReturnType<typeof sign>> | undefined
  const sign = async () => {
    clock.advance(100)
    const [key, amount] = [`key-${below(2)}`, random() < 0.7 ? '3' : '4']
    const json = { walletAddress: ALICE, incomingPayment: incomingUrl, debitAmount: usd(amount) }
    const request = await signedBy(world, 'POST', `${BASE}/outgoing-payments`, grants[below(2)] ?? '', json, keyed(key))
    return { key, amount, request }
  }
  const giveOne = async (): Promise<void> => {
    await turns(below(10))
    // Now and then the identical request, signature included.
    const order = last !== undefined && random() < 0.1 ? last : await sign()
    last = order
    const { request, ...named } = order
    const from = moment++
    const answer = await ask(processes[below(2) * below(3)] as Process, request)
    given.push({ ...named, from, to: moment++, answeredAt: clock.now(), answer })
  }
  const giveThree = async (): Promise<void> => {
    for (let count = 0; count < 3; count++) await giveOne()
  }
  const sweepOne = async (): Promise<void> => {
    await turns(below(100))
    await processes[below(3)]?.openPayments.sweep()
  }
  for (let day = 0; day < 5; day++) {
    await Promise.all([
      giveThree(),
      giveThree(),
      giveThree(),
      giveThree(),
      giveThree(),
      sweepOne(),
      sweepOne(),
      sweepOne(),
    ])
    clock.advance(random() < 0.5 ? DAY : 2 * DAY)
    // What was signed before is too old by now.
    last = undefined
  }
  await Promise.all(processes.map(({ openPayments }) => openPayments.drain()))
  return { world, given }
}

describe('orders under keys, by chance', () => {
  it.each(Array.from({ length: 12 }, (_, seed) => seed + 1))(
    'OUT-12 are paid once in a day, and each repeat gets the first answer, seed %i',
    async (seed) => {
      const { world, given } = await giveByChance(seed)
      const payments = (await world.storage.all('outgoing-payment')).map(({ value }) => value)
      const made = payments.filter(({ state, keyId }) => state !== 'refused' && keyId !== undefined)
      for (const one of made) {
        const others = made.filter(({ id, keyId }) => keyId === one.keyId && id !== one.id)
        expect(others.filter(({ createdAt }) => Math.abs(createdAt - one.createdAt) < DAY)).toEqual([])
      }
      // 401: an identical request is a replay once the order is undone that it was at first.
      for (const { answer } of given) expect([201, 401, 403, 409]).toContain(answer?.status)
      let repeats = 0
      for (const first of given.filter(({ answer }) => answer?.status === 201)) {
        expect(first.answer?.body.debitAmount.value).toBe(first.amount)
        const payment = made.find(({ id }) => first.answer?.body.id.endsWith(id))
        if (payment === undefined) throw new Error('a 201 names no payment')
        const isAfter = ({ key, from, answeredAt }: Given): boolean =>
          key === first.key && from > first.to && answeredAt - payment.createdAt < DAY
        for (const later of given.filter(isAfter)) {
          repeats++
          if (later.amount === first.amount)
            expect(later.answer).toMatchObject({ status: 201, body: first.answer?.body })
          else expect(later.answer).toMatchObject({ status: 409, body: { error: { code: 'idempotency_conflict' } } })
        }
      }
      expect(repeats).toBeGreaterThan(0)
      await recoverUntilQuiet(world)
      await checkMoney(world)
    },
  )
})
