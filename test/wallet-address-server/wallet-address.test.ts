import type { WalletAddress } from 'open-payments-server'
import { createSigningKey } from 'open-payments-server/testing'
import { describe, expect, it, vi } from 'vitest'
import { noteParsed } from '../support/note-parsed.ts'
import { ALICE, AUTH, BASE, BOB, cryptography, grantAtOnce, testWallet } from '../support/test-wallet.ts'
import { get, request } from './unsigned-get.ts'

const DOCUMENT = {
  id: ALICE,
  publicName: 'Alice',
  assetCode: 'USD',
  assetScale: 2,
  authServer: AUTH,
  resourceServer: BASE,
}

const UNKNOWN = { error: { code: 'unknown_wallet_address', description: 'unknown wallet address' } }

describe('a wallet address that a query names', () => {
  it('T-36 is found behind 700 parameters that are not UTF-8, which no parser is given', async () => {
    const wallet = await testWallet()
    const given = noteParsed('URLSearchParams')
    try {
      const query = `${'=%FF&'.repeat(700)}wallet-address=${encodeURIComponent(ALICE)}`
      expect((await get(wallet, `${BASE}/wallet-address?${query}`)).body).toMatchObject({ id: ALICE })
      expect(given).toHaveLength(1)
      for (const query of given) expect(() => decodeURIComponent(query)).not.toThrow()
    } finally {
      vi.unstubAllGlobals()
    }
  })
})

describe('get-wallet-address', () => {
  it('WAS-1 WAS-9 answers the document to anyone, unsigned', async () => {
    const wallet = await testWallet()
    const answer = await get(wallet, ALICE)
    expect([answer.status, answer.body]).toEqual([200, DOCUMENT])
    expect(answer.headers['content-type']).toBe('application/json')
  })

  it('WAS-1 leaves publicName out where there is none, and shows nothing else of the directory', async () => {
    const wallet = await testWallet()
    const { publicName: _, ...rest } = DOCUMENT
    expect((await get(wallet, BOB)).body).toEqual({ ...rest, id: BOB })
    wallet.directory.set(ALICE, {
      account: 'the number of an account',
      assetCode: 'USD',
      assetScale: 2,
      isActive: true,
      ...{ email: 'alice@example.com' },
    })
    expect((await get(wallet, ALICE)).body).toEqual({ ...rest, id: ALICE })
  })

  it.each([0, 255])('AMT-2 publishes an asset scale of %d', async (assetScale) => {
    const wallet = await testWallet()
    wallet.directory.set(ALICE, { account: 'alice', assetCode: 'XAU', assetScale })
    expect((await get(wallet, ALICE)).body).toMatchObject({ assetCode: 'XAU', assetScale })
  })

  it.each([
    '/alice/',
    '/alice?',
    '/alice?x=1',
    '/alice/?wallet-address=https%3A%2F%2Fwallet.example%2Fbob',
    '/alice?%',
  ])('WAS-1 T-35 %s is the same document with the one id', async (target) => {
    const wallet = await testWallet()
    const answer = await wallet.sendRaw(request('GET', target))
    expect([answer.status, answer.body]).toEqual([200, DOCUMENT])
  })

  it.each([
    ['another case', '/Alice'],
    ['two slashes behind', '/alice//'],
    ['two slashes before', '//alice'],
    ['a dot segment', '/./alice'],
    ['a parent segment', '/bob/../alice'],
    ['an escaped letter', '/%61lice'],
    ['an escaped slash', '/bob%2F..%2Falice'],
    ['an escape that is none', '/alice%zz'],
    ['a longer path', '/alice/x'],
    ['a parameter', '/alice;x'],
    ['a backslash', '/bob\\..\\alice'],
    ['a space', '/alice%20'],
    ['an absolute target', 'https://wallet.example/alice'],
    ['a fragment', '/alice#x'],
    ['no path', ''],
    ['a name of objects', '/__proto__'],
    ['a name that is too long', `/${'a'.repeat(5000)}`],
  ])('WAS-2 T-40 %s is no wallet address', async (_, target) => {
    const wallet = await testWallet()
    expect((await wallet.sendRaw(request('GET', target))).status).toBe(404)
    expect((await wallet.sendRaw(request('GET', `${target}/jwks.json`))).status).toBe(404)
  })

  // The grant endpoint of the second one has the same path, at the root of a host of its own.
  it.each([`${BASE}/auth`, AUTH])(
    'WAS-2 a wallet address without a path is the one at /.well-known/pay, its keys included, beside %s',
    async (authServer) => {
      const wallet = await testWallet({ authServer })
      const id = `${BASE}/.well-known/pay`
      const addresses = ['/', '/?x=1', '/.well-known/pay', '/.well-known/pay/']
      const keySets = ['/jwks.json', '//jwks.json', '/.well-known/pay/jwks.json']
      for (const target of [...addresses, ...keySets]) {
        expect((await wallet.sendRaw(request('GET', target))).body).toEqual(UNKNOWN)
        // A host may have a page of its own there.
        expect(await wallet.openPayments.owns('GET', target)).toBe(false)
      }
      const { jwk } = await createSigningKey(cryptography, 'root-key')
      wallet.directory.set(id, { account: 'alice', assetCode: 'USD', assetScale: 2, keys: [jwk] })
      for (const target of [...addresses, ...keySets]) {
        const { body } = await wallet.sendRaw(request('GET', target))
        if (addresses.includes(target)) expect(body).toMatchObject({ id })
        else expect(body).toEqual({ keys: [jwk] })
        expect(await wallet.openPayments.owns('GET', target)).toBe(true)
      }
      expect((await wallet.sendRaw(request('PUT', '/'))).status).toBe(authServer === AUTH ? 405 : 404)
    },
  )

  it('WAS-1 a wallet address may have the path of the grant endpoint, which takes no GET', async () => {
    const wallet = await testWallet({ authServer: `${BASE}/auth` })
    expect((await get(wallet, `${BASE}/auth`)).body).toEqual(UNKNOWN)
    wallet.directory.set(`${BASE}/auth`, { account: 'alice', assetCode: 'USD', assetScale: 2 })
    expect((await get(wallet, `${BASE}/auth`)).body).toMatchObject({ id: `${BASE}/auth` })
    expect(await wallet.openPayments.owns('GET', '/auth')).toBe(true)
  })

  it('WAS-2 a name beyond ASCII has one spelling', async () => {
    const wallet = await testWallet()
    wallet.directory.set(`${BASE}/%C3%A9va`, { account: 'alice', assetCode: 'USD', assetScale: 2 })
    expect((await wallet.sendRaw(request('GET', '/%C3%A9va'))).body).toMatchObject({ id: `${BASE}/%C3%A9va` })
    for (const target of ['/%c3%a9va', '/éva', '/e%CC%81va']) {
      expect((await wallet.sendRaw(request('GET', target))).status).toBe(404)
    }
  })

  it.each([
    'incoming-payments',
    'outgoing-payments',
    'quotes',
    'jwks.json',
    'outgoing-payment-grant',
    'wallet-address',
    'continue',
    'token',
    'interact',
  ])('WAS-3 no wallet address has the segment %s, even where the directory knows it', async (segment) => {
    const wallet = await testWallet()
    for (const path of [`/${segment}`, `/alice/${segment}`, `/${segment}/alice`]) {
      wallet.directory.set(`${BASE}${path}`, {
        account: 'alice',
        assetCode: 'USD',
        assetScale: 2,
        publicName: 'Mallory',
      })
      const answers = [
        await get(wallet, `${BASE}${path}`),
        await get(wallet, `${BASE}${path}/jwks.json`),
        await get(wallet, `${BASE}/wallet-address?wallet-address=${encodeURIComponent(`${BASE}${path}`)}`),
      ]
      for (const { text } of answers) expect(text ?? '').not.toContain('Mallory')
      const grant = await grantAtOnce(wallet, [
        { type: 'incoming-payment', actions: ['create'], identifier: `${BASE}${path}` },
      ])
      expect(grant.status).toBe(400)
    }
  })

  it('WAS-4 D16 publishes the servers as configured, without a trailing slash', async () => {
    const wallet = await testWallet()
    const { text } = await get(wallet, ALICE)
    expect(text).toContain(`"authServer":"${AUTH}"`)
    expect(text).toContain(`"resourceServer":"${BASE}"`)
  })

  it('WAS-7 answers 404 for an address that is unknown and for one that is inactive, and the same', async () => {
    const wallet = await testWallet()
    wallet.directory.set(ALICE, { account: 'alice', assetCode: 'USD', assetScale: 2, isActive: false, keys: [] })
    for (const url of [ALICE, `${ALICE}/jwks.json`, `${BASE}/nobody`, `${BASE}/nobody/jwks.json`]) {
      const answer = await get(wallet, url)
      expect([answer.status, answer.body]).toEqual([404, UNKNOWN])
      expect(answer.headers['cache-control']).toBe('no-store')
    }
  })

  it('WAS-9 takes no notice of an Authorization, a signature or a Host', async () => {
    const wallet = await testWallet()
    const headers = {
      authorization: ['GNAP an-old-token'],
      signature: ['x'],
      'signature-input': ['y'],
      host: ['evil.example'],
      'x-forwarded-host': ['evil.example'],
      'x-forwarded-proto': ['http'],
    }
    for (const url of [ALICE, `${BASE}/client/jwks.json`]) {
      expect(await get(wallet, url, headers)).toEqual(await get(wallet, url))
    }
  })

  it('T-35 gives the same JSON whatever is accepted, and says that it might depend on that', async () => {
    const wallet = await testWallet()
    const html = await get(wallet, ALICE, { accept: ['text/html,application/xhtml+xml'] })
    const json = await get(wallet, ALICE, { accept: ['application/json'] })
    expect(html).toEqual(json)
    expect(json.headers['vary']).toBe('Accept')
  })

  it('answers GET alone', async () => {
    const wallet = await testWallet()
    for (const method of ['POST', 'PUT', 'DELETE', 'PATCH']) {
      expect((await wallet.sendRaw(request(method, '/alice'))).status).toBe(404)
      expect((await wallet.sendRaw(request(method, '/alice/jwks.json'))).status).toBe(405)
    }
  })

  it('a directory that fails is a fault, not an unknown address', async () => {
    const wallet = await testWallet({
      walletAddresses: {
        find: async () => {
          throw new Error('the directory is down')
        },
      },
    })
    expect((await get(wallet, ALICE)).status).toBe(503)
    expect((await get(wallet, `${ALICE}/jwks.json`)).status).toBe(503)
  })
})

describe('the names of the specification, under the resource server (D11)', () => {
  it('D11 answers the same documents for the wallet address in the query, however it is written', async () => {
    const wallet = await testWallet()
    for (const written of [ALICE, `${ALICE}/`, 'https://WALLET.example/alice']) {
      const query = `?wallet-address=${encodeURIComponent(written)}`
      expect((await get(wallet, `${BASE}/wallet-address${query}`)).body).toEqual(DOCUMENT)
      expect((await get(wallet, `${BASE}/wallet-address/keys${query}`)).body).toEqual({ keys: [] })
    }
    const keys = await get(wallet, `${BASE}/wallet-address/keys?wallet-address=${encodeURIComponent(`${BASE}/client`)}`)
    expect(keys.body.keys).toEqual([wallet.client.key.jwk])
  })

  it.each(['', '?', '?walletAddress=x', `?wallet-address=${ALICE}&wallet-address=${ALICE}`])(
    'D11 answers 400 to the query "%s"',
    async (query) => {
      const wallet = await testWallet()
      for (const path of ['/wallet-address', '/wallet-address/keys']) {
        const answer = await get(wallet, `${BASE}${path}${query}`)
        expect([answer.status, answer.body.error.code]).toEqual([400, 'invalid_request'])
      }
    },
  )

  it.each([
    '',
    'x',
    `${BASE}/nobody`,
    `${BASE}/alice?x`,
    'https://evil.example/alice',
    'https://wallet.example.evil.example/alice',
    'https://wallet.example@evil.example/alice',
    'http://wallet.example/alice',
    'http://169.254.169.254/latest/meta-data',
    'file:///etc/passwd',
  ])('D11 T-1 answers 404 for the wallet address "%s", and asks nobody for it', async (text) => {
    const asked: string[] = []
    const wallet = await testWallet({
      keyResolver: {
        keySet: async (url) => {
          asked.push(url)
          return { ok: false, reason: 'unreachable' }
        },
        publicName: async (url) => {
          asked.push(url)
          return undefined
        },
      },
    })
    for (const path of ['/wallet-address', '/wallet-address/keys']) {
      const answer = await get(wallet, `${BASE}${path}?wallet-address=${encodeURIComponent(text)}`)
      expect([answer.status, answer.body]).toEqual([404, UNKNOWN])
    }
    expect(asked).toEqual([])
  })
})

describe('caches and browsers', () => {
  it('WAS-5 an address may be held for long, keys only by who asks again before each use', async () => {
    const wallet = await testWallet()
    const [, seconds] =
      /^public, max-age=([0-9]+)$/.exec((await get(wallet, ALICE)).headers['cache-control'] ?? '') ?? []
    expect(Number(seconds)).toBeGreaterThanOrEqual(600)
    const query = `?wallet-address=${encodeURIComponent(ALICE)}`
    for (const url of [`${ALICE}/jwks.json`, `${BASE}/wallet-address/keys${query}`])
      expect((await get(wallet, url)).headers['cache-control']).toBe('no-cache')
  })

  it('WAS-5 a document is digested once while it stays the same and there are not too many', async () => {
    let digests = 0
    const sha256 = (data: Uint8Array) => {
      digests++
      return cryptography.sha256(data)
    }
    const wallet = await testWallet({ cryptography: { ...cryptography, sha256 } })
    const digestsOf = async (url: string): Promise<number> => {
      const before = digests
      expect((await get(wallet, url)).status).toBe(200)
      return digests - before
    }
    expect([await digestsOf(ALICE), await digestsOf(ALICE)]).toEqual([1, 0])
    wallet.directory.set(`${BASE}/long`, {
      account: 'x',
      assetCode: 'USD',
      assetScale: 2,
      publicName: 'x'.repeat(5000),
    })
    expect([await digestsOf(`${BASE}/long`), await digestsOf(`${BASE}/long`)]).toEqual([1, 1])
    const others = Array.from({ length: 1000 }, (_, index) => `${BASE}/${index + 1}`)
    for (const url of others) wallet.directory.set(url, { account: 'x', assetCode: 'USD', assetScale: 2 })
    await Promise.all(others.map((url) => get(wallet, url)))
    expect([await digestsOf(`${BASE}/1000`), await digestsOf(ALICE)]).toEqual([0, 1])
  })

  it('WAS-5 a document has a tag that changes with it, and is not sent again to who holds it', async () => {
    const wallet = await testWallet()
    for (const url of [`${BASE}/client`, `${BASE}/client/jwks.json`]) {
      const first = await get(wallet, url)
      const tag = first.headers['etag'] ?? ''
      expect(tag).toMatch(/^"[0-9a-f]{64}"$/)
      for (const held of [tag, `W/${tag}`, `"other", ${tag}`, '*']) {
        const again = await get(wallet, url, { 'if-none-match': [held] })
        expect([again.status, again.text]).toEqual([304, undefined])
        const { 'content-type': _, ...headers } = first.headers
        expect(again.headers).toEqual(headers)
      }
      for (const other of ['"other"', tag.slice(1, -1), 'W/"x"', '']) {
        expect(await get(wallet, url, { 'if-none-match': [other] })).toEqual(first)
      }
      wallet.directory.set(`${BASE}/client`, { account: 'bob', assetCode: 'USD', assetScale: 3 })
      const changed = await get(wallet, url, { 'if-none-match': [tag] })
      expect(changed.status).toBe(200)
      expect(changed.headers['etag']).not.toBe(tag)
      wallet.directory.set(`${BASE}/client`, {
        account: 'bob',
        assetCode: 'USD',
        assetScale: 2,
        keys: [wallet.client.key.jwk],
        publicName: 'A Shop',
      })
    }
  })
})

describe('where wallet addresses live on their own origin', () => {
  const settings = { resourceServer: 'https://api.example/op', walletAddressServer: 'https://pay.example' } as const

  it('WAS-1 serves them under that origin, with the resource server where it is', async () => {
    const directory = new Map<string, WalletAddress>([
      ['https://pay.example/alice', { account: 'alice', assetCode: 'USD', assetScale: 2 }],
    ])
    const wallet = await testWallet({ ...settings, walletAddresses: { find: async (url) => directory.get(url) } })
    const document = {
      id: 'https://pay.example/alice',
      assetCode: 'USD',
      assetScale: 2,
      authServer: AUTH,
      resourceServer: 'https://api.example/op',
    }
    expect((await wallet.sendRaw(request('GET', '/alice'))).body).toEqual(document)
    expect((await wallet.sendRaw(request('GET', '/alice/jwks.json'))).body).toEqual({ keys: [] })
    const query = '?wallet-address=https%3A%2F%2Fpay.example%2Falice'
    expect((await wallet.sendRaw(request('GET', `/op/wallet-address${query}`))).body).toEqual(document)
    for (const target of ['/op/alice', `/wallet-address${query}`, '/incoming-payments/x']) {
      expect((await wallet.sendRaw(request('GET', target))).status).toBe(404)
    }
  })
})
