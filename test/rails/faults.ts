import { encodeIlpPacket } from '../../adapters/ilp/packet.ts'
import type { Random } from '../fuzz/random.ts'
import { readPrepare } from './packet-log.ts'

/** What can befall a request between two wallets. */
export const FAULTS = [
  'request lost',
  'reply lost',
  'delayed',
  'reply delayed',
  'duplicated',
  'request tampered with',
  'reply tampered with',
  'refused',
] as const

/** One of them. */
export type Fault = (typeof FAULTS)[number]

/** How many of a thousand requests each befalls. */
export type Weather = Readonly<Partial<Record<Fault, number>>>

/** What befalls the next request. */
export function drawFault(weather: Weather, random: Random): Fault | undefined {
  let drawn = random.below(1000)
  return FAULTS.find((fault) => {
    drawn -= weather[fault] ?? 0
    return drawn < 0
  })
}

/** The same octets but for one bit. */
export function flipBit(octets: Uint8Array, random: Random): Uint8Array {
  const flipped = Uint8Array.from(octets)
  const at = random.below(flipped.length)
  flipped[at] = (flipped[at] ?? 0) ^ (1 << random.below(8))
  return flipped
}

/**
 * A packet that somebody has laid hands on. Two peers trust their connection (it is TLS): whoever sits in it can make more
 * of an amount, and have a packet refused that has got through before. So neither is done here: there is half of an amount
 * only, and of a packet that `isKnown` to the other wallet only a piece.
 */
export function tamperWithPacket(body: Uint8Array, isKnown: boolean, random: Random): Uint8Array {
  const prepare = readPrepare(body)
  if (prepare === undefined || isKnown) return body.subarray(0, random.below(body.length))
  const { amount, expiresAt, executionCondition, destination, data } = prepare
  const altered = random.pick([
    { data: data.length === 0 ? Uint8Array.of(0) : flipBit(data, random) },
    { data: data.subarray(0, random.below(data.length + 1)) },
    { executionCondition: flipBit(executionCondition, random) },
    { destination: `${destination}0` },
    { destination: `${destination.slice(0, -1)}${destination.endsWith('a') ? 'b' : 'a'}` },
    { amount: amount / 2n },
    { expiresAt: expiresAt - 60_000 },
    { expiresAt: expiresAt + random.below(60_000) },
  ])
  return encodeIlpPacket({ ...prepare, ...altered })
}

/**
 * What somebody on the way answers instead of the other wallet: a status, or a refusal of Interledger. The latter only to
 * a packet that has not got through before: for whoever refuses one in the name of a peer speaks for that peer.
 */
export function drawRefusal(
  mayRefusePacket: boolean,
  random: Random,
): { readonly status: number; readonly body?: Uint8Array } {
  if (!mayRefusePacket || random.oneIn(2)) return { status: random.pick([429, 502, 503]) }
  const code = random.pick(['T00', 'T01', 'T04', 'T05', 'R00'])
  const message = 'somebody on the way'
  return {
    status: 200,
    body: encodeIlpPacket({ type: 'reject', code, triggeredBy: 'test.way', message, data: new Uint8Array() }),
  }
}
