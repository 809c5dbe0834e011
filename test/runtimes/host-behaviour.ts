import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type HOSTS, type HostProcess, startHost } from './host-process.ts'
import { createClient, playSignedFlow, readAnswer, type WalletAddressDocument } from './signed-flow.ts'

/** What every host must do, over HTTP, in its own runtime. @spec EMB-6 */
export function describeHost(name: keyof typeof HOSTS): void {
  describe(`the example for ${name}`, () => {
    let host: HostProcess
    let wallet: WalletAddressDocument
    const client = createClient()

    beforeAll(async () => {
      host = await startHost(name)
      wallet = await readAnswer(fetch(host.walletAddress), 200)
    })
    afterAll(() => host?.stop())

    it('EMB-6 grants, creates, reads and completes an incoming payment', async () => {
      const { created, read, seenByAll, completed } = await playSignedFlow(client, host.walletAddress)
      expect(created).toMatchObject({
        walletAddress: host.walletAddress,
        completed: false,
        receivedAmount: { value: '0', assetCode: 'EUR', assetScale: 2 },
        metadata: { note: 'Käse € 5' },
      })
      expect(read).toEqual(created)
      expect(seenByAll).toEqual({ authServer: wallet.authServer, receivedAmount: created['receivedAmount'] })
      expect(completed).toMatchObject({ id: created['id'], completed: true })
    })

    it('KEY-6 fetches the keys of a client that has a wallet address, once', async () => {
      let fetches = 0
      const server = createServer((request, response) => {
        fetches += 1
        const document = request.url === '/client/jwks.json' ? { keys: [client.jwk] } : {}
        response.setHeader('content-type', 'application/json').end(JSON.stringify(document))
      }).listen(0, '127.0.0.1')
      await once(server, 'listening')
      const { port } = server.address() as AddressInfo
      const access = [{ type: 'quote', actions: ['create'] }]
      const json = { access_token: { access }, client: { walletAddress: `http://localhost:${port}/client` } }
      await readAnswer(client.request('POST', wallet.authServer, { json }), 200)
      await readAnswer(client.request('POST', wallet.authServer, { json }), 200)
      server.close()
      expect(fetches).toBe(1)
    })

    it('SIG-8 refuses a body that was altered after signing', async () => {
      const json = { access_token: { access: [{ type: 'quote', actions: ['create'] }] }, client: { jwk: client.jwk } }
      const altered = JSON.stringify(json).replace('create', 'read')
      await readAnswer(client.request('POST', wallet.authServer, { json }), 200)
      const refusal = await readAnswer(client.request('POST', wallet.authServer, { json, altered }), 401)
      expect(refusal).toMatchObject({ error: { code: 'invalid_client' } })
    })

    it('SIG-30 takes the query as it was sent', async () => {
      const query = `wallet-address=${encodeURIComponent(wallet.id)}&first=10&x=%7e%2F+%20`
      const { token } = await playSignedFlow(client, host.walletAddress)
      const url = `${wallet.resourceServer}/incoming-payments?${query}`
      const refusal = await readAnswer(client.request('GET', url, { token }), 403)
      expect(refusal).toMatchObject({ error: { code: 'insufficient_grant' } })
    })

    it('EMB-1 answers a body that is too large with 413, and lives on', async () => {
      const response = await fetch(wallet.authServer, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: `{"padding":"${'x'.repeat(65_536)}"}`,
      })
      expect(response.status).toBe(413)
      await readAnswer(fetch(host.walletAddress), 200)
    })

    it('EMB-6 leaves the wallet its own routes', async () => {
      const response = await fetch(new URL('/account', host.walletAddress))
      expect([response.status, await response.text()]).toEqual([200, 'the wallet itself\n'])
    })
  })
}
