import type { HttpRequest, PaymentMethod, RailTransfer } from 'open-payments-server'
import { memoryLedger } from 'open-payments-server/ledger/memory'
import { memoryStorage } from 'open-payments-server/storage/memory'
import { describe, expect, it } from 'vitest'
import { fakeRail } from '../support/fake-rail.ts'
import { lastSegment } from '../support/last-segment.ts'
import { BASE, incomingPayment, type TestWallet, testWallet, usdAmount } from '../support/test-wallet.ts'

async function transferTo(wallet: TestWallet): Promise<RailTransfer> {
  const { payment } = await incomingPayment(wallet)
  const amount = usdAmount(5n)
  const incoming = lastSegment(payment.id)
  const notAfter = wallet.clock.now() + 60_000
  const money = { amount, least: 0n, account: 'g.peer', accountAmount: amount }
  return { id: 'a'.repeat(32), incomingPayment: incoming, ...money, notAfter }
}

type Handle = NonNullable<PaymentMethod['endpoint']>['handle']

const answering: Handle = async ({ method, target, bytes }) => ({
  status: 200,
  headers: { 'content-type': 'application/octet-stream' },
  body: new TextEncoder().encode(`${method} ${target} ${new TextDecoder().decode(await bytes(100))}`),
})

async function walletWith(handle: Handle): Promise<TestWallet> {
  return testWallet({ paymentMethods: [{ ...fakeRail(), endpoint: { path: '/rails/ilp', handle } }] })
}

function request(method: string, target: string): HttpRequest {
  const bytes = async (): Promise<Uint8Array> => new TextEncoder().encode(method === 'POST' ? 'packet' : '')
  return { method, target, headerLines: () => [], bytes }
}

describe('the endpoint of a payment method', () => {
  it('EMB-1 answers POST at its path, with bytes, through every entrance', async () => {
    const { openPayments } = await walletWith(answering)
    for (const target of ['/rails/ilp', '/rails/ilp?from=peer']) {
      const answer = await openPayments.handle(request('POST', target))
      expect(answer).toMatchObject({ status: 200, headers: { 'content-type': 'application/octet-stream' } })
      expect(answer.body).toEqual(new TextEncoder().encode(`POST ${target} packet`))
      expect(await openPayments.owns('POST', target)).toBe(true)
    }
    const fetched = await openPayments.fetch(new Request(`${BASE}/rails/ilp`, { method: 'POST', body: 'packet' }))
    expect([fetched.status, await fetched.text()]).toEqual([200, 'POST /rails/ilp packet'])
  })

  it.each([
    ['GET', '/rails/ilp'],
    ['POST', '/rails/ilp/'],
    ['POST', '/rails/ilp/a'],
    ['POST', '/Rails/ilp'],
    ['POST', '/rails%2Filp'],
  ])('answers nothing else: %s %s', async (method, target) => {
    const { openPayments } = await walletWith(answering)
    expect((await openPayments.handle(request(method, target))).status).toBe(404)
    expect(await openPayments.owns(method, target)).toBe(false)
  })

  it('says nothing of what failed in it, and nothing that may be kept', async () => {
    const wallet = await walletWith(async () => Promise.reject(new Error('a secret of the rail')))
    const answer = await wallet.openPayments.handle(request('POST', '/rails/ilp'))
    expect([answer.status, answer.body]).toEqual([500, undefined])
    expect(answer.headers).toMatchObject({ 'cache-control': 'no-store' })
    expect(wallet.events).toMatchObject([{ type: 'fault', message: 'a payment method failed' }])
  })

  it('has its host wait for what is credited after the answer', async () => {
    const rail = fakeRail()
    let credit = (): void => undefined
    const credited = new Promise<{ readonly ok: true }>((resolve) => {
      credit = () => resolve({ ok: true })
    })
    const ledger = memoryLedger({ accounts: [{ account: 'bob', assetCode: 'USD', assetScale: 2, balance: 0n }] })
    const storage = memoryStorage()
    const handle: Handle = async (asked) => {
      await rail.server?.receive(await transferTo(wallet))
      return answering(asked)
    }
    const endpoint = { path: '/rails/ilp', handle }
    const wallet = await testWallet({
      paymentMethods: [Object.assign(rail, { endpoint })],
      ledger: { ...ledger, credit: () => credited },
      // What else runs is not waited for.
      storage: { ...storage, due: () => new Promise(() => undefined) },
    })
    void wallet.openPayments.recover()
    const waited: Promise<unknown>[] = []
    await wallet.openPayments.handle(request('POST', '/rails/ilp'), { waitUntil: (work) => void waited.push(work) })
    credit()
    await Promise.all(waited)
    const [receipt] = await wallet.storage.get([{ kind: 'receipt', id: 'a'.repeat(32) }])
    expect(receipt?.value).toMatchObject({ state: 'credited' })
  })

  it('is given its server before anything else', async () => {
    const rail = fakeRail()
    const { events } = await testWallet({ paymentMethods: [rail] })
    expect(await rail.server?.balance('g.peer/USD/2')).toEqual({ sent: 0n, received: 0n })
    expect(await rail.server?.findPayable('0'.repeat(32))).toBeUndefined()
    rail.server?.emit({ type: 'rail_unavailable', at: 1, railAccount: 'g.peer', reason: 'unreachable' })
    expect(events).toMatchObject([{ type: 'rail_unavailable' }])
  })
})
