import { fromHex, isEqualBytes } from './bytes.ts'

/** The y coordinates of the eight points whose order divides 8, little-endian; each stands for both signs of x. */
const SMALL_ORDER: readonly Uint8Array[] = [
  '0000000000000000000000000000000000000000000000000000000000000000',
  '0100000000000000000000000000000000000000000000000000000000000000',
  '26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05',
  'c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a',
  'ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f',
].map(fromHex)

/** 2^255 - 19, little-endian: a y at or above it is a second encoding of a smaller y. */
const MODULUS = fromHex('edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f')

/**
 * Whether 32 bytes may be a public key, or the first half of a signature. With a key of small order, one signature can
 * be valid for every message; of a first half of small order, OpenSSL and libsodium say different things. And a point
 * must have one encoding only, or one key would have two thumbprints. The other non-canonical encoding, x = 0 with the
 * sign bit set, exists only for points of small order.
 * @spec KEY-3 @spec SIG-28
 */
export function isUsablePoint(bytes: Uint8Array): boolean {
  // Not `slice()`: that of a Buffer is no copy.
  const y = new Uint8Array(bytes)
  y[31] = (y[31] ?? 0) & 0x7f
  return isLess(y, MODULUS) && !SMALL_ORDER.some((point) => isEqualBytes(point, y))
}

/** Whether a number of 32 bytes, little-endian, is less than another. */
function isLess(number: Uint8Array, other: Uint8Array): boolean {
  let at = 31
  while (at > 0 && number[at] === other[at]) at--
  return (number[at] ?? 0) < (other[at] ?? 0)
}
