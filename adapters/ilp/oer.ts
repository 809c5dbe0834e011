import { MAX_AMOUNT_VALUE } from '../../src/protocol/amount.ts'
import { joinBytes, toUtf8 } from '../../src/protocol/bytes.ts'

/**
 * Reads the canonical octet encoding rules (ITU-T X.696) as far as the packets of Interledger use them. Never throws:
 * whatever is missing or not canonical reads as zero or empty, and from then on `isBroken` is true, so that it is
 * enough to check that once at the end. Octets that are read share their memory with the source.
 */
export interface OerReader {
  uint8(): number
  uint64(): bigint
  octets(length: number): Uint8Array
  /** Octets, preceded by their length. */
  varOctets(): Uint8Array
  /** The same, read by `read`, which can read no further; what it leaves is passed over. */
  varPart<T>(read: () => T): T
  /** Text, preceded by its length; bytes that are not UTF-8 read as replacement characters. */
  varText(): string
  /** A number of at most 64 bits, preceded by its length. */
  varUint(): bigint
  /** The same with any length; a number of more than 64 bits reads as 2^64 - 1. */
  varUintCapped(): bigint
  isBroken(): boolean
}

const NOTHING = new Uint8Array()
const DECODER = new TextDecoder('utf-8', { ignoreBOM: true })

/** Starts reading at the first octet. */
export function readOer(bytes: Uint8Array): OerReader {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
  let [offset, end] = [0, bytes.length]
  let broken = false
  /** Advances by some octets, and returns where they begin; -1 if there are too few. */
  const take = (length: number): number => {
    if (broken || length > end - offset) {
      broken = true
      return -1
    }
    offset += length
    return offset - length
  }
  const octets = (length: number): Uint8Array => {
    const start = take(length)
    return start < 0 ? NOTHING : bytes.subarray(start, start + length)
  }
  const uint8 = (): number => {
    const start = take(1)
    return start < 0 ? 0 : view.getUint8(start)
  }
  /** A number's octets; none if it has a leading zero octet, since it should have been written shorter. */
  const canonical = (size: number): Uint8Array => {
    const digits = octets(size)
    if (size === 0 || (size > 1 && digits[0] === 0)) broken = true
    return broken ? NOTHING : digits
  }
  const length = (): number => {
    const first = uint8()
    if (first < 0x80) return first
    const value = canonical(first & 0x7f).reduce((sum, octet) => sum * 256 + octet, 0)
    if (value < 0x80) broken = true
    return value
  }
  const numberOf = (digits: Uint8Array): bigint => {
    const low = digits.length > 4 ? digits.length - 4 : 0
    const sum = (part: Uint8Array): bigint => BigInt(part.reduce((value, octet) => value * 256 + octet, 0))
    return low === 0 ? sum(digits) : (sum(digits.subarray(0, low)) << 32n) | sum(digits.subarray(low))
  }
  return {
    uint8,
    uint64() {
      const start = take(8)
      return start < 0 ? 0n : view.getBigUint64(start)
    },
    octets,
    varOctets: () => octets(length()),
    varPart(read) {
      const start = take(length())
      // Of a part that is missing, `read` reads nothing, so it does not matter where it would begin.
      const [outerEnd, partEnd] = [end, offset]
      if (start >= 0) [offset, end] = [start, partEnd]
      const value = read()
      ;[offset, end] = [partEnd, outerEnd]
      return value
    },
    varText: () => DECODER.decode(octets(length())),
    varUint() {
      const digits = canonical(length())
      if (digits.length > 8) broken = true
      return broken ? 0n : numberOf(digits)
    },
    varUintCapped() {
      const digits = canonical(length())
      return digits.length > 8 ? MAX_AMOUNT_VALUE : numberOf(digits)
    },
    isBroken: () => broken,
  }
}

/** One octet. */
export const uint8 = (value: number): Uint8Array => Uint8Array.of(value)

/** Eight octets, big-endian. Throws a `RangeError` for a number that does not fit. */
export function uint64(value: bigint): Uint8Array {
  // Without this check, another amount would silently be written.
  if (BigInt.asUintN(64, value) !== value) throw new RangeError(`${value} is no unsigned 64-bit integer`)
  const bytes = new Uint8Array(8)
  new DataView(bytes.buffer).setBigUint64(0, value)
  return bytes
}

/** Octets, preceded by their length in as few octets as it needs. */
export function varOctets(bytes: Uint8Array): Uint8Array {
  const { length } = bytes
  if (length < 0x80) return joinBytes([uint8(length), bytes])
  const size = shortest(BigInt(length))
  return joinBytes([uint8(0x80 | size.length), size, bytes])
}

/** Text, preceded by its length. */
export const varText = (text: string): Uint8Array => varOctets(toUtf8(text))

/** A number of at most 64 bits in as few octets as it needs, preceded by their count. */
export const varUint = (value: bigint): Uint8Array => varOctets(shortest(value))

function shortest(value: bigint): Uint8Array {
  const whole = uint64(value)
  const start = whole.findIndex((octet) => octet !== 0)
  return whole.subarray(start < 0 ? 7 : start)
}
