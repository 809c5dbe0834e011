import { expect, it } from 'vitest'
import { createDeliveries } from '../../src/payments/rail/deliveries.ts'
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
