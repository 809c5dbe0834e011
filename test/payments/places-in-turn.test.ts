import { expect, it } from 'vitest'
import { createDeliveries } from '../../src/payments/rail/deliveries.ts'
import { gate } from '../support/gate.ts'
import { turn } from '../support/turns.ts'

it('a place that becomes free goes to accounts in turn, however many grants one of them has', async () => {
  const deliveries = createDeliveries()
  const begun: string[] = []
  deliveries.onPlace((payment) => {
    begun.push(payment.account)
    return new Promise(() => undefined)
  })
  const settle: (() => void)[] = []
  for (let number = 0; number < 256; number++) {
    const work = new Promise<void>((resolve) => {
      settle.push(resolve)
    })
    deliveries.follow({ id: `${number}`, account: `account-${number % 8}`, grantId: `grant-${number}` }, work)
  }
  for (let number = 0; number < 100; number++)
    deliveries.wait({ id: `waiting-${number}`, account: 'account-0', grantId: `waiting-${number}` })
  deliveries.wait({ id: 'honest', account: 'honest', grantId: 'honest' })
  // Those of the account that waits under so many grants, so that it may have the next one each time.
  for (const number of [0, 8, 16]) {
    settle[number]?.()
    await turn()
  }
  expect(begun).toEqual(['account-0', 'honest', 'account-0'])
})

/** The 24 places of one grant, all of them taken, and which payments have begun that waited. */
function crowded() {
  const deliveries = createDeliveries()
  const begun: string[] = []
  deliveries.onPlace(({ id }) => {
    begun.push(id)
    return Promise.resolve()
  })
  const settle: (() => void)[] = []
  const payment = (id: string) => ({ id, account: 'alice', grantId: 'grant' })
  for (let number = 0; number < 24; number++) {
    const work = new Promise<void>((resolve) => {
      settle.push(resolve)
    })
    deliveries.follow(payment(`${number}`), work)
  }
  const free = async (count: number): Promise<void> => {
    for (const end of settle.splice(0, count)) end()
    await turn()
  }
  return { deliveries, begun, payment, free }
}

it('a payment that was refused a place begins at once where all have become free before it waits', async () => {
  const { deliveries, begun, payment, free } = crowded()
  expect(deliveries.hasPlaceFor(payment('late'))).toBe(false)
  await free(24)
  deliveries.wait(payment('late'))
  expect(begun).toEqual(['late'])
})

it('the places of a grant are counted by account: it may pay from several', async () => {
  const { deliveries, begun, payment } = crowded()
  const ofBob = { ...payment('of-bob'), account: 'bob' }
  expect([deliveries.hasPlaceFor(payment('late')), deliveries.hasPlaceFor(ofBob)]).toEqual([false, true])
  deliveries.wait(payment('late'))
  deliveries.wait(ofBob)
  expect(begun).toEqual(['of-bob'])
})

it('of one grant a hundred payments wait for a place, and no more', async () => {
  const { deliveries, begun, payment, free } = crowded()
  for (let number = 0; number < 130; number++) deliveries.wait(payment(`waiting-${number}`))
  await free(1)
  while (begun.length < 100) await turn()
  await free(23)
  expect(begun).toHaveLength(100)
})

it('no payment that waits begins before each of two that want none to begin has ended', async () => {
  const { deliveries, begun, payment, free } = crowded()
  const { open, opened } = gate()
  deliveries.wait(payment('first'))
  const long = deliveries.beginNoneDuring(() => opened)
  await deliveries.beginNoneDuring(async () => undefined)
  await free(1)
  expect(begun).toEqual([])
  open()
  await long
  await free(1)
  expect(begun).toEqual(['first'])
})
