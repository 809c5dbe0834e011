import type { DeliveryResult, PaymentMethod } from 'open-payments-server'
import { describe, expect, it } from 'vitest'
import { inFlight, progress, RAIL_ACCOUNT } from '../support/fake-rail.ts'
import { grantTokens, preparePayment } from './money-world.ts'
import { onlyPayment, payRemotely, type RailWorld, railWorld, recoverLater } from './rail-world.ts'
import { transferOf } from './receive-by-rail-world.ts'

/** Puts 13 in flight, and says what became of that when it is asked again. */
function flyThen(result: DeliveryResult): PaymentMethod['deliver'] {
  return async (_delivery, start, record) => {
    if (start.inFlight.sent > 0n) return result
    await record(inFlight(start, 13n, 11n))
    return { outcome: 'later', reason: 'no answer' }
  }
}

/** Ways to bring transfers through the account that payments leave by, of which the peer may owe 10. */
async function limited(world: RailWorld) {
  const tokens = await grantTokens(world)
  const { incomingId } = await preparePayment(world, tokens, { from: 'incoming payment', incoming: {} })
  return (number: number, value: bigint) =>
    world.server.receive(transferOf(number, incomingId, value, { account: RAIL_ACCOUNT, most: 10n }))
}

async function accountOf({ storage }: RailWorld): Promise<unknown> {
  const [{ value } = {}] = await storage.all('rail-account')
  return value && [value.sent, value.inFlight, value.received]
}

describe('what a peer may owe', () => {
  it('T-50 is no more for what is on its way to it, which it may still refuse', async () => {
    const world = await railWorld()
    world.method = {
      ...world.method,
      deliver: flyThen({ outcome: 'ended', progress: progress(0n, 0n), reason: 'refused' }),
    }
    const receive = await limited(world)
    await payRemotely(world)
    expect(await receive(1, 11n)).toBe('over_limit')
    expect(await receive(2, 10n)).toBe('received')
    expect(await receive(3, 1n)).toBe('over_limit')
    expect(await accountOf(world)).toEqual([13n, 13n, 10n])
    await recoverLater(world)
    expect((await onlyPayment(world)).value.state).toBe('failed')
    expect(await accountOf(world)).toEqual([0n, 0n, 10n])
  })

  it('T-50 is as much more as has left, once that is known', async () => {
    const world = await railWorld()
    world.method = { ...world.method, deliver: flyThen({ outcome: 'delivered', progress: progress(13n, 11n) }) }
    const receive = await limited(world)
    await payRemotely(world)
    await recoverLater(world)
    expect(await accountOf(world)).toEqual([13n, 0n, 0n])
    expect(await receive(1, 24n)).toBe('over_limit')
    expect(await receive(2, 23n)).toBe('received')
  })

  it.each(['sent', 'failed'] as const)(
    'T-50 is known by the host’s word where nothing else tells: %s',
    async (word) => {
      const world = await railWorld()
      world.method = {
        ...world.method,
        deliver: flyThen({ outcome: 'unknown', progress: inFlight(progress(4n, 4n), 9n, 7n) }),
      }
      const receive = await limited(world)
      await payRemotely(world)
      await recoverLater(world)
      expect(await accountOf(world)).toEqual([13n, 9n, 0n])
      expect(await receive(1, 15n)).toBe('over_limit')
      await world.wallet.openPayments.outgoingPayments[word]((await onlyPayment(world)).value.id)
      await world.wallet.openPayments.drain()
      const left = word === 'sent' ? 13n : 4n
      expect(await accountOf(world)).toEqual([left, 0n, 0n])
      expect(await receive(2, left + 11n)).toBe('over_limit')
      expect(await receive(3, left + 10n)).toBe('received')
    },
  )
})
