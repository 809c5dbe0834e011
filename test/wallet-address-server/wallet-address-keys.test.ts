import type { Cryptography, WalletAddress } from 'open-payments-server'
import { createSigningKey } from 'open-payments-server/testing'
import { describe, expect, it } from 'vitest'
import { derivedServerKeys } from '../../src/http-signatures/server-keys.ts'
import { derivedSecrets } from '../../src/runtime/derived-secrets.ts'
import { ALICE, BASE, cryptography, grantAtOnce, SECRET, type TestWallet, testWallet } from '../support/test-wallet.ts'
import { get } from './unsigned-get.ts'

async function walletWithKeys(keys: readonly unknown[]): Promise<TestWallet> {
  const wallet = await testWallet()
  wallet.directory.set(ALICE, {
    account: 'alice',
    assetCode: 'USD',
    assetScale: 2,
    keys: keys as NonNullable<WalletAddress['keys']>,
  })
  return wallet
}

describe('get-wallet-address-keys', () => {
  it('KEY-1 publishes the keys with the members of the specification', async () => {
    const wallet = await testWallet()
    const answer = await get(wallet, `${BASE}/client/jwks.json`)
    const { kid, x } = wallet.client.key.jwk
    expect(answer.body).toEqual({ keys: [{ kid, alg: 'EdDSA', kty: 'OKP', crv: 'Ed25519', x }] })
  })

  it('answers an empty set for an account without keys', async () => {
    expect((await get(await testWallet(), `${ALICE}/jwks.json`)).body).toEqual({ keys: [] })
  })

  it.each(['//jwks.json', '/jwks.json/', '/jwks.json//', '/jwks.json?x=1'])(
    'is found at the address and %s as well',
    async (suffix) => {
      const wallet = await testWallet()
      const answer = await get(wallet, `${BASE}/client${suffix}`)
      expect(answer.body.keys).toEqual([wallet.client.key.jwk])
      expect(await wallet.openPayments.owns('GET', `/client${suffix}`)).toBe(true)
    },
  )

  it('WAS-10 publishes no member that the specification does not name', async () => {
    const { jwk } = await createSigningKey(cryptography, 'alice-key')
    const wallet = await walletWithKeys([{ ...jwk, use: 'sig', k: 'secret', note: 'secret', key_ops: ['verify'] }])
    const answer = await get(wallet, `${ALICE}/jwks.json`)
    expect(answer.body.keys).toEqual([{ ...jwk, use: 'sig' }])
    expect(answer.text).not.toContain('secret')
  })

  it('WAS-10 KEY-4 publishes nothing of a key with its private part, and tells the host', async () => {
    const { jwk } = await createSigningKey(cryptography, 'alice-key')
    const wallet = await walletWithKeys([{ ...jwk, d: 'the private part' }])
    const answer = await get(wallet, `${ALICE}/jwks.json`)
    expect([answer.status, answer.text]).toEqual([200, '{"keys":[]}'])
    const reason = 'a public key must not carry its private part'
    const message = `walletAddresses.find('${ALICE}') gave keys that cannot be used: ${reason}`
    const faults = wallet.events.filter(({ type }) => type === 'fault')
    expect(faults).toMatchObject([{ message, cause: { message } }])
    expect(JSON.stringify(faults)).not.toContain('the private part')
  })

  it('WAS-10 publishes the sound keys beside those that nobody can use, which are a fault', async () => {
    const { jwk } = await createSigningKey(cryptography, 'alice-key')
    const wallet = await walletWithKeys([null, { ...jwk, kid: 'another', alg: 'ES256' }, jwk, { kid: 'nothing else' }])
    const query = `?wallet-address=${encodeURIComponent(ALICE)}`
    for (const url of [`${ALICE}/jwks.json`, `${BASE}/wallet-address/keys${query}`]) {
      const answer = await get(wallet, url)
      expect([answer.status, answer.body]).toEqual([200, { keys: [jwk] }])
      const faults = wallet.events.splice(0).flatMap((event) => (event.type === 'fault' ? [event.message] : []))
      expect(faults).toEqual([
        `walletAddresses.find('${ALICE}') gave keys that cannot be used: a key needs kid, kty, crv and x; alg must be EdDSA`,
      ])
    }
  })

  it('KEY-7 publishes neither of two keys with one kid, and tells the host of them, and of more keys than others accept', async () => {
    const { jwk } = await createSigningKey(cryptography, 'alice-key')
    const other = { ...jwk, kid: 'another' }
    const walletOf = async (keys: readonly unknown[]): Promise<readonly [unknown, unknown]> => {
      const wallet = await walletWithKeys(keys)
      const { body } = await get(wallet, `${ALICE}/jwks.json`)
      return [body.keys, wallet.events.flatMap((event) => (event.type === 'fault' ? [event.message] : []))]
    }
    const gave = `walletAddresses.find('${ALICE}') gave`
    const twin = `${gave} keys that cannot be used: another key has the same kid`
    expect(await walletOf([jwk, other, jwk])).toEqual([[other], [twin]])
    const many = Array.from({ length: 21 }, (_, index) => ({ ...jwk, kid: `key-${index}` }))
    expect(await walletOf(many.slice(1))).toEqual([many.slice(1), []])
    expect(await walletOf(many)).toEqual([
      many,
      [`${gave} keys that cannot be used: of 21 keys none is used: there may be 20`],
    ])
  })

  it('KEY-1 publishes EdDSA for the same algorithm by its newer name, which WebCrypto writes', async () => {
    const { publicKey } = await crypto.subtle.generateKey('Ed25519', true, ['sign', 'verify'])
    const exported = await crypto.subtle.exportKey('jwk', publicKey)
    const { x } = exported
    const wallet = await walletWithKeys([{ ...exported, kid: 'alice-key', alg: 'Ed25519' }])
    const { keys } = (await get(wallet, `${ALICE}/jwks.json`)).body
    expect(keys).toEqual([{ kid: 'alice-key', alg: 'EdDSA', kty: 'OKP', crv: 'Ed25519', x }])
    expect(wallet.events.filter(({ type }) => type === 'fault')).toEqual([])
  })

  it('KEY-1 adds the alg that the published document requires', async () => {
    const { jwk } = await createSigningKey(cryptography, 'alice-key')
    const { alg: _, ...withoutAlg } = jwk
    const wallet = await walletWithKeys([withoutAlg])
    expect((await get(wallet, `${ALICE}/jwks.json`)).body.keys).toEqual([jwk])
  })

  it('shows a key that was removed no longer than its answer may be held', async () => {
    const wallet = await testWallet()
    const url = `${BASE}/client/jwks.json`
    expect((await get(wallet, url)).body.keys).toHaveLength(1)
    wallet.directory.set(`${BASE}/client`, { account: 'bob', assetCode: 'USD', assetScale: 2 })
    expect((await get(wallet, url)).body.keys).toEqual([])
  })
})

describe('the key set of the wallet address by which this server is a client of others', () => {
  const secrets = [SECRET, 'an older secret, which is still configured']
  const policies = { clientWalletAddress: `${BASE}/client` }

  it('WAS-10 KEY-1 holds the keys of all secrets beside those of the wallet, and no other key set does', async () => {
    const wallet = await testWallet({ secrets, settings: { policies } })
    const ours = await derivedServerKeys(derivedSecrets(secrets, cryptography), cryptography).publicKeys()
    expect(ours).toHaveLength(2)
    const query = `?wallet-address=${encodeURIComponent(policies.clientWalletAddress)}`
    for (const url of [`${BASE}/client/jwks.json`, `${BASE}/wallet-address/keys${query}`]) {
      const answer = await get(wallet, url)
      expect(answer.body.keys).toEqual([wallet.client.key.jwk, ...ours])
      expect(answer.text).not.toContain('"d"')
    }
    expect((await get(wallet, `${ALICE}/jwks.json`)).body.keys).toEqual([])
  })

  it('WAS-10 KEY-7 holds its own keys once, also if the directory has a copy of one', async () => {
    const wallet = await testWallet({ secrets, settings: { policies } })
    const ours = await derivedServerKeys(derivedSecrets(secrets, cryptography), cryptography).publicKeys()
    const found = wallet.directory.get(`${BASE}/client`)
    if (found === undefined) throw new Error('no such account')
    wallet.directory.set(`${BASE}/client`, { ...found, keys: [...ours.slice(0, 1), wallet.client.key.jwk] })
    const { body } = await get(wallet, `${BASE}/client/jwks.json`)
    expect(body.keys).toEqual([wallet.client.key.jwk, ...ours])
    expect(wallet.events.filter(({ type }) => type === 'fault')).toEqual([])
  })

  it('WAS-10 is derived once, however often it is asked for', async () => {
    let derived = 0
    const ed25519PublicKey: Cryptography['ed25519PublicKey'] = (seed) => {
      derived++
      return cryptography.ed25519PublicKey(seed)
    }
    const wallet = await testWallet({
      secrets,
      settings: { policies },
      cryptography: { ...cryptography, ed25519PublicKey },
    })
    const url = `${BASE}/client/jwks.json`
    const first = await get(wallet, url)
    expect((await get(wallet, url)).body).toEqual(first.body)
    expect(derived).toBe(secrets.length)
  })

  it('holds those of the wallet alone where there is no such policy', async () => {
    const wallet = await testWallet({ secrets })
    expect((await get(wallet, `${BASE}/client/jwks.json`)).body.keys).toEqual([wallet.client.key.jwk])
  })

  it.each([`${BASE}/client`, ALICE])('KEY-6 is what this server itself believes, of %s', async (client) => {
    const wallet = await testWallet({ secrets, settings: { policies } })
    const ours = derivedSecrets(secrets, cryptography)
    const key = await derivedServerKeys(ours, cryptography).current()
    const access = [{ type: 'incoming-payment', actions: ['read-all'] }]
    const answer = await grantAtOnce(wallet, access, { key, client })
    expect(answer.status).toBe(client === ALICE ? 400 : 200)
  })
})
