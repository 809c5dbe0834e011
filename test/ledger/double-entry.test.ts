import { afterEach, describe, expect, it, vi } from 'vitest'
import { type DoubleEntryLedger, memoryLedger } from '../../adapters/ledger/memory.ts'
import { sqliteLedger } from '../../adapters/ledger/sqlite.ts'
import { STORAGE_MIGRATIONS } from '../../adapters/storage/sql/schema.ts'
import { openSqlite, type SqliteHandle, sqliteStorage } from '../../adapters/storage/sqlite.ts'
import type { Counterparty } from '../../src/ports/ledger.ts'
import { MAX_AMOUNT_VALUE } from '../../src/protocol/amount.ts'
import { useSqlite } from '../storage/sqlite-databases.ts'

const { open, newFile } = useSqlite()

afterEach(() => {
  vi.useRealTimers()
})

const USD = { assetCode: 'USD', assetScale: 2 }
const TO_BOB: Counterparty = { kind: 'local', account: 'bob', incomingPayment: 'incoming' }
const usd = (value: bigint) => ({ value, ...USD })
const hold = (id: string, value: bigint) => ({ id, account: 'alice', amount: usd(value), counterparty: TO_BOB })
const credit = (id: string, account: string, value: bigint) => ({ ...hold(id, value), account })

const LEDGERS: Readonly<Record<string, () => Promise<DoubleEntryLedger>>> = {
  memory: async () => memoryLedger(),
  SQLite: async () => sqliteLedger(await open()),
}

describe.each(Object.entries(LEDGERS))('double entry on %s', (_name, make) => {
  const makeLedger = async (): Promise<DoubleEntryLedger> => {
    const ledger = await make()
    await ledger.createAccount({ account: 'alice', ...USD, balance: 1000n })
    await ledger.createAccount({ account: 'bob', ...USD })
    return ledger
  }

  it('books a payment as payer, fees and clearing, then clearing and payee, so that clearing ends at zero', async () => {
    const ledger = await makeLedger()
    await ledger.hold(hold('a', 500n))
    expect(await ledger.balance('alice')).toEqual({ ...USD, total: 1000n, held: 500n, available: 500n })
    await ledger.credit(credit('b', 'bob', 390n))
    expect(await ledger.balance('clearing:USD:2')).toEqual({ ...USD, total: -390n, held: 0n, available: -390n })
    await ledger.settle({ id: 'a', amount: usd(400n), fee: usd(10n) })
    expect(await ledger.balance('alice')).toEqual({ ...USD, total: 600n, held: 0n, available: 600n })
    expect(await ledger.balance('bob')).toEqual({ ...USD, total: 390n, held: 0n, available: 390n })
    expect(await ledger.balance('fees:USD:2')).toEqual({ ...USD, total: 10n, held: 0n, available: 10n })
    expect(await ledger.balance('clearing:USD:2')).toEqual({ ...USD, total: 0n, held: 0n, available: 0n })
    expect(await ledger.totals()).toEqual([usd(1000n)])
  })

  it('writes a line for each movement, and none for a hold, a release or a refusal', async () => {
    const ledger = await makeLedger()
    await ledger.hold(hold('a', 500n))
    await ledger.hold(hold('b', 500n))
    await ledger.hold(hold('c', 1n))
    await ledger.release({ id: 'b' })
    await ledger.settle({ id: 'a', amount: usd(400n), fee: usd(0n) })
    const lines = async (account: string) =>
      (await ledger.entries(account)).map(({ transfer, amount }) => `${transfer} ${amount}`).toSorted()
    expect(await lines('alice')).toEqual(['a -400', 'opening:alice 1000'])
    expect(await lines('clearing:USD:2')).toEqual(['a 400'])
    expect(await lines('fees:USD:2')).toEqual([])
    expect(await ledger.balance('fees:USD:2')).toBeUndefined()
  })

  it('tells entries in the order in which they were booked, within a millisecond and when the clock steps back', async () => {
    vi.useFakeTimers({ toFake: ['Date'], now: 1_000 })
    const ledger = await makeLedger()
    for (const id of ['c', 'a', 'd']) await ledger.credit(credit(id, 'bob', 1n))
    vi.setSystemTime(500)
    await ledger.credit(credit('b', 'bob', 1n))
    const entries = await ledger.entries('bob')
    expect(entries.map(({ transfer, at }) => [transfer, at])).toEqual([
      ['c', 1_000],
      ['a', 1_000],
      ['d', 1_000],
      ['b', 500],
    ])
  })

  it('does not take the id of a hold for a credit, nor the other way round', async () => {
    const ledger = await makeLedger()
    await ledger.hold(hold('a', 10n))
    expect(await ledger.credit(credit('a', 'alice', 10n))).toEqual({ ok: false, reason: 'conflict' })
    await ledger.credit(credit('b', 'alice', 10n))
    expect(await ledger.hold(hold('b', 10n))).toEqual({ ok: false, reason: 'conflict' })
    expect(await ledger.settle({ id: 'b', amount: usd(10n), fee: usd(0n) })).toEqual({ ok: false, reason: 'conflict' })
    expect(await ledger.release({ id: 'b' })).toEqual({ ok: false, reason: 'conflict' })
  })

  it('refuses amounts below zero', async () => {
    const ledger = await makeLedger()
    expect(await ledger.hold(hold('a', -1n))).toEqual({ ok: false, reason: 'not_allowed' })
    expect(await ledger.credit(credit('b', 'bob', -1n))).toEqual({ ok: false, reason: 'not_allowed' })
    await ledger.hold(hold('c', 10n))
    const conflict = { ok: false, reason: 'conflict' }
    expect(await ledger.settle({ id: 'c', amount: usd(-1n), fee: usd(-1n) })).toEqual(conflict)
    expect(await ledger.settle({ id: 'c', amount: usd(1n), fee: usd(-1n) })).toEqual(conflict)
    expect(await ledger.balance('alice')).toMatchObject({ total: 1000n, held: 10n })
  })

  it('tells an account that may only send or only receive from a closed one', async () => {
    const ledger = await makeLedger()
    await ledger.setPermissions('alice', { canSend: false, canReceive: true })
    await ledger.setPermissions('bob', { canSend: true, canReceive: false })
    expect(await ledger.account('alice')).toEqual({ ...USD, canSend: false, canReceive: true })
    expect(await ledger.hold(hold('a', 1n))).toEqual({ ok: false, reason: 'not_allowed' })
    expect(await ledger.credit(credit('b', 'bob', 1n))).toEqual({ ok: false, reason: 'not_allowed' })
    expect(await ledger.credit(credit('c', 'alice', 1n))).toEqual({ ok: true })
    await expect(ledger.setPermissions('nobody', { canSend: true, canReceive: true })).rejects.toThrow('nobody')
  })

  it('keeps its own accounts to itself', async () => {
    const ledger = await makeLedger()
    await ledger.credit(credit('a', 'bob', 100n))
    expect(await ledger.account('clearing:USD:2')).toBeUndefined()
    expect(await ledger.credit(credit('b', 'clearing:USD:2', 1n))).toEqual({ ok: false, reason: 'account_closed' })
    const out = { ...hold('c', 1n), account: 'clearing:USD:2' }
    expect(await ledger.hold(out)).toEqual({ ok: false, reason: 'account_closed' })
    await expect(ledger.createAccount({ account: 'fees:USD:2', ...USD })).rejects.toThrow('must not begin with fees:')
    const open = { canSend: true, canReceive: true }
    await expect(ledger.setPermissions('clearing:USD:2', open)).rejects.toThrow('there is no account')
    // The fees, of an asset that is written in small letters, too.
    const gold = (value: bigint) => ({ value, assetCode: 'gold', assetScale: 0 })
    await ledger.createAccount({ account: 'dora', assetCode: 'gold', assetScale: 0, balance: 9n })
    await ledger.hold({ ...hold('d', 1n), account: 'dora', amount: gold(9n) })
    await ledger.settle({ id: 'd', amount: gold(9n), fee: gold(4n) })
    expect(await ledger.balance('fees:gold:0')).toMatchObject({ total: 4n })
    expect(await ledger.account('fees:gold:0')).toBeUndefined()
    const fees = { ...hold('e', 1n), account: 'fees:gold:0', amount: gold(1n) }
    expect(await ledger.hold(fees)).toEqual({ ok: false, reason: 'account_closed' })
    expect(await ledger.credit({ ...fees, id: 'f' })).toEqual({ ok: false, reason: 'account_closed' })
    await expect(ledger.setPermissions('fees:gold:0', open)).rejects.toThrow('there is no account')
  })

  it('settles nothing in another asset than that of the hold', async () => {
    const ledger = await makeLedger()
    await ledger.hold(hold('a', 500n))
    const other = { value: 10n, assetCode: 'EUR', assetScale: 2 }
    const conflict = { ok: false, reason: 'conflict' }
    expect(await ledger.settle({ id: 'a', amount: other, fee: usd(1n) })).toEqual(conflict)
    expect(await ledger.settle({ id: 'a', amount: usd(10n), fee: { ...usd(1n), assetScale: 3 } })).toEqual(conflict)
    expect(await ledger.balance('alice')).toMatchObject({ total: 1000n, held: 500n })
    expect(await ledger.totals()).toEqual([usd(1000n)])
  })

  it('takes no account for another whose name would be written with the same bytes', async () => {
    const ledger = await makeLedger()
    await ledger.createAccount({ account: 'al\ufffd', ...USD, balance: 7n })
    const half = 'al\ud83d'
    const mistake = new TypeError('createAccount: account must hold no half of a surrogate pair')
    await expect(ledger.createAccount({ account: half, ...USD })).rejects.toThrow(mistake)
    expect([await ledger.account(half), await ledger.balance(half)]).toEqual([undefined, undefined])
    expect(await ledger.entries(half)).toEqual([])
    const refused = { ok: false, reason: 'account_closed' }
    expect(await ledger.hold({ ...hold('a', 1n), account: half })).toEqual(refused)
    expect(await ledger.credit(credit('b', half, 1n))).toEqual(refused)
    expect(await ledger.balance('al\ufffd')).toMatchObject({ total: 7n, held: 0n })
  })

  it('tells of an account its own lines alone', async () => {
    const ledger = await makeLedger()
    await ledger.createAccount({ account: 'bobby', ...USD, balance: 7n })
    expect(await ledger.entries('bob')).toEqual([])
    expect(await ledger.entries('bobby')).toHaveLength(1)
  })

  it.each([
    ['account', '', 'account must be a string that is not empty'],
    ['account', 7, 'account must be a string that is not empty'],
    ['account', 'clearing:USD:2', 'account must not begin with fees: or clearing:'],
    ['assetCode', 'NO CODE', 'assetCode must be a string of 1 to 12 visible ASCII characters, not "NO CODE"'],
    ['assetCode', undefined, 'assetCode must be a string of 1 to 12 visible ASCII characters, not undefined'],
    ['assetScale', 2.5, 'assetScale must be an integer from 0 to 255, not 2.5'],
    ['assetScale', 999, 'assetScale must be an integer from 0 to 255, not 999'],
    ['assetScale', '2', 'assetScale must be an integer from 0 to 255, not "2"'],
    ['balance', 5, 'balance must be a bigint, such as 100n'],
    ['balance', -1n, 'balance must not be below zero'],
    ['canSend', 'no', 'canSend must be true or false'],
    ['canReceive', 0, 'canReceive must be true or false'],
  ])('opens no account whose %s is %o', async (member, value, message) => {
    const ledger = await make()
    const account = { account: 'alice', ...USD }
    Object.assign(account, { [member]: value })
    await expect(ledger.createAccount(account)).rejects.toThrow(new TypeError(`createAccount: ${message}`))
    expect(await ledger.totals()).toEqual([])
  })

  it('opens an account once, and in one asset', async () => {
    const ledger = await makeLedger()
    expect(await ledger.createAccount({ account: 'alice', ...USD, balance: 5n })).toBe(false)
    expect(await ledger.balance('alice')).toMatchObject({ total: 1000n })
    await expect(ledger.createAccount({ account: 'alice', assetCode: 'EUR', assetScale: 2 })).rejects.toThrow('asset')
  })

  it('sums each asset on its own, beyond 64 bits', async () => {
    const ledger = await makeLedger()
    await ledger.createAccount({ account: 'erin', assetCode: 'USD', assetScale: 3, balance: 7n })
    await ledger.createAccount({ account: 'rich', ...USD, balance: MAX_AMOUNT_VALUE })
    await ledger.credit(credit('a', 'rich', MAX_AMOUNT_VALUE))
    expect(await ledger.balance('rich')).toMatchObject({ total: 2n * MAX_AMOUNT_VALUE })
    const totals = await ledger.totals()
    expect(totals).toHaveLength(2)
    expect(totals).toContainEqual(usd(1000n + MAX_AMOUNT_VALUE))
    expect(totals).toContainEqual({ value: 7n, assetCode: 'USD', assetScale: 3 })
  })
})

describe('memoryLedger', () => {
  it('opens the accounts that it is given', async () => {
    const ledger = memoryLedger({ accounts: [{ account: 'alice', ...USD, balance: 5n, canSend: false }] })
    expect(await ledger.account('alice')).toEqual({ ...USD, canSend: false, canReceive: true })
    expect(await ledger.totals()).toEqual([usd(5n)])
  })

  it('refuses two accounts of one name', () => {
    const account = { account: 'alice', ...USD }
    expect(() => memoryLedger({ accounts: [account, account] })).toThrow('occurs twice')
  })
})

describe('sqliteLedger', () => {
  it('loses nothing when the file is closed and opened again, and answers as before', async () => {
    const path = newFile()
    const handle = await openSqlite(path)
    const first = sqliteLedger(handle)
    await first.createAccount({ account: 'alice', ...USD, balance: 1000n })
    await first.hold(hold('a', 600n))
    await first.hold(hold('b', 600n))
    handle.close()
    const second = sqliteLedger(await open(path))
    expect(await second.balance('alice')).toEqual({ ...USD, total: 1000n, held: 600n, available: 400n })
    expect(await second.hold(hold('a', 600n))).toEqual({ ok: true })
    await second.release({ id: 'a' })
    expect(await second.hold(hold('b', 600n))).toEqual({ ok: false, reason: 'insufficient_funds' })
    expect(await second.entries('alice')).toMatchObject([{ transfer: 'opening:alice', amount: 1000n }])
  })

  it('undoes all of a movement when a part of it cannot be written, and only that one', async () => {
    const handle = await open()
    let isBroken = false
    const failing: SqliteHandle = {
      exec: (sql) => handle.exec(sql),
      prepare: (sql) => {
        const statement = handle.prepare(sql)
        return {
          get: (...parameters) => statement.get(...parameters),
          all: (...parameters) => statement.all(...parameters),
          run: (...parameters) => {
            const isMovement = sql.includes('ledger_transfer') && parameters.includes('settled')
            if (isBroken && isMovement) throw new Error('disk I/O error')
            return statement.run(...parameters)
          },
        }
      },
    }
    const ledger = sqliteLedger(failing)
    await ledger.createAccount({ account: 'alice', ...USD, balance: 1000n })
    await ledger.hold(hold('a', 600n))
    isBroken = true
    const settle = () => ledger.settle({ id: 'a', amount: usd(500n), fee: usd(5n) })
    const [settled, other] = await Promise.allSettled([settle(), ledger.hold(hold('b', 100n))])
    expect(settled.status).toBe('rejected')
    expect(other).toEqual({ status: 'fulfilled', value: { ok: true } })
    expect(await ledger.balance('alice')).toMatchObject({ total: 1000n, held: 700n })
    expect(await ledger.balance('clearing:USD:2')).toBeUndefined()
    isBroken = false
    expect(await settle()).toEqual({ ok: true })
    expect(await ledger.balance('alice')).toMatchObject({ total: 500n, held: 100n })
    expect(await ledger.totals()).toEqual([usd(1000n)])
  })

  it('shares a connection with the storage, both at work in the same turn', async () => {
    const handle = await open()
    const storage = sqliteStorage(handle)
    const ledger = sqliteLedger(handle)
    await ledger.createAccount({ account: 'alice', ...USD, balance: 50n })
    const work = Array.from({ length: 50 }, (_, index) => {
      const value = { id: `c${index}`, expiresAt: 1 }
      return [ledger.hold(hold(`h${index}`, 1n)), storage.commit([{ action: 'insert', kind: 'replay-claim', value }])]
    })
    const answers = await Promise.all(work.flat())
    expect(answers.filter((answer) => answer === 'committed')).toHaveLength(50)
    expect(answers.filter((answer) => typeof answer === 'object' && 'ok' in answer && answer.ok)).toHaveLength(50)
    expect(await ledger.balance('alice')).toMatchObject({ available: 0n })
  })

  it('is made once, beside the storage', async () => {
    const handle = await open()
    sqliteLedger(handle)
    sqliteStorage(handle)
    await sqliteLedger(handle).createAccount({ account: 'alice', ...USD, balance: 50n })
    expect(await sqliteLedger(handle).totals()).toEqual([usd(50n)])
    const schemas = handle.prepare('SELECT name, version FROM op_meta ORDER BY name').all()
    expect(schemas).toMatchObject([
      { name: 'ledger', version: 2 },
      { name: 'storage', version: STORAGE_MIGRATIONS.length },
    ])
  })

  it('throws for a transfer that someone has spoiled', async () => {
    const handle = await open()
    const ledger = sqliteLedger(handle)
    await ledger.createAccount({ account: 'alice', ...USD, balance: 50n })
    await ledger.hold(hold('a', 1n))
    handle.exec(`UPDATE ledger_transfer SET state = 'lost'`)
    await expect(ledger.hold(hold('a', 1n))).rejects.toThrow('state of a transfer')
  })
})
