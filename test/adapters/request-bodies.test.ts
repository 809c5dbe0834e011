import type { IncomingMessage } from 'node:http'
import { connect } from 'node:net'
import { describe, expect, it } from 'vitest'
import { toNodeListener } from '../../adapters/node.ts'
import { isConfigurationError } from '../../src/index.ts'
import { fakeClock } from '../support/fake-clock.ts'
import { testServers } from '../support/test-servers.ts'
import { BASE, testWallet } from '../support/test-wallet.ts'
import { ask, createEcho, ECHO_LIMIT, receive, send } from './echo.ts'

const { listen } = testServers()

const POST = 'POST /op HTTP/1.1\r\nHost: test\r\n'

/** An echo behind something that has a request first, and passes it on when it likes. */
function behind(first: (request: IncomingMessage, next: () => void) => void) {
  const echo = createEcho()
  const listener = toNodeListener(echo)
  return {
    echo,
    port: listen((request, response) => first(request, () => listener(request, response))),
  }
}

describe('a body that comes', () => {
  it.each([
    ['together with its head', (text: string) => [text], 0],
    ['later', (text: string) => [text.slice(0, -1), text.slice(-1)], 1],
  ])('%s has as many deadlines as it needs', async (_, cut, expected) => {
    const clock = fakeClock()
    let deadlines = 0
    const sleep: typeof clock.sleep = (milliseconds, signal) => {
      deadlines++
      return clock.sleep(milliseconds, signal)
    }
    const { openPayments } = await testWallet({ clock: { ...clock, sleep } })
    const port = await listen(toNodeListener(openPayments))
    const head = `POST /incoming-payments HTTP/1.1\r\nHost: ${new URL(BASE).host}\r\nConnection: close\r\n`
    const [first = '', rest] = cut(`${head}Content-Type: application/json\r\nContent-Length: 2\r\n\r\n{}`)
    const socket = send(port, first)
    if (rest !== undefined) {
      await expect.poll(() => deadlines).toBe(expected)
      socket.write(rest)
    }
    expect(await receive(socket)).toMatch(/^HTTP\/1\.1 401 /)
    expect(deadlines).toBe(expected)
  })
})

it('a request that was made without a connection has the header lines that its maker joined', async () => {
  const { port } = behind((request, next) => {
    // As from adapters for functions: they set `headers`, where a length is a number, and no raw lines.
    const headers = { ...request.headers, 'content-length': 2, authorization: 'GNAP a, GNAP b' }
    Object.assign(request, { headers, rawHeaders: [] })
    next()
  })
  const seen = await ask(await port, 'POST /op HTTP/1.1\r\nContent-Length: 2', '{}')
  expect(seen).toMatchObject({ body: '{}', authorization: ['GNAP a, GNAP b'], host: ['test'] })
})

describe('a body that something in front has touched', () => {
  it('DIG-7 is refused loudly, and ends no process, where it comes as text', async () => {
    const { echo, port } = behind((request, next) => {
      request.setEncoding('utf8')
      next()
    })
    expect(await ask(await port, 'POST /op HTTP/1.1\r\nContent-Length: 2', '{}')).toBe('fault')
    expect(echo.faults.map(isConfigurationError)).toEqual([true])
    expect(await ask(await port, 'GET /op HTTP/1.1')).toMatchObject({ body: '' })
  })

  it('DIG-1 is read where it was paused', async () => {
    const { port } = behind((request, next) => {
      request.pause()
      setImmediate(next)
    })
    expect(await ask(await port, 'POST /op HTTP/1.1\r\nContent-Length: 2', '{}')).toMatchObject({ body: '{}' })
  })

  it('DIG-1 is read whole where somebody else listens, too', async () => {
    let seen = ''
    const { port } = behind((request, next) => {
      request.on('data', (chunk) => {
        seen += chunk
      })
      next()
    })
    expect(await ask(await port, 'POST /op HTTP/1.1\r\nContent-Length: 2', '{}')).toMatchObject({ body: '{}' })
    expect(seen).toBe('{}')
  })

  it('DIG-7 is refused loudly where a part of it was read, though that part was kept', async () => {
    const { echo, port } = behind((request, next) => {
      request.once('data', (chunk) => {
        request.pause()
        Object.assign(request, { rawBody: chunk })
        next()
      })
    })
    const text = await receive(send(await port, `${POST}Content-Length: 4\r\n\r\n{"`))
    expect(text).toMatch(/^HTTP\/1\.1 500 [\s\S]*connection: close/i)
    expect(echo.faults.map(isConfigurationError)).toEqual([true])
  })

  it.each([
    ['a string', '{}'],
    ['an array', [123, 125]],
    ['an object with a length', { 0: 123, 1: 125, length: 2 }],
    ['nothing', undefined],
  ])('DIG-7 is never taken from a rawBody that is %s', async (_, rawBody) => {
    const { echo, port } = behind((request, next) => {
      Object.assign(request, { rawBody })
      request.on('end', next).resume()
    })
    expect(await ask(await port, 'POST /op HTTP/1.1\r\nContent-Length: 2', '{}')).toBe('fault')
    expect(echo.faults.map(isConfigurationError)).toEqual([true])
  })

  it.each([
    [ECHO_LIMIT, 'x'.repeat(ECHO_LIMIT)],
    [ECHO_LIMIT + 1, 'too large'],
  ])('EMB-1 is taken from a rawBody of the limit, and of no more: %i', async (length, expected) => {
    const { port } = behind((request, next) => {
      const rawBody = Buffer.alloc(length, 'x')
      Object.assign(request, { rawBody })
      request.on('end', next).resume()
    })
    const head = `POST /op HTTP/1.1\r\nContent-Length: ${length}`
    expect(await ask(await port, head, 'x'.repeat(length))).toMatchObject({ body: expected })
  })

  it('DIG-1 is read from the connection where a rawBody is there before it', async () => {
    const { port } = behind((request, next) => {
      Object.assign(request, { rawBody: Buffer.from('forged') })
      next()
    })
    expect(await ask(await port, 'POST /op HTTP/1.1\r\nContent-Length: 2', '{}')).toMatchObject({ body: '{}' })
  })
})

describe('what stands behind more lines than Node shows', () => {
  it.each([
    ['a second line', 'Authorization: GNAP b\r\n\r\n'],
    ['the length of a body', 'Content-Length: 2\r\n\r\n{}'],
  ])('SIG-32 DIG-8 hides nothing: %s', async (_, rest) => {
    const echo = createEcho()
    const handled: string[] = []
    const handle: typeof echo.handle = (request) => {
      handled.push(request.target)
      return echo.handle(request)
    }
    const port = await listen(toNodeListener({ ...echo, handle }))
    const request = (lines: number): string =>
      `GET /op/${lines} HTTP/1.1\r\nHost: test\r\nAuthorization: GNAP a\r\n${'a:\r\n'.repeat(lines - 3)}`
    for (const lines of [1000, 1001, 1050, 2100]) {
      const answer = await receive(send(port, request(lines) + rest))
      expect(answer).toMatch(/^HTTP\/1\.1 431 [\s\S]*connection: close/i)
      expect(answer).toMatch(/^cache-control: no-store\r$/im)
    }
    expect(await receive(send(port, `${request(999)}Connection: close\r\n\r\n`))).toMatch(/^HTTP\/1\.1 200 /)
    expect(handled).toEqual(['/op/999'])
  })
})

describe('the length of a body', () => {
  it('may be waited for with Expect: 100-continue', async () => {
    const port = await listen(toNodeListener(createEcho()))
    const socket = send(port, `${POST}Content-Length: 2\r\nExpect: 100-continue\r\nConnection: close\r\n\r\n`)
    socket.once('data', () => socket.write('{}'))
    const text = await receive(socket)
    expect(text).toMatch(/^HTTP\/1\.1 100 Continue\r\n\r\nHTTP\/1\.1 200 /)
    expect(text).toContain('"body":"{}"')
  })

  it('EMB-1 is refused where it is too large, though the client waits to be asked for it', async () => {
    const port = await listen(toNodeListener(createEcho()))
    const head = `${POST}Content-Length: ${ECHO_LIMIT + 1}\r\nExpect: 100-continue\r\n\r\n`
    expect(await receive(send(port, head))).toMatch(/HTTP\/1\.1 413 [\s\S]*connection: close/i)
  })

  it('is not taken on trust: a shorter body and the end of the connection are no body', async () => {
    const bodies: unknown[] = []
    const echo = createEcho()
    const answered = new Promise<void>((resolve) => {
      const port = listen(
        toNodeListener({
          ...echo,
          async handle(request) {
            const answer = await echo.handle(request)
            bodies.push(answer.status)
            resolve()
            return answer
          },
        }),
      )
      port.then((number) => {
        const socket = connect({ port: number, host: '127.0.0.1', allowHalfOpen: true })
        socket.on('error', () => undefined)
        socket.resume().end(`${POST}Content-Length: 10\r\n\r\n12345`)
      })
    })
    await answered
    expect(bodies).toEqual([413])
  })

  it.each([
    ['a length and chunks', 'Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n'],
    ['two lengths', 'Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}'],
    ['a negative length', 'Content-Length: -2\r\n\r\n{}'],
  ])('that could be read in two ways (%s) reaches nobody', async (_, rest) => {
    let reached = 0
    const echo = createEcho()
    const port = await listen(
      toNodeListener({
        ...echo,
        handle: (request) => {
          reached += 1
          return echo.handle(request)
        },
      }),
    )
    expect(await receive(send(port, POST + rest))).toMatch(/^HTTP\/1\.1 400 /)
    expect(reached).toBe(0)
  })

  it('makes the rest of a longer body a request of its own, which is none', async () => {
    const port = await listen(toNodeListener(createEcho()))
    const text = await receive(send(port, `${POST}Content-Length: 2\r\n\r\n{}{"more":1}`))
    expect(text).toMatch(/HTTP\/1\.1 400 Bad Request/)
    expect(text).not.toContain('more')
  })
})
