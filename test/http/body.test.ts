import type { HttpRequest } from 'open-payments-server'
import { alterRequest, type InMemoryRequest } from 'open-payments-server/testing'
import { describe, expect, it } from 'vitest'
import { authServerRoutes } from '../../src/auth-server/routes.ts'
import { parseJson } from '../../src/http/body.ts'
import { ANY_PATH } from '../../src/http/router.ts'
import { resourceServerRoutes } from '../../src/resource-server/routes.ts'
import { walletAddressServerRoutes } from '../../src/wallet-address-server/routes.ts'
import { authWallet, cancel, PLAIN_REQUEST, revoke, rotate } from '../auth-server/auth-wallet.ts'
import { NO_PAGE } from '../support/no-page.ts'
import { AUTH, BASE } from '../support/test-wallet.ts'
import { turn } from '../support/turns.ts'

const padded = (length: number): string => JSON.stringify(PLAIN_REQUEST).padEnd(length, ' ')

describe('the body of a request', () => {
  it('EMB-1 of 65536 bytes is taken, of one more refused with 413', async () => {
    const wallet = await authWallet()
    const refusal = await wallet.expectRefusal(413, 'invalid_request', () =>
      wallet.send('POST', AUTH, { body: padded(65_537) }),
    )
    expect(refusal.headers['connection']).toBe('close')
    expect((await wallet.send('POST', AUTH, { body: padded(65_536) })).status).toBe(200)
  })

  it('EMB-1 is limited by the setting, on every endpoint', async () => {
    const wallet = await authWallet({ settings: { limits: { bodyBytes: 1_000 } } })
    const body = padded(1_001)
    const paths = [AUTH, `${AUTH}/continue/x`, `${AUTH}/token/x`, `${BASE}/incoming-payments`, `${BASE}/quotes`]
    for (const url of paths) expect((await wallet.send('POST', url, { body })).status).toBe(413)
    expect((await wallet.send('POST', AUTH, { body: padded(1_000) })).status).toBe(200)
  })

  it('EMB-3 leaves nothing behind for the next where it is no text', () => {
    expect(() => parseJson(Uint8Array.of(0x22, 0xe2, 0x82))).toThrow('the body is not UTF-8')
    expect(parseJson(new TextEncoder().encode('"€"'))).toBe('€')
  })

  it.each([
    ['in it', '{"a":1,"a":1}'],
    ['in it, once with an escape', '{"a":1,"\\u0061":2}'],
    ['in an object of a list', '[{"b":{}},{"a":[],"a":{}}]'],
    ['beside others', '{"a":{"b":1,"c":":","b":[2]},"d":"\\":"}'],
    ['__proto__', '{"__proto__":1,"__proto__":2}'],
    ['the empty name', '{"":1,"":2}'],
    ['more often', '{"a":1,"a":1,"a":1}'],
    ['a member that is lost with the first', '{"a":{"b":{"c":1}},"a":2}'],
  ])('EMB-3 T-42 is refused where a member is named twice: %s', (_, body) => {
    expect(() => parseJson(new TextEncoder().encode(body))).toThrow('the body names a member twice')
  })

  it.each([
    '{"a":{"a":{"a":[{"a":1},{"a":1}]}},"b":"a"}',
    '{"__proto__":{"__proto__":1}}',
    '{"a:b":":","\\"":"\\\\","c":"{\\"a\\":1}"}',
    '[[],[],{},null,":"]',
    '":"',
  ])('EMB-3 is taken where each name occurs once in its object: %s', (body) => {
    expect(JSON.stringify(parseJson(new TextEncoder().encode(body)))).toBe(body)
  })

  it('EMB-1 SIG-34 is refused for its size before its signature is looked at', async () => {
    const wallet = await authWallet()
    const asked: number[] = []
    const request: HttpRequest = {
      method: 'POST',
      target: '/',
      headerLines: () => [],
      bytes: async (limit) => {
        asked.push(limit)
        return undefined
      },
    }
    expect((await wallet.sendRaw(request)).status).toBe(413)
    expect(asked).toEqual([65_536])
  })

  it.each([
    ['/', 'invalid_request'],
    ['/quotes', 'request_timeout'],
  ])('EMB-2 T-36 that does not arrive in time at %s is refused with 408 %s, not waited for', async (target, code) => {
    const wallet = await authWallet({ settings: { limits: { bodySeconds: 7 } } })
    const request: HttpRequest = {
      method: 'POST',
      target,
      headerLines: () => [],
      bytes: () => new Promise(() => undefined),
    }
    let answered = false
    const answer = wallet.sendRaw(request).finally(() => {
      answered = true
    })
    await turn()
    wallet.clock.advance(6_999)
    await turn()
    expect(answered).toBe(false)
    wallet.clock.advance(1)
    expect(await answer).toMatchObject({ status: 408, headers: { connection: 'close' }, body: { error: { code } } })
  })

  it('EMB-2 that breaks off is a fault of the connection, answered without detail', async () => {
    const wallet = await authWallet()
    const request: HttpRequest = {
      method: 'POST',
      target: '/',
      headerLines: () => [],
      bytes: () => Promise.reject(new Error('socket hang up')),
    }
    const answer = await wallet.sendRaw(request)
    expect(answer.status).toBe(500)
    expect(answer.text).not.toContain('socket')
  })

  it('EMB-3 is read once', async () => {
    const wallet = await authWallet()
    let reads = 0
    const alter = (request: InMemoryRequest): HttpRequest => ({
      ...request,
      bytes: (limit) => {
        reads++
        return request.bytes(limit)
      },
    })
    expect((await wallet.ask(PLAIN_REQUEST, { alter })).status).toBe(200)
    expect(reads).toBe(1)
  })

  it('EMB-3 may be nested 32 deep, not 33; brackets in strings do not count', async () => {
    const wallet = await authWallet()
    const nested = (depth: number): string =>
      JSON.stringify({ ...PLAIN_REQUEST, deep: 0, text: `${'[{'.repeat(40)}\\"${'['.repeat(40)}` }).replace(
        '"deep":0',
        `"deep":${'['.repeat(depth - 1)}${']'.repeat(depth - 1)}`,
      )
    expect((await wallet.send('POST', AUTH, { body: nested(32) })).status).toBe(200)
    await wallet.expectRefusal(400, 'invalid_request', () => wallet.send('POST', AUTH, { body: nested(33) }))
  })

  it.each(['gzip', 'br', 'deflate, gzip', 'x', ''])('DIG-6 encoded as "%s" is refused with 415', async (encoding) => {
    const wallet = await authWallet()
    const alter = (request: InMemoryRequest): InMemoryRequest =>
      alterRequest(request, { headers: { 'content-encoding': [encoding] } })
    const refusal = await wallet.expectRefusal(415, 'invalid_request', () => wallet.ask(PLAIN_REQUEST, { alter }))
    expect(refusal.body.error.description).toBe('a content encoding is not accepted')
  })

  it('DIG-6 may say that it is not encoded', async () => {
    const wallet = await authWallet()
    expect((await wallet.ask(PLAIN_REQUEST, { headers: { 'content-encoding': ' Identity ' } })).status).toBe(200)
    const alter = (request: InMemoryRequest): InMemoryRequest =>
      alterRequest(request, { headers: { 'content-encoding': ['identity', 'gzip'] } })
    await wallet.expectRefusal(415, 'invalid_request', () => wallet.ask(PLAIN_REQUEST, { alter }))
  })

  it('DIG-8 is refused on GET and DELETE', async () => {
    const wallet = await authWallet()
    const grant = await wallet.ask(PLAIN_REQUEST)
    const { value: token } = grant.body.access_token
    const refusal = await wallet.expectRefusal(400, 'invalid_request', () => revoke(wallet, grant, { json: {} }))
    expect(refusal.body.error.description).toBe('this request takes no body')
    await wallet.expectRefusal(400, 'invalid_request', () => cancel(wallet, grant, { json: {} }))
    await wallet.expectRefusal(400, 'invalid_request', () =>
      wallet.send('GET', `${BASE}/outgoing-payment-grant`, { token, json: {} }),
    )
    expect((await rotate(wallet, grant)).status).toBe(200)
  })

  it('DIG-8 is refused on every endpoint that is not a POST', async () => {
    const wallet = await authWallet()
    const routes = [
      ...authServerRoutes(NO_PAGE, wallet.openPayments.interactions),
      ...resourceServerRoutes(),
      ...walletAddressServerRoutes(),
    ]
    for (const { method, path, role } of routes) {
      if (method === 'POST') continue
      const target = path === ANY_PATH ? '/alice' : path.replace(/:\w+\+?/g, 'alice')
      const refusal = await wallet.expectRefusal(400, 'invalid_request', () =>
        wallet.send(method, `${role === 'auth-server' ? AUTH : BASE}${target}`, { json: {} }),
      )
      expect([method, path, refusal.body.error.description]).toEqual([method, path, 'this request takes no body'])
    }
  })

  it.each(['2', '2, 2', '+2'])(
    'DIG-8 is refused on GET by its length of %s, where a Fetch host does not show it',
    async (length) => {
      const wallet = await authWallet()
      const { value: token } = (await wallet.ask(PLAIN_REQUEST)).body.access_token
      const alter = (request: InMemoryRequest): HttpRequest => ({
        ...alterRequest(request, { headers: { 'content-length': [length] } }),
        bytes: async () => new Uint8Array(),
      })
      const refusal = await wallet.expectRefusal(400, 'invalid_request', () =>
        wallet.send('GET', `${BASE}/outgoing-payment-grant`, { token, json: {}, alter }),
      )
      expect(refusal.body.error.description).toBe('this request takes no body')
    },
  )

  it.each([
    ['no media type', []],
    ['another media type', ['text/json']],
    ['a media type that begins like JSON', ['application/jsonp']],
    ['an empty media type', ['']],
  ])('GRT-1 with %s is refused with 415', async (_name, lines) => {
    const wallet = await authWallet()
    const alter = (request: InMemoryRequest): InMemoryRequest =>
      alterRequest(request, { headers: { 'content-type': lines } })
    const refusal = await wallet.expectRefusal(415, 'invalid_request', () =>
      wallet.ask(PLAIN_REQUEST, { alter, components: ['@method', '@target-uri', 'content-digest'] }),
    )
    expect(refusal.body.error.description).toBe('the body must be application/json')
  })

  it.each(['application/json ; charset=utf-8', ' application/json', 'APPLICATION/JSON'])(
    'GRT-1 may be called "%s"',
    async (type) => {
      const wallet = await authWallet()
      const headers = { 'content-type': type }
      expect((await wallet.ask(PLAIN_REQUEST, { headers })).status).toBe(200)
    },
  )

  it('GRT-1 that is missing is refused with 400', async () => {
    const wallet = await authWallet()
    const refusal = await wallet.expectRefusal(400, 'invalid_request', () => wallet.send('POST', AUTH))
    expect(refusal.body.error.description).toBe('a JSON body is required')
  })

  it('EMB-2 leaves no timer behind', async () => {
    const wallet = await authWallet()
    const slept: AbortSignal[] = []
    const clock = {
      now: () => wallet.clock.now(),
      sleep: (milliseconds: number, signal?: AbortSignal) => {
        if (signal && milliseconds === 10_000) slept.push(signal)
        return wallet.clock.sleep(milliseconds, signal)
      },
    }
    const timed = await authWallet({ clock })
    const later = <T>(value: T): Promise<T> => new Promise((resolve) => setImmediate(() => resolve(value)))
    const ask = { alter: (request: InMemoryRequest) => ({ ...request, bytes: () => later(request.body) }) }
    expect((await timed.ask(PLAIN_REQUEST, ask)).status).toBe(200)
    await timed.sendRaw({ method: 'POST', target: '/', headerLines: () => [], bytes: () => later(undefined) })
    expect(slept.map(({ aborted }) => aborted)).toEqual([true, true])
    // A body that is there at once needs none.
    expect((await timed.ask(PLAIN_REQUEST)).status).toBe(200)
    expect(slept).toHaveLength(2)
  })
})
