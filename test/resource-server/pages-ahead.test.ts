import type { Storage } from 'open-payments-server'
import { memoryStorage } from 'open-payments-server/storage/memory'
import { describe, expect, it } from 'vitest'
import { gate } from '../support/gate.ts'
import { lastSegment } from '../support/last-segment.ts'
import { addClient, BASE, BOB, grantAtOnce, incomingPayment, type Sending, testWallet } from '../support/test-wallet.ts'
import { turns } from '../support/turns.ts'
import { askIncoming, RECEIVING_ACCESS, tokenFor } from './observed-wallet.ts'

const LIST = `${BASE}/incoming-payments?wallet-address=${encodeURIComponent(BOB)}`
const LISTING = [{ type: 'incoming-payment', actions: ['list'] }] as const
const PAGE_LATER = ['get', 'list']
const PAGE_AT_ONCE = ['list', 'get']

/** A wallet with two incoming payments, of which the newer is listed first, and how it reads. */
async function listingWallet() {
  const inner = memoryStorage()
  const calls: string[] = []
  const changed: Partial<Storage> = {}
  const storage: Storage = {
    ...inner,
    get: (keys) => {
      calls.push('get')
      return (changed.get ?? inner.get)(keys)
    },
    list: (query) => {
      calls.push('list')
      return (changed.list ?? inner.list)(query)
    },
  }
  const wallet = await testWallet({ storage })
  const create = async () => {
    wallet.clock.advance(1000)
    const { payment, token } = await incomingPayment(wallet)
    return { id: payment.id, token }
  }
  const older = await create()
  const newer = await create()
  const foreign = async () => {
    wallet.clock.advance(1000)
    const as = await addClient(wallet, 'stranger')
    const sending = { as, token: await tokenFor(wallet, RECEIVING_ACCESS, as) }
    return { as, id: (await askIncoming(wallet, sending)).body.id }
  }
  /** The status, or the payments that are shown, and what was called. */
  const ask = async (url: string, sending: Sending = { token: newer.token }) => {
    wallet.clock.advance(1000)
    calls.length = 0
    const { status, body } = await wallet.send('GET', url, sending)
    const shown = status === 200 ? body.result.map(({ id }: { readonly id: string }) => id) : status
    return [shown, [...calls]]
  }
  return { wallet, inner, changed, create, foreign, ask, ids: [newer.id, older.id] }
}

describe('a page that a token was shown before', () => {
  it('is read at the same time as the token, and shown as it is now', async () => {
    const { create, ask, ids } = await listingWallet()
    expect(await ask(LIST)).toEqual([ids, PAGE_LATER])
    const { id } = await create()
    expect(await ask(LIST)).toEqual([[id, ...ids], PAGE_AT_ONCE])
    expect(await ask(LIST)).toEqual([[id, ...ids], PAGE_AT_ONCE])
  })

  it('also from a cursor, whose item is looked up as before', async () => {
    const { inner, changed, ask, ids } = await listingWallet()
    const [newer = '', older] = ids
    const page = `${LIST}&cursor=${lastSegment(newer)}`
    expect(await ask(page)).toEqual([[older], PAGE_LATER])
    expect(await ask(page)).toEqual([[older], PAGE_AT_ONCE])
    changed.get = async (keys) => {
      const found = await inner.get(keys)
      return found.map((record) => (record?.kind === 'incoming-payment' ? undefined : record))
    }
    expect(await ask(page)).toEqual([400, PAGE_AT_ONCE])
  })

  it('RS-13 is the first of those that are read, where payments to an earlier account are passed over', async () => {
    const { wallet, create, ask } = await listingWallet()
    wallet.directory.set(BOB, { account: 'alice', assetCode: 'USD', assetScale: 2 })
    const { id } = await create()
    const token = await tokenFor(wallet, [{ type: 'incoming-payment', actions: ['list-all'], identifier: BOB }])
    const page = `${LIST}&first=1`
    expect(await ask(page, { token })).toEqual([[id], [...PAGE_LATER, 'list']])
    expect(await ask(page, { token })).toEqual([[id], [...PAGE_AT_ONCE, 'list']])
    expect(await ask(page, { token })).toEqual([[id], [...PAGE_AT_ONCE, 'list']])
  })

  it('is read later for another target, even of the same page', async () => {
    const { ask, ids } = await listingWallet()
    await ask(LIST)
    expect(await ask(`${LIST}&first=20`)).toEqual([ids, PAGE_LATER])
    expect(await ask(`${LIST}&first=1`)).toEqual([ids.slice(0, 1), PAGE_LATER])
    expect(await ask(LIST)).toEqual([ids, PAGE_AT_ONCE])
  })

  it('is remembered for a target of 512 characters, and not for a longer one', async () => {
    const { ask, ids } = await listingWallet()
    const target = LIST.slice(BASE.length)
    const padded = (length: number) => `${LIST}&x=${'x'.repeat(length - target.length - 3)}`
    await ask(padded(512))
    expect(await ask(padded(512))).toEqual([ids, PAGE_AT_ONCE])
    await ask(padded(513))
    expect(await ask(padded(513))).toEqual([ids, PAGE_LATER])
  })

  it('RS-6 is read later for another client, which is shown its own', async () => {
    const { wallet, ask, foreign, ids } = await listingWallet()
    const { id, as } = await foreign()
    expect(await ask(LIST)).toEqual([ids, PAGE_LATER])
    expect(await ask(LIST, { as, token: await tokenFor(wallet, LISTING, as) })).toEqual([[id], PAGE_LATER])
  })

  it('RS-6 is read again if the token may see less by now', async () => {
    const { wallet, inner, changed, ask, foreign, ids } = await listingWallet()
    const { id } = await foreign()
    const token = await tokenFor(wallet, [{ type: 'incoming-payment', actions: ['list-all'], identifier: BOB }])
    expect(await ask(LIST, { token })).toEqual([[id, ...ids], PAGE_LATER])
    changed.get = async (keys) => {
      const found = await inner.get(keys)
      return found.map((record) =>
        record?.kind === 'access-token' ? { ...record, value: { ...record.value, access: LISTING } } : record,
      )
    }
    expect(await ask(LIST, { token })).toEqual([ids, [...PAGE_AT_ONCE, 'list']])
  })

  it('TOK-9 is not shown to a token that was revoked, which gets 401 even if reading the page fails', async () => {
    const { wallet, changed, ask, ids } = await listingWallet()
    const { value: token, manage } = (await grantAtOnce(wallet, LISTING)).body.access_token
    expect(await ask(LIST, { token })).toEqual([ids, PAGE_LATER])
    changed.list = async () => {
      throw new Error('the database is gone')
    }
    expect(await ask(LIST, { token })).toEqual([503, PAGE_AT_ONCE])
    expect((await wallet.send('DELETE', manage, { token })).status).toBe(204)
    expect(await ask(LIST, { token })).toEqual([401, PAGE_AT_ONCE])
  })

  it('is waited for by drain(), which comes before the host closes its storage, though its request was refused', async () => {
    const { wallet, inner, changed, ask, ids } = await listingWallet()
    const { value: token, manage } = (await grantAtOnce(wallet, LISTING)).body.access_token
    expect(await ask(LIST, { token })).toEqual([ids, PAGE_LATER])
    expect((await wallet.send('DELETE', manage, { token })).status).toBe(204)
    const { open, opened } = gate()
    changed.list = async (page) => {
      await opened
      return inner.list(page)
    }
    expect(await ask(LIST, { token })).toEqual([401, PAGE_AT_ONCE])
    let isDrained = false
    const drained = wallet.openPayments.drain().then(() => {
      isDrained = true
    })
    await turns(20)
    expect(isDrained).toBe(false)
    open()
    await drained
  })
})
