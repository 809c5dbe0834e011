import { describe, expect, it } from 'vitest'
import { handSignedPayment, keyIdAt } from './hand-signed-payment.ts'
import type { Draft } from './sign-by-hand.ts'

describe('a payment with a second signature', () => {
  const nonced =
    (nonce: string, second: (signature: string) => string): Draft['wire'] =>
    (input, signature) => ({
      'signature-input': [`a=${input}, b=${input};nonce="${nonce}"`],
      signature: [`a=${signature}, b=${second(signature)}`],
    })

  it('SIG-5 SIG-23 uses up nothing in the name of a signature that does not verify', async () => {
    const payment = await handSignedPayment()
    const wire = nonced('n-1', (signature) => signature)
    expect((await payment.send({ wire })).status).toBe(201)
    const parameters = `${keyIdAt(payment.now)};nonce="n-1"`
    expect((await payment.send({ parameters })).status).toBe(201)
    expect((await payment.send({ parameters: `${keyIdAt(payment.now + 1)};nonce="n-1"` })).status).toBe(401)
  })

  it('D2 tells its host about a malformed shape, each time, and about no other', async () => {
    const payment = await handSignedPayment()
    const php: Draft['wire'] = (input, signature) => ({
      'signature-input': [`sig1=${input}`],
      signature: [`sig1=${signature.replaceAll(':', '')}`],
    })
    expect((await payment.send()).status).toBe(201)
    expect(payment.wallet.events.filter(({ type }) => type === 'legacy_signature_syntax')).toEqual([])
    for (const second of [1, 2]) {
      const parameters = keyIdAt(payment.now + second)
      expect((await payment.send({ wire: php, parameters })).status).toBe(201)
    }
    const told = { type: 'legacy_signature_syntax', at: payment.wallet.clock.now(), syntax: 'php', keyId: 'key-1' }
    expect(payment.wallet.events.filter(({ type }) => type === 'legacy_signature_syntax')).toEqual([told, told])
  })
})
