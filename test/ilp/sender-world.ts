import {
  type Amount,
  type Asset,
  type Cryptography,
  type Delivery,
  type DeliveryProgress,
  type DeliveryResult,
  type IlpPaymentMethod,
  type RailServer,
  type ServiceEvent,
  webCryptography,
} from 'open-payments-server'
import { createSender } from '../../adapters/ilp/deliver.ts'
import type { IlpPeer } from '../../adapters/ilp/options.ts'
import { resolveIlpOptions } from '../../adapters/ilp/options.ts'
import { decodeIlpPacket } from '../../adapters/ilp/packet.ts'
import { createPeers } from '../../adapters/ilp/peers.ts'
import type { SendToPeer } from '../../adapters/ilp/send-packet.ts'
import { type FakeClock, fakeClock } from '../support/fake-clock.ts'
import { packetReader, type SentPacket } from './sender-receiver.ts'

export const EUR: Asset = { assetCode: 'EUR', assetScale: 2 }
export const USD: Asset = { assetCode: 'USD', assetScale: 2 }
export const PEER_ADDRESS = 'test.peer'
const NOTHING: DeliveryProgress = { sent: 0n, received: 0n, inFlight: { sent: 0n, received: 0n }, notes: '' }

/** Whoever records more often than this goes round in circles. */
const MOST_RECORDS = 5_000

/** What a sender is set up with. */
export interface SenderTerms {
  readonly details: IlpPaymentMethod
  readonly send: SendToPeer
  readonly clock?: FakeClock
  readonly peer?: Partial<IlpPeer>
  readonly slippageBasisPoints?: number
  readonly cryptography?: Cryptography
  /** What the storage does before it answers that a record is written, by its index. */
  readonly keep?: (index: number) => Promise<void>
}

/** A payment as the core keeps it, a sender that dies where it is told, and the storage in between. */
export interface SenderWorld {
  readonly clock: FakeClock
  readonly cryptography: Cryptography
  readonly events: readonly ServiceEvent[]
  /** Everything that was recorded, in order. */
  readonly records: readonly DeliveryProgress[]
  /** What was recorded last. */
  progress(): DeliveryProgress
  quote(
    from: Asset,
    to: Asset,
    other?: IlpPaymentMethod,
    amount?: Amount,
  ): ReturnType<ReturnType<typeof createSender>['quote']>
  /** One call of `deliver`; `undefined` where the process died at the `diesAt`th time that it touched the world. */
  deliver(delivery: Delivery, diesAt?: number): Promise<DeliveryResult | undefined>
  /** One call that is told another progress than what was recorded. */
  deliverFrom(progress: DeliveryProgress, delivery: Delivery): Promise<DeliveryResult>
  /** Calls until there is a decision, with pauses in between. */
  finish(delivery: Delivery, mostCalls?: number): Promise<DeliveryResult>
}

/** Sets a sender up, with one peer that leads everywhere. */
export function senderWorld(terms: SenderTerms): SenderWorld {
  const { details, clock = fakeClock(), cryptography = webCryptography() } = terms
  const events: ServiceEvent[] = []
  const records: DeliveryProgress[] = []
  let version = 0
  const settingsFor = (send: SendToPeer) =>
    resolveIlpOptions({
      address: 'test.sender',
      slippageBasisPoints: terms.slippageBasisPoints ?? 100,
      send,
      peers: [
        {
          address: PEER_ADDRESS,
          url: 'https://peer.example/ilp',
          outgoingToken: 'outgoing-token-of-the-test',
          incomingTokens: ['incoming-token-of-the-test'],
          asset: EUR,
          isDefault: true,
          ...terms.peer,
        },
      ],
    })
  const reader = packetReader(cryptography, details)
  const read = async (bytes: Uint8Array): Promise<SentPacket | undefined> => {
    const prepare = decodeIlpPacket(bytes)
    return prepare?.type === 'prepare' ? (await reader)(prepare) : undefined
  }
  const progress = (): DeliveryProgress => records.at(-1) ?? NOTHING
  const senderFor = (touch: () => Promise<void>) => {
    const server: RailServer = {
      ...nobody,
      clock: {
        now: clock.now,
        async sleep(milliseconds, signal) {
          if (signal === undefined) await touch()
          return clock.sleep(milliseconds, signal)
        },
      },
      cryptography,
      emit: (event) => events.push(event),
    }
    const settings = settingsFor(async (request) => {
      await touch()
      expectRecorded(progress(), await read(request.bytes))
      const answer = await terms.send(request)
      await touch()
      return answer
    })
    return createSender(settings, createPeers(settings), () => server)
  }
  const record = (touch: () => Promise<void>, delivery: Delivery) => {
    let expected = version
    return async (next: DeliveryProgress, most?: bigint): Promise<'recorded' | 'over_limit'> => {
      await touch()
      if (version !== expected) throw new Error('another worker has this payment')
      if (most !== undefined && next.sent + next.inFlight.sent > most) return 'over_limit'
      if (records.length > MOST_RECORDS) throw new Error('it records without end')
      expectSound(delivery, progress(), next)
      records.push(next)
      expected = ++version
      await terms.keep?.(records.length - 1)
      await touch()
      return 'recorded'
    }
  }
  const deliver: SenderWorld['deliver'] = (delivery, diesAt = Number.POSITIVE_INFINITY) => {
    let touches = 0
    return new Promise((resolve, reject) => {
      const touch = async (): Promise<void> => {
        if (++touches < diesAt) return
        resolve(undefined)
        // Whoever died never gets an answer.
        await new Promise(() => {})
      }
      const sender = senderFor(touch)
      sender.deliver(delivery, progress(), record(touch, delivery)).then(resolve, reject)
    })
  }
  return {
    ...{ clock, cryptography, events, records, progress, deliver },
    deliverFrom: (from, delivery) =>
      senderFor(async () => {}).deliver(
        delivery,
        from,
        record(async () => {}, delivery),
      ),
    quote: (from, to, other = details, amount = undefined) =>
      senderFor(async () => {}).quote({ details: other, from, to, ...(amount && { amount }) }),
    async finish(delivery, mostCalls = 50) {
      for (let call = 0; call < mostCalls; call++) {
        const result = await deliver(delivery)
        if (result === undefined) throw new Error('nobody was to die')
        if (result.outcome !== 'later') return result
        clock.advance(5_000)
      }
      throw new Error(`no decision after ${mostCalls} calls`)
    },
  }
}

const unasked = (): never => {
  throw new Error('a sender does not receive')
}
const nobody = {
  ...{ findPayable: unasked, exchange: unasked, findReceived: unasked },
  ...{ receive: unasked, balance: unasked },
}

/** What is written down is never less than before, and never more than the payment. */
function expectSound({ sendAmount, details }: Delivery, last: DeliveryProgress, next: DeliveryProgress): void {
  const faults = [
    next.sent < last.sent && 'what was sent shrinks',
    next.received < last.received && 'what was received shrinks',
    next.inFlight.sent < 0n && 'less than nothing is in flight',
    next.sent + next.inFlight.sent > sendAmount.value && 'more leaves than was ordered',
    next.notes.length > 16_384 && 'the notes are too long',
    next.notes.includes(details.sharedSecret) && 'the notes hold a secret',
  ].filter((fault) => fault !== false)
  if (faults.length > 0) throw new Error(faults.join(', '))
}

/** Money leaves only in packets that were written down, each as it was. */
function expectRecorded({ notes }: DeliveryProgress, packet: SentPacket | undefined): void {
  if (packet === undefined) return
  const { sequence, least, prepare } = packet
  // What is noted of it besides stands behind.
  const line = JSON.stringify([sequence, prepare.amount, least, prepare.expiresAt].map(String)).slice(0, -1)
  if (!notes.includes(line)) throw new Error(`a packet leaves that was not recorded: ${line}`)
}
