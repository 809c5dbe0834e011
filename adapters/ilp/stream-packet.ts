import { joinBytes } from '../../src/protocol/bytes.ts'
import { type OerReader, readOer, uint8, varOctets, varText, varUint } from './oer.ts'

/** The frames of STREAM that move money or say how it is counted; all others are skipped. */
export type StreamFrame =
  | { readonly type: 'connection-close'; readonly errorCode: number; readonly errorMessage: string }
  | { readonly type: 'connection-new-address'; readonly sourceAccount: string }
  | { readonly type: 'connection-asset-details'; readonly assetCode: string; readonly assetScale: number }
  | {
      readonly type: 'stream-close'
      readonly streamId: bigint
      readonly errorCode: number
      readonly errorMessage: string
    }
  | { readonly type: 'stream-money'; readonly streamId: bigint; readonly shares: bigint }
  | {
      readonly type: 'stream-max-money'
      readonly streamId: bigint
      readonly receiveMax: bigint
      readonly totalReceived: bigint
    }

/** The part of a packet that only its two ends can read. */
export interface StreamPacket {
  /** The type of the ILP packet that carries it, so that a reply cannot be passed off as an offer. */
  readonly ilpPacketType: 12 | 13 | 14
  readonly sequence: bigint
  /** In an offer, the least that must arrive; in a reply, what did arrive. */
  readonly amount: bigint
  readonly frames: readonly StreamFrame[]
}

const VERSION = 1
const FRAMES = {
  'connection-close': 0x01,
  'connection-new-address': 0x02,
  'connection-asset-details': 0x07,
  'stream-close': 0x10,
  'stream-money': 0x11,
  'stream-max-money': 0x12,
} as const

/** Writes the text to be encrypted. Throws a `RangeError` for a number that does not fit 64 bits. */
export function encodeStreamPacket({ ilpPacketType, sequence, amount, frames }: StreamPacket): Uint8Array {
  const written = frames.map((frame) => joinBytes([uint8(FRAMES[frame.type]), varOctets(contentOf(frame))]))
  const count = varUint(BigInt(frames.length))
  return joinBytes([uint8(VERSION), uint8(ilpPacketType), varUint(sequence), varUint(amount), count, ...written])
}

function contentOf(frame: StreamFrame): Uint8Array {
  switch (frame.type) {
    case 'connection-close':
      return joinBytes([uint8(frame.errorCode), varText(frame.errorMessage)])
    case 'connection-new-address':
      return varText(frame.sourceAccount)
    case 'connection-asset-details':
      return joinBytes([varText(frame.assetCode), uint8(frame.assetScale)])
    case 'stream-close':
      return joinBytes([varUint(frame.streamId), uint8(frame.errorCode), varText(frame.errorMessage)])
    case 'stream-money':
      return joinBytes([varUint(frame.streamId), varUint(frame.shares)])
    case 'stream-max-money':
      return joinBytes([varUint(frame.streamId), varUint(frame.receiveMax), varUint(frame.totalReceived)])
  }
}

/**
 * Reads a decrypted text; `undefined` if it is not a packet of STREAM version 1. Octets after the frames are padding;
 * those after the last field of a frame are for future versions. Writing a packet that was read gives the same octets,
 * except for those, for frames of other types, for text that is not UTF-8 and for bounds above 64 bits.
 */
export function decodeStreamPacket(bytes: Uint8Array): StreamPacket | undefined {
  const reader = readOer(bytes)
  const version = reader.uint8()
  const ilpPacketType = reader.uint8()
  const sequence = reader.varUint()
  const amount = reader.varUint()
  const count = reader.varUint()
  if (reader.isBroken() || version !== VERSION) return undefined
  if (ilpPacketType !== 12 && ilpPacketType !== 13 && ilpPacketType !== 14) return undefined
  const frames: StreamFrame[] = []
  for (let index = 0n; index < count; index++) {
    const type = reader.uint8()
    const frame = reader.varPart(() => readFrame(type, reader))
    // The count may exceed the frames that are there: without this check, a huge count would be looped through.
    if (reader.isBroken()) return undefined
    if (frame !== undefined) frames.push(frame)
  }
  return { ilpPacketType, sequence, amount, frames }
}

function readFrame(type: number, content: OerReader): StreamFrame | undefined {
  switch (type) {
    case FRAMES['connection-close']:
      return { type: 'connection-close', errorCode: content.uint8(), errorMessage: content.varText() }
    case FRAMES['connection-new-address']:
      return { type: 'connection-new-address', sourceAccount: content.varText() }
    case FRAMES['connection-asset-details']:
      return { type: 'connection-asset-details', assetCode: content.varText(), assetScale: content.uint8() }
    case FRAMES['stream-close']:
      return {
        type: 'stream-close',
        streamId: content.varUint(),
        errorCode: content.uint8(),
        errorMessage: content.varText(),
      }
    case FRAMES['stream-money']:
      return { type: 'stream-money', streamId: content.varUint(), shares: content.varUint() }
    case FRAMES['stream-max-money']:
      return {
        type: 'stream-max-money',
        streamId: content.varUint(),
        // A bound of more than 64 bits means no bound at all.
        receiveMax: content.varUintCapped(),
        totalReceived: content.varUint(),
      }
  }
  return undefined
}
