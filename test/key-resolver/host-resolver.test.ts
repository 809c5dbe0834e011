import type { KeyResolver } from 'open-payments-server'
import { createSigningKey, type SigningKey } from 'open-payments-server/testing'
import { beforeAll, describe, expect, it } from 'vitest'
import {
  type Answer,
  AUTH,
  cryptography,
  OWNER,
  referenceOf,
  type TestWallet,
  testWallet,
} from '../support/test-wallet.ts'
import { turns } from '../support/turns.ts'

// A registry of the wallet's own in place of the default, which fetches, never rejects and has a deadline.

const CLIENT = 'https://shop.example/alice'
const QUOTES = [{ type: 'quote', actions: ['create'] }]
const PAYMENTS = [{ type: 'outgoing-payment', actions: ['create'], identifier: 'https://wallet.example/alice' }]
const never = new Promise<never>(() => {})
const fail = async () => {
  throw new Error('the registry is down')
}

let key: SigningKey
beforeAll(async () => {
  key = await createSigningKey(cryptography, 'k')
})

function knows(publicName: KeyResolver['publicName']): KeyResolver {
  return { keySet: async () => ({ ok: true, keys: [{ kid: 'k', x: key.jwk.x }] }), publicName }
}

const askFor = ({ send }: TestWallet, access: readonly object[], more: object = {}): Promise<Answer> =>
  send('POST', `${AUTH}/`, { as: { key, client: CLIENT }, json: { access_token: { access }, client: CLIENT, ...more } })

const askOwner = (wallet: TestWallet): Promise<Answer> =>
  askFor(wallet, PAYMENTS, { interact: { start: ['redirect'] } })

const faultsOf = ({ events }: TestWallet) => events.filter(({ type }) => type === 'fault')

describe('a key resolver of the host', () => {
  it('that rejects makes the answer 503, and a fault says why', async () => {
    const wallet = await testWallet({ keyResolver: { ...knows(async () => undefined), keySet: fail } })
    expect(await askFor(wallet, QUOTES)).toMatchObject({ status: 503 })
    expect(faultsOf(wallet)).toMatchObject([
      { message: 'the key resolver failed', cause: { message: 'the registry is down' } },
    ])
  })

  it('that does not answer makes the answer 503 after four seconds', async () => {
    const wallet = await testWallet({ keyResolver: { ...knows(async () => undefined), keySet: () => never } })
    const asked = askFor(wallet, QUOTES)
    await turns(20)
    wallet.clock.advance(3999)
    await turns(20)
    expect(faultsOf(wallet)).toEqual([])
    wallet.clock.advance(1)
    expect(await asked).toMatchObject({ status: 503 })
    expect(faultsOf(wallet)).toMatchObject([{ message: 'the key resolver did not answer in time' }])
  })

  it('INT-2 that fails to find a name asks the owner without one', async () => {
    const wallet = await testWallet({ keyResolver: knows(fail) })
    expect(await askOwner(wallet)).toMatchObject({ status: 200 })
    expect(faultsOf(wallet)).toMatchObject([{ message: 'the key resolver failed' }])
  })

  it.each([null, 7, {}])('INT-2 whose name is %j asks the owner without one', async (name) => {
    const wallet = await testWallet({ keyResolver: knows(async () => name as never) })
    const asked = await askOwner(wallet)
    expect(asked).toMatchObject({ status: 200 })
    const found = await wallet.openPayments.interactions.find(referenceOf(asked), OWNER)
    const client = { id: CLIENT, origin: 'https://shop.example', isLocal: false }
    expect(found.ok && found.consent.client).toStrictEqual(client)
    expect(faultsOf(wallet)).toEqual([])
  })
})
