import type { Delivery } from 'open-payments-server'
import { fakeClock } from '../support/fake-clock.ts'
import { type Hop, type Mishap, testPath } from './sender-path.ts'
import { packetReader, testReceiver } from './sender-receiver.ts'
import { EUR, PEER_ADDRESS, type SenderTerms, senderWorld, USD } from './sender-world.ts'

export const NOTHING = { sent: 0n, received: 0n }
export const FIXED_RECEIVE = { isFixedReceive: true }

/** The result of a delivery that has ended with nothing in flight. */
export const delivered = (sent: bigint, received: bigint) => ({
  outcome: 'delivered',
  progress: { sent, received, inFlight: NOTHING },
})

/** In milliseconds; no packet of money has as little as it leaves. */
const TEST_LIFE = 10_000

/** What a scene is like. */
export interface SceneTerms {
  readonly isIdempotent?: boolean
  readonly hops?: readonly Hop[]
  readonly peer?: SenderTerms['peer']
  /** What befalls the packets, one after the other, tests included. */
  readonly mishaps?: readonly (Mishap | undefined)[]
  /** What befalls those whose money nobody can take, instead. */
  readonly testMishap?: (amount: bigint) => Mishap | undefined
  readonly receiver?: Parameters<typeof testReceiver>[0]
  /** How long each packet is on its way, in milliseconds. */
  readonly takes?: number
}

/** A sender, a receiver, and the way between them. */
export async function senderScene(terms: SceneTerms = {}) {
  const { isIdempotent = false, hops, mishaps = [], testMishap, takes } = terms
  const clock = fakeClock()
  const receiver = await testReceiver({ isIdempotent, ...terms.receiver })
  const path = testPath(receiver, clock, hops, ({ amount, expiresAt }, index) =>
    testMishap !== undefined && expiresAt === clock.now() + TEST_LIFE ? testMishap(amount) : mishaps[index],
  )
  const { details } = receiver
  const send: typeof path.send = async (request) => {
    const reply = await path.send(request)
    if (takes !== undefined) await clock.sleep(takes)
    return reply
  }
  const world = senderWorld({ details, send, clock, peer: { isIdempotent, ...terms.peer } })
  return {
    ...{ clock, receiver, path, world },
    /** Reads a packet of money; `undefined` where it is a test. */
    read: await packetReader(world.cryptography, details),
    /** The amounts of all packets that left, in order. */
    amounts: (): readonly bigint[] => path.sent.map(({ amount }) => amount),
    /** A delivery of so much for so much; of one asset where both are the same. */
    order: (sent: bigint, received: bigint, change: Partial<Delivery> = {}): Delivery => ({
      id: '0123456789abcdef0123456789abcdef',
      details,
      account: `${PEER_ADDRESS}/EUR/2`,
      sendAmount: { ...EUR, value: sent },
      receiveAmount: { ...(sent === received ? EUR : USD), value: received },
      rate: { sent, received },
      isFixedReceive: false,
      isOver: false,
      sendUntil: Number.POSITIVE_INFINITY,
      ...change,
    }),
  }
}
