import { once } from 'node:events'
import { createServer, type RequestListener, type Server } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { afterEach, expect, it } from 'vitest'
import { OF_ANOTHER_NAME, SELF_SIGNED, TRUSTED } from './certificates.ts'
import type { PaymentParties } from './paying-flow.ts'
import { type Client, createClient } from './signed-flow.ts'

/** A client that has its wallet address on a server of its own, which counts the requests for its keys. */
interface ClientElsewhere {
  readonly client: Client
  readonly walletAddress: string
  readonly requests: () => number
}

/** How a wallet finds the keys of clients on other servers. */
export function describeKeys(partiesOf: () => PaymentParties): void {
  const servers: Server[] = []
  afterEach(() => {
    for (const server of servers.splice(0)) {
      server.closeAllConnections()
      server.close()
    }
  })

  const clientElsewhere = async (
    scheme: 'http' | 'https',
    createHost: (listener: RequestListener) => Server,
  ): Promise<ClientElsewhere> => {
    const client = createClient()
    let requests = 0
    const server = createHost((request, response) => {
      requests += request.url === '/client/jwks.json' ? 1 : 0
      response.setHeader('content-type', 'application/json').end(JSON.stringify({ keys: [client.jwk] }))
    }).listen(0, '127.0.0.1')
    servers.push(server)
    await once(server, 'listening')
    const { port } = server.address() as AddressInfo
    return { client, walletAddress: `${scheme}://localhost:${port}/client`, requests: () => requests }
  }
  const askForGrant = async ({ client, walletAddress }: ClientElsewhere): Promise<number> => {
    const json = { access_token: { access: [{ type: 'quote', actions: ['create'] }] }, client: { walletAddress } }
    const response = await client.request('POST', partiesOf().server.authServer, { json })
    await response.arrayBuffer()
    return response.status
  }

  it('KEY-6 fetches the keys of a client that has its wallet address elsewhere, once', async () => {
    const elsewhere = await clientElsewhere('http', createServer)
    expect([await askForGrant(elsewhere), await askForGrant(elsewhere)]).toEqual([200, 200])
    expect(elsewhere.requests()).toBe(1)
  })

  it.each([
    ['for its name by a trusted authority', TRUSTED, 200, 1],
    ['for another name', OF_ANOTHER_NAME, 400, 0],
    ['that it has signed itself', SELF_SIGNED, 400, 0],
  ])('T-2 asks over TLS a server whose certificate is one %s', async (_, certificate, status, requests) => {
    const elsewhere = await clientElsewhere('https', (listener) => createTlsServer(certificate, listener))
    expect([await askForGrant(elsewhere), elsewhere.requests()]).toEqual([status, requests])
  })
}
