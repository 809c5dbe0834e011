import { expect, it } from 'vitest'
import type { ReceivedPayment } from '../../../src/index.ts'
import { createIncoming, idOf, RECEIVING_ACCESS, tokenFor } from '../../resource-server/observed-wallet.ts'
import type { AnswerBody } from '../../support/answer-body.ts'
import { usd, usdAmount } from '../../support/test-wallet.ts'
import type { RaceWorld } from './race-world.ts'
import type { Report } from './server-process.ts'

const FIFTY = Array.from({ length: 50 }, (_, order) => order)

function accepted(value: bigint, excess = 0n): ReceivedPayment {
  return { ok: true, accepted: value, excess }
}

function refused(reason: 'conflict' | 'completed'): ReceivedPayment {
  return { ok: false, reason }
}

/** Incoming payments of Bob, and how their client sees them. */
async function prepareReceipts({ wallet }: RaceWorld, members: Readonly<Record<string, unknown>> = {}) {
  const token = await tokenFor(wallet, RECEIVING_ACCESS)
  const open = () => createIncoming(wallet, token, members)
  const received = async ({ id }: AnswerBody) => {
    const { body } = await wallet.send('GET', id, { token })
    return [body.receivedAmount.value, body.completed]
  }
  return { open, received }
}

/** The transfers that were counted, of those with a receipt, and what of each. */
async function receiptsOf(
  { wallet }: RaceWorld,
  transfers: readonly string[],
): Promise<Readonly<Record<string, bigint>>> {
  const found = await wallet.storage.get(transfers.map((transfer) => ({ kind: 'receipt', id: `rail:${transfer}` })))
  const amounts = found.map((record) => record !== undefined && 'excess' in record.value && record.value.amount.value)
  return Object.fromEntries(transfers.flatMap((transfer, at) => (amounts[at] ? [[transfer, amounts[at]]] : [])))
}

/** Races of what the wallet's own rails report over the servers of a world. */
export function raceReceipts(worldNow: () => RaceWorld): void {
  it('INC-5 T-30 the transfer that completes a payment, reported fifty times: counted once, and fifty equal answers', async () => {
    const world = worldNow()
    const { open, received } = await prepareReceipts(world, { incomingAmount: usd('100') })
    const incoming = await open()
    const answers = await world.report(FIFTY.map((): Report => [idOf(incoming), usdAmount(100n), 'one-transfer']))
    expect(answers).toEqual(FIFTY.map(() => accepted(100n)))
    expect(await received(incoming)).toEqual(['100', true])
    expect(await receiptsOf(world, ['one-transfer'])).toEqual({ 'one-transfer': 100n })
  })

  it('INC-5 T-30 one transfer reported fifty times, of two amounts to two payments: one of the four is counted', async () => {
    const world = worldNow()
    const { open, received } = await prepareReceipts(world)
    const payments = [await open(), await open()]
    const kinds = payments.flatMap((payment) => [100n, 200n].map((amount) => ({ payment, amount })))
    const kindOf = (number: number) => kinds[Math.floor(number / 3) % kinds.length]
    const reports = FIFTY.map((number): Report => {
      const { payment, amount } = kindOf(number) ?? {}
      if (payment === undefined || amount === undefined) throw new Error('there are four kinds')
      return [idOf(payment), usdAmount(amount), 'odd-transfer']
    })
    const answers = await world.report(reports)
    const winner = kindOf(answers.findIndex(({ ok }) => ok))
    const { amount = 0n } = winner ?? {}
    expect(answers).toEqual(FIFTY.map((number) => (kindOf(number) === winner ? accepted(amount) : refused('conflict'))))
    for (const payment of payments) {
      expect(await received(payment)).toEqual([payment === winner?.payment ? String(amount) : '0', false])
    }
    expect(await receiptsOf(world, ['odd-transfer'])).toEqual({ 'odd-transfer': amount })
  })

  it('INC-6 INC-8 T-30 fifty transfers of 70 to a payment of 1000: exactly 1000 are received, and it is completed once', async () => {
    const world = worldNow()
    const { open, received } = await prepareReceipts(world, { incomingAmount: usd('1000') })
    const incoming = await open()
    const transfers = FIFTY.map((number) => `transfer-${number}`)
    const answers = await world.report(transfers.map((transfer): Report => [idOf(incoming), usdAmount(70n), transfer]))
    const took = new Map(answers.flatMap((answer, at) => (answer.ok ? [[transfers[at] ?? '', answer] as const] : [])))
    expect([...took.values()].toSorted((a, b) => Number(b.accepted - a.accepted))).toEqual([
      ...Array.from({ length: 14 }, () => accepted(70n)),
      accepted(20n, 50n),
    ])
    expect(answers.filter(({ ok }) => !ok)).toEqual(Array.from({ length: 35 }, () => refused('completed')))
    expect(await received(incoming)).toEqual(['1000', true])
    const counted = [...took].map(([transfer, answer]) => [transfer, answer.accepted])
    expect(await receiptsOf(world, transfers)).toEqual(Object.fromEntries(counted))
    // Servers may tell an event at the same time: it is one all the same, and nobody is left to tell it.
    const told = (await world.completions()).filter(({ incomingPayment }) => incomingPayment === idOf(incoming))
    const [completion] = told
    expect(completion).toMatchObject({ id: `${idOf(incoming)}:2`, receivedAmount: usd('1000') })
    for (const again of told) expect(again).toEqual(completion)
    expect(await world.wallet.storage.get([{ kind: 'event', id: `${idOf(incoming)}:2` }])).toEqual([undefined])
  })
}
