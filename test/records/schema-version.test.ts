import type { Change, Storage, StoredRecord } from 'open-payments-server'
import { memoryStorage } from 'open-payments-server/storage/memory'
import { describe, expect, it } from 'vitest'
import { SCHEMA_VERSIONS } from '../../src/protocol/schema-version.ts'
import { lastSegment } from '../support/last-segment.ts'
import { recordedStorage } from '../support/recorded-storage.ts'
import { ALICE, BASE, BOB, incomingPayment, spendingToken, testWallet, usd } from '../support/test-wallet.ts'

const LEASE = 30_000

/** A wallet whose storage holds some records as a newer release would have written them. */
async function walletAmongNewer() {
  const base = memoryStorage()
  const newer = new Set<string>()
  const asNewer = <T extends StoredRecord | undefined>(record: T): T =>
    record !== undefined && newer.has(record.value.id)
      ? { ...record, schemaVersion: SCHEMA_VERSIONS[record.kind] + 1 }
      : record
  const storage: Storage = {
    get: async (keys) => (await base.get(keys)).map(asNewer),
    list: async (query) => (await base.list(query)).map(asNewer),
    due: async (kind, now, limit) => (await base.due(kind, now, limit)).map(asNewer),
    commit: (changes) => base.commit(changes),
  }
  const wallet = await testWallet({ storage, settings: { lifetimes: { accessTokenSeconds: 1e7 } } })
  const newerRelease = (url: string): void => void newer.add(lastSegment(url))
  return { wallet, newerRelease }
}

describe('the form in which a record was written', () => {
  it('is named with every record', async () => {
    const storage = recordedStorage()
    const wallet = await testWallet({ storage })
    const { payment } = await incomingPayment(wallet)
    const json = { walletAddress: ALICE, incomingPayment: payment.id, debitAmount: usd('5') }
    const token = await spendingToken(wallet, { debitAmount: usd('5') })
    expect((await wallet.send('POST', `${BASE}/outgoing-payments`, { token, json })).status).toBe(201)
    await wallet.openPayments.drain()
    const records = await storage.records()
    expect(new Set(records.map(({ kind }) => kind))).toContain('outgoing-payment')
    for (const { kind, schemaVersion } of records) expect(schemaVersion, kind).toBe(SCHEMA_VERSIONS[kind])
  })

  it('is that of this release where it replaces what an older one wrote', async () => {
    const base = memoryStorage()
    const asOlder = <T extends StoredRecord | undefined>(record: T): T => record && { ...record, schemaVersion: 0 }
    const replaced: Change[] = []
    const storage: Storage = {
      get: async (keys) => (await base.get(keys)).map(asOlder),
      list: async (query) => (await base.list(query)).map(asOlder),
      due: async (kind, now, limit) => (await base.due(kind, now, limit)).map(asOlder),
      commit: (changes) => {
        replaced.push(...changes.filter(({ action }) => action === 'replace'))
        return base.commit(changes)
      },
    }
    const wallet = await testWallet({ storage })
    await incomingPayment(wallet, { expiresAt: new Date(wallet.clock.now() + LEASE).toISOString() })
    wallet.clock.advance(LEASE + 1)
    await wallet.openPayments.sweep()
    expect(replaced.map(({ kind }) => kind)).toContain('incoming-payment')
    for (const change of replaced) expect(change).toMatchObject({ schemaVersion: SCHEMA_VERSIONS[change.kind] })
  })

  it('is not guessed at where a newer release wrote it: its requests are answered 503, the others as ever', async () => {
    const { wallet, newerRelease } = await walletAmongNewer()
    const { payment, token } = await incomingPayment(wallet)
    const { payment: other } = await incomingPayment(wallet)
    const list = `${BASE}/incoming-payments?wallet-address=${encodeURIComponent(BOB)}`
    expect((await wallet.send('GET', list, { token })).status).toBe(200)
    newerRelease(payment.id)
    expect(await wallet.send('GET', payment.id, { token })).toMatchObject({
      status: 503,
      body: { error: { code: 'unavailable' } },
    })
    const completed = await wallet.send('POST', `${payment.id}/complete`, { token })
    expect(completed.status).toBe(503)
    expect((await wallet.send('GET', list, { token })).status).toBe(503)
    expect((await wallet.send('GET', other.id, { token })).status).toBe(200)
    const faults = wallet.events.filter((event) => event.type === 'fault')
    expect(faults[0]).toMatchObject({
      message: 'a newer release wrote a record',
      cause: { kind: 'incoming-payment', id: lastSegment(payment.id) },
    })
  })

  it('keeps recover() and sweep() away from it, and from nothing else', async () => {
    const { wallet, newerRelease } = await walletAmongNewer()
    const expiresAt = new Date(wallet.clock.now() + LEASE).toISOString()
    const { payment } = await incomingPayment(wallet, { expiresAt })
    const { payment: other } = await incomingPayment(wallet, { expiresAt })
    newerRelease(payment.id)
    wallet.clock.advance(LEASE + 1)
    expect(await wallet.openPayments.sweep()).toBe(1)
    const stateOf = async (url: string) => {
      const [record] = await wallet.storage.get([{ kind: 'incoming-payment', id: lastSegment(url) }])
      return record?.kind === 'incoming-payment' && 'state' in record.value ? record.value.state : undefined
    }
    expect([await stateOf(payment.id), await stateOf(other.id)]).toEqual(['pending', 'expired'])
  })

  it('does not keep recover() and sweep() from what is due behind many of them', async () => {
    const { wallet, newerRelease } = await walletAmongNewer()
    const expiresAt = new Date(wallet.clock.now() + LEASE).toISOString()
    const { token } = await incomingPayment(wallet, { expiresAt })
    for (let count = 0; count < 250; count++) {
      const json = { walletAddress: BOB, expiresAt }
      const created = await wallet.send('POST', `${BASE}/incoming-payments`, { token, json })
      newerRelease(created.body.id)
    }
    const later = new Date(wallet.clock.now() + 2 * LEASE).toISOString()
    await incomingPayment(wallet, { expiresAt: later })
    wallet.clock.advance(2 * LEASE + 1)
    expect(await wallet.openPayments.sweep()).toBe(2)
    expect(await wallet.openPayments.sweep()).toBe(0)
  })
})
