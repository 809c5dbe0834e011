import { memoryStorage } from 'open-payments-server/storage/memory'
import { expect, it } from 'vitest'
import { idOf } from '../../resource-server/observed-wallet.ts'
import { incomingPayment, testWallet, usd, usdAmount } from '../../support/test-wallet.ts'

// The first attempt reads the incoming payment, then the receipt, and commits.
it.each([1, 2, 3])(
  'INC-5 T-30 a transfer that completes a payment on another server, just before call %i of the storage, has one answer',
  async (before) => {
    const storage = memoryStorage()
    const first = await testWallet({ storage })
    const { payment } = await incomingPayment(first, { incomingAmount: usd('100') })
    const report = [idOf(payment), usdAmount(100n), 'transfer'] as const
    const answer = { ok: true, accepted: 100n, excess: 0n }
    let calls = 0
    const call = async (): Promise<void> => {
      calls += 1
      if (calls === before) expect(await first.openPayments.incomingPayments.received(...report)).toEqual(answer)
    }
    const second = await testWallet({
      clock: first.clock,
      storage: {
        ...storage,
        get: async (keys) => call().then(() => storage.get(keys)),
        commit: async (changes) => call().then(() => storage.commit(changes)),
      },
    })
    expect(await second.openPayments.incomingPayments.received(...report)).toEqual(answer)
    expect(calls).toBeGreaterThanOrEqual(before)
    await Promise.all([first, second].map(({ openPayments }) => openPayments.drain()))
    const [record] = await storage.get([{ kind: 'incoming-payment', id: idOf(payment) }])
    expect(record?.value).toMatchObject({ state: 'completed', received: { value: 100n } })
  },
)
