import { createHash } from 'node:crypto'
import { ConfigurationError } from 'open-payments-server'
import { memoryLedger } from 'open-payments-server/ledger/memory'
import {
  creditIdOf,
  type LoggedCall,
  loggedLedger,
  type ReconcileDayOptions,
  readReceived,
  reconcileAll,
  reconcileDay,
  repeatCalls,
  tellLedger,
} from 'open-payments-server/reconciliation'
import { describe, expect, it } from 'vitest'

async function* nothing() {}

const MINUTE = 60_000
const NOW = Date.parse('2026-11-21')
const clock = { now: () => NOW }
const source = { openPayments: { audit: nothing }, walletAddresses: ['https://wallet.example/alice'] }
const all = { ...source, readBooks: () => ({ lines: [], openHolds: [] }), clock }
const day: ReconcileDayOptions = { ...all, endedAt: NOW - 16 * MINUTE }
const ledger = memoryLedger()
const amount = { value: 5n, assetCode: 'USD', assetScale: 2 }

/** What plain JavaScript may pass. */
const odd = (value: unknown): never => value as never

describe('the options of reconciliation', () => {
  it('are taken if they are valid', async () => {
    expect(await reconcileAll({ ...all, noted: ['a'], isAfterRestore: true, readReceived: () => [] })).toEqual([])
    const closed = { at: day.endedAt, payments: {}, receipts: [] }
    expect(await reconcileDay(day)).toEqual({ differences: [], closed })
    expect(await reconcileDay({ ...day, closed })).toEqual({ differences: [], closed })
    expect(await tellLedger({ ...source, ledger })).toEqual([])
    expect(await repeatCalls(ledger, [])).toEqual([])
  })

  it.each([
    [undefined, 'must be an object'],
    [{ ...all, openPayments: undefined }, 'openPayments is missing'],
    [{ ...all, openPayments: Promise.resolve(source.openPayments) }, 'openPayments is a promise'],
    [{ ...all, walletAddresses: 'https://wallet.example/alice' }, 'walletAddresses must be a list of strings'],
    [{ ...all, readBooks: { lines: [] } }, 'readBooks must be a function'],
    [{ ...all, readReceived: [] }, 'readReceived must be a function'],
    [{ ...all, noted: new Set(['a']) }, 'noted must be a list of strings'],
    [{ ...all, clock: { now: () => NOW / 1000 } }, 'clock.now() must give milliseconds, not seconds'],
    [{ ...all, isAfterRestore: 'yes' }, 'isAfterRestore must be true or false'],
    [{ ...all, now: () => NOW }, 'now is not an option'],
  ])('of everything are refused by name: %#', async (options, message) => {
    const refused = reconcileAll(odd(options))
    await expect(refused).rejects.toThrow(ConfigurationError)
    await expect(refused).rejects.toThrow(message)
  })

  it.each([
    [{ endedAt: NOW - 16 * MINUTE + 1 }, 'endedAt must be at least 16 minutes ago'],
    [{ endedAt: '2026-11-20' }, 'endedAt must give whole milliseconds'],
    [{ closed: null }, 'closed must be an object'],
    [{ closed: { at: 0, payments: { alice: 'a' }, receipts: [] } }, 'closed.payments must be a list of strings'],
    [{ closed: { at: 0, payments: {} } }, 'closed.receipts must be a list of strings'],
    [{ closed: { at: '2026-11-20', payments: {}, receipts: [] } }, 'closed.at must give whole milliseconds'],
    [{ closed: { at: NOW, payments: {}, receipts: [] } }, 'endedAt must not be before closed.at'],
    [{ isAfterRestore: true }, 'isAfterRestore is not an option'],
  ])('of a day are refused by name: %#', async (options, message) => {
    const refused = reconcileDay(odd({ ...day, ...options }))
    await expect(refused).rejects.toThrow(ConfigurationError)
    await expect(refused).rejects.toThrow(message)
  })

  it('of what a ledger is told are refused by name', async () => {
    await expect(tellLedger(odd(source))).rejects.toThrow('tellLedger: ledger is missing')
    await expect(tellLedger(odd({ ...source, ledger, readBooks: all.readBooks }))).rejects.toThrow('readBooks')
    expect(() => loggedLedger(odd({ hold: () => undefined }), () => undefined)).toThrow(ConfigurationError)
    expect(() => loggedLedger(ledger, odd(undefined))).toThrow('loggedLedger: log must be a function')
    await expect(repeatCalls(odd(undefined), [])).rejects.toThrow('repeatCalls: ledger is missing')
  })
})

describe('the id of a hold', () => {
  it('has the credit whose id is a digest of it', async () => {
    const id = '0123456789abcdef0123456789abcdef'
    expect(await creditIdOf(id)).toBe(createHash('sha256').update(`credit:${id}`).digest('hex').slice(0, 32))
  })

  it.each([
    undefined,
    '',
    'https://wallet.example/outgoing-payments/0123456789abcdef0123456789abcdef',
    '0123456789abcdef0123456789abcdef\n',
    '0123456789ABCDEF0123456789ABCDEF',
  ])('is refused if it is none: %j', async (id) => {
    await expect(creditIdOf(odd(id))).rejects.toThrow(TypeError)
  })
})

describe('what is read and cannot be compared', () => {
  const line = { id: 'a', account: 'alice', amount: 1n, at: 0 }

  it.each([
    undefined,
    { lines: [] },
    { lines: [{ ...line, amount: 1 }], openHolds: [] },
    { lines: [{ ...line, amount: '1' }], openHolds: [] },
    { lines: [{ ...line, account: undefined }], openHolds: [] },
    { lines: [{ ...line, id: 1n }], openHolds: [] },
    { lines: [{ ...line, at: '2026-11-21' }], openHolds: [] },
    { lines: [{ ...line, at: new Date(NOW) }], openHolds: [] },
    { lines: [], openHolds: [{ id: 'a', at: Number.NaN }] },
    { lines: [], openHolds: [{ at: 0 }] },
  ])('is refused, and not taken for young or for nothing: %#', async (books) => {
    await expect(reconcileAll({ ...all, readBooks: () => odd(books) })).rejects.toThrow('readBooks')
    await expect(reconcileDay({ ...day, readBooks: () => odd(books) })).rejects.toThrow('readBooks')
  })

  const account = { payeeAccount: 'alice', railAccount: 'ilp:g.other-wallet/USD/2' }
  const receipt = { ...account, id: 'a', state: 'credited', amount: { ...amount, value: '5' }, createdAt: 0 }

  it.each<[unknown]>([
    [undefined],
    [{ ...receipt, id: 1n }],
    [{ ...receipt, state: 'paid' }],
    [{ ...receipt, createdAt: '0' }],
    [{ ...receipt, payeeAccount: undefined }],
    [{ ...receipt, railAccount: undefined }],
    [{ ...receipt, amount: undefined }],
    [{ ...receipt, amount: { ...amount, value: 5 } }],
    [{ ...receipt, amount: { ...amount, value: '5.0' } }],
    [{ ...receipt, amount: { ...amount, value: '5', assetScale: '2' } }],
  ])('is refused of what came from other wallets, too, before any call of the ledger: %#', async (received) => {
    const readReceived = () => odd([receipt, received])
    let calls = 0
    const credit = async () => {
      calls += 1
      return { ok: true } as const
    }
    await expect(reconcileAll({ ...all, readReceived })).rejects.toThrow(TypeError)
    await expect(reconcileDay({ ...day, readReceived })).rejects.toThrow(TypeError)
    await expect(tellLedger({ ...source, ledger: { ...ledger, credit }, readReceived })).rejects.toThrow(TypeError)
    expect(calls).toBe(0)
  })

  it('is refused if it is no list, too', async () => {
    const readReceived = () => odd({ rows: [receipt] })
    await expect(reconcileAll({ ...all, readReceived })).rejects.toThrow('readReceived must answer a list')
    await expect(reconcileDay({ ...day, readReceived })).rejects.toThrow('readReceived must answer a list')
    await expect(tellLedger({ ...source, ledger, readReceived })).rejects.toThrow('readReceived must answer a list')
  })

  it('is refused by row', async () => {
    await expect(readReceived(() => odd({ rows: [] }))).rejects.toThrow('query must answer a list of rows')
    await expect(readReceived(() => [{ id: 'a' }])).rejects.toThrow('a row has no state')
    const row = { id: 'a', state: 'credited', payee_account: 'bob', amount_value: '5', amount_asset_code: 'USD' }
    const rest = { amount_asset_scale: 2, created_at: 0, rail_account_id: null }
    await expect(readReceived(() => [{ ...row, ...rest }])).rejects.toThrow('a row has no rail_account_id')
    await expect(readReceived(() => [['a', 'credited']])).rejects.toThrow(TypeError)
    await expect(readReceived(() => [{ id: 'a', state: 'paid' }])).rejects.toThrow('paid is no state of a receipt')
  })

  it('is an error of the host if reading fails', async () => {
    const away = () => Promise.reject(new Error('the ledger is away'))
    await expect(reconcileAll({ ...all, readBooks: away })).rejects.toThrow('the ledger is away')
    await expect(reconcileDay({ ...day, readReceived: away })).rejects.toThrow('the ledger is away')
    // A payer who cannot be read: before any call.
    const audit = () => ({
      [Symbol.asyncIterator]: () => ({ next: () => Promise.reject(new Error('a row is damaged')) }),
    })
    const told = tellLedger({ ...source, openPayments: { audit }, ledger: { ...ledger, release: away } })
    await expect(told).rejects.toThrow('a row is damaged')
  })
})

describe('the log of a ledger', () => {
  const counterparty = { kind: 'local', account: 'bob', incomingPayment: 'a'.repeat(32) } as const
  const hold = { id: 'b'.repeat(32), account: 'alice', amount, counterparty }

  it('has what was taken and not what was refused, and a call waits for its line', async () => {
    const wallet = memoryLedger({ accounts: [{ account: 'alice', assetCode: 'USD', assetScale: 2, balance: 5n }] })
    const log: LoggedCall[] = []
    let isFull = true
    const logged = loggedLedger(wallet, (call) => {
      if (isFull) throw new Error('the disk is full')
      log.push(call)
    })
    await expect(logged.hold(hold)).rejects.toThrow('the disk is full')
    const slow = loggedLedger(wallet, () => Promise.reject(new Error('the disk is away')))
    await expect(slow.hold(hold)).rejects.toThrow('the disk is away')
    isFull = false
    expect(await logged.hold(hold)).toEqual({ ok: true })
    expect(await logged.hold({ ...hold, id: 'c'.repeat(32) })).toEqual({ ok: false, reason: 'insufficient_funds' })
    expect(await logged.settle({ id: hold.id, amount, fee: { ...amount, value: 1n } })).toEqual({ ok: true })
    expect(await logged.account('alice')).toMatchObject({ assetCode: 'USD' })
    expect(log.map(({ name }) => name)).toEqual(['hold', 'settle'])
    expect(log[0]).toEqual({ name: 'hold', argument: hold })
  })

  it.each([
    [{ name: 'account', argument: hold }, 'calls[0] is no logged call'],
    [undefined, 'calls[0] is no logged call'],
    [{ name: 'release', argument: {} }, 'calls[0] has no id'],
    [{ name: 'hold', argument: { ...hold, amount: { ...amount, value: '5' } } }, 'calls[0] has an amount'],
    [{ name: 'settle', argument: { id: hold.id, amount, fee: { ...amount, value: 1 } } }, 'calls[0] has an amount'],
  ])('is refused before any call if it was not read back: %#', async (call, message) => {
    await expect(repeatCalls(ledger, [odd(call)])).rejects.toThrow(TypeError)
    await expect(repeatCalls(ledger, [odd(call)])).rejects.toThrow(message)
  })
})
