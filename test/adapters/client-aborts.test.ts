import { once } from 'node:events'
import type { RequestListener } from 'node:http'
import express from 'express'
import express4 from 'express4'
import type { OpenPayments } from 'open-payments-server'
import { openPaymentsMiddleware } from 'open-payments-server/express'
import { memoryLedger } from 'open-payments-server/ledger/memory'
import { toNodeListener } from 'open-payments-server/node'
import { signedRequest } from 'open-payments-server/testing'
import { describe, expect, it } from 'vitest'
import { gate } from '../support/gate.ts'
import { testServers } from '../support/test-servers.ts'
import { ALICE, BASE, cryptography, incomingPayment, spendingToken, testWallet, usd } from '../support/test-wallet.ts'
import { ask, createEcho, receive, send } from './echo.ts'
import { headOf, textOf } from './raw-request.ts'

const { listen } = testServers()

type Mounted = Pick<OpenPayments, 'handle' | 'owns'>

const HOSTS: readonly (readonly [string, (openPayments: Mounted) => RequestListener])[] = [
  ['node:http', (openPayments) => toNodeListener(openPayments, { next: (_, response) => response.end() })],
  ['Express 4', (openPayments) => express4().use(openPaymentsMiddleware(openPayments))],
  ['Express 5', (openPayments) => express().use(openPaymentsMiddleware(openPayments))],
]

/** A wallet of which a client is about to order a payment, and what stops the order within the ledger's hold. */
async function orderedPayment(mount: (openPayments: Mounted) => RequestListener) {
  const [holding, release] = [gate(), gate()]
  const accounts = ['alice', 'bob'].map((account) => ({ account, assetCode: 'USD', assetScale: 2, balance: 1000n }))
  const ledger = memoryLedger({ accounts })
  const wallet = await testWallet({
    ledger: {
      ...ledger,
      hold: async (order) => {
        holding.open()
        await release.opened
        return ledger.hold(order)
      },
    },
  })
  const { payment } = await incomingPayment(wallet)
  const token = await spendingToken(wallet)
  const order = await signedRequest({
    method: 'POST',
    url: `${BASE}/outgoing-payments`,
    key: wallet.client.key,
    cryptography,
    created: Math.floor(wallet.clock.now() / 1000),
    token,
    json: { walletAddress: ALICE, incomingPayment: payment.id, debitAmount: usd('250') },
  })
  const port = await listen(mount(wallet.openPayments))
  const answer = () => receive(send(port, textOf(order, ['connection: close'])))
  const outcomes = () => wallet.events.filter(({ type }) => type === 'request')
  wallet.events.splice(0)
  return { wallet, ledger, port, order, holding, release, answer, outcomes }
}

describe.each(HOSTS)('an order to %s behind a request of the same connection', (_, mount) => {
  const refused = (head: string, body: string) => `${head} HTTP/1.1\r\nHost: test\r\n${body}`
  it.each([
    ['is too large', refused('POST /quotes', `Content-Length: 70000\r\n\r\n${'x'.repeat(70_000)}`), 413],
    ['is encoded', refused('POST /quotes', 'Content-Encoding: gzip\r\nContent-Length: 2\r\n\r\n{}'), 415],
  ])('that %s, which ends the connection, is not carried out, and may come again', async (_what, before, status) => {
    const { wallet, ledger, port, order, release, answer, outcomes } = await orderedPayment(mount)
    release.open()
    const text = await receive(send(port, before + textOf(order)))
    expect(text).toMatch(new RegExp(`^HTTP/1\\.1 ${status} [\\s\\S]*connection: close`, 'i'))
    await wallet.openPayments.drain()
    expect(outcomes()).toMatchObject([{ status }])
    expect(await ledger.balance('alice')).toMatchObject({ total: 1000n, held: 0n })
    expect(await answer()).toMatch(/^HTTP\/1\.1 201 /)
    await wallet.openPayments.drain()
    expect(await ledger.balance('alice')).toMatchObject({ total: 750n, held: 0n })
  })

  it('that is answered is carried out, and answered after it', async () => {
    const { port, order, release } = await orderedPayment(mount)
    release.open()
    const text = await receive(
      send(port, `GET /alice HTTP/1.1\r\nHost: test\r\n\r\n${textOf(order, ['connection: close'])}`),
    )
    expect(text).toMatch(/^HTTP\/1\.1 200 [\s\S]*HTTP\/1\.1 201 /)
  })
})

describe.each(HOSTS)('a client of %s that goes away', (_, mount) => {
  it.each([
    ['before the body that it announced', 0],
    ['within the body', 10],
  ])('%s has ordered nothing, and may order it again', async (_when, sent) => {
    const { wallet, ledger, port, order, release, answer, outcomes } = await orderedPayment(mount)
    release.open()
    const socket = send(port, headOf(order) + Buffer.from(order.body).toString('latin1', 0, sent))
    await once(socket, 'connect')
    socket.destroy()
    await expect.poll(outcomes).toHaveLength(1)
    expect(outcomes()).toMatchObject([{ operation: 'create-outgoing-payment', status: 413 }])
    expect(await answer()).toMatch(/^HTTP\/1\.1 201 /)
    await wallet.openPayments.drain()
    expect(await ledger.balance('alice')).toMatchObject({ total: 750n, held: 0n })
    expect(wallet.events.filter(({ type }) => type === 'fault')).toEqual([])
  })

  it('while its order is carried out has ordered it, once', async () => {
    const { wallet, ledger, port, order, holding, release, answer, outcomes } = await orderedPayment(mount)
    const socket = send(port, textOf(order))
    await holding.opened
    socket.destroy()
    await once(socket, 'close')
    release.open()
    await expect.poll(outcomes).toHaveLength(1)
    await wallet.openPayments.drain()
    expect(outcomes()).toMatchObject([{ operation: 'create-outgoing-payment', status: 201 }])
    expect(await ledger.balance('alice')).toMatchObject({ total: 750n, held: 0n })
    expect(await ledger.balance('bob')).toMatchObject({ total: 1250n })
    expect(await answer()).toMatch(/^HTTP\/1\.1 401 /)
    await wallet.openPayments.drain()
    expect(await ledger.balance('alice')).toMatchObject({ total: 750n, held: 0n })
    expect(wallet.events.filter(({ type }) => type === 'fault')).toEqual([])
  })

  it('while its answer is written disturbs nobody', async () => {
    const echo = createEcho()
    const closed = gate()
    const body = 'x'.repeat(20_000_000)
    const listener = mount({
      ...echo,
      handle: async (request) =>
        request.target === '/op/large' ? { status: 200, headers: {}, body } : echo.handle(request),
    })
    const port = await listen((request, response) => {
      if (request.url === '/op/large') response.on('close', closed.open)
      listener(request, response)
    })
    const socket = send(port, 'GET /op/large HTTP/1.1\r\nHost: test\r\n\r\n')
    await once(socket, 'data')
    socket.destroy()
    await closed.opened
    expect(await ask(port, 'GET /op HTTP/1.1')).toMatchObject({ target: '/op' })
  })
})
