import { createPrivateKey } from 'node:crypto'
import { type AuthenticatedClient, OpenPaymentsClientError } from '@interledger/open-payments'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { answerAsPerson } from '../../examples/sandbox/person.ts'
import { type Sandbox, type SandboxDescription, startSandbox } from '../../examples/sandbox/server.ts'
import { createShop } from '../../examples/shop/shop.ts'
import { useMovedTime } from './moved-time.ts'
import { listen, officialClient } from './official-client.ts'

const { advance } = useMovedTime()
let sandbox: Sandbox
let description: SandboxDescription
let server: Awaited<ReturnType<typeof listen>>
let url: string
/** The shop's client, whose calls a test may make fail. */
let client: AuthenticatedClient

beforeAll(async () => {
  sandbox = await startSandbox({ port: 0, database: ':memory:', configuration: {}, warn: () => undefined })
  description = await sandbox.describe()
  const { walletAddress, keyId, privateKeyPem } = description.client
  client = await officialClient(walletAddress, { keyId, privateKey: createPrivateKey(privateKeyPem) })
  const shop = await client.walletAddress.get({ url: walletAddress })
  server = await listen((own) => createShop(client, shop, own))
  url = server.url
})
afterAll(async () => {
  await server.close()
  await sandbox.stop()
})

let faults: readonly unknown[][]
/** What the buyer's browser keeps of the shop. */
let cookies: string[]
beforeEach(() => {
  cookies = []
  faults = vi.spyOn(console, 'error').mockImplementation(() => undefined).mock.calls
})
afterEach(() => {
  vi.restoreAllMocks()
})

/** The accounts of the sandbox whose owner buys, one after the other so that no test sees what another one has paid. */
const buyer = (index: number): string => description.wallets[index]?.walletAddress ?? ''

async function balanceOf(index: number): Promise<bigint> {
  await sandbox.openPayments.drain()
  return BigInt((await sandbox.describe()).wallets[index]?.balance ?? 0)
}

/** Orders, answers at the wallet as its owner, and resolves with where the browser is sent then. */
async function orderAndAnswer(wallet: string, decision: 'approve' | 'deny'): Promise<URL> {
  const form = { method: 'POST', body: new URLSearchParams({ wallet }), redirect: 'manual' } as const
  const response = await fetch(`${url}/orders`, form)
  cookies.push(...response.headers.getSetCookie().map((cookie) => cookie.split(';')[0] ?? ''))
  const interaction = response.headers.get('location') ?? ''
  expect([response.status, interaction]).toEqual([303, expect.stringContaining(`${sandbox.origin}/auth/interact/`)])
  const finish = await answerAsPerson(interaction, description.consent.credentials, decision)
  advance(5000) // the `wait` of the sandbox
  return new URL(finish ?? '')
}

async function visit(target: URL | string, kept: readonly string[] = cookies): Promise<string> {
  return (await fetch(target, { headers: { cookie: kept.join('; ') } })).text()
}

describe('the shop', () => {
  it('is paid once, however often the buyer comes back', async () => {
    const before = await balanceOf(0)
    expect(await visit(url)).toContain('15.00 USD')
    const finish = await orderAndAnswer(buyer(0), 'approve')
    const orderUrl = new URL('.', finish).href.slice(0, -1)
    expect(await visit(orderUrl)).toContain('Not paid')
    await Promise.all([visit(finish), visit(finish), visit(finish)])
    expect(await balanceOf(0)).toBe(before - 1500n)
    expect(await visit(orderUrl)).toContain('Paid. Thank you!')
    expect(await visit(finish)).toContain('Paid. Thank you!')
    expect(await balanceOf(0)).toBe(before - 1500n)
    expect(faults).toEqual([])
  })

  it('asks a buyer in another currency for what it costs there', async () => {
    const before = await balanceOf(2)
    expect(description.wallets[2]?.assetCode).toBe('EUR')
    await visit(await orderAndAnswer(buyer(2), 'approve'))
    const paid = before - (await balanceOf(2))
    expect(paid).toBeGreaterThan(0n)
    expect(paid).not.toBe(1500n)
  })

  it('is not paid where the buyer denies', async () => {
    const before = await balanceOf(1)
    const finish = await orderAndAnswer(buyer(1), 'deny')
    expect(finish.searchParams.get('result')).toBe('grant_rejected')
    expect(await visit(finish)).toContain('Not paid')
    expect(await balanceOf(1)).toBe(before)
  })

  it('T-20 is paid by the browser that ordered alone, not by whom its link was sent to', async () => {
    const before = await balanceOf(1)
    const finish = await orderAndAnswer(buyer(1), 'approve')
    const ordered = [...cookies]
    expect(ordered).toHaveLength(1)
    await orderAndAnswer(buyer(1), 'approve')
    const [, ofAnother = ''] = cookies
    const renamed = `${ordered[0]?.split('=')[0]}=${ofAnother.split('=')[1]}`
    for (const kept of [[], [ofAnother], [renamed]]) expect(await visit(finish, kept)).toContain('Not paid')
    expect(await balanceOf(1)).toBe(before)
    expect(await visit(finish, ordered)).not.toContain('Not paid')
    expect(await balanceOf(1)).toBe(before - 1500n)
  })

  it('T-20 gives a cookie that no script reads and no other site sends, but for a link', async () => {
    const form = { method: 'POST', body: new URLSearchParams({ wallet: buyer(1) }), redirect: 'manual' } as const
    const [cookie = ''] = (await fetch(`${url}/orders`, form)).headers.getSetCookie()
    expect(cookie).toMatch(/^order-[0-9a-f-]{36}=[0-9a-f-]{36}; Path=\/orders; HttpOnly; SameSite=Lax$/)
  })

  it('takes no reference but that of its own grant, and no denial from just anybody', async () => {
    const before = await balanceOf(1)
    const mine = await orderAndAnswer(buyer(1), 'approve')
    const other = await orderAndAnswer(buyer(1), 'approve')
    const returnUrl = mine.origin + mine.pathname
    const hash = encodeURIComponent(mine.searchParams.get('hash') ?? '')
    const forged = [
      `${returnUrl}${other.search}`,
      `${returnUrl}?interact_ref=${mine.searchParams.get('interact_ref')}`,
      `${returnUrl}?hash=${hash}&interact_ref=${other.searchParams.get('interact_ref')}`,
      `${returnUrl}?result=grant_rejected`,
    ]
    for (const target of forged) expect(await visit(target)).toContain('Not paid')
    expect(faults.map(String)).toEqual(Array(3).fill('Error: this is not what the wallet sent'))
    expect(await balanceOf(1)).toBe(before)
    await visit(mine)
    expect(await balanceOf(1)).toBe(before - 1500n)
  })

  /** What the official client throws where a connection ends before the answer. */
  const lost = () => new OpenPaymentsClientError('Error making Open Payments POST request', { description: 'ended' })

  it.each([
    ['the answer to the order', true],
    ['the order', false],
  ])('is paid once and says that it is checking where %s is lost', async (_, arrives) => {
    const before = await balanceOf(0)
    const finish = await orderAndAnswer(buyer(0), 'approve')
    const { create } = client.outgoingPayment
    const ordered: unknown[] = []
    vi.spyOn(client.outgoingPayment, 'create').mockImplementation(async (to, order) => {
      ordered.push(order)
      if (arrives) await create(to, order)
      throw lost()
    })
    const reading = vi.spyOn(client.incomingPayment, 'get').mockRejectedValue(lost())
    const page = await visit(finish)
    expect(page).toContain('We are checking')
    expect(page).not.toMatch(/Nothing was paid|href=/)
    reading.mockRestore()
    await visit(finish)

    vi.mocked(client.outgoingPayment.create).mockImplementation((to, order) => {
      ordered.push(order)
      return create(to, order)
    })
    const orderUrl = new URL('.', finish).href.slice(0, -1)
    for (const target of [orderUrl, finish, orderUrl]) expect(await visit(target)).not.toMatch(/Not paid|href=/)
    expect(await balanceOf(0)).toBe(before - 1500n)
    expect(await visit(orderUrl)).toContain('Paid. Thank you!')
    expect(new Set(ordered.map((order) => JSON.stringify(order))).size).toBe(1)
  })

  it('goes on checking where a repeated order is refused, because the first may have been taken', async () => {
    const before = await balanceOf(1)
    const finish = await orderAndAnswer(buyer(1), 'approve')
    const create = vi.spyOn(client.outgoingPayment, 'create')
    for (const error of [lost(), Object.assign(lost(), { status: 400 }), Object.assign(lost(), { status: 503 })]) {
      create.mockRejectedValueOnce(error)
    }
    for (const target of [finish, finish]) expect(await visit(target)).toContain('We are checking')
    expect(create).toHaveBeenCalledTimes(3)
    expect(await visit(finish)).toContain('The money is on its way')
    expect(await balanceOf(1)).toBe(before - 1500n)
  })

  it('offers to order again where the wallet refused the order', async () => {
    const before = await balanceOf(1)
    const finish = await orderAndAnswer(buyer(1), 'approve')
    const { create } = client.outgoingPayment
    vi.spyOn(client.outgoingPayment, 'create').mockImplementation((to, order) =>
      create(to, { ...order, quoteId: `${to.url}/quotes/unknown` }),
    )
    expect(await visit(finish)).toMatch(/Not paid.*Order again/)
    expect(await balanceOf(1)).toBe(before)
  })

  it.each(['', 'alice', '/nobody'])('says so where %j is no wallet', async (path) => {
    const wallet = path.startsWith('/') ? sandbox.origin + path : path
    const response = await fetch(`${url}/orders`, { method: 'POST', body: new URLSearchParams({ wallet }) })
    expect([response.status, await response.text()]).toEqual([502, expect.stringContaining('Nothing was paid')])
    expect(faults).toHaveLength(1)
  })

  it.each(['/orders/1', '/orders/1/return?hash=a', '//x', '/%'])('knows no order at %s', async (target) => {
    expect(await visit(url + target)).toMatch(/We do not know this order|One bicycle bell/)
  })
})
