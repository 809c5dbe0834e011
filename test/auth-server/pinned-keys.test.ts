import type { CommitResult, KeyResolver, Storage } from 'open-payments-server'
import { memoryStorage } from 'open-payments-server/storage/memory'
import { createSigningKey } from 'open-payments-server/testing'
import { describe, expect, it } from 'vitest'
import { type KeyRegistry, keyRegistry, remoteClient, SHOP } from '../support/key-registry.ts'
import {
  ALICE,
  type Answer,
  AUTH,
  BASE,
  CLIENT,
  type Client,
  cryptography,
  decideAs,
  incomingPayment,
  spendingToken,
  usd,
} from '../support/test-wallet.ts'
import {
  type AuthWallet,
  authWallet,
  INCOMING,
  LIST,
  PLAIN_REQUEST,
  POLLING_REQUEST,
  resume,
  rotate,
  sendSignedBy,
  tokenStatus,
  unchecked,
} from './auth-wallet.ts'

async function issued(wallet: AuthWallet, as: Client): Promise<Answer> {
  const answer = await wallet.ask({ client: SHOP, access_token: { access: [INCOMING] } }, { as })
  expect(answer.status).toBe(200)
  return answer
}

const withKey = async (client: Client, kid: string): Promise<Client> => ({
  ...client,
  key: await createSigningKey(cryptography, kid),
})

/** The kids that each grant and each access token has pinned, sorted. */
async function pinnedBy(wallet: AuthWallet): Promise<readonly (readonly string[])[]> {
  return (await wallet.records()).flatMap(({ value }) =>
    'keys' in value && value.keys ? [value.keys.map(({ kid }) => kid).sort()] : [],
  )
}

describe('a key that a grant has not seen', () => {
  it('KEY-10 is written down with the grant and with its token, once, however many requests bring it', async () => {
    const keyResolver = keyRegistry()
    const wallet = unchecked(await authWallet({ keyResolver }))
    const client = await remoteClient(keyResolver)
    const second = await withKey(client, 'second-key')
    const { value: token } = (await issued(wallet, client)).body.access_token
    keyResolver.sets.set(SHOP, [client.key.jwk, second.key.jwk])
    const statuses = await Promise.all(Array.from({ length: 5 }, () => tokenStatus(wallet, token, second)))
    expect(statuses).toEqual([200, 200, 200, 200, 200])
    expect(await pinnedBy(wallet)).toEqual([
      ['second-key', 'shop-key'],
      ['second-key', 'shop-key'],
    ])
  })

  it('KEY-10 T-6 is reported where its material changes afterwards', async () => {
    const keyResolver = keyRegistry()
    const wallet = await authWallet({ keyResolver })
    const client = await remoteClient(keyResolver)
    const second = await withKey(client, 'second-key')
    const changed = await withKey(client, 'second-key')
    const { value: token } = (await issued(wallet, client)).body.access_token
    keyResolver.sets.set(SHOP, [client.key.jwk, second.key.jwk])
    expect(await tokenStatus(wallet, token, second)).toBe(200)
    keyResolver.sets.set(SHOP, [client.key.jwk, changed.key.jwk])
    expect(await tokenStatus(wallet, token, changed)).toBe(401)
    const reports = wallet.events.filter(({ type }) => type === 'key_substituted')
    expect(reports).toMatchObject([{ client: SHOP, keyId: 'second-key' }])
  })

  it.each(['the grant request', 'a later request'])(
    'KEY-10 T-6 is written down with the others that have signed %s, all at once',
    async (signed) => {
      const keyResolver = keyRegistry()
      const commits: number[] = []
      const storage = memoryStorage()
      const wallet = await authWallet({
        keyResolver,
        storage: {
          ...storage,
          commit: (changes) => {
            commits.push(changes.length)
            return storage.commit(changes)
          },
        },
      })
      const client = await remoteClient(keyResolver)
      const [second, third] = [await withKey(client, 'second-key'), await withKey(client, 'third-key')]
      keyResolver.sets.set(SHOP, [client.key.jwk, second.key.jwk, third.key.jwk])
      const signers = [client, second, third, second]
      const json = { client: SHOP, access_token: { access: [INCOMING] } }
      const askers = signed === 'the grant request' ? signers : [client]
      const { value: token } = (await sendSignedBy(wallet, 'POST', `${AUTH}/`, { json }, askers)).body.access_token
      commits.length = 0
      expect((await sendSignedBy(wallet, 'GET', LIST, { token }, signers)).status).toBe(200)
      expect(commits).toEqual(signed === 'the grant request' ? [] : [2])
      const kids = ['second-key', 'shop-key', 'third-key']
      expect(await pinnedBy(wallet)).toEqual([kids, kids])
      for (const { key } of [second, third]) {
        const changed = await withKey(client, key.keyId)
        keyResolver.sets.set(SHOP, [client.key.jwk, changed.key.jwk])
        expect(await tokenStatus(wallet, token, changed)).toBe(401)
        expect(wallet.events).toContainEqual(expect.objectContaining({ type: 'key_substituted', keyId: key.keyId }))
      }
    },
  )

  it('KEY-10 T-6 is accepted in one form only, where two arrive at the same time', async () => {
    const registry = keyRegistry()
    const wallets = await authWallet({ keyResolver: registry })
    const client = await remoteClient(registry)
    const { value: token } = (await issued(wallets, client)).body.access_token
    const forms = [await withKey(client, 'second-key'), await withKey(client, 'second-key')]
    // A hostile host answers each request with the form that it was signed with.
    const answer = async (form: Client): Promise<readonly [status: number, detail?: string | undefined]> => {
      const keyResolver: KeyResolver = {
        keySet: async () => ({ ok: true, keys: [form.key.jwk] }),
        publicName: async () => undefined,
      }
      const { storage, clock } = wallets
      const wallet = unchecked(await authWallet({ keyResolver, storage, clock }))
      const status = await tokenStatus(wallet, token, form)
      const event = wallet.events.at(-1)
      return [status, event?.type === 'request' ? event.detail : undefined]
    }
    expect((await Promise.all(forms.map(answer))).sort()).toEqual([
      [200, undefined],
      [401, 'Signature validation error: the grant is bound to another key'],
    ])
    expect(await pinnedBy(wallets)).toEqual([
      ['second-key', 'shop-key'],
      ['second-key', 'shop-key'],
    ])
  })

  it('KEY-10 leaves a grant among those that its owner can revoke', async () => {
    const keyResolver = keyRegistry()
    const wallet = await authWallet({ keyResolver })
    const client = await remoteClient(keyResolver)
    const second = await withKey(client, 'second-key')
    const pending = await wallet.ask({ ...POLLING_REQUEST, client: SHOP }, { as: client })
    await decideAs(wallet, pending)
    wallet.clock.advance(5_000)
    const { value: token } = (await resume(wallet, pending, undefined, { as: client })).body.access_token
    const [grant] = await wallet.openPayments.grants.list(ALICE)
    keyResolver.sets.set(SHOP, [client.key.jwk, second.key.jwk])
    expect((await wallet.send('GET', `${BASE}/outgoing-payment-grant`, { token, as: second })).status).toBe(200)
    expect(await wallet.openPayments.grants.list(ALICE)).toEqual([grant])
    expect(await wallet.openPayments.grants.revoke(ALICE, grant?.id ?? '')).toBe(true)
  })

  it.each<[string, unknown, number]>([
    ['that nobody continued', { ...POLLING_REQUEST, client: SHOP }, 600_000],
    ['that needed no consent', { client: SHOP, access_token: { access: [INCOMING] } }, 30 * 24 * 3600 * 1000 + 600_000],
  ])('KEY-10 TOK-5 GRT-17 lets a grant %s end when it would', async (_, request, milliseconds) => {
    const keyResolver = keyRegistry()
    const wallet = await authWallet({ keyResolver })
    const client = await remoteClient(keyResolver)
    const second = await withKey(client, 'second-key')
    const grant = await wallet.ask(request, { as: client })
    keyResolver.sets.set(SHOP, [client.key.jwk, second.key.jwk])
    // Refused, but with that key.
    expect((await resume(wallet, grant, undefined, { as: second })).status).toBeGreaterThan(399)
    expect((await pinnedBy(wallet))[0]).toEqual(['second-key', 'shop-key'])
    const ends = grant.body.access_token === undefined ? 1 : 2
    wallet.clock.advance(milliseconds - 1)
    expect(await wallet.openPayments.sweep()).toBe(0)
    wallet.clock.advance(1)
    expect(await wallet.openPayments.sweep()).toBe(ends)
  })

  it('KEY-10 lets what it is first used for, an order or a rotation, be committed without a conflict', async () => {
    const storage = memoryStorage()
    const outcomes: CommitResult[] = []
    const commit: Storage['commit'] = async (changes) => {
      const outcome = await storage.commit(changes)
      outcomes.push(outcome)
      return outcome
    }
    const wallet = await authWallet({ storage: { ...storage, commit } })
    const { payment } = await incomingPayment(wallet)
    const token = await spendingToken(wallet)
    const grant = await wallet.ask(PLAIN_REQUEST)
    const second = await withKey(wallet.client, 'second-key')
    const account = { account: 'bob', assetCode: 'USD', assetScale: 2 }
    wallet.directory.set(CLIENT, { ...account, keys: [wallet.client.key.jwk, second.key.jwk] })
    outcomes.length = 0
    const json = { walletAddress: ALICE, incomingPayment: payment.id, debitAmount: usd('5') }
    const ordered = await wallet.send('POST', `${BASE}/outgoing-payments`, { token, json, as: second })
    await wallet.openPayments.drain()
    const rotated = await rotate(wallet, grant, { as: second })
    expect([ordered.status, rotated.status]).toEqual([201, 200])
    expect(outcomes).toEqual(outcomes.map(() => 'committed'))
  })

  it('KEY-10 TOK-7 may repeat a rotation: the token that it writes is not the one that was presented', async () => {
    const keyResolver = keyRegistry()
    const wallet = await authWallet({ keyResolver })
    const client = await remoteClient(keyResolver)
    const second = await withKey(client, 'second-key')
    keyResolver.sets.set(SHOP, [client.key.jwk, second.key.jwk])
    const grant = await issued(wallet, client)
    const rotated = await rotate(wallet, grant, { as: client })
    expect((await rotate(wallet, grant, { as: second })).body.access_token.value).toBe(rotated.body.access_token.value)
  })

  it('KEY-10 is the hundredth at most', async () => {
    const keyResolver = keyRegistry()
    const wallet = await authWallet({ keyResolver })
    const client = await remoteClient(keyResolver)
    const { value: token } = (await issued(wallet, client)).body.access_token
    // One key under many names: what is counted is names.
    const named = (kid: string): Client => ({
      ...client,
      key: { ...client.key, keyId: kid, jwk: { ...client.key.jwk, kid } },
    })
    const use = (kid: string): Promise<number> => {
      keyResolver.sets.set(SHOP, [client.key.jwk, named(kid).key.jwk])
      return tokenStatus(wallet, token, named(kid))
    }
    for (let count = 2; count <= 100; count++) expect(await use(`key-${count}`)).toBe(200)
    expect(await use('key-101')).toBe(401)
    expect(wallet.events.at(-1)).toMatchObject({
      type: 'request',
      detail: 'Signature validation error: this grant has seen too many keys',
    })
    expect(await use('key-100')).toBe(200)
    expect(await tokenStatus(wallet, token, client)).toBe(200)
  })
})

describe('a client whose keys cannot be asked for', () => {
  it.each([
    { reason: 'unreachable', lone: [400, 503] },
    { reason: 'rate_limited', retryAfterSeconds: 7, lone: [429, 429] },
  ] as const)('SIG-5 KEY-12 is known by its key beside one that is $reason', async ({ lone, ...failure }) => {
    const registry = keyRegistry()
    const missed: string[] = []
    const keyResolver: KeyRegistry = {
      ...registry,
      keySet: async (walletAddress, unknownKid) => {
        if (unknownKid === undefined) return registry.keySet(walletAddress)
        missed.push(unknownKid)
        return { ok: false, ...failure }
      },
    }
    const wallet = await authWallet({ keyResolver })
    const client = await remoteClient(keyResolver)
    const other = await withKey(client, 'other-key')
    const forged = await withKey(client, client.key.keyId)
    const { value: token } = (await issued(wallet, client)).body.access_token
    const json = { client: SHOP, access_token: { access: [INCOMING] } }
    const statuses = async (...signers: readonly Client[]): Promise<readonly number[]> => {
      const granted = await sendSignedBy(wallet, 'POST', `${AUTH}/`, { json }, signers)
      return [granted.status, (await sendSignedBy(wallet, 'GET', LIST, { token }, signers)).status]
    }
    expect(await statuses(client)).toEqual([200, 200])
    expect(missed).toEqual([])
    expect(await statuses(client, other, other)).toEqual([200, 200])
    expect(await statuses(other, client)).toEqual([200, 200])
    // Once for each of these requests.
    expect(missed).toEqual(Array.from({ length: 4 }, () => 'other-key'))
    expect(await statuses(other)).toEqual(lone)
    // The one that cannot be judged may be right.
    expect((await statuses(forged, other))[1]).toBe(lone[1])
  })

  it('KEY-12 has none where what it publishes is no key set any more', async () => {
    const registry = keyRegistry()
    let isBroken = false
    const keyResolver: KeyRegistry = {
      ...registry,
      keySet: async (walletAddress) => (isBroken ? { ok: false, reason: 'invalid' } : registry.keySet(walletAddress)),
    }
    const wallet = await authWallet({ keyResolver })
    const client = await remoteClient(keyResolver)
    const grant = await issued(wallet, client)
    isBroken = true
    await wallet.expectRefusal(400, 'invalid_client', () => rotate(wallet, grant, { as: client }))
    expect(await tokenStatus(wallet, grant.body.access_token.value, client)).toBe(401)
    isBroken = false
    expect((await rotate(wallet, grant, { as: client })).status).toBe(200)
  })

  it('KEY-10 is answered with 503, which says nothing about its signature, and nothing changes', async () => {
    const keyResolver = keyRegistry()
    const wallet = await authWallet({ keyResolver })
    const client = await remoteClient(keyResolver)
    const grant = await issued(wallet, client)
    const before = await wallet.records()
    keyResolver.sets.delete(SHOP)
    expect(await tokenStatus(wallet, grant.body.access_token.value, client)).toBe(503)
    expect((await rotate(wallet, grant, { as: client })).status).toBe(503)
    expect(wallet.events.at(-1)).toMatchObject({
      detail: `the key set of ${SHOP} could not be fetched: no such client`,
    })
    expect(await wallet.records()).toEqual(before)
    keyResolver.sets.set(SHOP, [client.key.jwk])
    expect((await rotate(wallet, grant, { as: client })).status).toBe(200)
  })
})
