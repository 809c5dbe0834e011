import { once } from 'node:events'
import { type IncomingMessage, type RequestListener, request as requestPlain } from 'node:http'
import { createServer, request as requestSecurely } from 'node:https'
import type { AddressInfo } from 'node:net'
import express from 'express'
import type { OpenPayments } from 'open-payments-server'
import { openPaymentsMiddleware } from 'open-payments-server/express'
import { toNodeListener } from 'open-payments-server/node'
import { type InMemoryRequest, type SignedRequestOptions, signedRequest } from 'open-payments-server/testing'
import { afterEach, describe, expect, it } from 'vitest'
import { testServers } from '../support/test-servers.ts'
import { BASE, BOB, cryptography, type TestWallet, testWallet } from '../support/test-wallet.ts'

// A certificate for wallet.example that nobody vouches for, with its key: made for this test, and good for nothing else.
const TLS = {
  key: `-----BEGIN PRIVATE KEY-----
MC4CAQAwBQYDK2VwBCIEIAQItiU2TOpvN+DOGQzS/hmsXxrLnLMzgpeHhQKTWmPw
-----END PRIVATE KEY-----`,
  cert: `-----BEGIN CERTIFICATE-----
MIH/MIGyoAMCAQICAQEwBQYDK2VwMBkxFzAVBgNVBAMMDndhbGxldC5leGFtcGxl
MCAXDTIwMDEwMTAwMDAwMFoYDzIxMjAwMTAxMDAwMDAwWjAZMRcwFQYDVQQDDA53
YWxsZXQuZXhhbXBsZTAqMAUGAytlcAMhAMcOUjVC/WwGuoUGwGdGJe3gXwsrBIcj
vNPFwz93oSj3ox0wGzAZBgNVHREEEjAQgg53YWxsZXQuZXhhbXBsZTAFBgMrZXAD
QQDeq+qm0gNuUHLODnp2tfm+7jmZPSCKBAOkvU6z/7HXGPYEBR/T3Z/nVq7D06/5
NmrFIlCGyXD3p5SDOZ6uTT8B
-----END CERTIFICATE-----`,
}

const { listen } = testServers()
const secureServers: ReturnType<typeof createServer>[] = []
afterEach(() => {
  for (const server of secureServers.splice(0)) {
    server.closeAllConnections()
    server.close()
  }
})

async function listenSecurely(listener: RequestListener): Promise<number> {
  const server = createServer(TLS, listener).listen(0, '127.0.0.1')
  secureServers.push(server)
  await once(server, 'listening')
  return (server.address() as AddressInfo).port
}

/** What a proxy changes of the requests that it hands on. */
interface Proxy {
  readonly headers: (headers: IncomingMessage['headers']) => Record<string, string | string[] | undefined>
  readonly target?: (target: string) => string
}

/** Ends TLS, and asks the server behind it in clear. */
function proxyTo(port: number, { headers, target = (same) => same }: Proxy): RequestListener {
  return (request, response) => {
    const onward = requestPlain({
      port,
      host: '127.0.0.1',
      method: request.method ?? '',
      path: target(request.url ?? ''),
      headers: headers(request.headers),
    })
    onward.on('response', (answer) => answer.pipe(response.writeHead(answer.statusCode ?? 0, answer.headers)))
    request.pipe(onward)
  }
}

const FORWARDED = { forwarded: 'host=evil.example;proto=http', 'x-forwarded-host': 'evil.example' }

const PROXIES: readonly (readonly [string, Proxy])[] = [
  ['keeps the host', { headers: (headers) => headers }],
  ['names another host', { headers: (headers) => ({ ...headers, host: 'backend:8080' }) }],
  [
    'adds what it knows of the client, and more',
    { headers: (headers) => ({ ...headers, ...FORWARDED, 'x-forwarded-proto': 'http', 'x-forwarded-port': '8080' }) },
  ],
  [
    'hands bodies on in chunks',
    { headers: ({ 'content-length': _, ...others }) => ({ ...others, 'transfer-encoding': 'chunked' }) },
  ],
]

/** Sends a signed request to a port of this machine that speaks TLS. */
async function sendSecurely(port: number, { method, target, headers, body }: InMemoryRequest) {
  const { host: _, ...others } = headers
  const request = requestSecurely({
    host: '127.0.0.1',
    port,
    method,
    path: target,
    servername: 'wallet.example',
    ca: TLS.cert,
    agent: false,
    headers: { host: 'wallet.example', ...Object.fromEntries(Object.entries(others).map(([k, v]) => [k, [...v]])) },
  })
  request.end(body)
  const [answer]: IncomingMessage[] = await once(request, 'response')
  let text = ''
  for await (const part of answer ?? []) text += part
  return { status: answer?.statusCode, body: JSON.parse(text) }
}

const AUTH = `${BASE}/op/auth`

/** A wallet whose base URLs have a prefix, and a client of it that speaks TLS with `port`. */
async function clientOf(mount: (openPayments: OpenPayments) => RequestListener) {
  const wallet = await testWallet({ authServer: AUTH, resourceServer: `${BASE}/op` })
  const sign = (request: Pick<SignedRequestOptions, 'method' | 'url' | 'token' | 'json'>): Promise<InMemoryRequest> =>
    signedRequest({
      ...request,
      key: wallet.client.key,
      cryptography,
      created: Math.floor(wallet.clock.now() / 1000),
    })
  return { wallet, sign, listener: mount(wallet.openPayments) }
}

function grantRequest({ client }: TestWallet) {
  const access = [{ type: 'incoming-payment', actions: ['create', 'read'], identifier: BOB }]
  return { access_token: { access }, client: client.client }
}

const HOSTS: readonly (readonly [string, (openPayments: OpenPayments) => RequestListener])[] = [
  ['node:http', (openPayments) => toNodeListener(openPayments)],
  ['Express under a prefix', (openPayments) => express().use('/op', openPaymentsMiddleware(openPayments))],
]

describe.each(HOSTS)('%s behind a proxy that ends TLS', (_host, mount) => {
  it.each(PROXIES)('SIG-29 and %s verifies what was signed for the configured URL', async (_proxy, proxy) => {
    const { wallet, sign, listener } = await clientOf(mount)
    const port = await listenSecurely(proxyTo(await listen(listener), proxy))
    const granted = await sendSecurely(port, await sign({ method: 'POST', url: AUTH, json: grantRequest(wallet) }))
    expect(granted.status).toBe(200)
    const token: string = granted.body.access_token.value
    const url = `${BASE}/op/incoming-payments`
    const json = { walletAddress: BOB, metadata: { note: 'Käse € 5' } }
    const created = await sendSecurely(port, await sign({ method: 'POST', url, token, json }))
    expect(created.status).toBe(201)
    expect(created.body.id).toMatch(/^https:\/\/wallet\.example\/op\/incoming-payments\/[0-9a-f]{44}$/)
    const read = await sendSecurely(port, await sign({ method: 'GET', url: created.body.id, token }))
    expect(read).toEqual({ status: 200, body: created.body })
  })

  it('SIG-29 that takes the prefix away is found out at once', async () => {
    const { wallet, sign, listener } = await clientOf(mount)
    const target = (text: string): string => text.replace(/^\/op/, '')
    const port = await listenSecurely(
      proxyTo(
        await listen(
          express().use(listener, (_, response) => {
            response.status(404).json('not for Open Payments')
          }),
        ),
        { headers: (headers) => headers, target },
      ),
    )
    const refused = await sendSecurely(port, await sign({ method: 'POST', url: AUTH, json: grantRequest(wallet) }))
    expect(refused.status).toBe(404)
  })

  it('SIG-29 refuses what was signed for the host that the proxy names', async () => {
    const { wallet, sign, listener } = await clientOf(mount)
    const headers: Proxy['headers'] = (given) => ({ ...given, ...FORWARDED, host: 'evil.example' })
    const port = await listenSecurely(proxyTo(await listen(listener), { headers }))
    const url = AUTH.replace('wallet.example', 'evil.example')
    const refused = await sendSecurely(port, await sign({ method: 'POST', url, json: grantRequest(wallet) }))
    expect(refused.status).toBe(401)
  })

  it('SIG-29 verifies as well without a proxy, on a server that speaks TLS itself', async () => {
    const { wallet, sign, listener } = await clientOf(mount)
    const port = await listenSecurely(listener)
    const granted = await sendSecurely(port, await sign({ method: 'POST', url: AUTH, json: grantRequest(wallet) }))
    expect(granted.status).toBe(200)
  })
})
