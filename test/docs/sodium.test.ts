import sodium from 'sodium-native'
import { expect, it } from 'vitest'
import { randomNumbers } from '../support/random-numbers.ts'
import { cryptography, grantAtOnce, testWallet } from '../support/test-wallet.ts'
import hazards from '../vectors/ed25519-hazards.json' with { type: 'json' }
import rfc8037 from '../vectors/rfc8037.json' with { type: 'json' }
import rfc9421 from '../vectors/rfc9421.json' with { type: 'json' }
import { sodiumCryptography } from './sodium-cryptography.ts'

const verifying = sodiumCryptography(sodium)
const signatureOf = (field: string): string => field.slice('sig-b26=:'.length, -1)
const bytesOf = (encoded: string): Uint8Array => new Uint8Array(Buffer.from(encoded, 'base64url'))
const text = (value: string): Uint8Array => new TextEncoder().encode(value)

it.each([
  ['RFC 9421 B.2.6', rfc9421.key.jwk.x, rfc9421.b_2_6.signature_base, signatureOf(rfc9421.b_2_6.signature)],
  ['RFC 8037 A.4', rfc8037.jwk.x, rfc8037.jws_signing_input, rfc8037.signature_base64url],
])('SIG-28 libsodium verifies %s', async (_, key, data, signature) => {
  expect(await verifying.verifyEd25519(bytesOf(key), bytesOf(signature), text(data))).toBe(true)
  expect(await verifying.verifyEd25519(bytesOf(key), bytesOf(signature), text(`${data} `))).toBe(false)
})

const { malleated_b26_signature: malleated, cofactored_signature: cofactored } = hazards

it.each([
  ['with S >= L', rfc9421.key.jwk.x, rfc9421.b_2_6.signature_base, malleated.signature_base64],
  ['that is valid only with the cofactor', cofactored.jwk_x, cofactored.message, cofactored.signature_base64],
])('SIG-28 libsodium refuses a signature %s', async (_, key, data, signature) => {
  expect(await verifying.verifyEd25519(bytesOf(key), bytesOf(signature), text(data))).toBe(false)
})

it('SIG-28 libsodium says of signatures, and of altered ones, what the host says', async () => {
  const random = randomNumbers(28)
  const bytes = (length: number): Uint8Array => Uint8Array.from({ length }, () => random() * 256)
  for (let round = 0; round < 200; round++) {
    const seed = bytes(32)
    const key = await cryptography.ed25519PublicKey(seed)
    const other = await cryptography.ed25519PublicKey(bytes(32))
    const data = bytes(round)
    const signature = await cryptography.signEd25519(seed, data)
    const altered = signature.slice()
    altered[round % 64] = (altered[round % 64] ?? 0) ^ (1 << (round % 8))
    for (const [by, tried, verdict] of [
      [key, signature, true],
      [key, altered, false],
      [other, signature, false],
    ] as const) {
      expect(await verifying.verifyEd25519(by, tried, data)).toBe(verdict)
      expect(await cryptography.verifyEd25519(by, tried, data)).toBe(verdict)
    }
  }
})

it('SIG-28 nobody but libsodium is asked', async () => {
  const yes = sodiumCryptography({ crypto_sign_verify_detached: () => true })
  expect(await yes.verifyEd25519(new Uint8Array(32), new Uint8Array(64), text('a'))).toBe(true)
})

it('SIG-28 a wallet that lets libsodium verify takes what its client signed, and nothing else', async () => {
  const wallet = await testWallet({ cryptography: verifying })
  const { key, client } = wallet.client
  const access = [{ type: 'incoming-payment', actions: ['create'] }]
  expect((await grantAtOnce(wallet, access)).status).toBe(200)
  const stranger = { key: { ...key, privateKeySeed: new Uint8Array(32) }, client }
  expect((await grantAtOnce(wallet, access, stranger)).status).toBe(401)
})
