import type { OpenPaymentsEvent } from 'open-payments-server'
import { expect, it } from 'vitest'
import { grantTokens, moneyWorld, pay, preparePayment } from '../payments/money-world.ts'
import { takeUpAtOnce } from './take-up-at-once.ts'

it('payments that stalled, and events that were not taken, are picked up before their time', async () => {
  let isAway = true
  const told: OpenPaymentsEvent['type'][] = []
  const world = await moneyWorld()
  const process = world.start({
    onEvent: async ({ type }) => {
      if (!type.startsWith('outgoing_payment')) return
      if (isAway) throw new Error('the host is away')
      told.push(type)
    },
    ledger: {
      ...world.ledger,
      settle: async (settlement) => {
        if (isAway) throw new Error('the ledger is away')
        return world.ledger.settle(settlement)
      },
    },
  })
  await pay(world, process, await preparePayment(world, await grantTokens(world)))
  await process.openPayments.drain()
  isAway = false
  expect(await process.openPayments.recover()).toBe(0)
  for (const kind of ['outgoing-payment', 'event'] as const) await takeUpAtOnce(world.storage, kind)
  await process.openPayments.recover()
  await process.openPayments.drain()
  expect(await world.storage.all('outgoing-payment')).toMatchObject([{ value: { state: 'completed' } }])
  expect(told).toEqual(['outgoing_payment.created', 'outgoing_payment.completed'])
})
