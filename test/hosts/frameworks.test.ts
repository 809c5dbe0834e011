import { once } from 'node:events'
import { createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { json } from 'node:stream/consumers'
import { getRequestListener, serve } from '@hono/node-server'
import fastify from 'fastify'
import { Hono } from 'hono'
import Koa from 'koa'
import type { OpenPayments } from 'open-payments-server'
import { toNodeListener } from 'open-payments-server/node'
import { type InMemoryRequest, signedRequest } from 'open-payments-server/testing'
import { describe, expect, it } from 'vitest'
import { AUTH, BOB, CLIENT, cryptography, type TestWallet, testWallet } from '../support/test-wallet.ts'

/** Sends a request, wherever the application listens; `path` begins with a slash. */
type Send = (path: string, init?: RequestInit) => Promise<Response>

/** A framework, with a route of its own that needs its parsed body, and one that fails. */
interface Framework {
  readonly name: string
  /** Starts it, and resolves with a way to it and one to end it. */
  readonly start: (openPayments: OpenPayments) => Promise<{ readonly send: Send; close(): unknown }>
}

function honoApp(openPayments: OpenPayments): Hono {
  const app = new Hono()
  app.use(async ({ req }, next) => {
    const { pathname, search } = new URL(req.url)
    return (await openPayments.owns(req.method, pathname + search)) ? openPayments.fetch(req.raw) : next()
  })
  return honoRoutes(app)
}

function honoRoutes(app = new Hono()): Hono {
  app.post('/notes', async (context) => context.json(await context.req.json()))
  app.get('/broken', () => {
    throw new Error('broken route')
  })
  return app.onError((error, context) => context.text(error.message, 500))
}

const sendTo =
  (port: number): Send =>
  (path, init) =>
    fetch(`http://127.0.0.1:${port}${path}`, init)

const FRAMEWORKS: readonly Framework[] = [
  {
    name: 'Fastify',
    async start(openPayments) {
      const app = fastify({ serverFactory: (next) => createServer(toNodeListener(openPayments, { next })) })
      app.post('/notes', async (request) => request.body)
      app.get('/broken', async () => {
        throw new Error('broken route')
      })
      app.setErrorHandler((error: Error, _request, reply) => reply.code(500).send(error.message))
      await app.listen({ port: 0, host: '127.0.0.1' })
      return { send: sendTo((app.server.address() as AddressInfo).port), close: () => app.close() }
    },
  },
  {
    name: 'Koa',
    async start(openPayments) {
      const app = new Koa()
      app.silent = true
      app.use(async (context) => {
        if (context.path === '/broken') context.throw(500, 'broken route', { expose: true })
        if (context.path === '/notes') context.body = await json(context.req)
      })
      const server = createServer(toNodeListener(openPayments, { next: app.callback() }))
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
      const close = (): void => {
        server.closeAllConnections()
        server.close()
      }
      return { send: sendTo((server.address() as AddressInfo).port), close }
    },
  },
  {
    name: 'Hono on Node',
    async start(openPayments) {
      const { fetch } = honoApp(openPayments)
      const { port, server } = await new Promise<{ port: number; server: ReturnType<typeof serve> }>((resolve) => {
        const started = serve({ fetch, hostname: '127.0.0.1', port: 0, overrideGlobalObjects: false }, (info) =>
          resolve({ port: info.port, server: started }),
        )
      })
      return { send: sendTo(port), close: () => server.close() }
    },
  },
  {
    name: 'Hono behind node:http',
    async start(openPayments) {
      const next = getRequestListener(honoRoutes().fetch, { overrideGlobalObjects: false })
      const server = createServer(toNodeListener(openPayments, { next }))
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
      const close = (): void => {
        server.closeAllConnections()
        server.close()
      }
      return { send: sendTo((server.address() as AddressInfo).port), close }
    },
  },
  {
    name: 'Hono on any Fetch host',
    async start(openPayments) {
      const app = honoApp(openPayments)
      return {
        send: async (path, init) => app.fetch(new Request(`http://host.invalid${path}`, init)),
        close: () => undefined,
      }
    },
  },
]

function initOf({ method, headers, body }: InMemoryRequest): RequestInit {
  const pairs = Object.entries(headers).flatMap(([name, lines]) => lines.map((line): [string, string] => [name, line]))
  // What the connection itself needs is the client's.
  const others = pairs.filter(([name]) => name !== 'host' && name !== 'content-length')
  return { method, headers: others, body: body.length > 0 ? Buffer.from(body) : null }
}

describe.each(FRAMEWORKS)('$name', ({ start }) => {
  async function started(): Promise<{ readonly wallet: TestWallet; readonly send: Send; close(): unknown }> {
    const wallet = await testWallet()
    return { wallet, ...(await start(wallet.openPayments)) }
  }

  it('DIG-1 SIG-29 verifies the bytes that came and the URL that is configured', async () => {
    const { wallet, send, close } = await started()
    const text = JSON.stringify({
      client: CLIENT,
      access_token: { access: [{ type: 'incoming-payment', actions: ['create'], identifier: BOB }] },
    })
    // Spaces that nobody would write when the JSON is serialised again.
    const signed = await signedRequest({
      method: 'POST',
      url: `${AUTH}/`,
      key: wallet.client.key,
      cryptography,
      created: Math.floor(wallet.clock.now() / 1000),
      body: text.replace('{', '{  \n'),
    })
    const answer = await send('/', initOf(signed))
    expect([answer.status, Object.keys(await answer.json())]).toEqual([200, ['access_token', 'continue']])
    const altered = await send('/', { ...initOf(signed), body: text })
    expect(altered.status).toBe(401)
    await close()
  })

  it('EMB-6 leaves the application its parsers, its error handler and its 404', async () => {
    const { send, close } = await started()
    const headers = { 'content-type': 'application/json' }
    const noted = await send('/notes', { method: 'POST', headers, body: '{"note":"Käse € 5"}' })
    expect([noted.status, await noted.json()]).toEqual([200, { note: 'Käse € 5' }])
    const broken = await send('/broken')
    expect([broken.status, await broken.text()]).toEqual([500, 'broken route'])
    expect((await send('/nowhere')).status).toBe(404)
    await close()
  })
})

describe('Hono', () => {
  it.each(['999.999.999.999', 'xn--a', '1.2.3.4.5'])(
    'SIG-29 refuses what comes with a Host of %s, of which it can make no URL',
    async (host) => {
      const { openPayments, events } = await testWallet()
      const app = new Hono().mount('/', (request) => openPayments.fetch(request), { replaceRequest: false })
      const server = serve({ fetch: app.fetch, hostname: '127.0.0.1', port: 0, overrideGlobalObjects: false })
      await once(server, 'listening')
      const { port } = server.address() as AddressInfo
      for (const [method, path, body] of [
        ['GET', '/alice'],
        ['POST', '/quotes', '{}'],
      ]) {
        const asked = request({ host: '127.0.0.1', port, path, method, headers: { host }, agent: false })
        const [answer] = await once(asked.end(body), 'response')
        expect(answer.statusCode).toBe(400)
      }
      expect(events.filter(({ type }) => type === 'fault')).toEqual([])
      server.close()
    },
  )

  it('DIG-7 fails loudly where a middleware has read the body before', async () => {
    const { openPayments, events } = await testWallet()
    const app = new Hono()
    app.use(async ({ req }, next) => {
      await req.text()
      await next()
    })
    app.route('/', honoApp(openPayments))
    const answer = await app.fetch(new Request('http://host.invalid/quotes', { method: 'POST', body: '{}' }))
    expect(answer.status).toBe(500)
    expect(events).toMatchObject([
      { type: 'fault', message: expect.stringContaining('the request body was read before openPayments.fetch') },
      { type: 'request', status: 500 },
    ])
  })
})
