import { describe, expect, it } from 'vitest'
import { sealAddress } from '../../src/payments/rail/seal-address.ts'
import { derivedSecrets } from '../../src/runtime/derived-secrets.ts'
import { idOf } from '../../src/testing/ledger-case.ts'
import { BASE, BOB, cryptography, SECRET, usd, usdAmount } from '../support/test-wallet.ts'
import { HOUR, inAnHour } from './money-world.ts'
import { type RailWorld, railWorld, transferOf } from './receive-by-rail-world.ts'

/** What others know of an incoming payment: what its rail made of what it was given. */
async function publishedOf({ wallet, tokens }: RailWorld, id: string) {
  const token = tokens.receiving
  const [method] = (await wallet.send('GET', `${BASE}/incoming-payments/${id}`, { token })).body.methods
  return { address: method?.ilpAddress.replace(/^test\.here\./, '') ?? '', sharedSecret: method?.sharedSecret }
}

describe('what a rail is told of an incoming payment', () => {
  it('is what it needs to take money for it', async () => {
    const world = await railWorld()
    const id = await world.incoming({ incomingAmount: usd('10') })
    const { address, sharedSecret } = await publishedOf(world, id)
    const found = { id, address, walletAddress: BOB, sharedSecret }
    expect(await world.rail.findPayable(address)).toEqual({
      ...found,
      asset: expect.objectContaining({ assetCode: 'USD', assetScale: 2 }),
      remainder: 10n,
    })
    await world.receive(world.rail, transferOf(1, id, 4n))
    expect(await world.rail.findPayable(address)).toMatchObject({ ...found, remainder: 6n })
    await world.wallet.openPayments.drain()
    expect(await world.rail.findPayable(address)).toMatchObject({ ...found, remainder: 6n })
    const unbounded = await publishedOf(world, await world.incoming())
    expect(await world.rail.findPayable(unbounded.address)).not.toHaveProperty('remainder')
    // By the same secret, but stored elsewhere.
    const other = await railWorld()
    const elsewhere = await publishedOf(other, await other.incoming())
    for (const unknown of [elsewhere.address, id, idOf(99), 'no payment', ''])
      expect(await world.rail.findPayable(unknown)).toBeUndefined()
  })

  it('INC-4 is found by no address that another of the secrets has sealed', async () => {
    const world = await railWorld()
    const id = await world.incoming()
    const { address, sharedSecret } = await publishedOf(world, id)
    const old = 'a secret that was rotated out, because others have it'
    const { rail } = world.startRail({ secrets: [SECRET, old] })
    expect(await rail.findPayable(address)).toMatchObject({ id, sharedSecret })
    const secrets = derivedSecrets([old], cryptography)
    const forged = await sealAddress(secrets, { id, secretId: await secrets.currentId() })
    expect(await rail.findPayable(forged.address)).toBeUndefined()
  })

  it('is its secret also afterwards, and that nothing remains: a repeat is answered by it', async () => {
    const world = await railWorld()
    const [completed, expired, closed] = [
      await world.incoming({ incomingAmount: usd('10') }),
      await world.incoming({ incomingAmount: usd('10'), expiresAt: inAnHour(world) }),
      await world.incoming({ incomingAmount: usd('10') }),
    ]
    const published = await Promise.all([completed, expired, closed].map((id) => publishedOf(world, id)))
    const remainders = () =>
      Promise.all(
        published.map(async ({ address, sharedSecret }) => {
          const found = await world.rail.findPayable(address)
          expect(found).toMatchObject({ address, sharedSecret })
          return found?.remainder
        }),
      )
    await world.receive(world.rail, transferOf(1, completed, 10n))
    await world.wallet.openPayments.drain()
    world.wallet.clock.advance(HOUR + 1)
    expect(await remainders()).toEqual([0n, 0n, 10n])
    world.wallet.directory.delete(BOB)
    expect(await remainders()).toEqual([0n, 0n, 0n])
  })
})

describe('what a rail brings in another asset', () => {
  const eur = (value: bigint) => ({ value, assetCode: 'EUR', assetScale: 4 })

  it('QUO-8 is worth what the wallet gives for it, rounded down, without the fee of a payer', async () => {
    const asked: unknown[] = []
    const price = async (request: unknown) => {
      asked.push(request)
      return { rate: '1.08', fee: { basisPoints: 100, fixed: 5n } }
    }
    const { rail } = await railWorld({ pricing: { price } })
    expect(await rail.exchange(eur(10_000n), usdAmount(0n), BOB)).toEqual(usdAmount(108n))
    expect(await rail.exchange(eur(10_092n), usdAmount(0n), BOB)).toEqual(usdAmount(108n))
    expect(await rail.exchange(eur(92n), usdAmount(0n), BOB)).toEqual(usdAmount(0n))
    const to = { assetCode: 'USD', assetScale: 2 }
    expect(asked[0]).toEqual({ walletAddress: BOB, from: { assetCode: 'EUR', assetScale: 4 }, to })
    asked.length = 0
    expect(await rail.exchange(usdAmount(7n), to, BOB)).toEqual(usdAmount(7n))
    expect(asked).toEqual([])
  })

  it('QUO-8 is worth nothing that is known where the wallet does not exchange it, or what it says is no rate', async () => {
    const none = await railWorld()
    expect(await none.rail.exchange(eur(100n), usdAmount(0n), BOB)).toBeUndefined()
    const wrong = await railWorld({ pricing: { price: async () => ({ rate: 'many' }) } })
    await expect(wrong.rail.exchange(eur(100n), usdAmount(0n), BOB)).rejects.toThrow(
      'not a string with a decimal above zero',
    )
    const failing = await railWorld({ pricing: { price: () => Promise.reject(new Error('no market')) } })
    await expect(failing.rail.exchange(eur(100n), usdAmount(0n), BOB)).rejects.toThrow('the pricing failed')
  })
})
