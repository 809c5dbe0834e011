import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import express from 'express'
import type { OnEvent, OpenPayments } from 'open-payments-server'
import { openPaymentsMiddleware } from 'open-payments-server/express'
import { toNodeListener } from 'open-payments-server/node'
import { describe, expect, it, vi } from 'vitest'
import { keyRegistry, remoteClient } from '../support/key-registry.ts'
import {
  ALICE,
  BASE,
  grantAtOnce,
  incomingPayment,
  spendingToken,
  testWallet,
  usd,
  usdAmount,
} from '../support/test-wallet.ts'
import { turn } from '../support/turns.ts'

type Send = (path: string, method: string) => Promise<Response>

/** The routes of the host, which have nothing. */
const notOurs: RequestListener = (_request, response) => void response.writeHead(404).end()

async function listen(listener: RequestListener): Promise<[Send, () => unknown]> {
  const server = createServer(listener).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  const port = typeof address === 'object' ? address?.port : undefined
  const close = (): void => {
    server.closeAllConnections()
    server.close()
  }
  return [(path, method) => fetch(`http://127.0.0.1:${port}${path}`, { method }), close]
}

/** Those of the answer, without those of its moment and its connection. */
function headersOf({ headers }: Response): Readonly<Record<string, string>> {
  const { date: _date, connection: _connection, 'keep-alive': _keepAlive, ...others } = Object.fromEntries(headers)
  return others
}

describe('owns()', () => {
  it('leaves the wallet its own pages, beside the endpoints on the same paths', async () => {
    const { openPayments } = await testWallet()
    const owned = ['/alice', '/alice/jwks.json', '/alice/?x=1', '/incoming-payments/7', '/wallet-address']
    for (const target of owned) expect([target, await openPayments.owns('GET', target)]).toEqual([target, true])
    const left = ['/', '/quotes', '/nobody', '/nobody/jwks.json', '/.well-known/jwks.json', '/jwks.json', '//alice']
    for (const target of left) expect([target, await openPayments.owns('GET', target)]).toEqual([target, false])
    expect(await openPayments.owns('POST', '/quotes')).toBe(true)
    expect(await openPayments.owns('POST', '/alice')).toBe(false)
  })

  it('takes every method under a base path of its own', async () => {
    const { openPayments } = await testWallet({ resourceServer: `${BASE}/op`, walletAddressServer: BASE })
    expect(await openPayments.owns('GET', '/op/quotes')).toBe(true)
    expect(await openPayments.owns('GET', '/op/nothing')).toBe(false)
  })
})

describe('WAS-8 HEAD of what anyone may read', () => {
  const hosts: Readonly<Record<string, (openPayments: OpenPayments) => Promise<[Send, () => unknown]>>> = {
    'node:http': async (openPayments) => listen(toNodeListener(openPayments, { next: notOurs })),
    Express: async (openPayments) => listen(express().use(openPaymentsMiddleware(openPayments)).use(notOurs)),
    Fetch: async (openPayments) => [
      (path, method) => openPayments.fetch(new Request(BASE + path, { method })),
      () => {},
    ],
  }

  it.each(Object.entries(hosts))('is that of GET without its body: %s', async (_, start) => {
    const wallet = await testWallet()
    const { payment } = await incomingPayment(wallet)
    const [send, close] = await start(wallet.openPayments)
    const query = `?wallet-address=${encodeURIComponent(ALICE)}`
    const documents = ['/alice', '/alice/jwks.json', `/wallet-address${query}`, `/wallet-address/keys${query}`]
    for (const path of [...documents, payment.id.slice(BASE.length)]) {
      const whole = await send(path, 'GET')
      const { byteLength } = await whole.arrayBuffer()
      const head = await send(path, 'HEAD')
      expect([path, whole.status, head.status, await head.text()]).toEqual([path, 200, 200, ''])
      expect(headersOf(head)).toEqual({ ...headersOf(whole), 'content-length': String(byteLength) })
      expect(await wallet.openPayments.owns('HEAD', path)).toBe(true)
    }
    await close()
  })

  it("is nobody else's: what is signed, and what is no wallet address, have none", async () => {
    const { openPayments } = await testWallet()
    for (const path of ['/nobody', '/quotes/7']) expect(await openPayments.owns('HEAD', path)).toBe(false)
    const { status, headers } = await openPayments.fetch(new Request(`${BASE}/wallet-address`, { method: 'POST' }))
    expect([status, headers.get('allow')]).toEqual([405, 'GET, HEAD'])
    expect((await openPayments.fetch(new Request(`${BASE}/quotes`, { method: 'HEAD' }))).status).toBe(405)
  })
})

describe('a client whose host is down', () => {
  it('is told that the server is unavailable, not that its signature is wrong', async () => {
    const keys = keyRegistry()
    const client = await remoteClient(keys)
    const wallet = await testWallet({ keyResolver: keys })
    const granted = await grantAtOnce(wallet, [{ type: 'quote', actions: ['create', 'read'] }], client)
    const token = granted.body.access_token.value
    const url = `${BASE}/quotes/${'0'.repeat(32)}`
    expect((await wallet.send('GET', url, { as: client, token })).status).toBe(404)
    keys.sets.delete('https://shop.example/pay')
    const answer = await wallet.send('GET', url, { as: client, token })
    expect([answer.status, answer.body.error.code]).toEqual([503, 'unavailable'])
    expect(answer.headers['retry-after']).toBe('1')
  })
})

describe('onEvent', () => {
  it('may report money from within the event that asked for it', async () => {
    const wallet = await testWallet({
      onEvent: async (event) => {
        if (event.type !== 'incoming_payment.created') return
        await wallet.openPayments.incomingPayments.received(
          event.incomingPayment,
          usdAmount(5n),
          `for ${event.incomingPayment}`,
        )
      },
    })
    const { payment, token } = await incomingPayment(wallet, { incomingAmount: usd('5') })
    await wallet.openPayments.drain()
    const answer = await wallet.send('GET', payment.id, { token })
    expect(answer.body).toMatchObject({ completed: true, receivedAmount: usd('5') })
  })

  it.each<[string, OnEvent]>([
    [
      'throws',
      () => {
        throw new TypeError('a method without its object')
      },
    ],
    ['rejects', () => Promise.reject(new Error('the host is busy'))],
  ])('that %s has faults printed, and nothing that needs no person', async (_, onEvent) => {
    const print = vi.spyOn(console, 'error').mockReturnValue()
    try {
      const wallet = await testWallet({ onEvent, walletAddresses: { find: () => Promise.reject(new Error('away')) } })
      expect((await wallet.send('GET', ALICE)).status).toBe(503)
      const first = 'open-payments-server: the directory of wallet addresses failed'
      expect(print.mock.calls).toEqual([[first, expect.objectContaining({ message: 'away' })]])
    } finally {
      print.mockRestore()
    }
  })

  it('that never resolves holds up neither money nor drain()', async () => {
    const wallet = await testWallet({ onEvent: () => new Promise<void>(() => undefined) })
    const { payment } = await incomingPayment(wallet)
    const json = { walletAddress: ALICE, incomingPayment: payment.id, debitAmount: usd('10') }
    const token = await spendingToken(wallet)
    expect((await wallet.send('POST', `${BASE}/outgoing-payments`, { token, json })).status).toBe(201)
    const drained = wallet.openPayments.drain().then(() => 'drained')
    for (let count = 0; count < 400; count++) {
      wallet.clock.advance(1000)
      await turn()
    }
    expect(await drained).toBe('drained')
    expect(await wallet.ledger.balance('bob')).toMatchObject({ total: 10n })
  })
})
