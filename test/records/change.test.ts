import { expect, it } from 'vitest'
import { startVersion } from '../../src/records/change.ts'
import { webCryptography } from '../../src/runtime/web-crypto.ts'

const startOf = (byte: number): number =>
  startVersion({ cryptography: { ...webCryptography(), randomBytes: (length) => new Uint8Array(length).fill(byte) } })

it('OUT-12 a record whose id can come back starts at a version from 2^48 to 2^49, where no other record comes', () => {
  expect(startOf(0)).toBe(2 ** 48)
  expect(startOf(255)).toBe(2 ** 49 - 1)
})
