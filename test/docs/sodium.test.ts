import sodium from 'sodium-native'
import { expect, it } from 'vitest'
import { randomNumbers } from '../support/random-numbers.ts'
import { cryptography, grantAtOnce, testWallet } from '../support/test-wallet.ts'
import hazards from '../vectors/ed25519-hazards.json' with { type: 'json' }
import rfc8037 from '../vectors/rfc8037.json' with { type: 'json' }
import rfc9421 from '../vectors/rfc9421.json' with { type: 'json' }
import { sodiumCryptography } from './sodium-cryptography.ts'

const verifying = sodiumCryptography(sodium)
const bytesOf = (encoded: string): Uint8Array => new Uint8Array(Buffer.from(encoded, 'base64url'))
const text = (value: string): Uint8Array => new TextEncoder().encode(value)

it.each([
  ['RFC 9421 B.2.6', rfc9421.key.jwk.x, rfc9421.b_2_6.signature_base, rfc9421.b_2_6.signature.slice(9, -1)],
  ['RFC 8037 A.4', rfc8037.jwk.x, rfc8037.jws_signing_input, rfc8037.signature_base64url],
])('SIG-28 libsodium verifies %s', async (_, key, data, signature) => {
  expect(await verifying.verifyEd25519(bytesOf(key), bytesOf(signature), text(data))).toBe(true)
  expect(await verifying.verifyEd25519(bytesOf(key), bytesOf(signature), text(`${data} `))).toBe(false)
})

it('SIG-28 libsodium refuses S >= L', async () => {
  const signature = bytesOf(hazards.malleated_b26_signature.signature_base64)
  const base = text(rfc9421.b_2_6.signature_base)
  expect(await verifying.verifyEd25519(bytesOf(rfc9421.key.jwk.x), signature, base)).toBe(false)
})

it('SIG-28 libsodium says of signatures, and of altered ones, what the host says', async () => {
  const random = randomNumbers(28)
  const bytes = (length: number): Uint8Array => Uint8Array.from({ length }, () => random() * 256)
  for (let round = 0; round < 200; round++) {
    const seed = bytes(32)
    const [key, other] = [await cryptography.ed25519PublicKey(seed), bytes(32)]
    const data = bytes(round)
    const signature = await cryptography.signEd25519(seed, data)
    expect(await verifying.verifyEd25519(key, signature, data)).toBe(true)
    const altered = signature.slice()
    altered[round % 64] = (altered[round % 64] ?? 0) ^ (1 << (round % 8))
    const zeroPoint = Uint8Array.of(...new Uint8Array(32), ...signature.subarray(32))
    const tries = [
      [key, altered],
      [key, zeroPoint],
      [key, new Uint8Array(64)],
      [other, signature],
    ] as const
    for (const [by, tried] of tries) {
      expect(await verifying.verifyEd25519(by, tried, data)).toBe(false)
      expect(await cryptography.verifyEd25519(by, tried, data)).toBe(false)
    }
  }
})

it('SIG-28 a wallet that lets libsodium verify takes what its client signed, and nothing else', async () => {
  const wallet = await testWallet({ cryptography: verifying })
  const { key, client } = wallet.client
  const access = [{ type: 'incoming-payment', actions: ['create'] }]
  expect((await grantAtOnce(wallet, access)).status).toBe(200)
  const stranger = { key: { ...key, privateKeySeed: new Uint8Array(32) }, client }
  expect((await grantAtOnce(wallet, access, stranger)).status).toBe(401)
})
