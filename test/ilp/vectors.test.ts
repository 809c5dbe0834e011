import { describe, expect, it } from 'vitest'
import { readOer, varOctets } from '../../adapters/ilp/oer.ts'
import { decodeIlpPacket, encodeIlpPacket, type IlpPacket } from '../../adapters/ilp/packet.ts'
import { decodeStreamPacket, encodeStreamPacket, type StreamFrame } from '../../adapters/ilp/stream-packet.ts'
import vectors from '../vectors/ilp.json' with { type: 'json' }

const bytesOf = (text: string, encoding: 'hex' | 'base64'): Uint8Array => new Uint8Array(Buffer.from(text, encoding))
const base64 = (text = ''): Uint8Array => bytesOf(text, 'base64')

function publishedPacket(vector: (typeof vectors.packets)[number]): IlpPacket {
  const data = base64(vector.data)
  const { amount = '', expiresAt = '', destination = '', code = '', triggeredBy = '', message = '' } = vector
  switch (vector.type) {
    case 'prepare':
      return {
        type: 'prepare',
        amount: BigInt(amount),
        expiresAt: Date.parse(expiresAt),
        executionCondition: base64(vector.executionCondition),
        destination,
        data,
      }
    case 'fulfill':
      return { type: 'fulfill', fulfillment: base64(vector.fulfillment), data }
  }
  return { type: 'reject', code, triggeredBy, message, data }
}

const KNOWN: Readonly<Record<number, StreamFrame['type']>> = {
  1: 'connection-close',
  2: 'connection-new-address',
  7: 'connection-asset-details',
  16: 'stream-close',
  17: 'stream-money',
  18: 'stream-max-money',
}
const NUMBERS: readonly string[] = ['streamId', 'shares', 'receiveMax', 'totalReceived']

/** The frames that are read, as they are read. */
function publishedFrames(frames: readonly { readonly type: number }[]): readonly unknown[] {
  return frames.flatMap(({ type, ...members }) => {
    const entries = Object.entries(members).map(([name, value]: [string, unknown]) =>
      NUMBERS.includes(name) ? [name, BigInt(String(value))] : [name, value],
    )
    return KNOWN[type] === undefined ? [] : [{ type: KNOWN[type], ...Object.fromEntries(entries) }]
  })
}

describe('packets of the Interledger', () => {
  it.each(vectors.packets)('reads and writes the published $type', (vector) => {
    const octets = bytesOf(vector.octets, 'hex')
    expect(decodeIlpPacket(octets)).toEqual(publishedPacket(vector))
    expect(encodeIlpPacket(publishedPacket(vector))).toEqual(octets)
  })

  it.each(vectors.lengths)('reads and writes the published length $length', ({ octets, length }) => {
    const content = new Uint8Array(length).fill(7)
    const written = varOctets(content)
    const start = bytesOf(octets, 'hex')
    expect(written.subarray(0, start.length)).toEqual(start)
    expect(Buffer.compare(readOer(written).varOctets(), content)).toBe(0)
  })
})

describe('moments', () => {
  const template = decodeIlpPacket(bytesOf(vectors.packets[0]?.octets ?? '', 'hex'))
  if (template?.type !== 'prepare') throw new Error('the first published packet is a prepare')

  /** The published prepare with another text of 17 characters, or as many as it has, where its moment is. */
  const withText = (text: string): Uint8Array => {
    const octets = encodeIlpPacket(template)
    const [before, behind] = [octets.subarray(2, 10), octets.subarray(27)]
    const content = Buffer.concat([before, Buffer.from(text, 'latin1'), behind])
    return new Uint8Array(Buffer.concat([octets.subarray(0, 1), varOctets(content)]))
  }

  it.each(vectors.timestamps.valid)('are read and written as published: %s', (text = '', iso = '') => {
    const packet = { ...template, expiresAt: Date.parse(iso) }
    expect(decodeIlpPacket(withText(text))).toEqual(packet)
    expect(encodeIlpPacket(packet)).toEqual(withText(text))
  })

  it.each(vectors.timestamps.invalid)('are refused as published: %s', (text) => {
    expect(decodeIlpPacket(withText(text))).toBeUndefined()
  })

  it.each(['20170229000000000', '20170631000000000', '00000000000000000', '2017122416143227x', ' 2017122416143227'])(
    'are refused where there is no such moment: %s',
    (text) => {
      expect(decodeIlpPacket(withText(text))).toBeUndefined()
    },
  )
})

describe('packets of STREAM', () => {
  it.each(vectors.streamPackets)('reads the published $name', ({ octets, ilpPacketType, sequence, amount, frames }) => {
    expect(decodeStreamPacket(base64(octets))).toEqual({
      ilpPacketType,
      sequence: BigInt(sequence),
      amount: BigInt(amount),
      frames: publishedFrames(frames),
    })
  })

  it('writes every published one that it knows all frames of', () => {
    const written = vectors.streamPackets.filter(({ octets, frames, ...vector }) => {
      const packet = decodeStreamPacket(base64(octets))
      if (packet === undefined || packet.frames.length !== frames.length || 'decodeOnly' in vector) return false
      expect(encodeStreamPacket(packet)).toEqual(base64(octets))
      return true
    })
    expect(written).toHaveLength(22)
  })

  it.each(vectors.streamFrames)('reads the published frame $frame.type', ({ octets, frame }) => {
    const packet = Buffer.concat([base64('AQwBAAEAAQE='), base64(octets)])
    expect(decodeStreamPacket(packet)?.frames).toEqual(publishedFrames([frame]))
  })
})
