import type { OpenPaymentsOptions, Policies } from 'open-payments-server'
import { alterRequest, createSigningKey, type InMemoryRequest } from 'open-payments-server/testing'
import { describe, expect, it } from 'vitest'
import { type KeyRegistry, keyRegistry, remoteClient, SHOP } from '../support/key-registry.ts'
import { type Answer, type Client, cryptography, decideAs } from '../support/test-wallet.ts'
import {
  type AuthWallet,
  authWallet,
  CONSENT_REQUEST,
  cancel,
  INCOMING,
  LIST,
  OUTGOING,
  resume,
  revoke,
  rotate,
  sendSignedBy,
  tokenStatus,
} from './auth-wallet.ts'

const UNSIGNED = { 'signature-input': [], signature: [] }

interface Shop {
  readonly wallet: AuthWallet
  readonly registry: KeyRegistry
  readonly client: Client
  /** The client with another key under another kid. */
  readonly second: Client
  /** The client with other key material under the first kid. */
  readonly substitute: Client
}

async function openShop(policies: Partial<Policies> = {}): Promise<Shop> {
  const registry = keyRegistry()
  const options: Partial<OpenPaymentsOptions> = { keyResolver: registry, settings: { policies } }
  const wallet = await authWallet(options)
  const client = await remoteClient(registry)
  const second = { ...client, key: await createSigningKey(cryptography, 'second-key') }
  const substitute = { ...client, key: await createSigningKey(cryptography, client.key.keyId) }
  return { wallet, registry, client, second, substitute }
}

const REQUEST = {
  ...CONSENT_REQUEST,
  client: SHOP,
  access_token: { access: [OUTGOING, INCOMING] },
  interact: { start: ['redirect'] },
}

/** A grant that polls, approved and ready to be continued. */
async function approved({ wallet, client }: Shop): Promise<Answer> {
  const incoming = { ...INCOMING, identifier: OUTGOING.identifier }
  const request = { ...REQUEST, access_token: { access: [OUTGOING, incoming] } }
  const pending = await wallet.ask(request, { as: client })
  expect(pending.status).toBe(200)
  await decideAs(wallet, pending)
  wallet.clock.advance(5000)
  return pending
}

async function issued(shop: Shop): Promise<Answer> {
  const answer = await shop.wallet.ask({ client: SHOP, access_token: { access: [INCOMING] } }, { as: shop.client })
  expect(answer.status).toBe(200)
  return answer
}

describe('the keys of a grant', () => {
  it('KEY-10 T-6 the same kid with other key material is refused everywhere, and reported', async () => {
    const shop = await openShop()
    const { wallet, registry, client, substitute } = shop
    const pending = await approved(shop)
    const grant = await issued(shop)
    registry.sets.set(SHOP, [substitute.key.jwk])
    const as = substitute
    await wallet.expectRefusal(401, 'invalid_client', () => resume(wallet, pending, undefined, { as }))
    await wallet.expectRefusal(401, 'invalid_client', () => cancel(wallet, pending, { as }))
    await wallet.expectRefusal(401, 'invalid_client', () => rotate(wallet, grant, { as }))
    await wallet.expectRefusal(401, 'invalid_client', () => revoke(wallet, grant, { as }))
    expect(await tokenStatus(wallet, grant.body.access_token.value, as)).toBe(401)
    const reports = wallet.events.filter(({ type }) => type === 'key_substituted')
    expect(reports).toHaveLength(5)
    expect(reports[0]).toMatchObject({ client: SHOP, keyId: client.key.keyId })
    registry.sets.set(SHOP, [client.key.jwk])
    expect((await resume(wallet, pending, undefined, { as: client })).status).toBe(200)
    expect((await rotate(wallet, grant, { as: client })).status).toBe(200)
  })

  it('KEY-10 KEY-11 the refusal says that the grant is bound to another key, unless a signature was wrong', async () => {
    const shop = await openShop()
    const { wallet, registry, client, second, substitute } = shop
    const { access_token: token } = (await issued(shop)).body
    const described = async (description: string, ...signers: readonly Client[]): Promise<void> => {
      for (const [method, url] of [
        ['GET', LIST],
        ['DELETE', token.manage],
      ] as const) {
        const refusal = await sendSignedBy(wallet, method, url, { token: token.value }, signers)
        expect(refusal.status).toBe(401)
        expect(refusal.body.error.description).toBe(`Signature validation error: ${description}`)
      }
    }
    const bound = 'the grant is bound to another key'
    registry.sets.set(SHOP, [substitute.key.jwk, second.key.jwk])
    await described(bound, substitute)
    const unknown = { ...client, key: await createSigningKey(cryptography, 'unknown-key') }
    await described(bound, unknown, substitute)
    const forged = { ...client, key: { ...unknown.key, keyId: second.key.keyId } }
    await described('signature does not verify', substitute, forged)
    await described('signature does not verify', forged, substitute)
  })

  it('KEY-10 a new grant may begin with the new material', async () => {
    const shop = await openShop()
    shop.registry.sets.set(SHOP, [shop.substitute.key.jwk])
    expect((await issued({ ...shop, client: shop.substitute })).status).toBe(200)
  })

  it('KEY-11 another kid is accepted while it is in the present key set', async () => {
    const shop = await openShop()
    const { wallet, registry, client, second } = shop
    const grant = await issued(shop)
    const token = grant.body.access_token.value
    expect(await tokenStatus(wallet, token, second)).toBe(401)
    registry.sets.set(SHOP, [client.key.jwk, second.key.jwk])
    expect(await tokenStatus(wallet, token, second)).toBe(200)
    registry.sets.set(SHOP, [client.key.jwk])
    expect(await tokenStatus(wallet, token, second)).toBe(401)
    expect(await tokenStatus(wallet, token, client)).toBe(200)
  })

  it('KEY-12 a key that was removed is not honoured any more, also the first one', async () => {
    const shop = await openShop()
    const { wallet, registry, client, second } = shop
    const pending = await approved(shop)
    const grant = await issued(shop)
    registry.sets.set(SHOP, [second.key.jwk])
    await wallet.expectRefusal(400, 'invalid_client', () => resume(wallet, pending, undefined, { as: client }))
    await wallet.expectRefusal(400, 'invalid_client', () => rotate(wallet, grant, { as: client }))
    expect(await tokenStatus(wallet, grant.body.access_token.value, client)).toBe(401)
  })

  it('KEY-12 that a key was removed is told to who holds the token alone', async () => {
    const shop = await openShop()
    const { wallet, registry, client, second } = shop
    const pending = await approved(shop)
    const grant = await issued(shop)
    registry.sets.set(SHOP, [second.key.jwk])
    const sending = { as: client, token: 'guessed' }
    await wallet.expectRefusal(401, 'invalid_continuation', () => resume(wallet, pending, undefined, sending))
    await wallet.expectRefusal(401, 'invalid_continuation', () => cancel(wallet, pending, sending))
    await wallet.expectRefusal(404, 'invalid_rotation', () => rotate(wallet, grant, sending))
    await wallet.expectRefusal(401, 'invalid_client', () => revoke(wallet, grant, sending))
    const unsigned = { as: client, alter: (request: InMemoryRequest) => alterRequest(request, { headers: UNSIGNED }) }
    await wallet.expectRefusal(401, 'invalid_client', () => cancel(wallet, pending, unsigned))
    await wallet.expectRefusal(401, 'invalid_client', () => rotate(wallet, grant, unsigned))
  })

  it('KEY-12 a key that was removed is unknown beside no other signature than one of an unknown key', async () => {
    const shop = await openShop()
    const { wallet, registry, client, second, substitute } = shop
    const { uri, access_token } = (await approved(shop)).body.continue
    const unknown = { ...client, key: await createSigningKey(cryptography, 'unknown-key') }
    const forged = { ...second, key: { ...unknown.key, keyId: second.key.keyId } }
    const signedBy = (...signers: readonly Client[]): Promise<Answer> =>
      sendSignedBy(wallet, 'DELETE', uri, { token: access_token.value }, signers)
    registry.sets.set(SHOP, [second.key.jwk])
    await wallet.expectRefusal(400, 'invalid_client', () => signedBy(client, unknown, client))
    await wallet.expectRefusal(401, 'invalid_client', () => signedBy(client, forged))
    await wallet.expectRefusal(401, 'invalid_client', () => signedBy(forged, client))
    registry.sets.set(SHOP, [substitute.key.jwk])
    await wallet.expectRefusal(401, 'invalid_client', () => signedBy(unknown, substitute))
    await wallet.expectRefusal(401, 'invalid_client', () => signedBy(substitute, unknown))
    registry.sets.set(SHOP, [second.key.jwk])
    expect((await signedBy(client, second)).status).toBe(204)
  })

  const uses: readonly (readonly [string, (shop: Shop, grant: Answer, as: Client) => Promise<Answer | number>])[] = [
    ['the resource server', ({ wallet }, grant, as) => tokenStatus(wallet, grant.body.access_token.value, as)],
    ['a rotation', ({ wallet }, grant, as) => rotate(wallet, grant, { as })],
  ]
  it.each(uses)('KEY-10 a new kid is pinned by %s', async (_name, use) => {
    const shop = await openShop()
    const { wallet, registry, client, second } = shop
    const grant = await issued(shop)
    registry.sets.set(SHOP, [client.key.jwk, second.key.jwk])
    await use(shop, grant, second)
    const changed = { ...second, key: await createSigningKey(cryptography, second.key.keyId) }
    registry.sets.set(SHOP, [client.key.jwk, changed.key.jwk])
    await wallet.expectRefusal(401, 'invalid_client', () => rotate(wallet, grant, { as: changed }))
    await wallet.expectRefusal(401, 'invalid_client', () => cancel(wallet, grant, { as: changed }))
    expect(await tokenStatus(wallet, grant.body.access_token.value, changed)).toBe(401)
    expect((await cancel(wallet, grant, { as: client })).status).toBe(204)
  })

  it('KEY-10 a new kid is pinned by a continuation', async () => {
    const shop = await openShop()
    const { wallet, registry, client, second } = shop
    const pending = await approved(shop)
    registry.sets.set(SHOP, [client.key.jwk, second.key.jwk])
    const grant = await resume(wallet, pending, undefined, { as: second })
    expect(grant.status).toBe(200)
    const changed = { ...second, key: await createSigningKey(cryptography, second.key.keyId) }
    registry.sets.set(SHOP, [client.key.jwk, changed.key.jwk])
    await wallet.expectRefusal(401, 'invalid_client', () => rotate(wallet, grant, { as: changed }))
    await wallet.expectRefusal(401, 'invalid_client', () => cancel(wallet, grant, { as: changed }))
    expect((await rotate(wallet, grant, { as: client })).status).toBe(200)
  })

  it('KEY-11 D9 with keyBinding "key" a grant stays with the key that asked for it', async () => {
    const shop = await openShop({ keyBinding: 'key' })
    const { wallet, registry, client, second } = shop
    registry.sets.set(SHOP, [client.key.jwk, second.key.jwk])
    const pending = await approved(shop)
    const grant = await issued(shop)
    await wallet.expectRefusal(401, 'invalid_client', () => resume(wallet, pending, undefined, { as: second }))
    await wallet.expectRefusal(401, 'invalid_client', () => cancel(wallet, pending, { as: second }))
    await wallet.expectRefusal(401, 'invalid_client', () => rotate(wallet, grant, { as: second }))
    await wallet.expectRefusal(401, 'invalid_client', () => revoke(wallet, grant, { as: second }))
    expect(await tokenStatus(wallet, grant.body.access_token.value, second)).toBe(401)
    registry.sets.set(SHOP, [second.key.jwk])
    await wallet.expectRefusal(400, 'invalid_client', () => cancel(wallet, pending, { as: client }))
    await wallet.expectRefusal(401, 'invalid_client', () => cancel(wallet, pending, { as: second }))
    registry.sets.set(SHOP, [client.key.jwk, second.key.jwk])
    expect((await resume(wallet, pending, undefined, { as: client })).status).toBe(200)
    expect((await rotate(wallet, grant, { as: client })).status).toBe(200)
    expect((await issued({ ...shop, client: second })).status).toBe(200)
  })

  it('KEY-11 D9 keyBinding "key" means the first key, also of a grant that has seen others before', async () => {
    const { wallet: before, registry, client, second } = await openShop()
    const grant = await before.ask({ client: SHOP, access_token: { access: [INCOMING] } }, { as: client })
    registry.sets.set(SHOP, [client.key.jwk, second.key.jwk])
    expect(await tokenStatus(before, grant.body.access_token.value, second)).toBe(200)
    const policies: Partial<Policies> = { keyBinding: 'key' }
    const wallet = await authWallet({ keyResolver: registry, storage: before.storage, settings: { policies } })
    await wallet.expectRefusal(401, 'invalid_client', () => rotate(wallet, grant, { as: second }))
    expect(await tokenStatus(wallet, grant.body.access_token.value, second)).toBe(401)
    expect((await rotate(wallet, grant, { as: client })).status).toBe(200)
  })

  it('CON-9 an ended grant takes no new key', async () => {
    const shop = await openShop()
    const { wallet, registry, client, second } = shop
    const grant = await issued(shop)
    expect((await cancel(wallet, grant, { as: client })).status).toBe(204)
    registry.sets.set(SHOP, [client.key.jwk, second.key.jwk])
    const before = await wallet.records()
    expect((await cancel(wallet, grant, { as: second })).status).toBe(204)
    expect(await wallet.records()).toEqual(before)
  })
})
