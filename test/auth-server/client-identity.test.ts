import type { HttpRequest, JsonWebKey, KeyAsker } from 'open-payments-server'
import { alterRequest, createSigningKey, type InMemoryRequest } from 'open-payments-server/testing'
import { describe, expect, it } from 'vitest'
import { type KeyRegistry, keyRegistry, remoteClient, SHOP } from '../support/key-registry.ts'
import {
  type Answer,
  addClient,
  BASE,
  BOB,
  type Client,
  cryptography,
  directedClient,
  type Sending,
} from '../support/test-wallet.ts'
import hazards from '../vectors/ed25519-hazards.json' with { type: 'json' }
import {
  type AuthWallet,
  authWallet,
  CONSENT_REQUEST,
  INCOMING,
  LIST,
  PLAIN_REQUEST,
  resume,
  rotate,
  tokenStatus,
} from './auth-wallet.ts'

const asking = (client: Client): unknown => ({ ...PLAIN_REQUEST, client: client.client })

async function askAs(wallet: AuthWallet, client: Client, request: unknown = asking(client)) {
  return wallet.ask(request, { as: client })
}

const clientId = async (wallet: AuthWallet): Promise<unknown> =>
  (await wallet.records()).map(({ value }) => ('client' in value ? value.client : undefined))[0]

describe('a client known by its wallet address', () => {
  it.each([
    ['a string', (url: string) => url],
    ['an object', (url: string) => ({ walletAddress: url })],
    ['an address with a slash at its end', (url: string) => `${url}/`],
  ])('KEY-5 KEY-6 KEY-8 may be named by %s, and is asked for its keys under its one name', async (_name, form) => {
    const keyResolver = keyRegistry()
    const wallet = await authWallet({ keyResolver })
    const client = { ...(await remoteClient(keyResolver)), client: form(SHOP) }
    const answer = await askAs(wallet, client)
    expect(answer.status).toBe(200)
    expect(new Set(keyResolver.asked)).toEqual(new Set([SHOP]))
    expect(await clientId(wallet)).toBe(SHOP)
  })

  it('KEY-8 a bare host stands for /.well-known/pay', async () => {
    const keyResolver = keyRegistry()
    const wallet = await authWallet({ keyResolver })
    const client = await remoteClient(keyResolver, 'https://shop.example/.well-known/pay')
    expect((await askAs(wallet, { ...client, client: 'https://shop.example' })).status).toBe(200)
  })

  it.each([
    ['is no URL', 'shop'],
    ['is http', 'http://shop.example/pay'],
    ['names a port', 'https://shop.example:8443/pay'],
    ['has userinfo', 'https://a@shop.example/pay'],
    ['has a query', 'https://shop.example/pay?a=1'],
    ['has a fragment', 'https://shop.example/pay#a'],
    ['is a resource of a server', 'https://shop.example/pay/incoming-payments'],
    ['is longer than 2048 characters', `https://shop.example/${'a'.repeat(2048)}`],
    ['is a script', 'javascript:alert(1)'],
  ])('WAS-2 a client that %s is refused, and nobody is asked', async (_name, client) => {
    const keyResolver = keyRegistry()
    const wallet = await authWallet({ keyResolver })
    const shop = await remoteClient(keyResolver)
    await wallet.expectRefusal(400, 'invalid_client', () => askAs(wallet, { ...shop, client }))
    expect(keyResolver.asked).toEqual([])
    expect((await askAs(wallet, shop)).status).toBe(200)
  })

  it('1.2 a client whose host cannot be reached is refused with 400', async () => {
    const keyResolver = keyRegistry()
    const wallet = await authWallet({ keyResolver })
    const shop = await remoteClient(keyResolver)
    keyResolver.sets.delete(SHOP)
    await wallet.expectRefusal(400, 'invalid_client', () => askAs(wallet, shop))
  })

  it('1.2 a client without a key of this keyid is refused with 400', async () => {
    const keyResolver = keyRegistry()
    const wallet = await authWallet({ keyResolver })
    const shop = await remoteClient(keyResolver)
    keyResolver.sets.set(SHOP, [{ ...shop.key.jwk, kid: 'another' }])
    await wallet.expectRefusal(400, 'invalid_client', () => askAs(wallet, shop))
    keyResolver.sets.set(SHOP, [])
    await wallet.expectRefusal(400, 'invalid_client', () => askAs(wallet, shop))
  })

  it('KEY-7 two keys with the same kid are no key', async () => {
    const keyResolver = keyRegistry()
    const wallet = await authWallet({ keyResolver })
    const shop = await remoteClient(keyResolver)
    const other = await createSigningKey(cryptography, shop.key.keyId)
    keyResolver.sets.set(SHOP, [shop.key.jwk, other.jwk])
    await wallet.expectRefusal(400, 'invalid_client', () => askAs(wallet, shop))
    await wallet.expectRefusal(400, 'invalid_client', () => askAs(wallet, { ...shop, key: other }))
  })

  it('T-7 the same kid of another client is another key', async () => {
    const keyResolver = keyRegistry()
    const wallet = await authWallet({ keyResolver })
    const shop = await remoteClient(keyResolver, SHOP, '1')
    const thief = await remoteClient(keyResolver, 'https://thief.example/pay', '1')
    await wallet.expectRefusal(401, 'invalid_client', () => askAs(wallet, { ...shop, key: thief.key }))
    expect((await askAs(wallet, shop)).status).toBe(200)
    expect((await askAs(wallet, thief)).status).toBe(200)
  })

  it('KEY-6 an address of this server is answered from the directory, nobody is asked', async () => {
    const keyResolver = keyRegistry()
    const wallet = await authWallet({ keyResolver })
    expect((await wallet.ask(PLAIN_REQUEST)).status).toBe(200)
    expect(keyResolver.asked).toEqual([])
  })

  it.each([
    ['is absent', () => undefined],
    ['is null', () => null],
    ['is a number', () => 1],
    ['has no member', () => ({})],
    ['is a list', (client: string) => [client]],
    ['has both forms', (client: string, jwk: JsonWebKey) => ({ walletAddress: client, jwk })],
    ['has another member beside', (client: string) => ({ walletAddress: client, display: { name: 'Shop' } })],
    ['has another member beside its key', (_: string, jwk: JsonWebKey) => ({ jwk, proof: 'httpsig' })],
    ['names its wallet address by an object', (client: string) => ({ walletAddress: { id: client } })],
  ])('KEY-5 a client that %s is refused, and nobody is asked', async (_name, form) => {
    const keyResolver = keyRegistry()
    const wallet = await authWallet({ keyResolver })
    const shop = await remoteClient(keyResolver)
    const client = { ...shop, client: form(SHOP, shop.key.jwk) }
    await wallet.expectRefusal(400, 'invalid_request', () => askAs(wallet, client))
    expect(keyResolver.asked).toEqual([])
    expect((await askAs(wallet, shop)).status).toBe(200)
  })

  it('WAS-7 an unknown or inactive address of this server is no client', async () => {
    const wallet = await authWallet()
    const client = await addClient(wallet, 'closed')
    const closed = wallet.directory.get(`${BASE}/closed`)
    if (closed === undefined) throw new Error('no such account')
    wallet.directory.set(`${BASE}/closed`, { ...closed, isActive: false })
    const refusal = await wallet.expectRefusal(400, 'invalid_client', () => askAs(wallet, client))
    expect(refusal.body.error.description).toMatch(/ invalid$/)
    await wallet.expectRefusal(400, 'invalid_client', () => askAs(wallet, { ...client, client: `${BASE}/nobody` }))
    wallet.directory.set(`${BASE}/closed`, closed)
    expect((await askAs(wallet, client)).status).toBe(200)
  })

  it('WAS-7 KEY-12 an address of this server is no client any more once it is inactive, whatever it was granted', async () => {
    const wallet = await authWallet()
    const client = await addClient(wallet, 'closed')
    const grant = await askAs(wallet, client)
    const token = grant.body.access_token.value
    expect(await tokenStatus(wallet, token, client)).toBe(200)
    const closed = wallet.directory.get(`${BASE}/closed`)
    if (closed === undefined) throw new Error('no such account')
    wallet.directory.set(`${BASE}/closed`, { ...closed, isActive: false })
    expect(await tokenStatus(wallet, token, client)).toBe(401)
    await wallet.expectRefusal(400, 'invalid_client', () => rotate(wallet, grant, { as: client }))
    wallet.directory.set(`${BASE}/closed`, closed)
    expect(await tokenStatus(wallet, token, client)).toBe(200)
  })

  it('KEY-1 KEY-7 an address of this server without keys, with more than a set may hold, or with a key id twice, is no client', async () => {
    const wallet = await authWallet()
    const client = await addClient(wallet, 'shop')
    const shop = wallet.directory.get(`${BASE}/shop`)
    if (shop === undefined) throw new Error('no such account')
    const { keys: _, ...keyless } = shop
    const others = Array.from({ length: 20 }, (_, index) => ({ ...client.key.jwk, kid: `other-${index}` }))
    const gave = `walletAddresses.find('${BASE}/shop') gave`
    const cases = [
      { keys: undefined, faults: [] },
      { keys: [client.key.jwk, ...others], faults: ['of 21 keys none is used: there may be 20'] },
      {
        keys: [client.key.jwk, { ...client.key.jwk, alg: 'ES256' }],
        faults: ['another key has the same kid; alg must be EdDSA'],
      },
    ]
    for (const { keys, faults } of cases) {
      wallet.directory.set(`${BASE}/shop`, Object.assign({ ...keyless }, keys && { keys }))
      wallet.events.length = 0
      const refusal = await wallet.expectRefusal(400, 'invalid_client', () => askAs(wallet, client))
      expect(refusal.body.error.description).toBe('keyid names no key of the client')
      const told = wallet.events.flatMap((event) => (event.type === 'fault' ? [event.message] : []))
      expect(told).toEqual(faults.map((reasons) => `${gave} keys that cannot be used: ${reasons}`))
    }
    wallet.directory.set(`${BASE}/shop`, { ...keyless, keys: [client.key.jwk, ...others.slice(1)] })
    expect((await askAs(wallet, client)).status).toBe(200)
  })

  it.each([
    ['without its kid', { kid: undefined }, 'kid is missing'],
    ['with its private part', { d: 'the private part' }, 'a public key must not carry its private part'],
  ])(
    'KEY-4 a key of the directory %s is refused, and the wallet is told of its fault',
    async (_name, change, reason) => {
      const wallet = await authWallet()
      const client = await addClient(wallet, 'shop')
      const shop = wallet.directory.get(`${BASE}/shop`)
      if (shop === undefined) throw new Error('no such account')
      const unusable = { ...client.key.jwk, ...change }
      wallet.directory.set(`${BASE}/shop`, Object.assign({ ...shop }, { keys: [unusable] }))
      await wallet.expectRefusal(400, 'invalid_client', () => askAs(wallet, client))
      const message = `walletAddresses.find('${BASE}/shop') gave keys that cannot be used: ${reason}`
      expect(wallet.events).toContainEqual(expect.objectContaining({ type: 'fault', message }))
      // The other keys of the account work as ever.
      const other = { ...unusable, kid: 'another' }
      wallet.directory.set(`${BASE}/shop`, Object.assign({ ...shop }, { keys: [other, client.key.jwk] }))
      const told = wallet.events.length
      expect((await askAs(wallet, client)).status).toBe(200)
      expect(wallet.events.slice(told).filter(({ type }) => type === 'fault')).toEqual([])
    },
  )

  it('KEY-12 a held key set is asked for again where it lacks the keyid, and only there', async () => {
    const registry = keyRegistry()
    const asked: (string | undefined)[] = []
    const keyResolver: KeyRegistry = {
      ...registry,
      async keySet(walletAddress, unknownKid) {
        asked.push(unknownKid)
        const found = await registry.keySet(walletAddress)
        // What is held lacks the second key until its holder is told that it is missed.
        return found.ok && unknownKid === undefined ? { ok: true, keys: found.keys.slice(0, 2) } : found
      },
    }
    const wallet = await authWallet({ keyResolver })
    const shop = await remoteClient(keyResolver)
    const second = { ...shop, key: await createSigningKey(cryptography, 'second-key') }
    keyResolver.sets.set(SHOP, [shop.key.jwk, { ...shop.key.jwk, kid: 'beside' }, second.key.jwk])
    expect((await askAs(wallet, shop)).status).toBe(200)
    expect(new Set(asked.splice(0))).toEqual(new Set([undefined]))
    expect((await askAs(wallet, second)).status).toBe(200)
    expect(new Set(asked)).toEqual(new Set([undefined, 'second-key']))
  })

  it('T-5 KEY-12 the resolver is told where a request came from, and whether its client holds a grant already', async () => {
    const registry = keyRegistry()
    const asked: (readonly [keyId: string | undefined, asker: KeyAsker | undefined])[] = []
    const named: (KeyAsker | undefined)[] = []
    const keyResolver: KeyRegistry = {
      ...registry,
      async keySet(walletAddress, unknownKid, asker) {
        asked.push([unknownKid, asker])
        return registry.keySet(walletAddress)
      },
      async publicName(_walletAddress, asker) {
        named.push(asker)
        return 'Shop'
      },
    }
    const wallet = await authWallet({ keyResolver })
    const as = await remoteClient(keyResolver)
    const stranger = { ...as, key: await createSigningKey(cryptography, 'stranger') }
    const source = '198.51.100.7'
    const from = (request: HttpRequest): HttpRequest => ({ ...request, source })
    const askersOf = async (act: (sending: Sending) => Promise<Answer>) => {
      asked.length = 0
      await act({ as, alter: from })
      await act({ as: stranger, alter: from })
      await act({ as })
      return asked.splice(0)
    }
    const everyAsk = (isHolder: boolean) => [
      [undefined, { isHolder, source }],
      [undefined, { isHolder, source }],
      ['stranger', { isHolder, source }],
      [undefined, { isHolder, source: undefined }],
    ]
    expect(await askersOf((sending) => wallet.ask(asking(as), sending))).toEqual(everyAsk(false))
    const withConsent = { ...CONSENT_REQUEST, client: as.client }
    expect(await askersOf((sending) => wallet.ask(withConsent, sending))).toEqual(everyAsk(false))
    expect(named).toEqual([{ source }, { source: undefined }])
    const grant = await askAs(wallet, as)
    const { value: token } = grant.body.access_token
    expect(await askersOf((sending) => wallet.send('GET', LIST, { token, ...sending }))).toEqual(everyAsk(true))
    expect(await askersOf((sending) => resume(wallet, grant, undefined, sending))).toEqual(everyAsk(true))
    expect(await askersOf((sending) => rotate(wallet, grant, sending))).toEqual(everyAsk(true))
  })

  it('SIG-34 nobody is asked for keys where the request fails before', async () => {
    const keyResolver = keyRegistry()
    const wallet = await authWallet({ keyResolver })
    const shop = await remoteClient(keyResolver)
    const created = Math.floor(wallet.clock.now() / 1000)
    const bad = [{ created: created - 301 }, { created: created + 61 }, { components: ['@method', 'content-digest'] }]
    for (const sending of bad) {
      await wallet.expectRefusal(401, 'invalid_client', () => wallet.ask(asking(shop), { as: shop, ...sending }))
    }
    expect(keyResolver.asked).toEqual([])
  })
})

describe('a client known by its key', () => {
  it('KEY-13 gets what needs no consent, under the thumbprint of its key', async () => {
    const wallet = await authWallet()
    const client = await directedClient()
    const answer = await askAs(wallet, client)
    expect(answer.status).toBe(200)
    expect(await clientId(wallet)).toMatch(/^jwk:[A-Za-z0-9_-]{43}$/)
    expect(await tokenStatus(wallet, answer.body.access_token.value, client)).toBe(200)
  })

  it('KEY-13 gets nothing that needs consent', async () => {
    const wallet = await authWallet()
    const client = await directedClient()
    const request = { ...CONSENT_REQUEST, client: client.client }
    await wallet.expectRefusal(400, 'invalid_client', () => askAs(wallet, client, request))
    const both = { ...request, access_token: { access: [INCOMING, ...CONSENT_REQUEST.access_token.access] } }
    await wallet.expectRefusal(400, 'invalid_client', () => askAs(wallet, client, both))
    // A subject needs consent by itself.
    const subject = { sub_ids: [{ id: BOB, format: 'uri' }] }
    const { access_token: _, ...alone } = { ...request, subject }
    await wallet.expectRefusal(400, 'invalid_client', () => askAs(wallet, client, alone))
    const beside = { ...alone, access_token: { access: [INCOMING] } }
    await wallet.expectRefusal(400, 'invalid_client', () => askAs(wallet, client, beside))
  })

  it('KEY-14 the kid of the key must be the keyid of the signature', async () => {
    const wallet = await authWallet()
    const client = await directedClient('one')
    const renamed = { ...client, key: { ...client.key, keyId: 'two' } }
    await wallet.expectRefusal(400, 'invalid_client', () => askAs(wallet, renamed))
    expect((await askAs(wallet, client)).status).toBe(200)
  })

  it('KEY-14 a key that did not sign gives nothing', async () => {
    const wallet = await authWallet()
    const victim = await directedClient('one')
    const thief = await directedClient('one')
    await wallet.expectRefusal(401, 'invalid_client', () => askAs(wallet, { ...victim, key: thief.key }))
  })

  const changes: readonly (readonly [string, (jwk: JsonWebKey) => object])[] = [
    ['KEY-1 without kid', ({ kid: _, ...jwk }) => jwk],
    ['KEY-1 without alg', ({ alg: _, ...jwk }) => jwk],
    ['KEY-1 of another alg', (jwk) => ({ ...jwk, alg: 'ES256' })],
    ['KEY-1 of another kty', (jwk) => ({ ...jwk, kty: 'EC' })],
    ['KEY-1 of another curve', (jwk) => ({ ...jwk, crv: 'X25519' })],
    ['KEY-1 without x', ({ x: _, ...jwk }) => jwk],
    ['KEY-1 for encryption', (jwk) => ({ ...jwk, use: 'enc' })],
    ['KEY-1 not for verifying', (jwk) => ({ ...jwk, key_ops: ['sign'] })],
    ['KEY-2 with padding', (jwk) => ({ ...jwk, x: `${jwk.x}=` })],
    ['KEY-2 of 31 bytes', (jwk) => ({ ...jwk, x: jwk.x.slice(1) })],
    ['KEY-4 with its private part', (jwk) => ({ ...jwk, d: 'c2VjcmV0' })],
  ]
  it.each(changes)('%s is refused', async (_name, change) => {
    const wallet = await authWallet()
    const client = await directedClient()
    const refusal = await wallet.expectRefusal(400, 'invalid_client', () =>
      askAs(wallet, { ...client, client: { jwk: change(client.key.jwk) } }),
    )
    expect(refusal.text).not.toContain(client.key.jwk.x)
    expect((await askAs(wallet, client)).status).toBe(200)
  })

  it('KEY-3 T-8 a point of small order is refused, also with the signature that fits every message', async () => {
    const wallet = await authWallet()
    const client = await directedClient()
    const signature = [`sig1=:${hazards.universal_forgery.signature_base64}:`]
    const alter = (request: InMemoryRequest): InMemoryRequest => alterRequest(request, { headers: { signature } })
    for (const hex of hazards.small_order_or_non_canonical_public_keys_hex_to_reject) {
      const x = Buffer.from(hex, 'hex').toString('base64url')
      const forged = { ...client, client: { jwk: { ...client.key.jwk, x } } }
      await wallet.expectRefusal(400, 'invalid_client', () => wallet.ask(asking(forged), { as: forged, alter }))
    }
  })

  it('KEY-9 T-39 two of them with the same kid are two clients', async () => {
    const wallet = await authWallet()
    const [one, two] = [await directedClient('same'), await directedClient('same')]
    const tokens = [await askAs(wallet, one), await askAs(wallet, two)].map(({ body }) => body.access_token.value)
    const [mine = '', theirs = ''] = tokens
    const payment = await wallet.send('POST', `${BASE}/incoming-payments`, {
      as: one,
      token: mine,
      json: { walletAddress: BOB },
    })
    expect(payment.status).toBe(201)
    expect((await wallet.send('GET', payment.body.id, { as: one, token: mine })).status).toBe(200)
    expect((await wallet.send('GET', payment.body.id, { as: two, token: theirs })).status).toBe(404)
    const list = `${BASE}/incoming-payments?wallet-address=${encodeURIComponent(BOB)}`
    expect((await wallet.send('GET', list, { as: one, token: mine })).body.result).toHaveLength(1)
    expect((await wallet.send('GET', list, { as: two, token: theirs })).body.result).toEqual([])
    expect(await tokenStatus(wallet, mine, two)).toBe(401)
  })
})
