import type { IncomingMessage } from 'node:http'
import express, { type Express, type NextFunction, type Request, type Response } from 'express'
import express4 from 'express4'
import { describe, expect, it } from 'vitest'
import { openPaymentsMiddleware } from '../../adapters/express.ts'
import { isConfigurationError } from '../../src/index.ts'
import { testServers } from '../support/test-servers.ts'
import { ALICE, BASE, testWallet } from '../support/test-wallet.ts'
import { ask, createEcho, ECHO_LIMIT, type Echo, EVERY_BYTE, receive, send } from './echo.ts'

const { listen } = testServers()

const BODY = '{ "a":1.0, "b":"\xe9" }'

async function postTo(app: Express, body = BODY, type = 'application/json'): Promise<Echo> {
  const head = `POST /op/a HTTP/1.1\r\nContent-Type: ${type}\r\nContent-Length: ${body.length}`
  return ask(await listen(app), head, body)
}

const MENDING_LINE = 'app.use(express.json({ verify: (req, _res, bytes) => Object.assign(req, { rawBody: bytes }) }))'

/** What that line gives a parser, as TypeScript takes it. */
const verify = (request: IncomingMessage, _response: unknown, bytes: Buffer): void => {
  Object.assign(request, { rawBody: bytes })
}

const showError = (error: Error, _request: Request, response: Response, _next: NextFunction): void => {
  response.status(500).json({ message: error.message })
}

describe.each([
  ['4', express4],
  ['5', express],
])('Express %s', (_version, express) => {
  const urlencoded: typeof express.urlencoded = (options) => express.urlencoded({ extended: false, ...options })

  /** An application with the middleware at its root, and the routes of its own behind. */
  function ownApp(): Express {
    const app = express()
    app.use(openPaymentsMiddleware(createEcho()))
    app.get('/account', (_, response) => {
      response.json({ own: true })
    })
    app.get('/broken', () => {
      throw new Error('broken route')
    })
    app.use((_, response) => {
      response.status(404).json({ own: 'nothing here' })
    })
    app.use(showError)
    return app
  }

  it('EMB-6 answers what is for Open Payments at the root, and goes on with the rest', async () => {
    const port = await listen(ownApp())
    expect(await ask(port, 'GET /op/a?b=c HTTP/1.1')).toMatchObject({ method: 'GET', target: '/op/a?b=c' })
    expect(await ask(port, 'GET /account HTTP/1.1')).toEqual({ own: true })
    expect(await ask(port, 'GET /nowhere HTTP/1.1')).toEqual({ own: 'nothing here' })
    expect(await ask(port, 'GET /broken HTTP/1.1')).toEqual({ message: 'broken route' })
  })

  it.each(['/op/%2e%2e/a', '/op//a', '/op/a?b=%zz', '/op/', '/op?a=b'])(
    'SIG-30 keeps the raw target %s under every kind of prefix',
    async (target) => {
      const middleware = openPaymentsMiddleware(createEcho())
      const router = express.Router().use(middleware)
      const nested = express.Router().use('/op', express.Router().use(router))
      const inner = express().use(middleware)
      for (const app of [
        express().use('/op', middleware),
        express().use('/op', router),
        express().use('/', nested),
        express().use('/op', inner),
      ]) {
        app.get('/account', (_, response) => {
          response.json({ own: true })
        })
        const port = await listen(app)
        expect(await ask(port, `GET ${target} HTTP/1.1`)).toMatchObject({ target })
        expect(await ask(port, 'GET /account HTTP/1.1')).toEqual({ own: true })
      }
    },
  )

  it('EMB-6 leaves the prefix of a mount point to the routes behind it', async () => {
    const app = express()
    app.use('/o', openPaymentsMiddleware(createEcho()), (request, response) => {
      response.json({ url: request.url, baseUrl: request.baseUrl })
    })
    expect(await ask(await listen(app), 'GET /o/own?a=b HTTP/1.1')).toEqual({ url: '/own?a=b', baseUrl: '/o' })
  })

  it('EMB-6 leaves a body unread to the parser and the route behind it', async () => {
    const app = express()
    app.use(openPaymentsMiddleware(createEcho()), express.json())
    app.post('/account', (request, response) => {
      response.json(request.body)
    })
    const head = 'POST /account HTTP/1.1\r\nContent-Type: application/json\r\nContent-Length: 12'
    expect(await ask(await listen(app), head, '{"own":true}')).toEqual({ own: true })
  })

  it('T-37 has a source only where the application names one, through the proxies that it trusts', async () => {
    const head = 'GET /op HTTP/1.1\r\nX-Forwarded-For: 198.51.100.7'
    const anonymous = express()
    anonymous.use(openPaymentsMiddleware(createEcho()))
    expect(await ask(await listen(anonymous), head)).not.toHaveProperty('source')
    const app = express()
    app.use(openPaymentsMiddleware(createEcho(), { source: (request) => request.ip }))
    const port = await listen(app)
    expect(await ask(port, head)).toMatchObject({ source: '127.0.0.1' })
    app.set('trust proxy', 'loopback')
    expect(await ask(port, head)).toMatchObject({ source: '198.51.100.7' })
  })

  it('T-37 goes on with an error where the application fails to name a source', async () => {
    const source = (): string => {
      throw new Error('no address')
    }
    const app = express()
    app.use(openPaymentsMiddleware(createEcho(), { source }))
    app.use(showError)
    expect(await ask(await listen(app), 'GET /op HTTP/1.1')).toEqual({ message: 'no address' })
  })

  it('goes on with an error where the answer cannot be written', async () => {
    const unwritable = { status: 200, headers: { 'x-a': 'line\r\nbreak' }, body: 'no' }
    const app = express()
    app.use(openPaymentsMiddleware({ ...createEcho(), handle: async () => unwritable }))
    app.use(showError)
    const message = expect.stringMatching(/Invalid character in header content/)
    expect(await ask(await listen(app), 'GET /op HTTP/1.1')).toEqual({ message })
  })

  it('answers where the directory of the wallet fails: the host is told of a fault, the client of nothing', async () => {
    const cause = new Error('directory down')
    const walletAddresses = { find: () => Promise.reject(cause) }
    const { openPayments, events } = await testWallet({ walletAddresses })
    const app = express()
    app.get('/front', (_, response) => void response.json({ own: true }))
    app.use(openPaymentsMiddleware(openPayments))
    app.use((_, response) => void response.json({ own: true }))
    app.use(showError)
    const port = await listen(app)
    // A wallet address, and a page of the host.
    for (const path of ['/alice', '/account']) {
      const error = { code: expect.any(String), description: expect.not.stringContaining('directory down') }
      expect(await ask(port, `GET ${path} HTTP/1.1`)).toEqual({ error })
      expect(events).toContainEqual(expect.objectContaining({ type: 'fault', cause }))
      events.length = 0
    }
    expect(await ask(port, 'POST /account HTTP/1.1\r\nContent-Length: 0')).toEqual({ own: true })
    expect(await ask(port, 'GET /front HTTP/1.1')).toEqual({ own: true })
    expect(events).toEqual([])
  })

  it('under a prefix answers the wallet addresses below it; at the root those under the origin, too', async () => {
    const find = async (url: string) =>
      /^https:\/\/wallet\.example\/(?:op\/)?alice$/.test(url)
        ? { account: 'alice', assetCode: 'USD', assetScale: 2 }
        : undefined
    const bases = { authServer: `${BASE}/op/auth`, resourceServer: `${BASE}/op` }
    const { openPayments } = await testWallet({ ...bases, walletAddresses: { find } })
    const middleware = openPaymentsMiddleware(openPayments)
    const ids = async (app: Express): Promise<unknown[]> => {
      const port = await listen(app.use((_, response) => void response.json({ id: 'own' })))
      const paths = ['/alice', '/op/alice', '/op/bob']
      return Promise.all(paths.map((path) => ask(port, `GET ${path} HTTP/1.1`)))
    }
    const [atOrigin, below] = [{ id: ALICE }, { id: `${BASE}/op/alice` }]
    expect(await ids(express().use('/op', middleware))).toMatchObject([{ id: 'own' }, below, { id: 'own' }])
    expect(await ids(express().use(middleware))).toMatchObject([atOrigin, below, { id: 'own' }])
  })

  it('SIG-32 keeps every line of a field', async () => {
    const app = express()
    app.use(openPaymentsMiddleware(createEcho()))
    const seen = await ask(await listen(app), 'GET /op HTTP/1.1\r\nAuthorization: GNAP a\r\nAuthorization: GNAP b')
    expect(seen.authorization).toEqual(['GNAP a', 'GNAP b'])
  })

  it('keeps the headers and the cookies that the application has set before', async () => {
    const app = express()
    app.disable('x-powered-by')
    app.use((_, response, next) => {
      response.setHeader('Set-Cookie', ['session=1', 'theme=dark']).setHeader('Cache-Control', 'public')
      response.setHeader('Strict-Transport-Security', 'max-age=1')
      next()
    })
    const headers = { 'set-cookie': 'consent=2; HttpOnly', 'cache-control': 'no-store' }
    app.use(openPaymentsMiddleware({ ...createEcho(), handle: async () => ({ status: 200, headers, body: 'a' }) }))
    const answer = await receive(send(await listen(app), 'GET /op HTTP/1.1\r\nHost: test\r\nConnection: close\r\n\r\n'))
    const lines = answer.split('\r\n').filter((line) => /^(?:set-cookie|cache-control|strict)/i.test(line))
    expect(lines.map((line) => line.replace(/^[^:]+/, (name) => name.toLowerCase())).sort()).toEqual([
      'cache-control: no-store',
      'set-cookie: consent=2; HttpOnly',
      'set-cookie: session=1',
      'set-cookie: theme=dark',
      'strict-transport-security: max-age=1',
    ])
  })

  it('sends the bytes of a body as they are', async () => {
    const app = express()
    app.use(
      openPaymentsMiddleware({ ...createEcho(), handle: async () => ({ status: 200, headers: {}, body: EVERY_BYTE }) }),
    )
    const response = await fetch(`http://127.0.0.1:${await listen(app)}/op`)
    expect(response.headers.get('content-length')).toBe('256')
    expect(new Uint8Array(await response.arrayBuffer())).toEqual(EVERY_BYTE)
  })

  it('DIG-1 keeps the bytes of a body before a parser', async () => {
    const app = express()
    app.use(openPaymentsMiddleware(createEcho()))
    app.use(express.json())
    expect(await postTo(app)).toMatchObject({ body: BODY })
  })

  it('DIG-7 tells the host alone how to mend it', async () => {
    const { openPayments, events } = await testWallet()
    const app = express()
    app.use(express.json(), openPaymentsMiddleware(openPayments))
    const head = 'POST /quotes HTTP/1.1\r\nContent-Type: application/json\r\nContent-Length: 2'
    expect(await ask(await listen(app), head, '{}')).toEqual({
      error: { code: expect.any(String), description: expect.not.stringMatching(/parser|express/) },
    })
    expect(events).toMatchObject([
      { type: 'fault', message: expect.stringContaining(MENDING_LINE) },
      { type: 'request', status: 500 },
    ])
  })

  describe.each([
    ['application/json', express.json, BODY],
    ['application/x-www-form-urlencoded', urlencoded, 'a=%20+&b=\xe9'],
    ['application/octet-stream', express.raw, BODY],
    ['text/plain', express.text, BODY],
  ])('behind a parser of %s', (type, parser, body) => {
    it('DIG-1 has the bytes of a body where the parser keeps them, and their limit', async () => {
      const app = express()
      app.use(parser({ verify }), openPaymentsMiddleware(createEcho()))
      expect(await postTo(app, body, type)).toMatchObject({ body })
      const large = JSON.stringify(['x'.repeat(ECHO_LIMIT)])
      expect(await postTo(app, large, type)).toMatchObject({ body: 'too large' })
    })

    it('DIG-7 fails loudly behind a parser that kept no bytes, with the line that mends it', async () => {
      const echo = createEcho()
      const app = express()
      app.use(parser(), openPaymentsMiddleware(echo))
      expect(await postTo(app, body, type)).toBe('fault')
      expect(echo.faults).toHaveLength(1)
      expect(isConfigurationError(echo.faults[0])).toBe(true)
      expect(String(echo.faults[0])).toContain(MENDING_LINE)
    })

    it('DIG-1 reads what is none of its types, or has no body', async () => {
      const app = express()
      app.use(parser(), openPaymentsMiddleware(createEcho()))
      const port = await listen(app)
      expect(await ask(port, 'POST /op HTTP/1.1\r\nContent-Type: a/b\r\nContent-Length: 2', '{}')).toMatchObject({
        body: '{}',
      })
      expect(await ask(port, 'GET /op HTTP/1.1')).toMatchObject({ body: '' })
      for (const length of ['Content-Length: 0', 'Transfer-Encoding: chunked']) {
        const head = `POST /op HTTP/1.1\r\nContent-Type: ${type}\r\n${length}`
        expect(await ask(port, head, length.startsWith('T') ? '0\r\n\r\n' : '')).toMatchObject({ body: '' })
      }
    })
  })
})
