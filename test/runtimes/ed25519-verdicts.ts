import { webCryptography } from '../../src/runtime/web-crypto.ts'
import hazards from '../vectors/ed25519-hazards.json' with { type: 'json' }
import rfc9421 from '../vectors/rfc9421.json' with { type: 'json' }

// Runs in each runtime and prints what its cryptography thinks of some signatures.

const bytesOf = (base64: string): Uint8Array => Uint8Array.from(atob(base64), (character) => character.charCodeAt(0))

const cryptography = webCryptography()
const keyOf = (x: string): Uint8Array => bytesOf(x.replaceAll('-', '+').replaceAll('_', '/'))
const key = keyOf(rfc9421.key.jwk.x)
const base = new TextEncoder().encode(rfc9421.b_2_6.signature_base)
const right = bytesOf(rfc9421.b_2_6.signature.slice('sig-b26=:'.length, -1))
const malleated = bytesOf(hazards.malleated_b26_signature.signature_base64)

const verdicts = []
for (const signature of [right, malleated, right.subarray(0, 63)]) {
  verdicts.push(await cryptography.verifyEd25519(key, signature, base))
}
const { jwk_x, message, signature_base64 } = hazards.cofactored_signature
const order = new TextEncoder().encode(message)
verdicts.push(await cryptography.verifyEd25519(keyOf(jwk_x), bytesOf(signature_base64), order))
console.log(JSON.stringify(verdicts))
