import type { Cryptography } from '../../src/index.ts'
import { toUtf8 } from '../../src/protocol/identifiers.ts'
import { joinOctets } from './oer.ts'

/** What both ends of a connection derive from their shared secret. */
export interface StreamKeys {
  /**
   * 12 octets of nonce, the tag of 16, the ciphertext: AES-256-GCM. The same plaintext with the same `salt` gives the same
   * octets; with another of either, others. `salt` is what sets this packet apart from every other one under the secret
   * that has the same plaintext: those of other senders too.
   */
  encrypt(plaintext: Uint8Array, salt: Uint8Array): Promise<Uint8Array>
  /** `undefined` if one octet differs from what the other end wrote. */
  decrypt(sealed: Uint8Array): Promise<Uint8Array | undefined>
  /** The fulfillment that only who knows the secret can make, for the data of one packet. */
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
      // A nonce must not come twice with two plaintexts, and a sender that has crashed must make the same packet again. So
      // it is a function that nobody can foretell of everything that makes the packet: two different packets share it as
      // rarely as random ones would (about 2^-35 for the 2^31 packets that one secret may see), and one packet that is made
      // twice is the same octets, which tell that it is the same packet and nothing else. The salt comes as its digest: of
      // one length, so that no octet of it can pass for one of the plaintext.
      const distinct = joinOctets(await cryptography.sha256(salt), plaintext)
      const iv = new Uint8Array(await cryptography.hmacSha256(nonce, distinct)).slice(0, NONCE_OCTETS)
      const sealed = new Uint8Array(
        await crypto.subtle.encrypt({ name: 'AES-GCM', iv }, cipher, new Uint8Array(plaintext)),
      )
      // WebCrypto has the tag behind the ciphertext, STREAM before it.
      const end = sealed.length - TAG_OCTETS
      return joinOctets(iv, sealed.subarray(end), sealed.subarray(0, end))
    },
    async decrypt(sealed) {
      if (sealed.length < NONCE_OCTETS + TAG_OCTETS) return undefined
      const iv = sealed.slice(0, NONCE_OCTETS)
      const start = NONCE_OCTETS + TAG_OCTETS
      const joined = joinOctets(sealed.subarray(start), sealed.subarray(NONCE_OCTETS, start))
      try {
        return new Uint8Array(await crypto.subtle.decrypt({ name: 'AES-GCM', iv }, cipher, joined))
      } catch {
        return undefined
      }
    },
    fulfillmentOf: async (data) => cryptography.hmacSha256(fulfillment, data),
  }
}

/** The condition that a fulfillment answers: its SHA-256. */
export async function conditionOf(cryptography: Cryptography, fulfillment: Uint8Array): Promise<Uint8Array> {
  return cryptography.sha256(fulfillment)
}
