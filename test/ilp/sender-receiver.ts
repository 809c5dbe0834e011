import { type Cryptography, type IlpPaymentMethod, webCryptography } from 'open-payments-server'
import { encodeIlpPacket, type IlpPrepare, type IlpReply } from '../../adapters/ilp/packet.ts'
import { conditionOf, deriveStreamKeys, type StreamKeys } from '../../adapters/ilp/stream-keys.ts'
import {
  decodeStreamPacket,
  encodeStreamPacket,
  type StreamFrame,
  type StreamPacket,
} from '../../adapters/ilp/stream-packet.ts'
import { fromBase64url, isEqualBytes, toBase64url, toHex } from '../../src/protocol/bytes.ts'

/** A packet of money as its sender made it. */
export interface SentPacket {
  readonly prepare: IlpPrepare
  readonly sequence: bigint
  readonly least: bigint
}

/** Reads what is sent to a receiver; `undefined` where it is a test. */
export async function packetReader(
  cryptography: Cryptography,
  { sharedSecret }: IlpPaymentMethod,
): Promise<(prepare: IlpPrepare) => Promise<SentPacket | undefined>> {
  const keys = await deriveStreamKeys(cryptography, fromBase64url(sharedSecret) ?? new Uint8Array())
  return async (prepare) => {
    const plain = await keys.decrypt(prepare.data)
    const packet = plain && decodeStreamPacket(plain)
    const condition = await conditionOf(cryptography, await keys.fulfillmentOf(prepare.data))
    if (packet === undefined || !isEqualBytes(condition, prepare.executionCondition)) return undefined
    return { prepare, sequence: packet.sequence, least: packet.amount }
  }
}

/** What a receiver took of one packet. */
export interface Taken {
  readonly sequence: bigint
  readonly least: bigint
  readonly received: bigint
  /** How often it was counted. */
  times: number
}

/** What a receiver refuses a packet with; in its own words unless it `isPlain`. */
export interface Refusal {
  readonly code: string
  readonly isPlain?: boolean
  /** What it says has arrived, if that is not the truth. */
  readonly says?: bigint
  readonly frames?: readonly StreamFrame[]
}

/** Someone who is paid. */
export interface TestReceiver {
  readonly details: IlpPaymentMethod
  /** By condition. */
  readonly taken: ReadonlyMap<string, Taken>
  /** What it has counted in all. */
  total(): bigint
  /** Answers a packet that comes with `amount` units of its asset. */
  answer(prepare: IlpPrepare, amount: bigint, now: number): Promise<IlpReply>
}

/**
 * A receiver of STREAM. With `isIdempotent` it takes each packet once and keeps to what it said; else it does what others
 * do: whatever comes in time is fulfilled and counted, however often.
 */
export async function testReceiver(
  terms: {
    readonly isIdempotent?: boolean
    readonly testCode?: 'F99' | 'F05'
    /** Whether it fulfills whatever comes. */
    readonly isCareless?: boolean
    /** What it says has arrived of a packet that it takes, if that is not the truth. */
    says?(amount: bigint): bigint
    /** The same of a test. */
    saysOfTest?(amount: bigint): bigint
    refuse?(packet: StreamPacket, amount: bigint): Refusal | undefined
  } = {},
): Promise<TestReceiver> {
  const { isIdempotent = false, testCode = 'F99', isCareless = false, refuse } = terms
  const { says = (amount) => amount, saysOfTest = (amount) => amount } = terms
  const cryptography = webCryptography()
  const secret = cryptography.randomBytes(32)
  const keys = await deriveStreamKeys(cryptography, secret)
  const taken = new Map<string, Taken>()
  const refused = new Set<string>()
  const seal = sealer(keys, cryptography)

  const answer: TestReceiver['answer'] = async (prepare, amount, now) => {
    const plain = await keys.decrypt(prepare.data)
    const packet = plain && decodeStreamPacket(plain)
    if (packet?.ilpPacketType !== 12) return reject('F06')
    const fulfillment = await keys.fulfillmentOf(prepare.data)
    if (!isEqualBytes(await conditionOf(cryptography, fulfillment), prepare.executionCondition))
      return reject(testCode, await seal(14, packet.sequence, saysOfTest(amount)))
    const condition = toHex(prepare.executionCondition)
    const fulfill = async (received = amount): Promise<IlpReply> => ({
      type: 'fulfill',
      fulfillment,
      data: await seal(13, packet.sequence, says(received)),
    })
    const before = taken.get(condition)
    if (isIdempotent && before !== undefined) return fulfill(before.received)
    const refusal: Refusal | undefined =
      now + 1000 > prepare.expiresAt || (isIdempotent && refused.has(condition))
        ? { code: 'R00' }
        : amount < packet.amount && !isCareless
          ? { code: 'F99' }
          : refuse?.(packet, amount)
    if (refusal !== undefined) {
      refused.add(condition)
      const { code, isPlain = false, says: said = amount, frames = [] } = refusal
      return reject(code, isPlain ? undefined : await seal(14, packet.sequence, said, frames))
    }
    if (before !== undefined) before.times += 1
    else taken.set(condition, { sequence: packet.sequence, least: packet.amount, received: amount, times: 1 })
    return fulfill()
  }
  return {
    details: { type: 'ilp', ilpAddress: 'test.receiver.payment', sharedSecret: toBase64url(secret) },
    taken,
    total: () => [...taken.values()].reduce((sum, { received, times }) => sum + received * BigInt(times), 0n),
    answer,
  }
}

function sealer(keys: StreamKeys, cryptography: Cryptography) {
  return (ilpPacketType: 13 | 14, sequence: bigint, amount: bigint, frames: readonly StreamFrame[] = []) =>
    keys.encrypt(encodeStreamPacket({ ilpPacketType, sequence, amount, frames }), cryptography.randomBytes(16))
}

/** A refusal, of the receiver or of somebody on the way. */
export function reject(code: string, data: Uint8Array = new Uint8Array()): IlpReply {
  return { type: 'reject', code, triggeredBy: 'test.receiver', message: '', data }
}

/** Writes an answer as it goes over HTTP. */
export function inHttp(reply: IlpReply): { readonly status: number; readonly bytes: Uint8Array } {
  return { status: 200, bytes: encodeIlpPacket(reply) }
}
