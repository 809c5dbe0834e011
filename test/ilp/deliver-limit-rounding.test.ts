import { describe, expect, it } from 'vitest'
import { leavingFor } from '../../src/protocol/price.ts'
import { senderScene } from './sender-scene.ts'

describe('a limit', () => {
  it.each([
    ['hundredths, of billionths, in one packet', [20n, 75n, 100n, 150n, 300n], 9_200_000n, undefined, true],
    ['units of 97, in packets of which rounding takes nearly all that was kept back', [396n, 5000n], 97n, 1990n, false],
  ])(
    'T-47 ends no payment because packets that fit under it lose more to rounding: %s',
    async (_, wanted, denominator, maxPacketAmount, isFixedReceive) => {
      for (const receive of wanted)
        for (let percent = 2n; percent < 100n; percent += 3n) {
          const hops = [{ denominator }]
          const great = maxPacketAmount ?? denominator * 1_000_000n
          const send = leavingFor(receive, { sent: great * 100n, received: (great / denominator) * 99n })
          let settled = 0n
          const limits = { sending: (send * percent) / 100n }
          const peer = { limits, settled: () => settled, ...(maxPacketAmount && { maxPacketAmount }) }
          const { world, order, receiver, clock } = await senderScene({ isIdempotent: true, hops, peer })
          const delivery = order(send, receive, { isFixedReceive })
          let result = await world.deliver(delivery)
          expect(result).toEqual({ outcome: 'later', reason: 'sending_limit' })
          while (result?.outcome === 'later' && settled > -2n * send) {
            settled -= limits.sending
            clock.advance(1_000)
            result = await world.deliver(delivery)
          }
          expect(result).toMatchObject({ outcome: 'delivered' })
          expect(receiver.total()).toBeGreaterThanOrEqual(receive)
        }
    },
  )
})
