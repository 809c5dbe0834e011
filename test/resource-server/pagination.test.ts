import fc from 'fast-check'
import type { Storage } from 'open-payments-server'
import { memoryStorage } from 'open-payments-server/storage/memory'
import { describe, expect, it } from 'vitest'
import { ALICE, type Answer, addClient, BASE, BOB, usd } from '../support/test-wallet.ts'
import {
  askPayment,
  createIncoming,
  expectRefusal,
  expectStatus,
  INSUFFICIENT_GRANT,
  idOf,
  invalidRequest,
  LONG_LIFETIMES,
  type ObservedWallet,
  observedWallet,
  RECEIVING_ACCESS,
  shop,
  tokenFor,
  UNKNOWN_WALLET_ADDRESS,
} from './observed-wallet.ts'

interface Listed {
  readonly wallet: ObservedWallet
  readonly token: string
  /** The ids, newest first: by time of creation, then by id. */
  readonly ids: readonly string[]
}

/** Incoming payments of Bob; several of them share one millisecond. */
async function walletWithPayments(count: number, storage: Storage = memoryStorage()): Promise<Listed> {
  const wallet = await observedWallet({ settings: { lifetimes: LONG_LIFETIMES }, storage })
  const token = await tokenFor(wallet, RECEIVING_ACCESS)
  const created: (readonly [number, string])[] = []
  for (let index = 0; index < count; index++) {
    created.push([wallet.clock.now(), idOf(await createIncoming(wallet, token))])
    if (index % 3 === 2) wallet.clock.advance(1)
  }
  created.sort(([at, id], [otherAt, otherId]) => otherAt - at || (id < otherId ? 1 : -1))
  return { wallet, token, ids: created.map(([, id]) => id) }
}

function list({ wallet, token }: Listed, query: string, named: string = BOB): Promise<Answer> {
  const url = `${BASE}/incoming-payments?wallet-address=${encodeURIComponent(named)}${query}`
  return wallet.send('GET', url, { token })
}

const idsOf = ({ body }: Answer): readonly string[] => body.result.map(idOf)

describe('a list', () => {
  it('is newest first, and by id within one millisecond', async () => {
    const rig = await walletWithPayments(8)
    const answer = await expectStatus(200, list(rig, ''))
    expect(idsOf(answer)).toEqual(rig.ids)
    expect(answer.body.pagination).toEqual({
      startCursor: rig.ids[0],
      endCursor: rig.ids[7],
      hasNextPage: false,
      hasPreviousPage: false,
    })
  })

  it('has 20 items where no number is asked for, and up to 100 where one is', async () => {
    const rig = await walletWithPayments(101)
    expect(idsOf(await list(rig, ''))).toEqual(rig.ids.slice(0, 20))
    expect(idsOf(await list(rig, '&first=100'))).toEqual(rig.ids.slice(0, 100))
    expect(idsOf(await list(rig, '&first=1'))).toEqual(rig.ids.slice(0, 1))
    const all = await list(rig, '&first=100')
    expect(all.body.pagination).toMatchObject({ hasNextPage: true, hasPreviousPage: false })
    expect(idsOf(await list(rig, `&cursor=${rig.ids[50]}`))).toEqual(rig.ids.slice(51, 71))
  }, 60_000)

  it('reads no further than one item behind a page that is full', async () => {
    const storage = memoryStorage()
    const read: number[] = []
    const counting: Storage = {
      ...storage,
      list: (query) => {
        read.push(query.limit)
        return storage.list(query)
      },
    }
    const rig = await walletWithPayments(7, counting)
    expect(idsOf(await list(rig, '&first=3'))).toEqual(rig.ids.slice(0, 3))
    expect(idsOf(await list(rig, `&cursor=${rig.ids[6]}&last=3`))).toEqual(rig.ids.slice(3, 6))
    expect(read).toEqual([4, 4])
  })

  it('an empty page has no cursors', async () => {
    const rig = await walletWithPayments(2)
    const empty = await list(rig, '', ALICE)
    expect(empty.body).toEqual({ pagination: { hasNextPage: false, hasPreviousPage: false }, result: [] })
    const beyond = await list(rig, `&cursor=${rig.ids[1]}&first=5`)
    expect(beyond.body).toEqual({ pagination: { hasNextPage: false, hasPreviousPage: true }, result: [] })
    const before = await list(rig, `&cursor=${rig.ids[0]}&last=5`)
    expect(before.body).toEqual({ pagination: { hasNextPage: true, hasPreviousPage: false }, result: [] })
  })

  it('pages of a cursor lie on their side of it, newest first either way', async () => {
    const rig = await walletWithPayments(7)
    const after = await list(rig, `&cursor=${rig.ids[2]}&first=3`)
    expect(idsOf(after)).toEqual(rig.ids.slice(3, 6))
    expect(after.body.pagination).toEqual({
      startCursor: rig.ids[3],
      endCursor: rig.ids[5],
      hasNextPage: true,
      hasPreviousPage: true,
    })
    const before = await list(rig, `&cursor=${rig.ids[4]}&last=3`)
    expect(idsOf(before)).toEqual(rig.ids.slice(1, 4))
    expect(before.body.pagination).toEqual({
      startCursor: rig.ids[1],
      endCursor: rig.ids[3],
      hasNextPage: true,
      hasPreviousPage: true,
    })
    expect((await list(rig, `&cursor=${rig.ids[3]}&last=3`)).body.pagination.hasPreviousPage).toBe(false)
    expect((await list(rig, `&cursor=${rig.ids[3]}&first=3`)).body.pagination.hasNextPage).toBe(false)
  })

  it('forward pages are the backward pages reversed, for any page size (invariant 13)', async () => {
    const rig = await walletWithPayments(11)
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 1, max: 13 }), async (size) => {
        const forward: string[] = []
        let page = await list(rig, `&first=${size}`)
        for (;;) {
          forward.push(...idsOf(page))
          if (!page.body.pagination.hasNextPage) break
          page = await list(rig, `&first=${size}&cursor=${page.body.pagination.endCursor}`)
        }
        const backward: string[] = []
        const last = forward.at(-1) ?? ''
        page = await list(rig, `&last=${size}&cursor=${last}`)
        for (;;) {
          backward.unshift(...idsOf(page))
          if (!page.body.pagination.hasPreviousPage) break
          page = await list(rig, `&last=${size}&cursor=${page.body.pagination.startCursor}`)
        }
        expect(forward).toEqual(rig.ids)
        expect([...backward, last]).toEqual(rig.ids)
      }),
      { numRuns: 13 },
    )
  })

  it('payments that are created meanwhile are neither repeated nor push anything out (invariant 13)', async () => {
    const rig = await walletWithPayments(9)
    rig.wallet.clock.advance(1)
    const seen: string[] = []
    let page = await list(rig, '&first=2')
    for (;;) {
      seen.push(...idsOf(page))
      if (!page.body.pagination.hasNextPage) break
      await createIncoming(rig.wallet, rig.token)
      page = await list(rig, `&first=2&cursor=${page.body.pagination.endCursor}`)
    }
    expect(seen).toEqual(rig.ids)
  })
})

const FIRST = 'first must be between 1 and 100'
const LAST = 'last must be between 1 and 100'
const CURSOR = 'unknown cursor'

describe('a list that is asked for badly', () => {
  it.each([
    ['first=0', FIRST],
    ['first=101', FIRST],
    ['first=1000', FIRST],
    ['first=-1', FIRST],
    ['first=1.5', FIRST],
    ['first=1e1', FIRST],
    ['first=0x10', FIRST],
    ['first=%201', FIRST],
    ['first=%2B1', FIRST],
    ['first=ten', FIRST],
    ['first=', FIRST],
    ['cursor=ID&last=0', LAST],
    ['cursor=ID&last=101', LAST],
    ['cursor=ID&last=', LAST],
    ['last=1', 'last needs a cursor'],
    ['cursor=ID&first=1&last=1', 'give first or last, not both'],
    ['cursor=&first=1', CURSOR],
    ['cursor=ID&cursor=ID', 'cursor must be given once'],
    ['first=1&first=1', 'first must be given once'],
    ['cursor=not-an-id', CURSOR],
    ['cursor=__proto__', CURSOR],
    [`cursor=${'0'.repeat(32)}`, CURSOR],
    ['cursor=ID%00', CURSOR],
    ['cursor=URL', CURSOR],
    [`wallet-address=${encodeURIComponent(BOB)}`, 'wallet-address must be given once'],
  ])('refuses %s', async (query, mistake) => {
    const rig = await walletWithPayments(2)
    const [id = ''] = rig.ids
    const written = query
      .replaceAll('ID', id)
      .replace('URL', encodeURIComponent(`${BASE}/incoming-payments/${rig.ids[0]}`))
    await expectRefusal(rig.wallet, invalidRequest(mistake), () => list(rig, `&${written}`))
    await expectStatus(200, list(rig, `&cursor=${id}&first=100`))
    await expectStatus(200, list(rig, `&cursor=${id}&last=1`))
  })

  it('refuses to list without a wallet address, and of one that does not exist', async () => {
    const rig = await walletWithPayments(1)
    for (const query of ['', '?first=1', `?walletAddress=${encodeURIComponent(BOB)}`]) {
      await expectRefusal(rig.wallet, invalidRequest('wallet-address is required'), () =>
        rig.wallet.send('GET', `${BASE}/incoming-payments${query}`, { token: rig.token }),
      )
    }
    await expectRefusal(rig.wallet, UNKNOWN_WALLET_ADDRESS, () => list(rig, '', `${BASE}/nobody`))
    await expectRefusal(rig.wallet, UNKNOWN_WALLET_ADDRESS, () => list(rig, '', ''))
  })

  it("refuses a cursor from another list: another wallet address, another client's, another kind", async () => {
    const { wallet, receiving, spending, incoming } = await shop()
    const other = await addClient(wallet, 'other')
    const theirs = await createIncoming(wallet, await tokenFor(wallet, RECEIVING_ACCESS, other), {}, other)
    const alices = await createIncoming(wallet, receiving, { walletAddress: ALICE })
    const payment = await askPayment(wallet, spending, { incomingPayment: incoming.id, debitAmount: usd('1') })
    const rig: Listed = { wallet, token: receiving, ids: [] }
    const unknown = await list(rig, `&cursor=${'0'.repeat(32)}`)
    for (const { id } of [theirs, alices, payment.body]) {
      const answer = await expectRefusal(wallet, invalidRequest(CURSOR), () => list(rig, `&cursor=${idOf({ id })}`))
      expect(answer.text).toBe(unknown.text)
    }
    const all = await tokenFor(wallet, [{ type: 'incoming-payment', actions: ['list-all'], identifier: BOB }])
    await expectStatus(200, list({ ...rig, token: all }, `&cursor=${idOf(theirs)}`))
    const forAlice = await tokenFor(wallet, [{ type: 'incoming-payment', actions: ['list'], identifier: ALICE }])
    await expectRefusal(wallet, INSUFFICIENT_GRANT, () => list({ ...rig, token: forAlice }, ''))
  })

  it('refuses a payment that was never shown as a cursor', async () => {
    const { wallet, spending, incoming } = await shop()
    await askPayment(wallet, spending, { incomingPayment: incoming.id, debitAmount: usd('100001') })
    const hidden = wallet.effects.flatMap((change) =>
      change.kind === 'outgoing-payment' && change.action === 'insert' ? [change.value.id] : [],
    )
    expect(hidden).toHaveLength(1)
    await expectRefusal(wallet, invalidRequest(CURSOR), () =>
      wallet.send('GET', `${BASE}/outgoing-payments?wallet-address=${ALICE}&cursor=${hidden[0]}`, { token: spending }),
    )
  })
})

describe('a list of outgoing payments', () => {
  it('pages like one of incoming payments', async () => {
    const { wallet, spending, incoming } = await shop()
    const ids: string[] = []
    for (let count = 0; count < 5; count++) {
      wallet.clock.advance(1000)
      const { body } = await askPayment(wallet, spending, { incomingPayment: incoming.id, debitAmount: usd('1') })
      ids.unshift(idOf(body))
    }
    const url = `${BASE}/outgoing-payments?wallet-address=${encodeURIComponent(ALICE)}`
    const first = await expectStatus(200, wallet.send('GET', `${url}&first=2`, { token: spending }))
    expect(idsOf(first)).toEqual(ids.slice(0, 2))
    const second = await wallet.send('GET', `${url}&first=2&cursor=${ids[1]}`, { token: spending })
    expect(idsOf(second)).toEqual(ids.slice(2, 4))
    const back = await wallet.send('GET', `${url}&last=2&cursor=${ids[3]}`, { token: spending })
    expect(idsOf(back)).toEqual(ids.slice(1, 3))
  })
})
