import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { nextPacket, type SendOrder } from '../../adapters/ilp/send-money-amounts.ts'
import { openBook } from '../../adapters/ilp/send-money-book.ts'

const runs = { seed: 7, numRuns: 2_000 }

describe('the last packet of a payment whose receiver has all that was promised', () => {
  it('has to bring a unit all the same', () => {
    const order = { sendAmount: 100n, receiveAmount: 50n, isFixedReceive: false }
    const assigned = { sent: 90n, received: 50n, expected: 50n }
    const path = { sent: 2n, received: 1n, cap: 100n, dust: 1n }
    expect(nextPacket(order, assigned, path)).toEqual({ amount: 10n, least: 1n })
  })
})

/** A payment of which packets are planned until they are as many in the air, and then come to an end in any order. */
interface Flight {
  readonly order: SendOrder
  readonly cap: bigint
  readonly inAir: number
  /** Of each packet in turn: how long it is in the air, and how much more arrives than has to; `undefined` if none of it. */
  readonly ends: readonly { readonly place: number; readonly more: bigint | undefined }[]
}

const flights: fc.Arbitrary<Flight> = fc
  .record({
    sendAmount: fc.bigInt(1n, 5_000n),
    receiveAmount: fc.bigInt(1n, 5_000n),
    isFixedReceive: fc.boolean(),
    packets: fc.bigInt(1n, 40n),
    inAir: fc.integer({ min: 1, max: 16 }),
    ends: fc.array(fc.record({ place: fc.nat(15), more: fc.option(fc.bigInt(0n, 3n), { nil: undefined }) }), {
      maxLength: 60,
    }),
  })
  .map(({ sendAmount, receiveAmount, isFixedReceive, packets, ...rest }) => ({
    order: { sendAmount, receiveAmount, isFixedReceive },
    cap: sendAmount / packets + 1n,
    ...rest,
  }))

/** Plays a flight, and tells `look` what has arrived, and of how many packets not, after those that were planned last. */
function play(
  { order, cap, inAir, ends }: Flight,
  look: (sent: bigint, received: bigint, missing: number) => void,
): void {
  const { sendAmount: sent, receiveAmount: received } = order
  const start = { sent: 0n, received: 0n, said: 0n, nextSequence: 1n, packets: [], rate: { sent, received } }
  const book = openBook(start, { sent, received })
  let refused = 0
  const plan = (): void => {
    let isPlanned = false
    while (book.undecided().length < inAir) {
      const next = nextPacket(order, book.assigned(book.rate()), { ...book.rate(), cap, dust: 0n })
      if (next === undefined) break
      book.plan({ ...next, expiresAt: 0 })
      isPlanned = true
    }
    if (isPlanned) refused = 0
  }
  plan()
  for (const { place, more } of ends) {
    const open = book.undecided()
    const packet = open[place % Math.max(open.length, 1)]
    if (packet === undefined) break
    if (more === undefined) {
      book.drop(packet)
      refused++
    } else {
      book.settle(packet, packet.least + more, packet.least + more)
    }
    const state = book.state()
    look(state.sent, state.received, refused + open.length - 1)
    if (open.length < inAir / 2) plan()
  }
}

describe('packets of one payment', () => {
  it('lack together less than a unit for each that has not arrived of those in the air when the last was planned', () => {
    fc.assert(
      fc.property(flights, (flight) => {
        const { sendAmount, receiveAmount } = flight.order
        play(flight, (sent, received, missing) => {
          const lacking = sent * receiveAmount - received * sendAmount
          if (missing === 0) expect(lacking).toBeLessThanOrEqual(0n)
          else expect(lacking).toBeLessThan(BigInt(missing) * sendAmount)
        })
      }),
      runs,
    )
  })
})

describe('the rate that is recorded of a payment', () => {
  const quoted = { sent: 100n, received: 105n }
  const fallen = { sent: 100n, received: 100n }
  const start = { sent: 0n, received: 0n, said: 0n, nextSequence: 1n, packets: [] }

  it('is the better one at which a packet was planned, until that has come to its end', () => {
    const book = openBook({ ...start, rate: quoted }, quoted)
    const before = book.plan({ amount: 100n, least: 1n, expiresAt: 0 })
    book.noteRate(fallen)
    book.plan({ amount: 100n, least: 1n, expiresAt: 0 })
    expect(book.state().rate).toEqual(quoted)
    book.settle(before, 105n, 105n)
    expect(book.state().rate).toEqual(fallen)
  })

  it('T-47 is not that of the quote, at which nothing has left', () => {
    const book = openBook(start, quoted)
    book.noteRate(fallen)
    book.plan({ amount: 100n, least: 1n, expiresAt: 0 })
    expect(book.state().rate).toEqual(fallen)
  })
})
