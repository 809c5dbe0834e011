import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import { describe, expect, it } from 'vitest'
import { toNodeListener } from '../../adapters/node.ts'
import type { HttpResponse } from '../../src/index.ts'
import { gate } from '../support/gate.ts'
import { testServers } from '../support/test-servers.ts'
import { ask, closing, createEcho, ECHO_LIMIT, EVERY_BYTE, receive, send } from './echo.ts'

const { listen } = testServers()

/** Reads until a text has arrived. */
async function receiveUntil(socket: Socket, end: string): Promise<string> {
  let text = ''
  while (!text.endsWith(end)) text += String((await once(socket, 'data'))[0])
  return text
}

/** A server that answers everything alike, without reading bodies. */
function answering(response: HttpResponse) {
  return { owns: async () => true, handle: async () => response }
}

describe('a request of node:http', () => {
  it.each([
    '/op/%2e%2e/%2E/a',
    '/op/../a/./b',
    '//op//a',
    '/op/a?b=%zz&&c=+%20?d',
    '/op/%e2%82%ac',
    '/op;a=b/@:!$',
    'http://other.example/op',
    '/op\\a',
  ])('SIG-30 keeps its raw target %s', async (target) => {
    const port = await listen(toNodeListener(createEcho()))
    expect(await ask(port, `GET ${target} HTTP/1.1`)).toMatchObject({ method: 'GET', target })
  })

  it('T-37 has a source only where the host names one', async () => {
    const anonymous = await listen(toNodeListener(createEcho()))
    expect(await ask(anonymous, 'GET /op HTTP/1.1\r\nX-Forwarded-For: 198.51.100.7')).not.toHaveProperty('source')
    const named = toNodeListener(createEcho(), { source: (request) => request.socket.remoteAddress })
    expect(await ask(await listen(named), 'GET /op HTTP/1.1')).toMatchObject({ source: '127.0.0.1' })
  })

  it('T-37 is dropped, and no other, where the host fails to name its source', async () => {
    const source = (request: IncomingMessage): string => {
      if (request.url === '/op/broken') throw new Error('no address')
      return '198.51.100.7'
    }
    const told: unknown[] = []
    const listener = toNodeListener(createEcho(), { source })
    const port = await listen((request, response) => {
      request.socket.on('error', (error) => told.push(error.message))
      listener(request, response)
    })
    expect(await receive(send(port, 'GET /op/broken HTTP/1.1\r\nHost: test\r\n\r\n'))).toBe('')
    expect(told).toEqual(['no address'])
    expect(await ask(port, 'GET /op HTTP/1.1')).toMatchObject({ source: '198.51.100.7' })
  })

  it('SIG-32 keeps every line of a field', async () => {
    const port = await listen(toNodeListener(createEcho()))
    const seen = await ask(port, 'GET /op HTTP/1.1\r\nAuthorization: GNAP a\r\nAUTHORIZATION: GNAP b\r\nHost: first')
    expect(seen.authorization).toEqual(['GNAP a', 'GNAP b'])
    expect(seen.host).toEqual(['first', 'test'])
    const cookies = await listen(
      toNodeListener({
        owns: async () => true,
        handle: async (request) => ({ status: 200, headers: {}, body: JSON.stringify(request.headerLines('cookie')) }),
      }),
    )
    // Only HTTP/2 may take one line apart.
    expect(await ask(cookies, 'GET /op HTTP/1.1\r\nCookie: a=1\r\nCookie: b=2')).toEqual(['a=1', 'b=2'])
  })

  it('DIG-1 keeps the bytes of its body, with a length and in chunks', async () => {
    const port = await listen(toNodeListener(createEcho()))
    const body = '{ "a":1.0,\r\n"b":"\xe9\xff" }'
    expect(await ask(port, `POST /op HTTP/1.1\r\nContent-Length: ${body.length}`, body)).toMatchObject({ body })
    const chunked = `7\r\n${body.slice(0, 7)}\r\n${(body.length - 7).toString(16)}\r\n${body.slice(7)}\r\n0\r\n\r\n`
    expect(await ask(port, 'POST /op HTTP/1.1\r\nTransfer-Encoding: chunked', chunked)).toMatchObject({ body })
  })

  it('EMB-1 may have a body of the limit', async () => {
    const port = await listen(toNodeListener(createEcho()))
    const body = 'x'.repeat(ECHO_LIMIT)
    expect(await ask(port, `POST /op HTTP/1.1\r\nContent-Length: ${ECHO_LIMIT}`, body)).toMatchObject({ body })
  })

  it('EMB-1 is answered and closed at a larger length, before a byte of it came', async () => {
    const port = await listen(toNodeListener(createEcho()))
    const head = `POST /op HTTP/1.1\r\nHost: test\r\nContent-Length: ${ECHO_LIMIT + 1}\r\n\r\n`
    const text = await receive(send(port, head))
    expect(text).toMatch(/^HTTP\/1\.1 413 [\s\S]*connection: close/i)
    expect(text).toContain('"body":"too large"')
  })

  it('EMB-1 is answered and closed at a larger body in chunks that has not ended', async () => {
    const port = await listen(toNodeListener(createEcho()))
    const head = 'POST /op HTTP/1.1\r\nHost: test\r\nTransfer-Encoding: chunked\r\n\r\n'
    const text = await receive(send(port, `${head}3e9\r\n${'x'.repeat(ECHO_LIMIT + 1)}\r\n`))
    expect(text).toMatch(/^HTTP\/1\.1 413 [\s\S]*connection: close/i)
  })

  it('EMB-1 does not have its endless body read to the end', async () => {
    const port = await listen(toNodeListener(createEcho()))
    const socket = send(port, 'POST /op HTTP/1.1\r\nHost: test\r\nTransfer-Encoding: chunked\r\n\r\n')
    const chunk = `10000\r\n${'x'.repeat(0x10000)}\r\n`
    const writeMore = (error?: Error | null): void => {
      if (error == null && !socket.destroyed) socket.write(chunk, writeMore)
    }
    writeMore()
    socket.resume()
    await closing(socket)
    expect(await ask(port, 'GET /op HTTP/1.1')).toMatchObject({ body: '' })
  })

  it('is not taken for whole where its connection ends within the body', async () => {
    const echo = createEcho()
    let answered = (_: HttpResponse): void => undefined
    const answer = new Promise<HttpResponse>((resolve) => {
      answered = resolve
    })
    const { open: reading, opened: isReading } = gate()
    const port = await listen(
      toNodeListener({
        ...echo,
        async handle(request) {
          const response = echo.handle(request)
          reading()
          answered(await response)
          return response
        },
      }),
    )
    const socket = send(port, 'POST /op HTTP/1.1\r\nHost: test\r\nContent-Length: 10\r\n\r\n12345')
    await isReading
    socket.destroy()
    expect((await answer).body).toContain('"body":"too large"')
    expect(await ask(port, 'GET /op HTTP/1.1')).toMatchObject({ body: '' })
  })

  it('is not waited for where its connection ended before its body was asked for', async () => {
    const echo = createEcho()
    const socket = { current: undefined as Socket | undefined }
    let answered = (_: HttpResponse): void => undefined
    const answer = new Promise<HttpResponse>((resolve) => {
      answered = resolve
    })
    const port = await listen((request, response) => {
      const listener = toNodeListener({
        ...echo,
        async handle(exchange) {
          socket.current?.destroy()
          await closing(request.socket)
          const result = await echo.handle(exchange)
          answered(result)
          return result
        },
      })
      listener(request, response)
    })
    socket.current = send(port, 'POST /op HTTP/1.1\r\nHost: test\r\nContent-Length: 10\r\n\r\n12345')
    expect((await answer).body).toContain('"body":"too large"')
  })
})

describe('a response on node:http', () => {
  it('keeps the connection for the next request', async () => {
    const port = await listen(toNodeListener(createEcho()))
    const socket = send(port, 'POST /op/1 HTTP/1.1\r\nHost: test\r\nContent-Length: 2\r\n\r\n{}')
    expect(await receiveUntil(socket, '}')).toMatch(/connection: keep-alive[\s\S]*"target":"\/op\/1"/i)
    socket.write('GET /op/2 HTTP/1.1\r\nHost: test\r\n\r\n')
    expect(await receiveUntil(socket, '}')).toContain('"target":"/op/2"')
    socket.destroy()
  })

  it('closes the connection where the rest of a body is left', async () => {
    const port = await listen(toNodeListener(answering({ status: 404, headers: {}, body: 'no' })))
    const text = await receive(send(port, 'POST /op HTTP/1.1\r\nHost: test\r\nContent-Length: 10\r\n\r\n12345'))
    expect(text).toMatch(/^HTTP\/1\.1 404 [\s\S]*connection: close[\s\S]*no$/i)
  })

  it('has the length of its bytes', async () => {
    const port = await listen(toNodeListener(answering({ status: 200, headers: { 'x-a': 'b' }, body: '€' })))
    const response = await fetch(`http://127.0.0.1:${port}/op`)
    expect(response.headers.get('content-length')).toBe('3')
    expect(response.headers.get('x-a')).toBe('b')
    expect(await response.text()).toBe('€')
  })

  it('has the bytes of its body, also where they are a part of something', async () => {
    const body = EVERY_BYTE.subarray(3, 250)
    const port = await listen(toNodeListener(answering({ status: 200, headers: {}, body })))
    const response = await fetch(`http://127.0.0.1:${port}/op`)
    expect(response.headers.get('content-length')).toBe('247')
    expect(new Uint8Array(await response.arrayBuffer())).toEqual(body)
  })

  it('has no body for HEAD, and the length that GET has', async () => {
    const port = await listen(toNodeListener(answering({ status: 200, headers: {}, body: 'four' })))
    const text = await receive(send(port, 'HEAD /op HTTP/1.1\r\nHost: test\r\nConnection: close\r\n\r\n'))
    expect(text).toMatch(/content-length: 4\r\n/i)
    expect(text.endsWith('\r\n\r\n')).toBe(true)
  })

  it.each([
    ['HEAD', 200],
    ['GET', 204],
    ['GET', 304],
  ])('has no body for %s with status %i, where the server takes none either', async (method, status) => {
    const listener = toNodeListener(answering({ status, headers: {}, body: 'four' }))
    const port = await listen(listener, { rejectNonStandardBodyWrites: true })
    const text = await receive(send(port, `${method} /op HTTP/1.1\r\nHost: test\r\nConnection: close\r\n\r\n`))
    expect(text).toMatch(new RegExp(`^HTTP/1\\.1 ${status} [\\s\\S]*\r\n\r\n$`))
    const unread = `${method} /op HTTP/1.1\r\nHost: test\r\nContent-Length: 3\r\n\r\nabc`
    expect(await receive(send(port, unread))).toMatch(new RegExp(`^HTTP/1\\.1 ${status} [\\s\\S]*\r\n\r\n$`))
  })

  it.each([
    [204, undefined],
    [303, '0'],
    // It would be the length that the document has.
    [304, undefined],
  ])('without a body says so, status %i', async (status, length) => {
    const port = await listen(toNodeListener(answering({ status, headers: {} })))
    const text = await receive(send(port, 'GET /op HTTP/1.1\r\nHost: test\r\nConnection: close\r\n\r\n'))
    expect(/content-length: (\d+)/i.exec(text)?.[1]).toBe(length)
    expect(text).not.toMatch(/transfer-encoding/i)
  })

  it('that nobody waits for any more harms nothing', async () => {
    const socket = { current: undefined as Socket | undefined }
    const port = await listen((request, response) => {
      if (request.url === '/op/2') {
        toNodeListener(createEcho())(request, response)
        return
      }
      const listener = toNodeListener({
        owns: async () => true,
        async handle() {
          socket.current?.destroy()
          await closing(request.socket)
          return { status: 200, headers: {}, body: 'late' }
        },
      })
      listener(request, response)
    })
    socket.current = send(port, 'GET /op HTTP/1.1\r\nHost: test\r\n\r\n')
    await closing(socket.current)
    expect(await ask(port, 'GET /op/2 HTTP/1.1')).toMatchObject({ target: '/op/2' })
  })

  it('is not written where the host has answered meanwhile', async () => {
    const port = await listen((request, response) => {
      const listener = toNodeListener({
        owns: async () => true,
        async handle() {
          response.end('too slow for this host')
          return { status: 200, headers: {}, body: 'late' }
        },
      })
      listener(request, response)
    })
    const socket = send(port, '')
    for (const _ of ['first', 'second']) {
      socket.write('GET /op HTTP/1.1\r\nHost: test\r\n\r\n')
      expect(await receiveUntil(socket, 'too slow for this host')).toMatch(/^HTTP\/1\.1 200 /)
    }
    socket.destroy()
  })

  it('that cannot be written closes the connection and harms no other', async () => {
    const broken = answering({ status: 200, headers: { 'x-a': 'line\r\nbreak' }, body: 'no' })
    const port = await listen((request, response) => {
      toNodeListener(request.url === '/op/2' ? createEcho() : broken)(request, response)
    })
    expect(await receive(send(port, 'GET /op HTTP/1.1\r\nHost: test\r\n\r\n'))).not.toContain('break')
    expect(await ask(port, 'GET /op/2 HTTP/1.1')).toMatchObject({ target: '/op/2' })
  })
})

describe('a listener with routes of its own', () => {
  it('EMB-6 answers what is for Open Payments, and hands on the rest', async () => {
    const port = await listen(toNodeListener(createEcho(), { next: (_, response) => response.end('{"own":true}') }))
    expect(await ask(port, 'GET /op/a HTTP/1.1')).toMatchObject({ target: '/op/a' })
    expect(await ask(port, 'GET /account HTTP/1.1')).toEqual({ own: true })
  })

  it('EMB-6 hands on a body unread', async () => {
    const port = await listen(
      toNodeListener(createEcho(), {
        next: (request, response) => request.pipe(response),
      }),
    )
    const text = '{"own":true}'
    const head = `POST /account HTTP/1.1\r\nContent-Length: ${text.length}`
    expect(await receive(send(port, `${head}\r\nHost: test\r\nConnection: close\r\n\r\n${text}`))).toContain(text)
  })

  it('answers where the directory of the wallet fails', async () => {
    const echo = { ...createEcho(), owns: () => Promise.reject(new Error('directory down')) }
    const port = await listen(toNodeListener(echo, { next: (_, response) => response.end('{"own":true}') }))
    expect(await ask(port, 'GET /alice HTTP/1.1')).toMatchObject({ target: '/alice' })
  })
})
