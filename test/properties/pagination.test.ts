import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { LONG_LIFETIMES } from '../resource-server/observed-wallet.ts'
import { lastSegment } from '../support/last-segment.ts'
import { recordedStorage } from '../support/recorded-storage.ts'
import {
  ALICE,
  type Answer,
  AUTH,
  BASE,
  BOB,
  CLIENT,
  type Client,
  decideAs,
  type TestWallet,
  testWallet,
} from '../support/test-wallet.ts'
import { checkProperty, PROPERTY_MILLISECONDS } from './property-parameters.ts'
import { clientKeys, seededCryptography } from './seeded-cryptography.ts'

const keys = clientKeys()

/** An incoming payment: by which client, and how far the clock goes before it. */
const made = fc.record({ client: fc.nat(2), step: fc.constantFrom(0, 0, 1, 1, 2, -1, -2) })
/** What happens between two pages: payments are made, one is deleted from the store by its host. */
const between = fc.record({ made: fc.array(made, { maxLength: 2 }), deleted: fc.option(fc.nat(20), { freq: 3 }) })
const walk = fc.record({
  before: fc.array(made, { maxLength: 14 }),
  between: fc.array(between, { maxLength: 6 }),
  size: fc.integer({ min: 1, max: 6 }),
  /** Whose list: 0 and 1 list their own, `all` everybody's. */
  lister: fc.constantFrom(0, 1, 'all' as const),
})

interface Item {
  readonly id: string
  readonly client: number
  readonly createdAt: number
}

interface Rig {
  readonly items: readonly Item[]
  /** Items that are in the store now and in the list. */
  listed(lister: number | 'all'): readonly Item[]
  make(one: { readonly client: number; readonly step: number }): Promise<void>
  delete(id: string): Promise<void>
  page(lister: number | 'all', query: string, walletAddress?: string): Promise<Answer>
}

async function rig(
  wallet: TestWallet,
  storage: ReturnType<typeof recordedStorage>,
  clients: readonly Client[],
): Promise<Rig> {
  const cryptography = seededCryptography('signing')
  const items: Item[] = []
  const deleted = new Set<string>()
  const ask = (as: Client | undefined, json: object): Promise<Answer> =>
    wallet.send('POST', `${AUTH}/`, { ...(as && { as }), cryptography, json: { client: as?.client, ...json } })
  const tokens: string[] = []
  for (const as of clients) {
    const access = [{ type: 'incoming-payment', actions: ['create', 'list'] }]
    tokens.push((await ask(as, { access_token: { access } })).body.access_token.value)
  }
  const access = [{ type: 'incoming-payment', actions: ['list-all'], identifier: BOB }]
  const pending = await ask(clients[0], { access_token: { access }, interact: { start: ['redirect'] } })
  await decideAs(wallet, pending)
  wallet.clock.advance(5000)
  const { uri, access_token: continuation } = pending.body.continue
  const [as] = clients
  const granted = await wallet.send('POST', uri, { ...(as && { as }), token: continuation.value })
  const all = granted.body.access_token.value
  return {
    items,
    listed: (lister) => items.filter(({ id, client }) => !deleted.has(id) && (lister === 'all' || lister === client)),
    make: async ({ client, step }) => {
      wallet.clock.advance(step)
      const [one, token] = [clients[client], tokens[client] ?? '']
      const json = { walletAddress: BOB }
      const { body } = await wallet.send('POST', `${BASE}/incoming-payments`, {
        ...(one && { as: one }),
        token,
        cryptography,
        json,
      })
      items.push({ id: lastSegment(body.id), client, createdAt: wallet.clock.now() })
    },
    delete: async (id) => {
      const [record] = await storage.get([{ kind: 'incoming-payment', id }])
      const { version = 0 } = record ?? {}
      expect(await storage.commit([{ action: 'delete', kind: 'incoming-payment', id, version }])).toBe('committed')
      deleted.add(id)
    },
    page: async (lister, query, walletAddress = BOB) => {
      const one = clients[lister === 'all' ? 0 : lister]
      const token = lister === 'all' ? all : (tokens[lister] ?? '')
      const url = `${BASE}/incoming-payments?wallet-address=${encodeURIComponent(walletAddress)}${query}`
      return wallet.send('GET', url, { ...(one && { as: one }), token, cryptography })
    },
  }
}

async function newRig(): Promise<Rig> {
  const storage = recordedStorage()
  const cryptography = seededCryptography('pagination')
  const wallet = await testWallet({ storage, cryptography, settings: { lifetimes: LONG_LIFETIMES } })
  const names = [CLIENT, `${BASE}/other`]
  const clients = (await keys).map((key, index) => ({ key, client: names[index] ?? { jwk: key.jwk } }))
  for (const { key, client } of clients) {
    if (typeof client === 'string')
      wallet.directory.set(client, { account: 'bob', assetCode: 'USD', assetScale: 2, keys: [key.jwk] })
  }
  return rig(wallet, storage, clients)
}

const idsOf = ({ body }: Answer): readonly string[] => body.result.map(({ id }) => lastSegment(id))

/** Newest first: createdAt, then id. */
const inOrder = (items: readonly Item[]): readonly string[] =>
  [...items].sort((a, b) => b.createdAt - a.createdAt || (a.id < b.id ? 1 : -1)).map(({ id }) => id)

type Walk = typeof walk extends fc.Arbitrary<infer W> ? W : never

/** All pages in one direction; between two of them something happens. */
async function walkPages(
  rigged: Rig,
  { lister, size }: Walk,
  from: 'first' | 'last',
  start: string | undefined,
  breaks: Walk['between'],
) {
  const seen: string[] = []
  let cursor = start
  for (let pages = 0; ; pages++) {
    const answer = await rigged.page(lister, `&${from}=${size}${cursor === undefined ? '' : `&cursor=${cursor}`}`)
    expect(answer.status).toBe(200)
    const ids = idsOf(answer)
    const { pagination } = answer.body
    expect(ids.length).toBeLessThanOrEqual(size)
    expect([pagination.startCursor, pagination.endCursor]).toEqual([ids[0], ids.at(-1)])
    seen.splice(from === 'first' ? seen.length : 0, 0, ...ids)
    if (!(from === 'first' ? pagination.hasNextPage : pagination.hasPreviousPage)) return seen
    expect(ids.length, 'a page that is not the last is full').toBe(size)
    cursor = from === 'first' ? pagination.endCursor : pagination.startCursor
    const happens = breaks[pages]
    for (const one of happens?.made ?? []) await rigged.make(one)
    const others = rigged.listed(lister).filter(({ id }) => id !== cursor && id !== start)
    const gone = happens?.deleted == null ? undefined : others[happens.deleted % Math.max(1, others.length)]
    if (gone !== undefined) await rigged.delete(gone.id)
  }
}

describe('a list that is walked page by page', () => {
  it('shows everything once, forwards and backwards (invariant 13)', { timeout: PROPERTY_MILLISECONDS }, async () => {
    await checkProperty(40, walk, async (one) => {
      const rigged = await newRig()
      for (const item of one.before) await rigged.make(item)
      const { lister } = one
      const forward = await walkPages(rigged, one, 'first', undefined, [])
      expect(forward).toEqual(inOrder(rigged.listed(lister)))
      const last = forward.at(-1)
      if (last === undefined) return
      const backward = await walkPages(rigged, one, 'last', last, [])
      expect([...backward, last]).toEqual(forward)
      for (const [index, id] of forward.entries()) {
        const after = await rigged.page(lister, `&cursor=${id}&first=${one.size}`)
        expect(idsOf(after)).toEqual(forward.slice(index + 1, index + 1 + one.size))
        expect(after.body.pagination).toMatchObject({
          hasNextPage: index + 1 + one.size < forward.length,
          hasPreviousPage: true,
        })
      }
    })
  })

  it('has no gap and no repeat while payments come and go', { timeout: PROPERTY_MILLISECONDS }, async () => {
    await checkProperty(40, walk, async (one) => {
      const rigged = await newRig()
      for (const item of one.before) await rigged.make(item)
      for (const from of ['first', 'last'] as const) {
        const present = rigged.listed(one.lister)
        const start = from === 'first' ? undefined : inOrder(present).at(-1)
        if (from === 'last' && start === undefined) return
        const seen = await walkPages(rigged, one, from, start, one.between)
        const still = new Set(rigged.listed(one.lister).map(({ id }) => id))
        const throughout = present.filter(({ id }) => still.has(id) && id !== start)
        expect(new Set(seen).size, 'nothing is shown twice').toBe(seen.length)
        expect(seen.filter((id) => throughout.some((item) => item.id === id))).toEqual(inOrder(throughout))
        expect(seen).toEqual(inOrder(rigged.items.filter(({ id }) => seen.includes(id))))
        const foreign = rigged.items.filter(({ client }) => one.lister !== 'all' && client !== one.lister)
        expect(
          foreign.filter(({ id }) => seen.includes(id)),
          'invariant 10',
        ).toEqual([])
      }
    })
  })

  it('takes no cursor that it would not show', { timeout: PROPERTY_MILLISECONDS }, async () => {
    await checkProperty(
      15,
      fc.tuple(fc.array(made, { minLength: 3, maxLength: 8 }), fc.nat(7)),
      async ([before, pick]) => {
        const rigged = await newRig()
        for (const item of before) await rigged.make(item)
        const gone = rigged.items[pick % rigged.items.length]
        for (const { id, client } of rigged.items) {
          for (const lister of [0, 1, 'all'] as const) {
            const isShown = lister === 'all' || lister === client
            expect((await rigged.page(lister, `&cursor=${id}&first=2`)).status).toBe(isShown ? 200 : 400)
            expect((await rigged.page(lister, `&cursor=${id}&last=2`)).status).toBe(isShown ? 200 : 400)
          }
          expect((await rigged.page(client, `&cursor=${id}&first=2`, ALICE)).status).toBe(400)
        }
        if (gone === undefined) return
        await rigged.delete(gone.id)
        expect((await rigged.page('all', `&cursor=${gone.id}&first=2`)).status).toBe(400)
        expect((await rigged.page(gone.client, `&cursor=${gone.id}&last=2`)).status).toBe(400)
      },
    )
  })
})
