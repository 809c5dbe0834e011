import { isDeepStrictEqual } from 'node:util'
import { describe, expect, it } from 'vitest'
import { readOer, uint8, uint64, varOctets, varText, varUint } from '../../adapters/ilp/oer.ts'
import {
  decodeIlpPacket,
  encodeAmountTooLarge,
  encodeIlpPacket,
  type IlpPrepare,
  type IlpReject,
  MAX_DATA_OCTETS,
  MAX_PREPARE_OCTETS,
  readAmountTooLarge,
} from '../../adapters/ilp/packet.ts'
import { decodeStreamPacket, encodeStreamPacket } from '../../adapters/ilp/stream-packet.ts'
import { MAX_AMOUNT_VALUE } from '../../src/protocol/amount.ts'
import { joinBytes } from '../../src/protocol/bytes.ts'
import { isIlpAddress } from '../../src/protocol/payment-method.ts'

const octets = (...values: readonly number[]): Uint8Array => Uint8Array.from(values)

const PREPARE: IlpPrepare = {
  type: 'prepare',
  amount: 107n,
  expiresAt: Date.parse('2026-03-01T12:00:00.007Z'),
  executionCondition: new Uint8Array(32).fill(7),
  destination: 'test.alice.~x_1',
  data: octets(1, 2, 3),
}
const REJECT: IlpReject = {
  type: 'reject',
  code: 'F99',
  triggeredBy: 'test.alice',
  message: 'nö',
  data: octets(4),
}

/** A packet of some content. */
const packetOf = (type: number, ...content: readonly Uint8Array[]): Uint8Array =>
  joinBytes([uint8(type), varOctets(joinBytes([...content]))])

const CONTENT = [uint64(107n), new TextEncoder().encode('20260301120000007'), PREPARE.executionCondition] as const

describe('octet encoding rules', () => {
  it.each([0n, 1n, 127n, 128n, 255n, 256n, 2n ** 32n - 1n, 2n ** 32n, 2n ** 53n, 2n ** 63n, MAX_AMOUNT_VALUE])(
    'read the number %s as it was written, in as few octets as it needs',
    (value) => {
      const written = varUint(value)
      expect(readOer(written).varUint()).toBe(value)
      expect(written).toHaveLength(1 + Math.max(1, Math.ceil(value.toString(16).length / 2)))
      expect(readOer(uint64(value)).uint64()).toBe(value)
    },
  )

  it.each([-1n, MAX_AMOUNT_VALUE + 1n, 2n ** 128n])('write no number that 64 bits do not hold: %s', (value) => {
    expect(() => uint64(value)).toThrow(RangeError)
    expect(() => varUint(value)).toThrow(RangeError)
  })

  it.each<[string, Uint8Array]>([
    ['in no octets', octets(0)],
    ['with a zero before it', octets(2, 0, 1)],
    ['as two zeros', octets(2, 0, 0)],
    ['of more than 64 bits', octets(9, 1, 0, 0, 0, 0, 0, 0, 0, 0)],
    ['whose end is missing', octets(2, 1)],
    ['whose length is missing', octets()],
  ])('read no number %s', (_what, written) => {
    const reader = readOer(written)
    expect([reader.varUint(), reader.isBroken()]).toEqual([0n, true])
  })

  it('read what is more than 64 bits as their greatest number where that is meant', () => {
    const reader = readOer(octets(9, 1, 0, 0, 0, 0, 0, 0, 0, 0))
    expect([reader.varUintCapped(), reader.isBroken()]).toEqual([MAX_AMOUNT_VALUE, false])
    expect(readOer(octets(8, 0xff, 0, 0, 0, 0, 0, 0, 1)).varUintCapped()).toBe(0xff00_0000_0000_0001n)
    for (const broken of [octets(0), octets(9, 0, 0, 0, 0, 0, 0, 0, 0, 1), octets(9, 1)]) {
      const other = readOer(broken)
      other.varUintCapped()
      expect(other.isBroken()).toBe(true)
    }
  })

  it.each([0, 1, 127, 128, 255, 256, 65_535, 65_536])('read %i octets as they were written', (length) => {
    const content = Uint8Array.from({ length }, (_, index) => index)
    const reader = readOer(joinBytes([varOctets(content), uint8(42)]))
    expect(Buffer.compare(reader.varOctets(), content)).toBe(0)
    expect([reader.uint8(), reader.isBroken()]).toEqual([42, false])
  })

  it.each<[string, Uint8Array]>([
    ['longer than it must be', octets(0x81, 1, 7)],
    ['with a zero before it', octets(0x82, 0, 0x80, ...new Uint8Array(128))],
    ['without end', octets(0x80, 7, 7)],
    ['in no octets', octets(0x80, ...new Uint8Array(200))],
    ['of five octets', octets(0x85, 1, 0, 0, 0, 0)],
    ['of 127 octets', new Uint8Array(200).fill(0xff)],
    ['of which an octet is missing', octets(0x82, 1)],
    ['of more than there is', octets(0x84, 0xff, 0xff, 0xff, 0xff, 1)],
    ['of one more than there is', octets(3, 1, 2)],
  ])('read nothing behind a length %s, and nothing after it', (_what, written) => {
    const reader = readOer(written)
    expect(reader.varOctets()).toEqual(octets())
    expect([reader.uint8(), reader.uint64(), reader.varText(), reader.varUint()]).toEqual([0, 0n, '', 0n])
    expect(reader.isBroken()).toBe(true)
  })

  it('read from a part of something as from all of it', () => {
    const part = joinBytes([octets(9, 9), uint64(5n), octets(9)]).subarray(2, 10)
    const reader = readOer(part)
    expect([reader.uint64(), reader.isBroken(), reader.uint8(), reader.isBroken()]).toEqual([5n, false, 0, true])
  })
})

describe('a packet of the Interledger', () => {
  it.each<[string, Uint8Array]>([
    ['nothing', octets()],
    ['another type', packetOf(11, ...CONTENT, varText('test.a'), octets(0))],
    ['a content that is cut short', encodeIlpPacket(PREPARE).subarray(0, -1)],
    ['a field that is cut short', packetOf(12, ...CONTENT, varText('test.a'), octets(3, 1, 2))],
    ['no data', packetOf(12, ...CONTENT, varText('test.a'))],
    ['an address that is none', packetOf(12, ...CONTENT, varText('test'), octets(0))],
    ['an address behind a byte order mark', packetOf(12, ...CONTENT, varText('\u{feff}test.a'), octets(0))],
    [
      'more data than a packet may have',
      packetOf(12, ...CONTENT, varText('test.a'), varOctets(new Uint8Array(32_768))),
    ],
    ['a fulfillment that is cut short', packetOf(13, new Uint8Array(31))],
    ['a fulfillment that goes on behind its content', joinBytes([packetOf(13, new Uint8Array(31)), octets(0, 0)])],
    ['an error code that is none', packetOf(14, new TextEncoder().encode('X00'), octets(0, 0, 0))],
  ])('is not read from %s', (_what, written) => {
    expect(decodeIlpPacket(written)).toBeUndefined()
  })

  it('is read where octets follow the last of its fields', () => {
    const [content, behind] = [encodeIlpPacket(PREPARE).subarray(2), octets(1, 2, 3)]
    expect(decodeIlpPacket(packetOf(12, content, behind))).toEqual(PREPARE)
    expect(decodeIlpPacket(joinBytes([encodeIlpPacket(PREPARE), behind]))).toEqual(PREPARE)
    expect(decodeIlpPacket(packetOf(13, new Uint8Array(32), octets(0), behind))).toMatchObject({ type: 'fulfill' })
  })

  it('has as much data as the longest may have, and is as long as the longest is', () => {
    const destination = `test.${'a'.repeat(1018)}`
    const longest = { ...PREPARE, destination, data: new Uint8Array(MAX_DATA_OCTETS).fill(1) }
    const written = encodeIlpPacket(longest)
    expect(written).toHaveLength(MAX_PREPARE_OCTETS)
    expect(isDeepStrictEqual(decodeIlpPacket(written), longest)).toBe(true)
  })

  it('is a refusal whatever else is odd about it', () => {
    const [latin, bare] = [octets(0xe9), new TextEncoder().encode('test')]
    expect(decodeIlpPacket(encodeIlpPacket(REJECT))).toEqual(REJECT)
    const code = new TextEncoder().encode('T00')
    const odd = packetOf(14, code, varOctets(bare), varOctets(latin), octets(0))
    expect(decodeIlpPacket(odd)).toMatchObject({ type: 'reject', code: 'T00', triggeredBy: 'test', message: '�' })
    expect(decodeIlpPacket(packetOf(14, code, octets(0, 0, 0)))).toMatchObject({ code: 'T00', triggeredBy: '' })
  })

  it.each([-1n, 2n ** 64n])('is not written with an amount of %s', (amount) => {
    expect(() => encodeIlpPacket({ ...PREPARE, amount })).toThrow(RangeError)
  })

  it.each([Number.NaN, Infinity, Date.UTC(10_000, 0), Date.UTC(-1, 0), 8.64e15 + 1])(
    'is not written with a moment of %d',
    (expiresAt) => {
      expect(() => encodeIlpPacket({ ...PREPARE, expiresAt })).toThrow(RangeError)
    },
  )

  it.each([0, Date.UTC(9999, 11, 31, 23, 59, 59, 999), Date.parse('0000-01-01T00:00:00Z')])(
    'has the moment %d',
    (expiresAt) => {
      expect(decodeIlpPacket(encodeIlpPacket({ ...PREPARE, expiresAt }))).toMatchObject({ expiresAt })
    },
  )

  it('says how much was too much, or not', () => {
    const amounts = { receivedAmount: MAX_AMOUNT_VALUE, maximumAmount: 3n }
    const reject = { ...REJECT, code: 'F08', data: encodeAmountTooLarge(amounts) }
    expect(readAmountTooLarge(reject)).toEqual(amounts)
    expect(readAmountTooLarge({ ...reject, data: octets() })).toBeUndefined()
    expect(readAmountTooLarge({ ...reject, data: reject.data.subarray(1) })).toBeUndefined()
  })
})

describe('an address of the Interledger', () => {
  it.each([
    'g.a',
    'private.a',
    'example.a',
    'peer.a',
    'self.a',
    'test.a',
    'test1.a',
    'test3.a',
    'local.a',
    'g.A-_~9.b',
  ])('is %s', (text) => expect(isIlpAddress(text)).toBe(true))
  it.each([
    '',
    'g',
    'g.',
    '.g',
    'g..a',
    'g.a.',
    'test4.a',
    'G.a',
    'g.a b',
    'g.ä',
    'g.a\n',
    'other.a',
    `g.${'a'.repeat(1022)}`,
  ])('is not %j', (text) => expect(isIlpAddress(text)).toBe(false))
  it('has 1023 characters at most', () => expect(isIlpAddress(`g.${'a'.repeat(1021)}`)).toBe(true))
})

describe('a packet of STREAM', () => {
  const packet = { ilpPacketType: 12, sequence: 5n, amount: 1000n, frames: [] } as const
  const money = octets(0x11, 4, 1, 1, 1, 1)
  const read = { type: 'stream-money', streamId: 1n, shares: 1n }

  it.each<[string, Uint8Array]>([
    ['nothing', octets()],
    ['another version', octets(2, 12, 1, 5, 1, 1, 1, 0)],
    ['another type', octets(1, 15, 1, 5, 1, 1, 1, 0)],
    ['no count of frames', octets(1, 12, 1, 5, 1, 1)],
    ['fewer frames than it counts', octets(1, 12, 1, 5, 1, 1, 1, 2, ...money)],
    ['far more frames than there are', octets(1, 12, 1, 5, 1, 1, 8, ...new Uint8Array(8).fill(255), ...money)],
    ['a frame that is cut short', octets(1, 12, 1, 5, 1, 1, 1, 1, ...money.subarray(0, -1))],
    ['a frame whose content is cut short', octets(1, 12, 1, 5, 1, 1, 1, 1, 0x11, 2, 1, 1)],
    ['a frame that goes on behind its content', octets(1, 12, 1, 5, 1, 1, 1, 1, 0x11, 2, 1, 1, 1, 1)],
    ['a sequence of more than 64 bits', octets(1, 12, 9, 1, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 0)],
    ['an amount of more than 64 bits', octets(1, 12, 1, 1, 9, 1, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0)],
  ])('is not read from %s', (_what, written) => {
    expect(decodeStreamPacket(written)).toBeUndefined()
  })

  it('is read with padding, with frames that are longer than known, and without those that are not known', () => {
    const start = encodeStreamPacket(packet).subarray(0, -1)
    const longer = octets(0x11, 5, 1, 1, 1, 1, 9)
    const written = joinBytes([start, octets(3), octets(0x77, 2, 1, 2), longer, money, octets(0, 0, 0)])
    expect(decodeStreamPacket(written)).toEqual({ ...packet, frames: [read, read] })
  })

  it('is not written with a number that 64 bits do not hold', () => {
    expect(() => encodeStreamPacket({ ...packet, sequence: 2n ** 64n })).toThrow(RangeError)
    expect(() => encodeStreamPacket({ ...packet, amount: -1n })).toThrow(RangeError)
  })
})
