import { once } from 'node:events'
import { createServer, get, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { answerAsPerson } from '../../examples/sandbox/person.ts'
import {
  type ClientJwk,
  createClient,
  playSignedFlow,
  readAnswer,
  type WalletAddressDocument,
} from '../runtimes/signed-flow.ts'
import type { RunningHost } from './example-process.ts'

/** The keys of a client, where the host under test fetches them. */
export interface PublishedKeys {
  readonly clientAddress: string
  /** How often they were fetched. */
  fetches(): number
  remove(): void
}

/** A host under test. */
export interface Host {
  readonly start: () => Promise<RunningHost>
  /** How long it may take to start. */
  readonly seconds?: number
  /** Publishes keys for it. Default: on this machine. */
  readonly publishKeys?: (jwk: ClientJwk) => Promise<PublishedKeys>
  /** A query that it hands on as it was sent. Default: one that could be written in other ways. */
  readonly query?: string
}

/** A query of which some parts could be written in another way. */
export const UNUSUAL_QUERY = 'x=%7e%2F+%20&y&z=a:b'

/** Publishes the keys of a client on a server of its own, where only this machine finds them. */
async function publishLocally(jwk: ClientJwk): Promise<PublishedKeys> {
  let fetches = 0
  const server = createServer((request, response) => {
    if (request.url === '/client/jwks.json') fetches += 1
    response.setHeader('content-type', 'application/json').end(JSON.stringify({ keys: [jwk] }))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return {
    clientAddress: `http://localhost:${port}/client`,
    fetches: () => fetches,
    remove: () => void server.close(),
  }
}

/** What every example of a host must do, over HTTP. @spec EMB-6 */
export function describeHost(
  name: string,
  { start, seconds = 30, publishKeys = publishLocally, query = UNUSUAL_QUERY }: Host,
): void {
  describe(`the example for ${name}`, () => {
    let host: RunningHost
    let wallet: WalletAddressDocument
    let keys: PublishedKeys
    const client = createClient()
    const quoteGrant = {
      access_token: { access: [{ type: 'quote', actions: ['create'] }] },
      client: { jwk: client.jwk },
    }

    beforeAll(async () => {
      keys = await publishKeys(client.jwk)
      host = await start()
      wallet = await readAnswer(fetch(host.walletAddress), 200)
    }, seconds * 1000)
    afterAll(async () => {
      keys?.remove()
      await host?.stop()
    })

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
      const { clientAddress, fetches } = keys
      const json = { ...quoteGrant, client: { walletAddress: clientAddress } }
      await readAnswer(client.request('POST', wallet.authServer, { json }), 200)
      await readAnswer(client.request('POST', wallet.authServer, { json }), 200)
      expect(fetches()).toBe(1)
    })

    it('INT-8 has the form of its consent page sent in by a browser', async () => {
      const access = [{ type: 'outgoing-payment', actions: ['create'], identifier: wallet.id }]
      const interact = {
        start: ['redirect'],
        finish: { method: 'redirect', uri: `${keys.clientAddress}/done`, nonce: 'n' },
      }
      const json = { access_token: { access }, client: { walletAddress: keys.clientAddress }, interact }
      const pending = await readAnswer<{ readonly interact: { readonly redirect: string } }>(
        client.request('POST', wallet.authServer, { json }),
        200,
      )
      const page = await fetch(pending.interact.redirect)
      expect([page.status, page.headers.get('x-frame-options')]).toEqual([200, 'DENY'])
      expect(await page.text()).toContain('Example Wallet')
      const finish = new URL((await answerAsPerson(pending.interact.redirect, {}, 'approve')) ?? '')
      expect(finish.href).toMatch(new RegExp(`^${keys.clientAddress}/done\\?`))
      expect([...finish.searchParams.keys()].sort()).toEqual(['hash', 'interact_ref'])
    })

    it('SIG-8 refuses a body that was altered after signing', async () => {
      const altered = JSON.stringify(quoteGrant).replace('create', 'read')
      await readAnswer(client.request('POST', wallet.authServer, { json: quoteGrant }), 200)
      const refusal = await readAnswer(client.request('POST', wallet.authServer, { json: quoteGrant, altered }), 401)
      expect(refusal).toMatchObject({ error: { code: 'invalid_client' } })
    })

    it('SIG-30 takes the query as it was sent', async () => {
      const { token } = await playSignedFlow(client, host.walletAddress)
      const listed = `wallet-address=${encodeURIComponent(wallet.id)}&first=10`
      const url = `${wallet.resourceServer}/incoming-payments?${listed}&${query}`
      const refusal = await readAnswer(client.request('GET', url, { token }), 403)
      expect(refusal).toMatchObject({ error: { code: 'insufficient_grant' } })
    })

    it('SIG-29 takes nothing of its target from Host', async () => {
      const { hostname, port, pathname } = new URL(host.walletAddress)
      const ask = async (path: string, named: string): Promise<string> => {
        const request = get({ hostname, port, path, headers: { host: named }, agent: false })
        const [answer]: IncomingMessage[] = await once(request, 'response')
        return answer === undefined ? '' : text(answer)
      }
      expect(await ask(pathname, `${hostname}:${port}`)).toContain('"authServer"')
      expect(await ask('/account', `${hostname}:${port}${pathname}?x=`)).not.toContain('"authServer"')
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
