import { type Cryptography, webCryptography } from 'open-payments-server'

/** The part of `sodium-native` that is used. */
interface Sodium {
  crypto_sign_verify_detached(signature: Uint8Array, message: Uint8Array, publicKey: Uint8Array): boolean
}

/** Verifies signatures with libsodium, and leaves everything else to the host. */
export function sodiumCryptography(sodium: Sodium): Cryptography {
  return {
    ...webCryptography(),
    verifyEd25519: (publicKey, signature, data) => sodium.crypto_sign_verify_detached(signature, data, publicKey),
  }
}
