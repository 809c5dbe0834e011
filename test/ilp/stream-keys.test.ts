import { createHash, createHmac } from 'node:crypto'
import { webCryptography } from 'open-payments-server'
import { beforeAll, describe, expect, it } from 'vitest'
import { conditionOf, deriveStreamKeys, type StreamKeys } from '../../adapters/ilp/stream-keys.ts'

const cryptography = webCryptography()
const SECRET = new Uint8Array(32).fill(1)
const text = (value: string): Uint8Array => new TextEncoder().encode(value)

describe('the keys of a connection', () => {
  let keys: StreamKeys
  beforeAll(async () => {
    keys = await deriveStreamKeys(cryptography, SECRET)
  })

  it('read what they wrote, and nothing that is one bit off', async () => {
    const sealed = await keys.encrypt(text('money'), text('salt'))
    expect(sealed).toHaveLength(12 + 16 + 5)
    expect(await keys.decrypt(sealed)).toEqual(text('money'))
    for (let bit = 0; bit < sealed.length * 8; bit++) {
      const altered = sealed.map((octet, index) => (index === bit >> 3 ? octet ^ (1 << (bit & 7)) : octet))
      expect(await keys.decrypt(altered)).toBeUndefined()
    }
    for (const length of [0, 1, 27, 28, 32]) expect(await keys.decrypt(sealed.subarray(0, length))).toBeUndefined()
    const others = await deriveStreamKeys(
      cryptography,
      SECRET.map(() => 2),
    )
    expect(await others.decrypt(sealed)).toBeUndefined()
  })

  it('write nothing at all, too', async () => {
    expect(await keys.decrypt(await keys.encrypt(text(''), text('')))).toEqual(new Uint8Array())
  })

  it('write the same packet as the same octets, also after a start', async () => {
    const again = await deriveStreamKeys(cryptography, SECRET)
    expect(await again.encrypt(text('money'), text('salt'))).toEqual(await keys.encrypt(text('money'), text('salt')))
  })

  it('never use a nonce twice for two packets', async () => {
    const pairs = [
      ['money', 'salt'],
      ['money', 'tlas'],
      ['moneys', 'alt'],
      ['mone', 'ysalt'],
      ['monez', 'salt'],
      ['', 'moneysalt'],
      ['moneysalt', ''],
    ] as const
    const sealed = await Promise.all(pairs.map(([plain, salt]) => keys.encrypt(text(plain), text(salt))))
    const nonces = sealed.map((octets) => Buffer.from(octets.subarray(0, 12)).toString('hex'))
    expect(new Set(nonces).size).toBe(pairs.length)
    const other = await deriveStreamKeys(
      cryptography,
      SECRET.map(() => 2),
    )
    const elsewhere = await other.encrypt(text('money'), text('salt'))
    expect(nonces).not.toContain(Buffer.from(elsewhere.subarray(0, 12)).toString('hex'))
  })

  it('keep the nonces apart from what STREAM derives of the same secret', async () => {
    const salted = Buffer.concat([createHash('sha256').update('salt').digest(), Buffer.from('money')])
    const hmac = (key: Uint8Array, data: Uint8Array | string): Buffer => createHmac('sha256', key).update(data).digest()
    const nonce = hmac(hmac(SECRET, 'open_payments_server_stream_nonce'), salted).subarray(0, 12)
    const sealed = await keys.encrypt(text('money'), text('salt'))
    expect(Buffer.from(sealed.subarray(0, 12))).toEqual(nonce)
  })

  it('fulfill as STREAM says', async () => {
    const data = await keys.encrypt(text('money'), text('salt'))
    const key = createHmac('sha256', SECRET).update('ilp_stream_fulfillment').digest()
    const fulfillment = createHmac('sha256', key).update(data).digest()
    expect(Buffer.from(await keys.fulfillmentOf(data))).toEqual(fulfillment)
    const condition = await conditionOf(cryptography, fulfillment)
    expect(Buffer.from(condition)).toEqual(createHash('sha256').update(fulfillment).digest())
  })
})
