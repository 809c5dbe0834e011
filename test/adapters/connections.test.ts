import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { toNodeListener } from '../../adapters/node.ts'
import type { HttpRequest, HttpResponse } from '../../src/index.ts'
import { gate } from '../support/gate.ts'
import { testServers } from '../support/test-servers.ts'
import { turn } from '../support/turns.ts'
import { createEcho, ECHO_LIMIT, receive, send } from './echo.ts'

const { listen } = testServers()

/** Reads until a text has arrived. */
async function receiveUntil(socket: Socket, end: string): Promise<string> {
  let text = ''
  while (!text.includes(end)) text += String((await once(socket, 'data'))[0])
  return text
}

/** Waits until a count has begun and has not changed for fifty turns. */
async function untilStill(count: () => number): Promise<void> {
  for (let still = 0, before = -1; still < 50; still = count() === before && before > 0 ? still + 1 : 0) {
    before = count()
    await turn()
  }
}

/** Answers `/op/<status>` with that status, its body unread, and the rest like an echo. */
function answering() {
  const echo = createEcho()
  return {
    ...echo,
    async handle(request: HttpRequest): Promise<HttpResponse> {
      const status = Number(/^\/op\/(\d+)/.exec(request.target)?.[1] ?? 0)
      if (status === 0) return echo.handle(request)
      return { status, headers: {}, body: status === 204 ? undefined : `answer ${status}` }
    },
  }
}

describe('a connection that is kept', () => {
  it.each([
    ['a body', 'POST /op HTTP/1.1\r\nHost: test\r\nContent-Length: 2\r\n\r\n{}', '"body":"{}"}'],
    ['HEAD', 'HEAD /op HTTP/1.1\r\nHost: test\r\n\r\n', 'Keep-Alive: timeout=5\r\n\r\n'],
    ['204', 'DELETE /op/204 HTTP/1.1\r\nHost: test\r\n\r\n', 'Keep-Alive: timeout=5\r\n\r\n'],
    ['304', 'GET /op/304 HTTP/1.1\r\nHost: test\r\n\r\n', 'Keep-Alive: timeout=5\r\n\r\n'],
    ['404 without a body', 'POST /op/404 HTTP/1.1\r\nHost: test\r\nContent-Length: 0\r\n\r\n', 'answer 404'],
    ['an empty body in chunks', 'POST /op HTTP/1.1\r\nHost: test\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n', '"}'],
  ])('has the next request answered after %s', async (_, request, end) => {
    const port = await listen(toNodeListener(answering()))
    const socket = send(port, request)
    expect(await receiveUntil(socket, end)).toMatch(/connection: keep-alive/i)
    socket.write('GET /op/next HTTP/1.1\r\nHost: test\r\n\r\n')
    expect(await receiveUntil(socket, '}')).toMatch(/^HTTP\/1\.1 200 [\s\S]*"target":"\/op\/next"/)
    socket.destroy()
  })

  it.each([
    ['413', `Content-Length: ${ECHO_LIMIT + 1}\r\n\r\n${'x'.repeat(ECHO_LIMIT + 1)}`, '/op'],
    ['413 in chunks', `Transfer-Encoding: chunked\r\n\r\n7d0\r\n${'x'.repeat(2000)}\r\n0\r\n\r\n`, '/op'],
    ['401 to an unread body', 'Content-Length: 2\r\n\r\n{}', '/op/401'],
    ['404 to a body that is still to come', 'Content-Length: 5\r\n\r\n', '/op/404'],
  ])('says that it ends, and ends, after %s', async (_, rest, target) => {
    const port = await listen(toNodeListener(answering()))
    const next = 'GET /op/next HTTP/1.1\r\nHost: test\r\n\r\n'
    const text = await receive(send(port, `POST ${target} HTTP/1.1\r\nHost: test\r\n${rest}${next}`))
    expect(text).toMatch(/^HTTP\/1\.1 4\d\d [\s\S]*connection: close/i)
    expect(text).not.toContain('/op/next')
  })

  describe('whose body was refused while it still comes', () => {
    beforeEach(() => {
      vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    })
    afterEach(() => {
      vi.useRealTimers()
    })

    async function serve(): Promise<{ readonly port: number; readonly served: () => Socket | undefined }> {
      const listener = toNodeListener(answering())
      let socket: Socket | undefined
      const port = await listen((request, response) => {
        socket = request.socket
        listener(request, response)
      })
      return { port, served: () => socket }
    }

    it.each([
      ['announced', '/op', `Content-Length: 200000\r\n\r\n`, 'x'.repeat(200_000)],
      [
        'announced, in a head of too many lines',
        '/op',
        `Content-Length: 200000\r\n${'a:\r\n'.repeat(1000)}\r\n`,
        'x'.repeat(200_000),
      ],
      ['announced, unread', '/op/404', `Content-Length: 200000\r\n\r\n`, 'x'.repeat(200_000)],
      ['in chunks', '/op', 'Transfer-Encoding: chunked\r\n\r\n', `30d40\r\n${'x'.repeat(200_000)}\r\n0\r\n\r\n`],
    ])(
      'is not reset, and ends with the body (%s): a proxy would take the server for down',
      async (_, target, head, body) => {
        const { port, served } = await serve()
        const socket = send(port, `POST ${target} HTTP/1.1\r\nHost: test\r\n${head}${body.slice(0, 2000)}`)
        const ended = once(socket, 'close')
        expect(await receiveUntil(socket, '\r\n\r\n')).toMatch(/^HTTP\/1\.1 4\d\d [\s\S]*connection: close/i)
        socket.write(body.slice(2000, 100_000))
        // Who is reset cannot read what has come before.
        while (served()?.destroyed === false && (served()?.bytesRead ?? 0) < 100_000) await turn()
        expect(served()?.bytesRead).toBeGreaterThan(100_000)
        socket.end(body.slice(100_000))
        socket.resume()
        expect(await ended).toEqual([false])
      },
    )

    it('ends after 4 MiB of it', async () => {
      const { port, served } = await serve()
      const socket = send(port, 'POST /op/404 HTTP/1.1\r\nHost: test\r\nTransfer-Encoding: chunked\r\n\r\n')
      // It is cut off while it sends, which is an error here.
      const ended = new Promise((resolve) => socket.on('error', () => undefined).once('close', resolve))
      expect(await receiveUntil(socket, 'answer 404')).toMatch(/connection: close/i)
      const chunk = `10000\r\n${'x'.repeat(65_536)}\r\n`
      const feed = (): void => {
        while (socket.writable && socket.write(chunk));
      }
      socket.on('drain', feed).resume()
      feed()
      await ended
      expect(served()?.bytesRead).toBeGreaterThan(4 * 1024 * 1024)
      expect(served()?.bytesRead).toBeLessThan(5 * 1024 * 1024)
    })

    it('ends a second after the answer, if the body never does', async () => {
      const { port, served } = await serve()
      const socket = send(port, 'POST /op/404 HTTP/1.1\r\nHost: test\r\nContent-Length: 200000\r\n\r\nx')
      const ended = once(socket, 'close')
      expect(await receiveUntil(socket, 'answer 404')).toMatch(/connection: close/i)
      vi.advanceTimersByTime(999)
      await turn()
      expect(served()?.destroyed).toBe(false)
      vi.advanceTimersByTime(1)
      socket.resume()
      await ended
      expect(served()?.destroyed).toBe(true)
    })
  })

  it('has reads that came at once begun at once, and answered in their order, however often', async () => {
    let begun = 0
    const echo = createEcho()
    let finished: (() => void)[] = []
    const port = await listen(
      toNodeListener({
        ...echo,
        async handle(request) {
          const answer = await echo.handle(request)
          begun += 1
          if (begun % 3 === 0) for (const finish of finished.reverse()) finish()
          else await new Promise<void>((resolve) => finished.push(resolve))
          return answer
        },
      }),
    )
    const requests = ['GET', 'OPTIONS', 'GET'].map((method, n) => `${method} /op/${n} HTTP/1.1\r\nHost: test\r\n\r\n`)
    const socket = send(port, '')
    for (let round = 0; round < 5; round++) {
      finished = []
      socket.write(requests.join(''))
      const text = await receiveUntil(socket, '"target":"/op/2"')
      expect([...text.matchAll(/"target":"\/op\/(\d)"/g)].map(([, n]) => n)).toEqual(['0', '1', '2'])
    }
    socket.destroy()
  })

  it('T-36 has no more than nine reads begun whose answers are not sent, and all answered in their order', async () => {
    const begun: string[] = []
    const echo = createEcho()
    const { open, opened } = gate()
    const listener = toNodeListener({
      ...echo,
      async handle(request) {
        begun.push(request.target)
        if (request.target === '/op/0') await opened
        return echo.handle(request)
      },
    })
    const port = await listen(listener)
    const targets = Array.from({ length: 100 }, (_, n) => `/op/${n}`)
    const socket = send(port, targets.map((target) => `GET ${target} HTTP/1.1\r\nHost: test\r\n\r\n`).join(''))
    await untilStill(() => begun.length)
    expect(begun).toEqual(targets.slice(0, 9))
    open()
    const text = await receiveUntil(socket, '"target":"/op/99"')
    expect([...text.matchAll(/"target":"([^"]+)"/g)].map(([, target]) => target)).toEqual(targets)
    expect(begun).toEqual(targets)
    // What a connection has counted is over: it carries out as many again.
    socket.write(
      targets
        .slice(0, 5)
        .map((target) => `GET ${target} HTTP/1.1\r\nHost: test\r\n\r\n`)
        .join(''),
    )
    await receiveUntil(socket, '"target":"/op/4"')
    expect(begun.slice(100)).toEqual(targets.slice(0, 5))
    socket.destroy()
  })

  it.each([
    ['is under way', ['POST /op/change', 'GET /op/read'], ''],
    ['waits for its turn', ['GET /op/slow', 'POST /op/change', 'GET /op/read'], ''],
    ['has no body, where the read has one', ['DELETE /op/change', 'GET /op/read'], '{}'],
  ])('begins no read before a change that came before it is answered: one that %s', async (_, lines, readBody) => {
    const begun: string[] = []
    const echo = createEcho()
    const { open, opened } = gate()
    const listener = toNodeListener({
      ...echo,
      async handle(request) {
        begun.push(request.target)
        if (request.target !== '/op/read') await opened
        begun.push(`${request.target} carried out`)
        return echo.handle(request)
      },
    })
    const port = await listen(listener)
    const bodyOf = (line: string): string => (line.endsWith('/read') ? readBody : '')
    const requestOf = (line: string): string =>
      `${line} HTTP/1.1\r\nHost: test\r\nContent-Length: ${bodyOf(line).length}\r\n\r\n${bodyOf(line)}`
    const socket = send(port, lines.map(requestOf).join(''))
    await untilStill(() => begun.length)
    expect(begun).not.toContain('/op/read')
    open()
    await receiveUntil(socket, '"target":"/op/read"')
    expect(begun.slice(-3)).toEqual(['/op/change carried out', '/op/read', '/op/read carried out'])
    socket.destroy()
  })

  it.each(['that is answered', 'that the host has answered'])(
    'has reads begun at once after a change %s',
    async (how) => {
      const begun: string[] = []
      const echo = createEcho()
      const { open, opened } = gate()
      const listener = toNodeListener({
        ...echo,
        async handle(request) {
          if (request.method === 'POST') return echo.handle(request)
          begun.push(request.target)
          await opened
          return echo.handle(request)
        },
      })
      const port = await listen((request, response) => {
        if (request.method !== 'POST' || how === 'that is answered') return listener(request, response)
        response.once('close', () => listener(request, response))
        response.end('of the host')
      })
      const socket = send(port, 'POST /op/first HTTP/1.1\r\nHost: test\r\nContent-Length: 0\r\n\r\n')
      expect(await receiveUntil(socket, how === 'that is answered' ? '}' : 'of the host')).toContain(' 200 ')
      for (let left = 20; left > 0; left--) await turn()
      const lines = ['GET /op/1', 'HEAD /op/2', 'OPTIONS /op/3', 'GET /op/4']
      socket.write(lines.map((line) => `${line} HTTP/1.1\r\nHost: test\r\n\r\n`).join(''))
      while (begun.length === 0) await turn()
      for (let left = 20; left > 0; left--) await turn()
      expect(begun).toEqual(['/op/1', '/op/2', '/op/3', '/op/4'])
      open()
      await receiveUntil(socket, '"target":"/op/4"')
      socket.destroy()
    },
  )

  it('has changes that came at once carried out one after the other, each with its own body, and warns of nothing', async () => {
    const warnings: unknown[] = []
    const warned = (warning: unknown): void => void warnings.push(warning)
    process.on('warning', warned)
    let running = 0
    let most = 0
    const echo = createEcho()
    const port = await listen(
      toNodeListener({
        ...echo,
        async handle(request) {
          running += 1
          most = Math.max(most, running)
          await turn()
          const answer = await echo.handle(request)
          running -= 1
          return answer
        },
      }),
    )
    const numbers = Array.from({ length: 30 }, (_, n) => String(n + 10))
    const requests = numbers.map((n) => `POST /op/${n} HTTP/1.1\r\nHost: test\r\nContent-Length: 2\r\n\r\n${n}`)
    const socket = send(port, requests.join(''))
    const text = await receiveUntil(socket, '"body":"39"')
    const seen = [...text.matchAll(/"target":"\/op\/(\d+)"[^}]*"body":"(\d+)"/g)].map(([, a, b]) => [a, b])
    expect(seen).toEqual(numbers.map((n) => [n, n]))
    process.off('warning', warned)
    expect([most, warnings]).toEqual([1, []])
    socket.destroy()
  })

  it.each([
    ['that the host has answered before its turn', (response: ServerResponse) => response.end('no'), '/op/next'],
    ['that the host has given up', (response: ServerResponse) => response.destroy(), ''],
  ])('carries out no change %s', async (_, giveUp, next) => {
    const handled: string[] = []
    const echo = createEcho()
    const { open, opened } = gate()
    const listener = toNodeListener({
      ...echo,
      async handle(request) {
        handled.push(request.target)
        if (request.target === '/op/slow') await opened
        return echo.handle(request)
      },
    })
    const port = await listen((request, response) => {
      listener(request, response)
      if (request.url !== '/op/second') return
      giveUp(response)
      open()
    })
    const requests = ['GET /op/slow', 'POST /op/second', 'GET /op/next']
    const [first, second, third] = requests.map((line) => `${line} HTTP/1.1\r\nHost: test\r\nContent-Length: 0\r\n`)
    const text = await receive(send(port, `${first}\r\n${second}\r\n${third}Connection: close\r\n\r\n`))
    expect(text).toContain('"target":"/op/slow"')
    expect(text).toContain(next)
    expect(handled).not.toContain('/op/second')
  })

  it.each([
    ['GET', ['/op/first', '/op/next']],
    ['POST', ['/op/next']],
  ])('leaves the answer that the host has given before as it is: %s', async (method, expected) => {
    const handled: string[] = []
    const echo = createEcho()
    const listener = toNodeListener({
      ...echo,
      async handle(request) {
        handled.push(request.target)
        return echo.handle(request)
      },
    })
    const port = await listen((request, response) => {
      if (request.url === '/op/first') response.end('of the host')
      listener(request, response)
    })
    const socket = send(port, `${method} /op/first HTTP/1.1\r\nHost: test\r\nContent-Length: 0\r\n\r\n`)
    expect(await receiveUntil(socket, 'of the host')).toContain(' 200 ')
    for (let left = 20; left > 0; left--) await turn()
    socket.write('GET /op/next HTTP/1.1\r\nHost: test\r\nConnection: close\r\n\r\n')
    expect(await receive(socket)).toContain('"target":"/op/next"')
    expect(handled).toEqual(expected)
  })

  it('carries out no change on a connection that takes no answer any more', async () => {
    let handled = 0
    const listener = toNodeListener({
      ...createEcho(),
      async handle() {
        handled += 1
        return { status: 204, headers: {} }
      },
    })
    const port = await listen((request, response) => {
      request.socket.end()
      listener(request, response)
    })
    expect(await receive(send(port, 'POST /op HTTP/1.1\r\nHost: test\r\nContent-Length: 2\r\n\r\n{}'))).toBe('')
    expect(handled).toBe(0)
  })

  it('holds no listener of a request that is over', async () => {
    const counts: number[] = []
    const listener = toNodeListener(createEcho())
    const port = await listen((request, response) => {
      const { socket } = request
      counts.push(socket.eventNames().reduce((sum, name) => sum + socket.listenerCount(name), 0))
      listener(request, response)
    })
    const socket = send(port, '')
    for (let n = 0; n < 20; n++) {
      socket.write('POST /op HTTP/1.1\r\nHost: test\r\nContent-Length: 2\r\n\r\n{}')
      await receiveUntil(socket, '}')
    }
    expect(counts).toHaveLength(20)
    expect(Math.max(...counts)).toBe(counts[0])
    socket.destroy()
  })

  it.each([
    ['have no body', ''],
    ['have bodies, some of which come in parts', 'x'.repeat(100)],
  ])('is read no further than its turn: changes are not taken in without end if they wait, and %s', async (_, body) => {
    let seen = 0
    let answered = 0
    let mostWaiting = 0
    const { open, opened } = gate()
    const listener = toNodeListener({
      owns: async () => true,
      async handle({ target, bytes }) {
        await bytes(100_000)
        if (target === '/op/slow') await opened
        // Long enough for more to arrive: each takes a turn, as one that reads a database does.
        else await turn()
        answered += 1
        return { status: 204, headers: {} }
      },
    })
    const port = await listen((request, response) => {
      seen += 1
      mostWaiting = Math.max(mostWaiting, seen - answered)
      listener(request, response)
    })
    const asked = 20_000
    const change = `POST /op HTTP/1.1\r\nHost: test\r\nContent-Length: ${body.length}\r\n\r\n${body}`
    const socket = send(port, `GET /op/slow HTTP/1.1\r\nHost: test\r\n\r\n${change.repeat(asked)}`)
    socket.resume()
    await untilStill(() => seen)
    open()
    await expect.poll(() => answered).toBeGreaterThan(asked)
    expect(mostWaiting).toBeLessThan(asked / 4)
    socket.destroy()
  })

  it('is read no further than its answers are: a client that does not read is not served without end', async () => {
    let begun = 0
    const body = 'x'.repeat(100_000)
    const port = await listen(
      toNodeListener({
        owns: async () => true,
        async handle() {
          begun += 1
          return { status: 200, headers: {}, body }
        },
      }),
    )
    const asked = 500
    const padding = 'x'.repeat(1000)
    const socket = send(port, `GET /op HTTP/1.1\r\nHost: test\r\nX-Padding: ${padding}\r\n\r\n`.repeat(asked))
    socket.pause()
    // Until nothing moves any more: what the kernel takes is full, and what Node keeps for one connection.
    await untilStill(() => begun)
    expect(begun).toBeLessThan(asked)
    let received = 0
    socket.on('data', (text) => {
      received += text.length
    })
    socket.resume()
    await expect.poll(() => received).toBeGreaterThan(asked * body.length)
    expect(begun).toBe(asked)
    socket.destroy()
  })
})
