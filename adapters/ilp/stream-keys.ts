import type { Cryptography } from '../../src/index.ts'
import { joinBytes, toUtf8 } from '../../src/protocol/bytes.ts'

/** What both ends of a connection derive from their shared secret. */
export interface StreamKeys {
  /**
   * AES-256-GCM: 12 octets of nonce, 16 of tag, then the ciphertext. The same plaintext with the same `salt` gives the
   * same octets; if either differs, so do the octets. `salt` makes this packet differ from every other packet under the
   * secret with the same plaintext, including those of other senders.
   */
  encrypt(plaintext: Uint8Array, salt: Uint8Array): Promise<Uint8Array>
  /** `undefined` if any octet differs from what the other end wrote. */
  decrypt(sealed: Uint8Array): Promise<Uint8Array | undefined>
  /** The fulfillment for the data of one packet, which only somebody with the secret can make. */
  fulfillmentOf(data: Uint8Array): Promise<Uint8Array>
}

const NONCE_OCTETS = 12
const TAG_OCTETS = 16

/** Derives the keys of a connection from its shared secret of 32 octets. */
export async function deriveStreamKeys(cryptography: Cryptography, sharedSecret: Uint8Array): Promise<StreamKeys> {
  const derive = async (label: string): Promise<Uint8Array> => cryptography.hmacSha256(sharedSecret, toUtf8(label))
  const encryption = new Uint8Array(await derive('ilp_stream_encryption'))
  const cipher = await crypto.subtle.importKey('raw', encryption, 'AES-GCM', false, ['encrypt', 'decrypt'])
  const fulfillment = await derive('ilp_stream_fulfillment')
  const nonce = await derive('open_payments_server_stream_nonce')
  return {
    async encrypt(plaintext, salt) {
      // A nonce must not be used with two plaintexts, and a sender that has crashed must be able to make the same
      // packet again. So the nonce is a keyed hash, unpredictable to others, of everything that makes the packet. Two
      // different packets share a nonce as rarely as if it were random (about 2^-35 for the 2^31 packets that one
      // secret may see), and a packet that is made twice has the same octets, which reveal only that it is the same
      // packet. The salt is hashed first to a fixed length, so that none of its octets can pass for an octet of the
      // plaintext.
      const distinct = joinBytes([await cryptography.sha256(salt), plaintext])
      const iv = new Uint8Array(await cryptography.hmacSha256(nonce, distinct)).slice(0, NONCE_OCTETS)
      const sealed = new Uint8Array(
        await crypto.subtle.encrypt({ name: 'AES-GCM', iv }, cipher, new Uint8Array(plaintext)),
      )
      // WebCrypto puts the tag after the ciphertext, STREAM before it.
      const end = sealed.length - TAG_OCTETS
      return joinBytes([iv, sealed.subarray(end), sealed.subarray(0, end)])
    },
    async decrypt(sealed) {
      if (sealed.length < NONCE_OCTETS + TAG_OCTETS) return undefined
      const iv = sealed.slice(0, NONCE_OCTETS)
      const start = NONCE_OCTETS + TAG_OCTETS
      const joined = joinBytes([sealed.subarray(start), sealed.subarray(NONCE_OCTETS, start)])
      try {
        return new Uint8Array(await crypto.subtle.decrypt({ name: 'AES-GCM', iv }, cipher, joined))
      } catch {
        return undefined
      }
    },
    fulfillmentOf: async (data) => cryptography.hmacSha256(fulfillment, data),
  }
}

/** The condition of a fulfillment: its SHA-256. */
export async function conditionOf(cryptography: Cryptography, fulfillment: Uint8Array): Promise<Uint8Array> {
  return cryptography.sha256(fulfillment)
}
