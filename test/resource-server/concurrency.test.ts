import type { Storage } from 'open-payments-server'
import { memoryStorage } from 'open-payments-server/storage/memory'
import { sqliteStorage } from 'open-payments-server/storage/sqlite'
import { signedRequest } from 'open-payments-server/testing'
import { describe, expect, it } from 'vitest'
import { useSqlite } from '../storage/sqlite-databases.ts'
import { gate } from '../support/gate.ts'
import {
  ALICE,
  type Answer,
  addClient,
  BASE,
  cryptography,
  type TestWallet,
  testWallet,
  usd,
} from '../support/test-wallet.ts'
import { turns } from '../support/turns.ts'
import {
  askPayment,
  askQuote,
  expectStatus,
  idOf,
  type Shop,
  shop,
  spendingAccess,
  spent,
  spentOf,
  tokenFor,
} from './observed-wallet.ts'

const FIFTY = Array.from({ length: 50 }, (_, order) => order)

function countStatuses(answers: readonly Answer[]): Readonly<Record<string, number>> {
  const counts: Record<string, number> = {}
  for (const { status, body } of answers) {
    const key = status === 201 ? '201' : `${status} ${body.error.code}`
    counts[key] = (counts[key] ?? 0) + 1
  }
  return counts
}

async function expectMoney({ wallet, incoming }: Shop, paid: bigint): Promise<void> {
  await wallet.openPayments.drain()
  expect(await wallet.ledger.balance('alice')).toMatchObject({ total: 100_000n - paid, held: 0n })
  expect(await wallet.ledger.balance('bob')).toMatchObject({ total: paid })
  expect((await wallet.send('GET', incoming.id)).body.receivedAmount).toEqual(usd(paid.toString()))
  const totals = (await wallet.ledger.totals()).filter(({ value }) => value !== 0n)
  expect(totals).toEqual([{ value: 100_000n, assetCode: 'USD', assetScale: 2 }])
}

const databases = useSqlite()

/** Posts without a look at the answer: of requests at the same time nobody can tell which event is whose. */
async function post({ openPayments, client, clock }: TestWallet, url: string, token: string, json?: unknown) {
  const created = Math.floor(clock.now() / 1000)
  const body = json === undefined ? {} : { json }
  return openPayments.handle(
    await signedRequest({ method: 'POST', url, key: client.key, cryptography, created, token, ...body }),
  )
}

describe('many at once', () => {
  it.each(['debitAmount', 'receiveAmount'])(
    'T-28 LIM-8 50 payments under a grant whose %s admits ten: exactly ten',
    async (limit) => {
      const rig = await shop({ limits: { [limit]: usd('1000') } })
      const answers = await Promise.all(
        FIFTY.map((order) =>
          askPayment(rig.wallet, rig.spending, {
            incomingPayment: rig.incoming.id,
            debitAmount: usd('100'),
            metadata: { order },
          }),
        ),
      )
      expect(countStatuses(answers)).toEqual({ '201': 10, '403 grant_limit_exceeded': 40 })
      expect(await spentOf(rig.wallet, rig.spending)).toEqual(spent('1000'))
      await expectMoney(rig, 1000n)
    },
  )

  it('LIM-8 amounts of all sizes never pass the limit together', async () => {
    const rig = await shop({ limits: { debitAmount: usd('1000') } })
    const answers = await Promise.all(
      FIFTY.map((order) =>
        askPayment(rig.wallet, rig.spending, {
          incomingPayment: rig.incoming.id,
          debitAmount: usd(String(1 + ((order * 37) % 101))),
          metadata: { order },
        }),
      ),
    )
    const paid = answers
      .filter(({ status }) => status === 201)
      .reduce((sum, { body }) => sum + BigInt(body.debitAmount.value), 0n)
    expect(paid).toBeLessThanOrEqual(1000n)
    // What was refused would not have fitted even at the end.
    for (const [order, { status }] of answers.entries()) {
      if (status !== 201) expect(paid + BigInt(1 + ((order * 37) % 101))).toBeGreaterThan(1000n)
    }
    expect(await spentOf(rig.wallet, rig.spending)).toEqual(spent(paid.toString()))
    await expectMoney(rig, paid)
  })

  it('LIM-8 two entries admit ten and five of fifty', async () => {
    const rig = await shop()
    const [access] = spendingAccess({ debitAmount: usd('1000') })
    const [second] = spendingAccess({ debitAmount: usd('599') })
    const token = await tokenFor(rig.wallet, [access, second])
    const answers = await Promise.all(
      FIFTY.map((order) =>
        askPayment(rig.wallet, token, {
          incomingPayment: rig.incoming.id,
          debitAmount: usd('100'),
          metadata: { order },
        }),
      ),
    )
    expect(countStatuses(answers)).toEqual({ '201': 15, '403 grant_limit_exceeded': 35 })
    await expectMoney(rig, 1500n)
  })

  it('T-27 QUO-7 one quote used fifty times: one payment', async () => {
    const rig = await shop()
    const quote = await askQuote(rig.wallet, rig.spending, { receiver: rig.incoming.id, debitAmount: usd('100') })
    const answers = await Promise.all(
      FIFTY.map((order) => askPayment(rig.wallet, rig.spending, { quoteId: quote.body.id, metadata: { order } })),
    )
    expect(countStatuses(answers)).toEqual({ '201': 1, '400 invalid_quote': 49 })
    expect(await spentOf(rig.wallet, rig.spending)).toEqual(spent('100'))
    await expectMoney(rig, 100n)
  })

  it('T-27 QUO-7 one quote used under two grants and two clients at once: one payment', async () => {
    const rig = await shop()
    const { wallet, spending } = rig
    const other = await addClient(wallet, 'other')
    const theirs = await tokenFor(wallet, spendingAccess(), other)
    const second = await tokenFor(wallet, spendingAccess())
    const quote = await askQuote(wallet, spending, { receiver: rig.incoming.id, debitAmount: usd('100') })
    const answers = await Promise.all(
      FIFTY.map((order) => {
        const body = { quoteId: quote.body.id, metadata: { order } }
        if (order % 3 === 0) return askPayment(wallet, spending, body)
        return order % 3 === 1 ? askPayment(wallet, second, body) : askPayment(wallet, theirs, body, other)
      }),
    )
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(1)
    await expectMoney(rig, 100n)
  })

  it('T-9 SIG-24 one signed request sent fifty times: one payment', async () => {
    const rig = await shop()
    const answers = await Promise.all(
      FIFTY.map(() =>
        askPayment(rig.wallet, rig.spending, { incomingPayment: rig.incoming.id, debitAmount: usd('100') }),
      ),
    )
    expect(countStatuses(answers)).toEqual({ '201': 1, '401 invalid_signature': 49 })
    await expectMoney(rig, 100n)
  })

  it('SIG-26 two servers on one storage take one signed request once, and one grant’s budget once', async () => {
    const rig = await shop({ limits: { debitAmount: usd('1000') } })
    const { storage, ledger, clock, client, directory } = rig.wallet
    const walletAddresses = { find: async (url: string) => directory.get(url) }
    const twin = await testWallet({ storage, ledger, clock, walletAddresses })
    const created = Math.floor(clock.now() / 1000)
    const send = (order: number): Promise<Answer> => {
      const json = {
        walletAddress: ALICE,
        incomingPayment: rig.incoming.id,
        debitAmount: usd('100'),
        metadata: { order: order >> 1 },
      }
      const server = order % 2 === 0 ? rig.wallet : twin
      return server.send('POST', `${BASE}/outgoing-payments`, { as: client, token: rig.spending, json, created })
    }
    const answers = await Promise.all(FIFTY.map(send))
    await twin.openPayments.drain()
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(10)
    expect(await spentOf(rig.wallet, rig.spending)).toEqual(spent('1000'))
    await expectMoney(rig, 1000n)
  })

  it('INC-8 fifty payers of an incoming payment that takes ten: ten arrive, and every other dollar comes back', async () => {
    const rig = await shop({ incoming: { incomingAmount: usd('1000') } })
    const answers = await Promise.all(
      FIFTY.map((order) =>
        askPayment(rig.wallet, rig.spending, {
          incomingPayment: rig.incoming.id,
          debitAmount: usd('100'),
          metadata: { order },
        }),
      ),
    )
    await expectMoney(rig, 1000n)
    expect(await spentOf(rig.wallet, rig.spending)).toEqual(spent('1000'))
    const created = answers.filter(({ status }) => status === 201)
    const ends = await Promise.all(created.map(({ body }) => rig.wallet.send('GET', body.id, { token: rig.spending })))
    expect(ends.filter(({ body }) => body.sentAmount.value === '100')).toHaveLength(10)
    for (const { body } of ends) expect(body).toMatchObject({ failed: body.sentAmount.value === '0' })
  })

  it('a payment and the completion of its receiver: whatever comes first, no money is lost', async () => {
    for (const first of ['pay', 'complete'] as const) {
      const rig = await shop({ incoming: { incomingAmount: usd('100') } })
      const { wallet, spending, receiving, incoming } = rig
      const pay = () => askPayment(wallet, spending, { incomingPayment: incoming.id, debitAmount: usd('100') })
      const complete = () => wallet.send('POST', `${incoming.id}/complete`, { token: receiving })
      const [one, two] = first === 'pay' ? [pay, complete] : [complete, pay]
      await Promise.all([one(), two()])
      await wallet.openPayments.drain()
      const { total = 0n } = (await wallet.ledger.balance('bob')) ?? {}
      expect([0n, 100n]).toContain(total)
      const read = await wallet.send('GET', incoming.id, { token: receiving })
      expect(read.body).toMatchObject({ completed: true, receivedAmount: usd(total.toString()) })
      expect(await wallet.ledger.balance('alice')).toMatchObject({ total: 100_000n - total, held: 0n })
    }
  })

  it('INC-10 a completion gets its turn among payments that others go on making', async () => {
    const storage = sqliteStorage(await databases.open())
    const { wallet, spending, receiving, incoming } = await shop({ overrides: { storage } })
    const terms = { walletAddress: ALICE, incomingPayment: incoming.id, debitAmount: usd('1') }
    let orders = 0
    let isAnswered = false
    const { open, opened } = gate()
    const payOn = async (): Promise<void> => {
      while (!isAnswered && orders < 1000) {
        if (orders === 100) open()
        await post(wallet, `${BASE}/outgoing-payments`, spending, { ...terms, metadata: { order: orders++ } })
      }
    }
    const paying = Promise.all(FIFTY.map(payOn))
    await opened
    const { status } = await post(wallet, `${incoming.id}/complete`, receiving)
    const before = orders
    isAnswered = true
    await paying
    expect({ status, isPaidMeanwhile: before < 1000 }).toEqual({ status: 200, isPaidMeanwhile: true })
  })

  it('INC-10 a completion goes before the payments that wait for room already', async () => {
    const inner = memoryStorage()
    const reserving = gate()
    const storage: Storage = {
      ...inner,
      commit: async (changes) => {
        const isWritten = changes.some(({ action, kind }) => action === 'replace' && kind === 'incoming-payment')
        if (isWritten) await reserving.opened
        return inner.commit(changes)
      },
    }
    const rig = await shop({ overrides: { storage } })
    const { wallet, spending, receiving, incoming } = rig
    const terms = { walletAddress: ALICE, incomingPayment: incoming.id, debitAmount: usd('1') }
    const pay = (order: number) =>
      post(wallet, `${BASE}/outgoing-payments`, spending, { ...terms, metadata: { order } })
    const first = pay(0)
    await turns(20)
    for (const order of [1, 2, 3]) expect((await pay(order)).status).toBe(201)
    const completing = post(wallet, `${incoming.id}/complete`, receiving)
    await turns(20)
    reserving.open()
    expect([(await completing).status, (await first).status]).toEqual([200, 201])
    await expectMoney(rig, 1n)
  })

  it('INC-10 a completion of what is over waits for nobody, and so makes nobody wait', async () => {
    const inner = memoryStorage()
    const [reserving, givingUp] = [gate(), gate()]
    const storage: Storage = {
      ...inner,
      commit: async (changes) => {
        for (const change of changes) {
          if (change.action === 'replace' && change.kind === 'incoming-payment') await reserving.opened
          const isGivenUp = change.action === 'insert' && change.kind === 'receipt' && change.value.state === 'dropped'
          if (isGivenUp) await givingUp.opened
        }
        return inner.commit(changes)
      },
    }
    const rig = await shop({ overrides: { storage } })
    const { wallet, spending, receiving, incoming } = rig
    const terms = { walletAddress: ALICE, incomingPayment: incoming.id, debitAmount: usd('1') }
    const orders = [0, 1].map((order) =>
      post(wallet, `${BASE}/outgoing-payments`, spending, { ...terms, metadata: { order } }),
    )
    await turns(20)
    const completing = post(wallet, `${incoming.id}/complete`, receiving)
    await turns(20)
    reserving.open()
    expect((await completing).status).toBe(200)
    wallet.clock.advance(1000)
    expect((await post(wallet, `${incoming.id}/complete`, receiving)).status).toBe(200)
    givingUp.open()
    expect((await Promise.all(orders)).map(({ status }) => status)).toEqual([201, 201])
    await expectMoney(rig, 1n)
  })

  it('invariant 15 what the grant has spent is the sum of its payments that did not fail', async () => {
    const rig = await shop({ incoming: { incomingAmount: usd('300') } })
    const { wallet, spending } = rig
    await Promise.all(
      FIFTY.slice(0, 20).map((order) =>
        askPayment(wallet, spending, {
          incomingPayment: rig.incoming.id,
          debitAmount: usd(String(10 + order * 3)),
          metadata: { order },
        }),
      ),
    )
    await wallet.openPayments.drain()
    const url = `${BASE}/outgoing-payments?wallet-address=${encodeURIComponent(ALICE)}&first=100`
    const list = await expectStatus(200, wallet.send('GET', url, { token: spending }))
    const sum = list.body.result.reduce((total, { sentAmount }) => total + BigInt(sentAmount.value), 0n)
    expect(await spentOf(wallet, spending)).toEqual(spent(sum.toString()))
    expect(new Set(list.body.result.map(idOf)).size).toBe(list.body.result.length)
    await expectMoney(rig, sum)
  })
})
