import { createHash, createHmac } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import type { SecretPurpose } from '../../src/ports/secrets.ts'
import { derivedSecrets } from '../../src/runtime/derived-secrets.ts'
import { webCryptography } from '../../src/runtime/web-crypto.ts'

const cryptography = webCryptography()
const OLD = 'the old secret, of 32 characters'
const NEW = 'the new secret, of 32 charactérs'
const hmac = (key: string | Buffer, data: string): Buffer => createHmac('sha256', key).update(data).digest()

describe('derivedSecrets', () => {
  it('TOK-10 derives with HMAC over the purpose, a zero byte and the id', async () => {
    const secrets = derivedSecrets([NEW], cryptography)
    const id = await secrets.currentId()
    const key = hmac(NEW, 'open-payments-server derivation key')
    expect(await secrets.derive(id, 'access-token', 'abc')).toBe(hmac(key, 'access-token\0abc').toString('base64url'))
    expect(await secrets.derive(id, 'access-token', 'abc')).toMatch(/^[A-Za-z0-9_-]{43}$/)
    const bytes = new Uint8Array(hmac(key, 'access-token\0abc'))
    expect(await secrets.deriveBytes(id, 'access-token', 'abc')).toEqual(bytes)
  })

  it('TOK-10 gives each purpose, id and secret its own value', async () => {
    // Of which the compiler misses none.
    const purposes: { readonly [P in SecretPurpose]: P } = {
      'access-token': 'access-token',
      'continuation-token': 'continuation-token',
      'interaction-reference': 'interaction-reference',
      'interaction-nonce': 'interaction-nonce',
      'shared-secret': 'shared-secret',
      csrf: 'csrf',
      'client-key': 'client-key',
      'receiver-secret': 'receiver-secret',
      'address-pad': 'address-pad',
    }
    const secrets = derivedSecrets([NEW, OLD], cryptography)
    const ids = [await secrets.currentId(), await derivedSecrets([OLD], cryptography).currentId()]
    const values: string[] = []
    for (const secretId of ids) {
      for (const purpose of Object.values(purposes)) {
        for (const id of ['1', '2', '']) values.push(await secrets.derive(secretId, purpose, id))
      }
    }
    expect(new Set(values).size).toBe(2 * 9 * 3)
  })

  it('names its key by 16 hexadecimal digits that are no part of a derivation', async () => {
    const id = await derivedSecrets([NEW, OLD], cryptography).currentId()
    expect(id).toBe(hmac(NEW, 'open-payments-server key id').toString('hex').slice(0, 16))
    expect(hmac(NEW, 'open-payments-server derivation key').toString('hex')).not.toContain(id)
  })

  it('TOK-10 signs with the first secret and still knows the others', async () => {
    const before = derivedSecrets([OLD], cryptography)
    const after = derivedSecrets([NEW, OLD], cryptography)
    const oldId = await before.currentId()
    expect(await after.currentId()).toBe(await derivedSecrets([NEW], cryptography).currentId())
    expect(await after.currentId()).not.toBe(oldId)
    expect(await after.ids()).toEqual([await after.currentId(), oldId])
    expect(await after.derive(oldId, 'csrf', '1')).toBe(await before.derive(oldId, 'csrf', '1'))
  })

  it('rejects for a secret that is not configured any more', async () => {
    const oldId = await derivedSecrets([OLD], cryptography).currentId()
    const secrets = derivedSecrets([NEW], cryptography)
    await expect(secrets.derive(oldId, 'csrf', '1')).rejects.toThrow(
      `the secret with the id ${oldId} is not configured`,
    )
    await expect(derivedSecrets([], cryptography).currentId()).rejects.toThrow('no secret is configured')
  })

  it('computes its keys once', async () => {
    let calls = 0
    const counted = {
      ...cryptography,
      hmacSha256: (key: Uint8Array, data: Uint8Array) => {
        calls++
        return cryptography.hmacSha256(key, data)
      },
    }
    const secrets = derivedSecrets([NEW, OLD], counted)
    expect(calls).toBe(0)
    const id = await secrets.currentId()
    await secrets.currentId()
    expect(calls).toBe(4)
    await secrets.derive(id, 'csrf', '1')
    expect(calls).toBe(5)
  })

  it('TOK-1 digests with SHA-256, in hexadecimal', async () => {
    const secrets = derivedSecrets([NEW], cryptography)
    expect(await secrets.digest('é')).toBe(createHash('sha256').update('é').digest('hex'))
  })

  it('GRT-15 draws identifiers of 128 bits', () => {
    const secrets = derivedSecrets([NEW], cryptography)
    const drawn = Array.from({ length: 100 }, () => secrets.randomId())
    expect(new Set(drawn).size).toBe(100)
    for (const id of drawn) expect(id).toMatch(/^[0-9a-f]{32}$/)
  })
})
