import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Miniflare, Response } from 'miniflare'
import { ledgerContract, storageContract } from 'open-payments-server/testing'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { answerAsPerson } from '../../examples/sandbox/person.ts'
import { type ClientJwk, createClient, playSignedFlow, readAnswer } from '../runtimes/signed-flow.ts'
import { freePort } from '../support/free-port.ts'
import type { RunningHost } from './example-process.ts'
import { describeHost, type PublishedKeys } from './host-behaviour.ts'
import { bundleForWorkers, startWorker, type Worker } from './worker-bundle.ts'

const SHOP = 'https://shop.example/client'

/** The network as a Worker sees it: what names mean, and the documents at URLs. */
const network = {
  addresses: new Map<string, readonly string[]>(),
  documents: new Map<string, () => Response>(),
  asked: [] as string[],

  answer(request: { readonly url: string }): Response {
    const url = new URL(request.url)
    network.asked.push(url.href)
    if (url.host !== 'cloudflare-dns.com')
      return network.documents.get(url.href)?.() ?? new Response(null, { status: 404 })
    const type = url.searchParams.get('type') === 'A' ? 1 : 28
    const addresses = network.addresses.get(url.searchParams.get('name') ?? '') ?? []
    const Answer = addresses.filter((data) => data.includes(':') === (type === 28)).map((data) => ({ type, data }))
    // Resolvers leave the member out where there is no record.
    return Response.json(Answer.length > 0 ? { Status: 0, Answer } : { Status: 0 })
  },

  async publish(jwk: ClientJwk): Promise<PublishedKeys> {
    let fetches = 0
    network.addresses.set('shop.example', ['93.184.215.14', '2606:2800:21f:cb07:6820:80da:af6b:8b2c'])
    network.documents.set(`${SHOP}/jwks.json`, () => {
      fetches += 1
      return Response.json({ keys: [jwk] })
    })
    return { clientAddress: SHOP, fetches: () => fetches, remove: () => network.documents.clear() }
  },
}

async function startExample(options: Worker = {}, path = 'examples/workers/worker.ts'): Promise<RunningHost> {
  const port = options.port ?? (await freePort())
  const worker = startWorker(await bundleForWorkers(path), {
    host: '127.0.0.1',
    port,
    bindings: { ORIGIN: `http://localhost:${port}`, SECRET: 'a secret of the tests, long enough to be one' },
    outboundService: network.answer,
    ...options,
  })
  await worker.ready
  return { walletAddress: `http://localhost:${port}/alice`, stop: () => worker.dispose() }
}

describeHost('Cloudflare Workers', { start: () => startExample(), publishKeys: network.publish })

describeHost('Cloudflare Workers with the modules of Node', {
  start: () => startExample({ compatibilityFlags: ['nodejs_compat'] }),
  publishKeys: network.publish,
})

describe('a wallet in a Durable Object', () => {
  it('EMB-5 pays with the consent of its owner, and has forgotten nothing after a restart', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'worker-'))
    const options = { port: await freePort(), durableObjectsPersist: folder }
    const client = createClient()
    const keys = await network.publish(client.jwk)
    let host = await startExample(options)
    try {
      const { wallet, created } = await playSignedFlow(client, host.walletAddress)
      const amount = { value: '250', assetCode: 'EUR', assetScale: 2 }
      const access = [
        {
          type: 'outgoing-payment',
          actions: ['create', 'read'],
          identifier: wallet.id,
          limits: { debitAmount: amount },
        },
        { type: 'incoming-payment', actions: ['create', 'read'], identifier: wallet.id },
      ]
      const finish = { method: 'redirect', uri: `${SHOP}/done`, nonce: 'the-nonce-of-the-shop' }
      const pending = await readAnswer<PendingGrant>(
        client.request('POST', wallet.authServer, {
          json: {
            access_token: { access },
            client: { walletAddress: SHOP },
            interact: { start: ['redirect'], finish },
          },
        }),
        200,
      )
      const redirect = new URL((await answerAsPerson(pending.interact.redirect, {}, 'approve')) ?? '')
      const { uri, wait } = pending.continue
      await host.stop()
      host = await startExample(options)
      // As long as the server tells a client to wait.
      await new Promise((resolve) => setTimeout(resolve, wait * 1000))
      const granted = await readAnswer<{ readonly access_token: { readonly value: string } }>(
        client.request('POST', uri, {
          token: pending.continue.access_token.value,
          json: { interact_ref: redirect.searchParams.get('interact_ref') },
        }),
        200,
      )
      const token = granted.access_token.value
      const receiver = await readAnswer<{ readonly id: string }>(
        client.request('POST', `${wallet.resourceServer}/incoming-payments`, {
          token,
          json: { walletAddress: wallet.id },
        }),
        201,
      )
      const json = { walletAddress: wallet.id, incomingPayment: receiver.id, debitAmount: amount }
      const url = `${wallet.resourceServer}/outgoing-payments`
      const paid = await readAnswer<{ readonly id: string }>(client.request('POST', url, { token, json }), 201)
      await expect
        .poll(() => readAnswer(client.request('GET', paid.id, { token }), 200), { interval: 50 })
        .toMatchObject({
          failed: false,
          sentAmount: amount,
        })
      expect(await readAnswer(fetch(receiver.id), 200)).toMatchObject({ receivedAmount: amount })
      const more = await client.request('POST', url, {
        token,
        json: { ...json, debitAmount: { ...amount, value: '1' } },
      })
      expect(more.status).toBe(403)
      expect(await readAnswer(fetch(String(created['id'])), 200)).toMatchObject({ authServer: wallet.authServer })
    } finally {
      keys.remove()
      await host.stop()
      rmSync(folder, { recursive: true, force: true })
    }
  }, 60_000)
})

describe('a wallet in a Durable Object whose database fails', () => {
  it('EMB-5 answers requests, and tries its background work again and again', async () => {
    const host = await startExample({}, 'test/hosts/failing-worker.ts')
    try {
      expect((await fetch(host.walletAddress)).status).toBe(200)
      const secondsToAlarm = async (): Promise<number> => {
        const at = await readAnswer<number | null>(fetch(new URL('/next-alarm', host.walletAddress)), 200)
        return ((at ?? 0) - Date.now()) / 1000
      }
      // Once the first has failed, the next one is set.
      await expect.poll(secondsToAlarm, { interval: 50 }).toBeGreaterThan(1)
    } finally {
      await host.stop()
    }
  })
})

interface PendingGrant {
  readonly interact: { readonly redirect: string }
  readonly continue: { readonly uri: string; readonly wait: number; readonly access_token: { readonly value: string } }
}

describe('the keys of a client, fetched by a Worker', () => {
  const client = createClient()
  let host: RunningHost
  let keys: PublishedKeys

  beforeAll(async () => {
    host = await startExample()
  })
  afterAll(() => host?.stop())
  beforeEach(async () => {
    keys = await network.publish(client.jwk)
    network.asked.splice(0)
  })

  /** The status and code of a grant request in the name of a client. */
  async function askAs(walletAddress: string): Promise<readonly [number, string | undefined]> {
    const access = [{ type: 'quote', actions: ['create'] }]
    const json = { access_token: { access }, client: { walletAddress } }
    const answer = await client.request('POST', new URL('/auth', host.walletAddress).href, { json })
    const { error }: { readonly error?: { readonly code: string } } = JSON.parse(await answer.text())
    return [answer.status, error?.code]
  }

  it('KEY-6 are taken from its own host', async () => {
    expect(await askAs(SHOP)).toEqual([200, undefined])
    expect(network.asked.at(-1)).toBe(`${SHOP}/jwks.json`)
  })

  it.each([
    ['10.0.0.7'],
    ['169.254.169.254'],
    ['93.184.215.14', '127.0.0.1'],
    ['93.184.215.14', '::1'],
    ['::ffff:192.168.0.1'],
  ])('T-1 are not fetched where the name of its host means %s %s', async (...addresses) => {
    network.addresses.set('inside.example', addresses)
    expect(await askAs('https://inside.example/client')).toEqual([400, 'invalid_client'])
    expect(network.asked.filter((url) => url.includes('inside.example/'))).toEqual([])
  })

  it.each([
    'http://shop.example/client',
    'https://shop.example:8443/client',
    'https://10.0.0.7/client',
    'http://localhost/client',
  ])('T-1 are not asked for at %s', async (walletAddress) => {
    expect(await askAs(walletAddress)).toEqual([400, 'invalid_client'])
    expect(network.asked).toEqual([])
  })

  it('T-3 are not looked for behind a redirect', async () => {
    network.addresses.set('moved.example', ['93.184.215.14'])
    const moved = (): Response => new Response(null, { status: 302, headers: { location: `${SHOP}/jwks.json` } })
    network.documents.set('https://moved.example/client/jwks.json', moved)
    expect(await askAs('https://moved.example/client')).toEqual([400, 'invalid_client'])
    expect(keys.fetches()).toBe(0)
  })

  it('T-4 are not read beyond 64 KiB', async () => {
    network.addresses.set('large.example', ['93.184.215.14'])
    const large = { keys: [client.jwk], padding: 'x'.repeat(65_536) }
    network.documents.set('https://large.example/client/jwks.json', () => Response.json(large))
    expect(await askAs('https://large.example/client')).toEqual([400, 'invalid_client'])
  })
})

describe('the database of a Durable Object', () => {
  let worker: Miniflare
  const folder = mkdtempSync(join(tmpdir(), 'contract-'))
  const ask = async (path: string): Promise<readonly [number, string]> => {
    const answer = await worker.dispatchFetch(`http://contract.invalid${path}`)
    return [answer.status, await answer.text()]
  }

  beforeAll(async () => {
    worker = startWorker(await bundleForWorkers('test/hosts/contract-worker.ts'), { durableObjectsPersist: folder })
    await worker.ready
  })
  afterAll(async () => {
    await worker?.dispose()
    rmSync(folder, { recursive: true, force: true })
  })

  it('T-2 has no connection to checked addresses to offer, so the built-in way to fetch keys refuses to be made', async () => {
    const [, answer] = await ask('/key-resolver')
    expect(answer).toBe('ConfigurationError: keyResolver is required on a host without node:https')
  })

  it('T-2 nor to read incoming payments by, so a wallet with a rail and no other way to is not made', async () => {
    const [, answer] = await ask('/remote-receivers')
    expect(answer).toBe('ConfigurationError: remoteReceivers is required on a host without node:https')
  })

  describe.each([
    ['storage', storageContract().map(({ name }) => name)],
    ['ledger', ledgerContract().map(({ name }) => name)],
  ])('keeps the contract of the %s', (contract, cases) => {
    it('which is that of the built package', async () => {
      expect(await ask(`/${contract}`)).toEqual([200, JSON.stringify(cases)])
    })

    it.each(cases)('EMB-7 %s', async (name) => {
      expect(await ask(`/${contract}?name=${encodeURIComponent(name)}`)).toEqual([200, 'kept'])
    })
  })
})
