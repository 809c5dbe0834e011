import { randomBytes } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import { deserializeIlpPacket, serializeIlpFulfill, serializeIlpPrepare, serializeIlpReject } from 'ilp-packet'
import {
  generateFulfillment,
  generateFulfillmentKey,
  generatePskEncryptionKey,
} from 'ilp-protocol-stream/dist/src/crypto.js'
import {
  ConnectionAssetDetailsFrame,
  ConnectionCloseFrame,
  ConnectionMaxDataFrame,
  ConnectionNewAddressFrame,
  type Frame,
  Packet,
  StreamCloseFrame,
  StreamDataFrame,
  StreamMaxMoneyFrame,
  StreamMoneyFrame,
} from 'ilp-protocol-stream/dist/src/packet.js'
import { webCryptography } from 'open-payments-server'
import { describe, expect, it } from 'vitest'
import { decodeIlpPacket, encodeIlpPacket, type IlpFulfill, type IlpPrepare } from '../../adapters/ilp/packet.ts'
import { deriveStreamKeys } from '../../adapters/ilp/stream-keys.ts'
import { decodeStreamPacket, encodeStreamPacket, type StreamFrame } from '../../adapters/ilp/stream-packet.ts'

const bytes = (length: number): Uint8Array => new Uint8Array(randomBytes(length))
const SIZES = [0, 1, 127, 128, 255, 256, 32_767]

describe('ilp-packet', () => {
  it.each(SIZES)('writes and reads the same packets, with %i octets of data', (length) => {
    const prepare: IlpPrepare = {
      type: 'prepare',
      amount: 2n ** 64n - 1n,
      expiresAt: Date.UTC(2026, 1, 28, 23, 59, 59, 7),
      executionCondition: bytes(32),
      destination: 'test.alice.~x_1-Z',
      data: bytes(length),
    }
    const fulfill: IlpFulfill = { type: 'fulfill', fulfillment: bytes(32), data: bytes(length) }
    const data = Buffer.from(prepare.data)
    const theirs = [
      serializeIlpPrepare({
        amount: String(prepare.amount),
        expiresAt: new Date(prepare.expiresAt),
        executionCondition: Buffer.from(prepare.executionCondition),
        destination: prepare.destination,
        data,
      }),
      serializeIlpFulfill({ fulfillment: Buffer.from(fulfill.fulfillment), data: Buffer.from(fulfill.data) }),
      serializeIlpReject({ code: 'F08', triggeredBy: 'test.x', message: 'nö', data }),
    ]
    const reject = { type: 'reject', code: 'F08', triggeredBy: 'test.x', message: 'nö', data: prepare.data } as const
    for (const [index, packet] of [prepare, fulfill, reject].entries()) {
      const written = theirs[index] ?? Buffer.alloc(0)
      expect(Buffer.compare(encodeIlpPacket(packet), written)).toBe(0)
      expect(isDeepStrictEqual(decodeIlpPacket(new Uint8Array(written)), packet)).toBe(true)
      const read = deserializeIlpPacket(Buffer.from(encodeIlpPacket(packet)))
      expect(isDeepStrictEqual(read, deserializeIlpPacket(written))).toBe(true)
    }
  })
})

describe('ilp-protocol-stream', () => {
  const frames: readonly (readonly [Frame, StreamFrame])[] = [
    [new StreamMoneyFrame('1', '1'), { type: 'stream-money', streamId: 1n, shares: 1n }],
    [new ConnectionNewAddressFrame('test.me'), { type: 'connection-new-address', sourceAccount: 'test.me' }],
    [new ConnectionNewAddressFrame(''), { type: 'connection-new-address', sourceAccount: '' }],
    [new ConnectionAssetDetailsFrame('USD', 9), { type: 'connection-asset-details', assetCode: 'USD', assetScale: 9 }],
    [new ConnectionCloseFrame(1, 'no'), { type: 'connection-close', errorCode: 1, errorMessage: 'no' }],
    [new StreamCloseFrame('3', 9, ''), { type: 'stream-close', streamId: 3n, errorCode: 9, errorMessage: '' }],
    [
      new StreamMaxMoneyFrame('1', '18446744073709551615', '5'),
      { type: 'stream-max-money', streamId: 1n, receiveMax: 2n ** 64n - 1n, totalReceived: 5n },
    ],
  ]
  const others = [new StreamDataFrame(1, 0, Buffer.from('xx')), new ConnectionMaxDataFrame(0)]

  it('writes and reads the same packets', () => {
    const amount = '9007199254740993'
    const theirs = new Packet(
      '300',
      13,
      amount,
      frames.map(([frame]) => frame),
    )._serialize()
    const ours = { sequence: 300n, ilpPacketType: 13, amount: BigInt(amount) } as const
    const packet = { ...ours, frames: frames.map(([, frame]) => frame) }
    expect(Buffer.compare(encodeStreamPacket(packet), theirs)).toBe(0)
    expect(decodeStreamPacket(new Uint8Array(theirs))).toEqual(packet)
    const withOthers = new Packet('300', 13, amount, [...others, ...frames.map(([frame]) => frame)])._serialize()
    expect(decodeStreamPacket(new Uint8Array(withOthers))).toEqual(packet)
  })

  it('opens what we seal, seals what we open, and fulfills alike', async () => {
    const secret = randomBytes(32)
    const keys = await deriveStreamKeys(webCryptography(), new Uint8Array(secret))
    const key = await generatePskEncryptionKey(secret)
    const packet = new Packet(
      '5',
      12,
      '1000',
      frames.map(([frame]) => frame),
    )
    const sealed = await packet.serializeAndEncrypt(key)
    const opened = await keys.decrypt(new Uint8Array(sealed))
    expect(Buffer.from(opened ?? [])).toEqual(packet._serialize())
    const ours = await keys.encrypt(new Uint8Array(packet._serialize()), bytes(16))
    expect((await Packet.decryptAndDeserialize(key, Buffer.from(ours)))._serialize()).toEqual(packet._serialize())
    const fulfillment = await generateFulfillment(await generateFulfillmentKey(secret), sealed)
    expect(Buffer.from(await keys.fulfillmentOf(new Uint8Array(sealed)))).toEqual(fulfillment)
  })
})
