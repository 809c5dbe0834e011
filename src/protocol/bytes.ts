const UTF8 = new TextEncoder()
/**
 * Engines store this many bytes inside the array object itself; longer or non-ASCII text is left to the host's encoder.
 */
const SHORT_TEXT = 64

/**
 * The bytes of a text in UTF-8. Most texts are short and ASCII: copying those is faster than calling the host's
 * encoder.
 */
export function toUtf8(text: string): Uint8Array<ArrayBuffer> {
  if (text.length > SHORT_TEXT) return UTF8.encode(text)
  const bytes = new Uint8Array(text.length)
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index)
    if (code > 127) return UTF8.encode(text)
    bytes[index] = code
  }
  return bytes
}

const HEX: readonly string[] = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'))

/** Lower-case hexadecimal digits of some bytes. */
export function toHex(bytes: Uint8Array): string {
  let text = ''
  for (const byte of bytes) text += HEX[byte]
  return text
}

/** The bytes of text that `toHex` wrote: an even number of lower-case hexadecimal digits. */
export function fromHex(digits: string): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(digits.length / 2)
  for (let at = 0; at < bytes.length; at++)
    bytes[at] = (valueOfDigit(digits.charCodeAt(2 * at)) << 4) | valueOfDigit(digits.charCodeAt(2 * at + 1))
  return bytes
}

function valueOfDigit(code: number): number {
  return code <= 57 ? code - 48 : code - 87
}

const BASE64URL = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
/** The six bits of each character by its code; -1 for a character that is not in the alphabet. */
const SIX_BITS: readonly number[] = Array.from({ length: 128 }, (_, code) =>
  BASE64URL.indexOf(String.fromCharCode(code)),
)

/** Base64url without padding. */
export function toBase64url(bytes: Uint8Array): string {
  let text = ''
  let buffer = 0
  let bits = 0
  for (const byte of bytes) {
    buffer = ((buffer << 8) | byte) & 0xffff
    bits += 8
    while (bits >= 6) {
      bits -= 6
      text += BASE64URL.charAt((buffer >> bits) & 63)
    }
  }
  return bits > 0 ? text + BASE64URL.charAt((buffer << (6 - bits)) & 63) : text
}

/** Standard base64 with padding. */
export function toBase64(bytes: Uint8Array): string {
  const text = toBase64url(bytes).replaceAll('-', '+').replaceAll('_', '/')
  return text + '='.repeat((4 - (text.length % 4)) % 4)
}

/**
 * The bytes of base64url text without padding; `undefined` if it contains any other character or is not canonical
 * (leftover bits that are not zero), so that two texts never mean the same bytes.
 */
export function fromBase64url(text: string): Uint8Array<ArrayBuffer> | undefined {
  if (text.length % 4 === 1) return undefined
  const bytes = new Uint8Array(Math.floor((text.length * 6) / 8))
  let buffer = 0
  let bits = 0
  let at = 0
  for (let index = 0; index < text.length; index++) {
    const value = SIX_BITS[text.charCodeAt(index)] ?? -1
    if (value < 0) return undefined
    buffer = ((buffer << 6) | value) & 0xffff
    bits += 6
    if (bits >= 8) {
      bits -= 8
      bytes[at++] = (buffer >> bits) & 255
    }
  }
  return (buffer & ((1 << bits) - 1)) === 0 ? bytes : undefined
}

/** Some byte strings, one behind the other. */
export function joinBytes(parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const joined = new Uint8Array(parts.reduce((length, part) => length + part.length, 0))
  let at = 0
  for (const part of parts) {
    joined.set(part, at)
    at += part.length
  }
  return joined
}

/** Whether two byte strings are equal, in time that depends only on their lengths. @spec T-15 */
export function isEqualBytes(a: Uint8Array, b: Uint8Array): boolean {
  if (a.length !== b.length) return false
  let difference = 0
  for (let index = 0; index < a.length; index++) difference |= (a[index] ?? 0) ^ (b[index] ?? 0)
  return difference === 0
}

/** Whether two digests in hexadecimal are equal, in time that depends only on their lengths. @spec T-15 */
export function isEqualDigest(a: string, b: string): boolean {
  return isEqualBytes(toUtf8(a), toUtf8(b))
}
