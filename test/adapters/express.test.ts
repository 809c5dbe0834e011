import express, { type Express, type NextFunction, type Request, type Response } from 'express'
import { describe, expect, it } from 'vitest'
import { openPaymentsMiddleware } from '../../adapters/express.ts'
import { isConfigurationError } from '../../src/index.ts'
import { ask, createEcho, ECHO_LIMIT, testServers } from './echo.ts'

const { listen } = testServers()

const BODY = '{ "a":1.0, "b":"\xe9" }'

function postTo(app: Express, body = BODY) {
  return listen(app).then((port) =>
    ask(port, `POST /op/a HTTP/1.1\r\nContent-Type: application/json\r\nContent-Length: ${body.length}`, body),
  )
}

describe('Express', () => {
  it('EMB-6 answers what is for Open Payments at the root, and goes on with the rest', async () => {
    const app = express()
    app.use(openPaymentsMiddleware(createEcho()))
    app.get('/account', (_, response) => response.json({ own: true }))
    const port = await listen(app)
    expect(await ask(port, 'GET /op/a?b=c HTTP/1.1')).toMatchObject({ method: 'GET', target: '/op/a?b=c' })
    expect(await ask(port, 'GET /account HTTP/1.1')).toEqual({ own: true })
  })

  it.each(['/op/%2e%2e/a', '/op//a', '/op/a?b=%zz'])(
    'SIG-30 keeps the raw target %s under a prefix',
    async (target) => {
      const app = express()
      app.use('/op', express.Router().use(openPaymentsMiddleware(createEcho())))
      expect(await ask(await listen(app), `GET ${target} HTTP/1.1`)).toMatchObject({ target })
    },
  )

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
    const app = express()
    const source = (): string => {
      throw new Error('no address')
    }
    app.use(openPaymentsMiddleware(createEcho(), { source }))
    app.use((error: Error, _request: Request, response: Response, _next: NextFunction) => {
      response.status(500).json({ message: error.message })
    })
    expect(await ask(await listen(app), 'GET /op HTTP/1.1')).toEqual({ message: 'no address' })
  })

  it('SIG-32 keeps every line of a field', async () => {
    const app = express()
    app.use(openPaymentsMiddleware(createEcho()))
    const seen = await ask(await listen(app), 'GET /op HTTP/1.1\r\nAuthorization: GNAP a\r\nAuthorization: GNAP b')
    expect(seen.authorization).toEqual(['GNAP a', 'GNAP b'])
  })

  it('DIG-1 keeps the bytes of a body before a parser', async () => {
    const app = express()
    app.use(openPaymentsMiddleware(createEcho()))
    app.use(express.json())
    expect(await postTo(app)).toMatchObject({ body: BODY })
  })

  it('DIG-1 has the bytes of a body behind a parser that keeps them, and their limit', async () => {
    const app = express()
    app.use(
      express.json({
        verify: (request, _response, bytes) => {
          Object.assign(request, { rawBody: bytes })
        },
      }),
    )
    app.use(openPaymentsMiddleware(createEcho()))
    expect(await postTo(app)).toMatchObject({ body: BODY })
    expect(await postTo(app, JSON.stringify(['x'.repeat(ECHO_LIMIT)]))).toMatchObject({ body: 'too large' })
  })

  it('DIG-7 fails loudly behind a parser that kept no bytes, with the line that mends it', async () => {
    const echo = createEcho()
    const app = express()
    app.use(express.json())
    app.use(openPaymentsMiddleware(echo))
    expect(await postTo(app)).toBe('fault')
    expect(echo.faults).toHaveLength(1)
    expect(isConfigurationError(echo.faults[0])).toBe(true)
    expect(String(echo.faults[0])).toContain(
      'app.use(express.json({ verify: (req, _res, bytes) => { req.rawBody = bytes } }))',
    )
  })

  it('answers what has no body behind a parser', async () => {
    const app = express()
    app.use(express.json())
    app.use(openPaymentsMiddleware(createEcho()))
    const port = await listen(app)
    expect(await ask(port, 'GET /op HTTP/1.1')).toMatchObject({ body: '' })
    const head = 'POST /op HTTP/1.1\r\nContent-Type: application/json\r\nContent-Length: 0'
    expect(await ask(port, head)).toMatchObject({ body: '' })
  })

  it('goes on with an error where the directory of the wallet fails', async () => {
    const app = express()
    app.use(openPaymentsMiddleware({ ...createEcho(), owns: () => Promise.reject(new Error('directory down')) }))
    app.use((error: Error, _request: Request, response: Response, _next: NextFunction) => {
      response.status(500).json({ message: error.message })
    })
    expect(await ask(await listen(app), 'GET /alice HTTP/1.1')).toEqual({ message: 'directory down' })
  })
})
