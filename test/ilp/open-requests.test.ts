import type { Delivery, RailServer } from 'open-payments-server'
import { describe, expect, it } from 'vitest'
import { createSender } from '../../adapters/ilp/deliver.ts'
import { resolveIlpOptions } from '../../adapters/ilp/options.ts'
import { decodeIlpPacket } from '../../adapters/ilp/packet.ts'
import { createPeers } from '../../adapters/ilp/peers.ts'
import { idOf } from '../../src/testing/ledger-case.ts'
import { fakeClock } from '../support/fake-clock.ts'
import { turn, turns } from '../support/turns.ts'
import { testPath } from './sender-path.ts'
import { testReceiver } from './sender-receiver.ts'
import { EUR, PEER_ADDRESS, senderWorld, USD } from './sender-world.ts'

/** A process that pays any number of receivers, of which some never answer. */
async function crowd() {
  const clock = fakeClock()
  const receiver = await testReceiver()
  const path = testPath(receiver, clock)
  /** How many requests are open, by the address of their receiver. */
  const open = new Map<string, number>()
  const settings = resolveIlpOptions({
    address: 'test.sender',
    peers: [
      {
        address: PEER_ADDRESS,
        url: 'https://peer.example/ilp',
        outgoingToken: 'outgoing-token-of-the-test',
        incomingTokens: ['incoming-token-of-the-test'],
        asset: EUR,
        isDefault: true,
        maxPacketAmount: 1n,
      },
    ],
    async send(request) {
      const packet = decodeIlpPacket(request.bytes)
      if (packet?.type !== 'prepare') throw new Error('this is no packet')
      const { destination } = packet
      if (!destination.includes('silent')) return path.send(request)
      const count = (change: number): unknown => open.set(destination, (open.get(destination) ?? 0) + change)
      count(1)
      return new Promise((_, reject) => {
        request.signal.addEventListener('abort', () => {
          count(-1)
          reject(new Error('nobody waits any more'))
        })
      })
    },
  })
  const { cryptography } = senderWorld({ details: receiver.details, send: path.send })
  const nobody = (): never => {
    throw new Error('a sender does not receive')
  }
  const server: RailServer = {
    ...{ clock, cryptography, findPayable: nobody, exchange: nobody },
    ...{ findReceived: nobody, receive: nobody, balance: nobody },
    emit: () => undefined,
  }
  const sender = createSender(settings, createPeers(settings), () => server)
  const NOTHING = { sent: 0n, received: 0n, inFlight: { sent: 0n, received: 0n }, notes: '' }
  const detailsOf = (name: string) => ({ ...receiver.details, ilpAddress: `${receiver.details.ilpAddress}.${name}` })
  return {
    clock,
    opened: (): readonly number[] => [...open.values()],
    deliver(name: string, number = 0, members: Partial<Delivery> = {}) {
      const delivery: Delivery = {
        id: idOf(number),
        details: detailsOf(name),
        account: `${PEER_ADDRESS}/EUR/2`,
        sendAmount: { ...EUR, value: 100n },
        receiveAmount: { ...EUR, value: 100n },
        rate: { sent: 1n, received: 1n },
        isFixedReceive: false,
        isOver: false,
        sendUntil: Number.POSITIVE_INFINITY,
        ...members,
      }
      return sender.deliver(delivery, NOTHING, async () => 'recorded')
    },
    quote: (name: string) => sender.quote({ details: detailsOf(name), from: EUR, to: USD }),
  }
}

const sum = (counts: readonly number[]): number => counts.reduce((one, other) => one + other, 0)

/** Waits until there are so many, however long the machine takes to make their packets; and then whether more come. */
async function untilOpen(opened: () => readonly number[], count: number): Promise<void> {
  while (sum(opened()) < count) await turn()
  await turns(50)
}

describe('the requests to peers that a process has open', () => {
  it('are eight for each of a few payments, and no fewer for the next one', async () => {
    const { deliver, opened } = await crowd()
    for (let number = 0; number < 32; number++) void deliver(`silent${number}`, number)
    await untilOpen(opened, 256)
    expect(opened()).toEqual(Array.from({ length: 32 }, () => 8))
    void deliver('silent32', 32)
    await untilOpen(opened, 263)
    expect(opened().at(-1)).toBe(7)
    expect(await deliver('friendly', 33)).toMatchObject({ outcome: 'delivered' })
  })

  it('are no more than 608 for as many payments as there can be, all at once, and one at least for each', async () => {
    const { deliver, opened, quote } = await crowd()
    for (let number = 0; number < 256; number++) void deliver(`silent${number}`, number)
    while (opened().length < 256) await turn()
    await turns(100)
    expect(Math.min(...opened())).toBeGreaterThanOrEqual(1)
    expect(sum(opened())).toBeLessThanOrEqual(608)
    // There is room for others.
    expect(await quote('friendly')).toMatchObject({ ok: true })
    expect(await deliver('friendly', 256)).toMatchObject({ outcome: 'delivered' })
  })

  it('leave no quote waiting for room that there is not, and any payment one of its own', async () => {
    const { clock, deliver, opened, quote } = await crowd()
    const silent = Array.from({ length: 640 }, (_, number) => quote(`silent${number}`))
    await untilOpen(opened, 640)
    expect(sum(opened())).toBe(640)
    const at = clock.now()
    expect(await quote('friendly')).toMatchObject({ ok: false, detail: 'busy: no room for another packet' })
    expect(clock.now() - at).toBe(2500)
    expect((await deliver('friendly')).outcome).toBe('delivered')
    await Promise.all(silent)
    expect(sum(opened())).toBe(0)
    expect(await quote('friendly')).toMatchObject({ ok: true })
  })

  it.each([
    ['which sends a fixed amount', {}],
    ['which has to measure the rate', { isFixedReceive: true, receiveAmount: { ...USD, value: 100n } }],
  ])('leave room for a payment at once where quotes have taken all of them: one %s', async (_, members) => {
    const { clock, deliver, opened, quote } = await crowd()
    for (let number = 0; number < 640; number++) void quote(`silent${number}`)
    await untilOpen(opened, 640)
    const at = clock.now()
    expect((await deliver('friendly', 1, members)).outcome).toBe('delivered')
    expect(clock.now()).toBe(at)
    expect(sum(opened())).toBe(640)
  })

  it('are waited for by a quote', async () => {
    const { clock, opened, quote } = await crowd()
    for (let number = 0; number < 640; number++) void quote(`silent${number}`)
    await untilOpen(opened, 640)
    // Those end first.
    clock.advance(2000)
    expect(await quote('friendly')).toMatchObject({ ok: true })
  })
})
