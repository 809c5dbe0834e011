import { alterRequest, type InMemoryRequest, signedRequest } from 'open-payments-server/testing'
import { describe, expect, it } from 'vitest'
import { asPhp, asRust } from '../support/malformed-signatures.ts'
import { ALICE, type Answer, addClient, BASE, type Client, cryptography, usd } from '../support/test-wallet.ts'
import {
  expectRefusal,
  expectStatus,
  INVALID_SIGNATURE,
  INVALID_TOKEN,
  MISSING_AUTHORIZATION,
  type Shop,
  shop,
} from './observed-wallet.ts'

// D2, from the wire to the ledger: the two malformed shapes are read, and every rule holds for them as for any other.

const URL_OF_PAYMENTS = `${BASE}/outgoing-payments`
const COMPONENTS = ['@method', '@target-uri', 'content-type', 'authorization', 'content-digest', 'content-length']

/** What a test changes of a payment that is right. */
interface Change {
  readonly created?: number
  readonly components?: readonly string[]
  readonly url?: string
  readonly token?: string | undefined
  readonly as?: Client
  /** After it was signed. */
  readonly altered?: Parameters<typeof alterRequest>[1]
}

type Shape = 'php' | 'rust'

async function paymentOf({ wallet, spending, incoming }: Shop, shape: Shape, change: Change): Promise<InMemoryRequest> {
  const { key } = change.as ?? wallet.client
  const { created = Math.floor(wallet.clock.now() / 1000), components = COMPONENTS, url = URL_OF_PAYMENTS } = change
  const token = 'token' in change ? change.token : spending
  const request = await signedRequest({
    method: 'POST',
    url,
    key,
    cryptography,
    created,
    components: components.filter((name) => token !== undefined || name !== 'authorization'),
    ...(token !== undefined && { token }),
    json: { walletAddress: ALICE, incomingPayment: incoming.id, debitAmount: usd('1') },
  })
  const shaped = shape === 'php' ? asPhp(request) : await asRust(request, { url, key, created, components })
  return alterRequest(shaped, { target: '/outgoing-payments', ...change.altered })
}

async function pay(rig: Shop, shape: Shape, change: Change = {}): Promise<Answer> {
  return rig.wallet.sendRaw(await paymentOf(rig, shape, change))
}

const without = (name: string): readonly string[] => COMPONENTS.filter((one) => one !== name)

describe.each(['php', 'rust'] as const)('a payment in the shape of %s', (shape) => {
  it('client behaviour 2: D2 is made, and moves the money', async () => {
    const rig = await shop()
    await expectStatus(201, pay(rig, shape))
    await rig.wallet.openPayments.drain()
    expect(await rig.wallet.ledger.balance('bob')).toMatchObject({ total: 1n })
    expect(rig.wallet.events).toContainEqual(
      expect.objectContaining({ type: 'legacy_signature_syntax', syntax: shape, keyId: rig.wallet.client.key.keyId }),
    )
  })

  it('D2 is refused where the wallet does not list the shape', async () => {
    const others = (['php', 'rust'] as const).filter((one) => one !== shape)
    for (const legacySignatureSyntax of [others, []]) {
      const rig = await shop({ overrides: { settings: { policies: { legacySignatureSyntax } } } })
      await expectRefusal(rig.wallet, INVALID_SIGNATURE, () => pay(rig, shape))
    }
  })

  it.each(without('content-type').filter((name) => name !== 'content-length'))(
    'D2 SIG-6 SIG-7 SIG-8 is refused where %s is not covered',
    async (name) => {
      const rig = await shop()
      await expectRefusal(rig.wallet, INVALID_SIGNATURE, () => pay(rig, shape, { components: without(name) }))
      await expectStatus(201, pay(rig, shape))
    },
  )

  it('D2 SIG-18 is refused when it is older than 300 s, or more than 60 s ahead', async () => {
    const rig = await shop()
    const now = Math.floor(rig.wallet.clock.now() / 1000)
    for (const created of [now - 301, now + 61]) {
      await expectRefusal(rig.wallet, INVALID_SIGNATURE, () => pay(rig, shape, { created }))
    }
    for (const created of [now - 300, now + 60]) await expectStatus(201, pay(rig, shape, { created }))
  })

  it('D2 T-11 is refused with another body, and with another body and no digest of it', async () => {
    const rig = await shop()
    const { wallet, incoming } = rig
    const body = JSON.stringify({ walletAddress: ALICE, incomingPayment: incoming.id, debitAmount: usd('1000') })
    await expectRefusal(wallet, INVALID_SIGNATURE, () => pay(rig, shape, { altered: { body } }))
    const digest = `sha-512=:${Buffer.from(await cryptography.sha512(new TextEncoder().encode(body))).toString('base64')}:`
    const headers = { 'content-digest': [digest], 'content-length': [String(body.length)] }
    await expectRefusal(wallet, INVALID_SIGNATURE, () => pay(rig, shape, { altered: { body, headers } }))
    await expectStatus(201, pay(rig, shape))
  })

  it('D2 T-10 is refused when it was signed for another path or host', async () => {
    const rig = await shop()
    for (const url of [`${BASE}/quotes`, `${URL_OF_PAYMENTS}?a=1`, 'https://evil.example/outgoing-payments']) {
      await expectRefusal(rig.wallet, INVALID_SIGNATURE, () => pay(rig, shape, { url }))
    }
  })

  it('D2 SIG-20 is refused with the key of another client, also under the key id of this one', async () => {
    const rig = await shop()
    const thief = await addClient(rig.wallet, 'thief')
    const renamed = { ...thief, key: { ...thief.key, keyId: rig.wallet.client.key.keyId } }
    for (const as of [thief, renamed]) {
      await expectRefusal(rig.wallet, INVALID_SIGNATURE, () => pay(rig, shape, { as }))
    }
  })

  it('D2 is refused without a token, and with one that is none', async () => {
    const rig = await shop()
    await expectRefusal(rig.wallet, MISSING_AUTHORIZATION, () => pay(rig, shape, { token: undefined }))
    await expectRefusal(rig.wallet, INVALID_TOKEN, () => pay(rig, shape, { token: 'x' }))
  })

  it('D2 SIG-24 is made once, however often it is sent', async () => {
    const rig = await shop()
    const request = await paymentOf(rig, shape, {})
    await expectStatus(201, rig.wallet.sendRaw(request))
    for (let again = 0; again < 2; again++) {
      await expectRefusal(rig.wallet, INVALID_SIGNATURE, () => rig.wallet.sendRaw(request))
    }
    rig.wallet.clock.advance(1_000)
    await expectStatus(201, pay(rig, shape))
  })
})

describe('a signature in two shapes', () => {
  it('D2 SIG-25 is one signature: a payment that was made is not made again without its colons', async () => {
    const rig = await shop()
    const { wallet, spending, incoming } = rig
    const json = { walletAddress: ALICE, incomingPayment: incoming.id, debitAmount: usd('1') }
    const sent: InMemoryRequest[] = []
    const alter = (request: InMemoryRequest): InMemoryRequest => {
      sent.push(request)
      return request
    }
    await expectStatus(201, wallet.send('POST', URL_OF_PAYMENTS, { token: spending, json, alter }))
    for (const request of sent) {
      const again = await expectRefusal(wallet, INVALID_SIGNATURE, () => wallet.sendRaw(asPhp(request)))
      expect(again.body.error.description).toMatch(/used before/)
    }
    const php = await paymentOf(rig, 'php', { created: Math.floor(wallet.clock.now() / 1000) - 1 })
    await expectStatus(201, wallet.sendRaw(php))
    const [value = ''] = php.headerLines('signature')
    const repaired = alterRequest(php, { headers: { signature: [value.replace('sig1=', 'sig1=:').concat(':')] } })
    const again = await expectRefusal(wallet, INVALID_SIGNATURE, () => wallet.sendRaw(repaired))
    expect(again.body.error.description).toMatch(/used before/)
  })
})
