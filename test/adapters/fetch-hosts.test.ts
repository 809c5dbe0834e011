import { describe, expect, it } from 'vitest'
import { serveHandler as serveBun } from '../../adapters/bun.ts'
import { serveHandler as serveDeno } from '../../adapters/deno.ts'
import { invalidRequest } from '../../src/errors/conditions.ts'
import { fromFetchRequest, toFetchResponse } from '../../src/http/fetch-exchange.ts'
import { type FetchOptions, isConfigurationError } from '../../src/index.ts'
import { createEcho, EVERY_BYTE } from './echo.ts'

/** A body that is made while it is read; `cancelled` is called when nobody reads on. */
function streamOf(
  parts: Iterable<string | Error>,
  cancelled: () => void = () => undefined,
): ReadableStream<Uint8Array> {
  const iterator = parts[Symbol.iterator]()
  return new ReadableStream(
    {
      pull(controller) {
        const { value, done } = iterator.next()
        if (done) controller.close()
        else if (value instanceof Error) controller.error(value)
        else controller.enqueue(new TextEncoder().encode(value))
      },
      cancel: cancelled,
    },
    { highWaterMark: 0 },
  )
}

function post(body: BodyInit): Request {
  const init = { method: 'POST', body, duplex: 'half' }
  return new Request('https://wallet.example/op', init)
}

describe('a Fetch request', () => {
  it.each([
    ['https://wallet.example/op/a?b=%zz&c=/', '/op/a?b=%zz&c=/'],
    ['https://wallet.example:8443//op//a', '//op//a'],
    ['https://wallet.example', '/'],
    ['https://wallet.example?a=b', '/?a=b'],
    ['http://[::1]:3000/op', '/op'],
  ])('has of %s the target %s', (url, target) => {
    expect(fromFetchRequest(new Request(url)).target).toBe(target)
  })

  it.each([
    'wallet.example/op',
    'wallet.example/op?a=',
    'wallet.example#',
    'wallet.example\\op',
    'a@wallet.example/op',
  ])('SIG-29 has no target where the host made it of a Host of %s', (host) => {
    const request = new Request('http://wallet.example/op/account', { headers: { host } })
    expect(fromFetchRequest(request).target).toBe('')
  })

  it('has its method, and one line per field', () => {
    const headers = [
      ['Accept', 'a'],
      ['accept', 'b'],
    ] satisfies [string, string][]
    const request = fromFetchRequest(new Request('https://wallet.example/op', { method: 'delete', headers }))
    expect(request.method).toBe('DELETE')
    // Fetch itself leaves this one as it was written.
    expect(fromFetchRequest(new Request('https://wallet.example/op', { method: 'patch' })).method).toBe('PATCH')
    expect(request.headerLines('accept')).toEqual(['a, b'])
    expect(request.headerLines('authorization')).toEqual([])
  })

  it('DIG-1 keeps the bytes of its body', async () => {
    const bytes = new Uint8Array([123, 0, 255, 13, 10])
    expect(await fromFetchRequest(post(bytes)).bytes(5)).toEqual(bytes)
    expect(await fromFetchRequest(post(streamOf(['a', '', 'bc']))).bytes(5)).toEqual(new TextEncoder().encode('abc'))
    expect(await fromFetchRequest(new Request('https://wallet.example/op')).bytes(5)).toEqual(new Uint8Array())
  })

  it('EMB-1 does not have more than the limit of its body read', async () => {
    expect(await fromFetchRequest(post('123456')).bytes(5)).toBeUndefined()
    const whole = { method: 'POST', body: '12345', headers: { 'content-length': '5' } }
    expect(await fromFetchRequest(new Request('https://wallet.example/op', whole)).bytes(5)).toHaveLength(5)
    const parts = ['123', '456', 'not read']
    let cancelled = 0
    const stream = streamOf(
      (function* () {
        while (parts.length > 0) yield parts.shift() ?? ''
      })(),
      () => {
        cancelled += 1
      },
    )
    expect(await fromFetchRequest(post(stream)).bytes(5)).toBeUndefined()
    // Cancelled, its rest would be taken in by Deno.
    expect([parts, cancelled]).toEqual([['not read'], 0])
  })

  it('EMB-1 has nothing of its body read where that is announced as too large', async () => {
    let pulled = 0
    const pull = (): void => {
      pulled += 1
    }
    const body = new ReadableStream({ pull }, { highWaterMark: 0 })
    const announced = (length: number) => {
      const init = { method: 'POST', body, duplex: 'half', headers: { 'content-length': String(length) } }
      return fromFetchRequest(new Request('https://wallet.example/op', init)).bytes(5)
    }
    expect(await announced(6)).toBeUndefined()
    expect([pulled, body.locked]).toEqual([0, true])
  })

  it('is not taken for whole where its body breaks off', async () => {
    expect(await fromFetchRequest(post(streamOf(['123', new Error('connection reset')]))).bytes(5)).toBeUndefined()
  })

  it('DIG-7 fails loudly where its body was read before', async () => {
    const request = post('{}')
    await request.json()
    const reading = Promise.resolve(fromFetchRequest(request).bytes(5))
    const failure = await reading.catch((error: unknown) => error)
    expect(isConfigurationError(failure)).toBe(true)
  })

  it('is refused where its host finds out only at its body that it has no URL', () => {
    const late = new Request('https://wallet.example/op', { method: 'POST' })
    Object.defineProperty(late, 'body', {
      get() {
        throw new TypeError('Invalid URL')
      },
    })
    const request = fromFetchRequest(late)
    expect(() => request.bytes(5)).toThrow(invalidRequest('this request has no valid URL'))
  })
})

describe('a Fetch response', () => {
  it('has the status, the headers and the body', async () => {
    const answer = { status: 201, headers: { 'content-type': 'application/json' }, body: '{"a":"€"}' }
    const response = toFetchResponse(answer, 'GET')
    expect([response.status, response.headers.get('content-type')]).toEqual([201, 'application/json'])
    expect(await response.json()).toEqual({ a: '€' })
  })

  it('has the bytes of its body, also where they are a part of something', async () => {
    const body = EVERY_BYTE.subarray(3, 250)
    const headers = { 'content-type': 'application/octet-stream' }
    const response = toFetchResponse({ status: 200, headers, body }, 'GET')
    expect(response.headers.get('content-type')).toBe('application/octet-stream')
    expect(new Uint8Array(await response.arrayBuffer())).toEqual(body)
    // Fetch itself takes no memory that others may write to.
    const shared = new Uint8Array(new SharedArrayBuffer(body.length))
    shared.set(body)
    const copied = toFetchResponse({ status: 200, headers, body: shared }, 'GET')
    expect(new Uint8Array(await copied.arrayBuffer())).toEqual(body)
  })

  it.each(['HEAD', 'head'])('to %s has the length of the body in bytes, and not the body', (method) => {
    for (const body of ['€', new TextEncoder().encode('€')]) {
      const response = toFetchResponse({ status: 200, headers: {}, body }, method)
      expect([response.body, response.headers.get('content-length')]).toEqual([null, '3'])
    }
    const { body, headers } = toFetchResponse({ status: 303, headers: { location: '/login' } }, method)
    expect([body, ...headers]).toEqual([null, ['location', '/login']])
  })

  it.each([204, 205, 304])('may have no body, and with status %i has none', (status) => {
    expect(toFetchResponse({ status: 303, headers: {} }, 'GET').body).toBeNull()
    for (const body of [undefined, '', 'text', EVERY_BYTE]) {
      const response = toFetchResponse({ status, headers: { 'set-cookie': 'a=b' }, body }, 'GET')
      expect([response.status, response.body, response.headers.getSetCookie()]).toEqual([status, null, ['a=b']])
    }
  })
})

describe.each([
  ['Bun', serveBun],
  ['Deno', serveDeno],
])('a handler for %s', (_, serveHandler) => {
  const echo = createEcho()
  const openPayments = {
    owns: echo.owns,
    fetch: async (request: Request, options?: FetchOptions) =>
      toFetchResponse(await echo.handle(fromFetchRequest(request, options?.source)), request.method),
  }
  const own = () => new Response('own')

  it('answers everything', async () => {
    const response = await serveHandler(openPayments)(new Request('https://wallet.example/account?a=b'))
    expect(await response.json()).toMatchObject({ target: '/account?a=b' })
  })

  it('EMB-6 answers what is for Open Payments, and hands on the rest', async () => {
    const handler = serveHandler(openPayments, { next: own })
    expect(await (await handler(new Request('https://wallet.example/op?a=b'))).json()).toMatchObject({
      target: '/op?a=b',
    })
    expect(await (await handler(new Request('https://wallet.example/account?a=/op'))).text()).toBe('own')
  })

  it('T-37 has a source only where the host names one, of what it knows of the peer', async () => {
    const request = () => new Request('https://wallet.example/op', { headers: { 'x-forwarded-for': '198.51.100.7' } })
    expect(await (await serveHandler(openPayments, { next: own })(request())).json()).not.toHaveProperty('source')
    const peer = { address: '198.51.100.9' }
    const source = (_: Request, { address }: typeof peer) => address
    for (const options of [{ source }, { next: own, source }]) {
      const named = serveHandler(openPayments, options)
      expect(await (await named(request(), peer)).json()).toMatchObject({ source: '198.51.100.9' })
    }
  })

  it('answers where the directory of the wallet fails', async () => {
    const failing = { ...openPayments, owns: () => Promise.reject(new Error('directory down')) }
    const response = await serveHandler(failing, { next: own })(new Request('https://wallet.example/alice'))
    expect(await response.json()).toMatchObject({ target: '/alice' })
  })
})
