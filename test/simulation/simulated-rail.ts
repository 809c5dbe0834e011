import type {
  Delivery,
  DeliveryProgress,
  DeliveryResult,
  PaymentMethod,
  RailServer,
  RecordProgress,
} from 'open-payments-server'
import { type Flying, leastOf, type Moved, readNotes, wayBetween, writeNotes } from './far-side.ts'
import { ceilDivide } from './payment-facts.ts'
import type { Call } from './scheduler.ts'
import type { RailShape } from './shape.ts'
import type { SimulatedProcess, World } from './world.ts'

/** Calls the world on behalf of a process: the call may be late, lost or unanswered. */
export type MakeCall = <T>(
  port: Call['port'],
  name: string,
  given: readonly unknown[],
  effect: () => T | Promise<T>,
) => Promise<T>

const ODD = ['later', 'pending', 'ended', 'throws', 'hangs'] as const

/** After so many parts that were rejected a rail gives up. */
const MOST_REJECTED = 3

/**
 * The rail of one process: it keeps every promise of its port, and does in any order, by chance, whatever the port leaves
 * open. It writes down each part before it sends it, several at once maybe, and finds out what became of them where the far
 * side can be asked again.
 */
export function simulatedRail(
  world: World,
  process: SimulatedProcess,
  rail: RailShape,
  make: MakeCall,
  connect: (server: RailServer) => void,
): PaymentMethod {
  const { far, random, met } = world
  /** Counted once each: how often it is tried depends on a few runs. */
  const broken = new Set<string>()

  /** What arrived of a part; `undefined` where that is not known. */
  async function send({ id, details }: Delivery, { number, sent, least }: Flying): Promise<Moved | undefined> {
    const part = { payment: id, number, sent, least, details }
    return make('rail', 'send', [id, number, sent, least], () => far.take(part)).catch(() => undefined)
  }

  /** Finds out what it can of what is in flight. */
  async function settle(delivery: Delivery, at: DeliveryProgress): Promise<DeliveryProgress> {
    const { made, flying } = readNotes(at.notes)
    const outcomes = await Promise.all(flying.map((part) => send(delivery, part)))
    const known = outcomes.filter((outcome) => outcome !== undefined)
    const left = flying.filter((_part, index) => outcomes[index] === undefined)
    return {
      sent: known.reduce((sum, outcome) => sum + outcome.sent, at.sent),
      received: known.reduce((sum, outcome) => sum + outcome.received, at.received),
      inFlight: flightOf(left),
      notes: writeNotes({ made, flying: left }),
    }
  }

  /** The next parts, as they are written down before they leave. */
  function nextParts({ sendAmount, receiveAmount, isFixedReceive }: Delivery, at: DeliveryProgress): DeliveryProgress {
    const { made } = readNotes(at.notes)
    const whole = { send: sendAmount.value, receive: receiveAmount.value }
    const unsent = whole.send - at.sent
    const wanted = ceilDivide((whole.receive - at.received) * whole.send, whole.receive)
    let left = isFixedReceive ? smaller(wanted, unsent) : unsent
    const flying: Flying[] = []
    const size = ceilDivide(whole.send, BigInt(rail.parts))
    for (let count = random.between(1, rail.window); count > 0 && left > 0n; count--) {
      const sent = smaller(left, size)
      flying.push({ number: made + flying.length + 1, sent, least: leastOf(sent, whole) })
      left -= sent
    }
    return { ...at, inFlight: flightOf(flying), notes: writeNotes({ made: made + flying.length, flying }) }
  }

  const isOdd = (): boolean => world.isFaulty && random.chance(rail.oddness)

  async function deliver(delivery: Delivery, start: DeliveryProgress, record: RecordProgress): Promise<DeliveryResult> {
    world.railWatch.begins(process, delivery)
    let at = start
    let isNews = false
    for (let rejected = 0; ; ) {
      if (at.inFlight.sent > 0n) {
        const before = at
        if (rail.isBroken && !world.isFaulty) {
          if (!broken.has(delivery.id)) met('a rail is broken for a payment')
          broken.add(delivery.id)
          throw new Error('simulated: the rail is broken')
        }
        // What another call has sent, nobody here was answered.
        if (at === start && !rail.isAskable) return unknown(at)
        at = await settle(delivery, at)
        isNews = true
        if (at.inFlight.sent > 0n && !rail.isAskable) return unknown(at)
        if (at.inFlight.sent > 0n) {
          if (random.chance(0.5)) await record(at)
          return later('nobody answers')
        }
        if (at.sent === before.sent) rejected++
      }
      if (isComplete(delivery, at)) {
        if (isNews && random.chance(0.3)) await record(at)
        return { outcome: 'delivered', progress: at }
      }
      if (delivery.isOver) return { outcome: 'ended', progress: at, reason: 'it is over' }
      if (rejected >= MOST_REJECTED) return { outcome: 'ended', progress: at, reason: 'it is rejected' }
      if (isOdd()) {
        const odd = random.pick(ODD)
        met(`a rail ${odd}`)
        if (odd === 'ended') return { outcome: 'ended', progress: at, reason: 'it had enough' }
        if (isNews && random.chance(0.7)) await record(at)
        if (odd === 'later') return later('somewhat later')
        if (odd === 'pending') return { outcome: 'pending' }
        if (odd === 'throws') throw new Error('simulated: the rail throws')
        return new Promise(() => undefined)
      }
      const next = nextParts(delivery, at)
      if ((await record(next, rail.limit)) === 'over_limit') {
        met('a rail is over its limit')
        return later('the account is over its limit')
      }
      at = next
    }
  }

  function unknown(progress: DeliveryProgress): DeliveryResult {
    met('a rail cannot find out')
    return { outcome: 'unknown', progress }
  }

  return {
    type: 'ilp',
    createDetails: ({ address, sharedSecret }) =>
      make('rail', 'createDetails', [address], () => ({
        type: 'ilp',
        ilpAddress: `test.here.${address}`,
        sharedSecret,
      })),
    quote: ({ details, from, to }) =>
      make('rail', 'quote', [details.ilpAddress, from, to], () =>
        world.isFaulty && random.chance(rail.oddness / 8)
          ? { ok: false, reason: 'unreachable' }
          : { ok: true, ...wayBetween(rail, from, to) },
      ),
    deliver,
    connect,
  }
}

function isComplete({ isFixedReceive, sendAmount, receiveAmount }: Delivery, at: DeliveryProgress): boolean {
  return at.sent === sendAmount.value || (isFixedReceive && at.received >= receiveAmount.value)
}

function smaller(one: bigint, other: bigint): bigint {
  return one < other ? one : other
}

function later(reason: string): DeliveryResult {
  return { outcome: 'later', reason }
}

function flightOf(flying: readonly Flying[]): Moved {
  return {
    sent: flying.reduce((sum, { sent }) => sum + sent, 0n),
    received: flying.reduce((sum, { least }) => sum + least, 0n),
  }
}
