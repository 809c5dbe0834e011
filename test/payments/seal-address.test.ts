import { createHash, createHmac } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { openAddress, sealAddress } from '../../src/payments/rail/seal-address.ts'
import { derivedSecrets } from '../../src/runtime/derived-secrets.ts'
import { cryptography } from '../support/test-wallet.ts'

const ID = '019ca945311f0123456789abcdef0123456789abcdef'
const OLD = 'the old secret of this server, long enough'
const NEW = 'the new secret of this server, long enough'
const secretsOf = (...secrets: readonly string[]) => derivedSecrets(secrets, cryptography)

async function sealed(secret: string, id = ID): Promise<string> {
  const secrets = secretsOf(secret)
  return (await sealAddress(secrets, { id, secretId: await secrets.currentId() })).address
}

describe('the address of an incoming payment', () => {
  it('INC-4 is its id under an HMAC of a tag, which is a digest of its secret', async () => {
    const hmac = (key: string | Buffer, data: string): Buffer => createHmac('sha256', key).update(data).digest()
    const key = hmac(OLD, 'open-payments-server derivation key')
    const sharedSecret = hmac(key, `shared-secret\0${ID}`).toString('base64url')
    const tag = createHash('sha256').update(`address-tag\0${sharedSecret}`).digest().subarray(0, 12)
    const pad = hmac(key, `address-pad\0${tag.toString('hex')}`)
    const cipher = Buffer.from(ID, 'hex').map((octet, at) => octet ^ (pad[at] ?? 0))
    expect(await sealed(OLD)).toBe(Buffer.concat([tag, cipher]).toString('base64url'))
    expect(await sealed(OLD)).toMatch(/^[\w-]{46}$/)
    const secrets = secretsOf(OLD)
    const payment = { id: ID, secretId: await secrets.currentId() }
    expect(await sealAddress(secrets, payment)).toEqual({ address: await sealed(OLD), sharedSecret })
    expect(await openAddress(secrets, await sealed(OLD))).toEqual({ ...payment, sharedSecret })
  })

  it('INC-4 is the same each time, and another one for each payment and secret', async () => {
    const addresses = new Set<string>()
    for (let round = 0; round < 2; round++) {
      for (const secret of [OLD, NEW])
        for (let digit = 0; digit < 8; digit++) addresses.add(await sealed(secret, `${ID.slice(1)}${digit}`))
    }
    expect(addresses.size).toBe(16)
    // Nothing of two ids that are nearly the same is the same.
    const [one = '', other = ''] = [...addresses].map((address) => Buffer.from(address, 'base64url').toString('hex'))
    expect([one.slice(0, 8) === other.slice(0, 8), one.slice(24, 32) === other.slice(24, 32)]).toEqual([false, false])
  })

  it('INC-4 is opened by each secret that is configured, and by no other', async () => {
    const address = await sealed(OLD)
    expect((await openAddress(secretsOf(OLD), address))?.id).toBe(ID)
    expect((await openAddress(secretsOf(NEW, OLD), address))?.id).toBe(ID)
    expect(await openAddress(secretsOf(NEW), address)).toBeUndefined()
  })

  it('INC-4 is nothing else that looks like it', async () => {
    const secrets = secretsOf(OLD)
    const address = await sealed(OLD)
    const octets = Buffer.from(address, 'base64url')
    for (let bit = 0; bit < octets.length * 8; bit++) {
      const altered = octets.map((octet, at) => (at === bit >> 3 ? octet ^ (1 << (bit & 7)) : octet))
      expect(await openAddress(secrets, Buffer.from(altered).toString('base64url'))).toBeUndefined()
    }
    const longer = Buffer.concat([octets, Buffer.alloc(1)]).toString('base64url')
    const shorter = octets.subarray(0, -1).toString('base64url')
    // The last character has bits that mean nothing: there is one way to write an address.
    const respelled = `${address.slice(0, -1)}${String.fromCharCode(address.charCodeAt(45) + 1)}`
    for (const other of ['', ID, 'a.b', longer, shorter, respelled, `${address}=`, `${address}.x`, 'é'.repeat(46)])
      expect(await openAddress(secrets, other)).toBeUndefined()
  })
})
