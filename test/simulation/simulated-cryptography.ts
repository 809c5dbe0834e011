import type { Cryptography } from 'open-payments-server'
import type { SigningKey } from 'open-payments-server/testing'
import { seededCryptography } from '../properties/seeded-cryptography.ts'
import type { Random } from './random.ts'

/** Its imported keys serve all runs; what is random in it is not used. */
const real = seededCryptography('simulation')

const text = (bytes: Uint8Array, encoding: BufferEncoding): string =>
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString(encoding)

/**
 * Real cryptography with the randomness of a run. A signature that was made here with one of `keys` is not computed
 * again to see that it is right: that would be a fifth of a run.
 */
export function simulatedCryptography(random: Random, keys: readonly SigningKey[]): Cryptography {
  const made = new Map<string, Uint8Array>()
  return {
    ...real,
    randomBytes: (length) => random.bytes(length),
    async signEd25519(seed, data) {
      const signature = await real.signEd25519(seed, data)
      const key = keys.find(({ privateKeySeed }) => privateKeySeed === seed)
      if (key !== undefined) made.set(`${key.jwk.x} ${text(signature, 'latin1')}`, data)
      return signature
    },
    verifyEd25519(publicKey, signature, data) {
      const signed = made.get(`${text(publicKey, 'base64url')} ${text(signature, 'latin1')}`)
      const isMade = signed !== undefined && Buffer.compare(signed, data) === 0
      return isMade || real.verifyEd25519(publicKey, signature, data)
    },
  }
}
