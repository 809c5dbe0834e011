import { memoryStorage } from 'open-payments-server/storage/memory'
import { expect, it } from 'vitest'
import { gate } from '../support/gate.ts'
import { testWallet } from '../support/test-wallet.ts'
import { turn } from '../support/turns.ts'

it.each(['recover', 'sweep'] as const)(
  'a host that drains before it closes its storage has waited for a %s() that runs',
  async (call) => {
    const storage = memoryStorage()
    const { open, opened } = gate()
    const { openPayments } = await testWallet({
      storage: { ...storage, due: (...query) => opened.then(() => storage.due(...query)) },
    })
    const order: string[] = []
    const work = openPayments[call]().then(() => order.push(call))
    const drained = openPayments.drain().then(() => order.push('drained'))
    await turn()
    expect(order).toEqual([])
    open()
    await Promise.all([work, drained])
    expect(order).toEqual([call, 'drained'])
  },
)
