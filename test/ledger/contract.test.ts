import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { type DoubleEntryLedger, memoryLedger } from '../../adapters/ledger/memory.ts'
import { sqlLedger } from '../../adapters/ledger/sql.ts'
import { type OpenedSqlite, openSqlite, sqliteStorage } from '../../adapters/storage/sqlite.ts'
import type { Ledger } from '../../src/ports/ledger.ts'
import { isSameAsset } from '../../src/protocol/amount.ts'
import { type LedgerUnderTest, ledgerContract } from '../../src/testing/ledger-contract.ts'

const folder = mkdtempSync(join(tmpdir(), 'ledger-'))
const opened: OpenedSqlite[] = []
let files = 0

async function open(path: string): Promise<OpenedSqlite> {
  const handle = await openSqlite(path)
  opened.push(handle)
  return handle
}

function newFile(): string {
  files += 1
  return join(folder, `${files}.db`)
}

afterAll(() => {
  for (const handle of opened) handle.close()
  rmSync(folder, { recursive: true })
})

/** The wallet of the contract around a ledger; `called` is the ledger whose calls are tested. */
function walletOf(books: DoubleEntryLedger, called: Ledger = books): LedgerUnderTest {
  return {
    ledger: called,
    async openAccount(account, { assetCode, assetScale }, balance) {
      expect(await books.createAccount({ account, assetCode, assetScale, balance })).toBe(true)
    },
    setClosed: (account, isClosed) => books.setPermissions(account, { canSend: !isClosed, canReceive: !isClosed }),
    available: async (account) => (await books.balance(account))?.available ?? -1n,
    fees: async ({ assetCode, assetScale }) => (await books.balance(`fees:${assetCode}:${assetScale}`))?.total ?? 0n,
    total: async (asset) => (await books.totals()).find((total) => isSameAsset(total, asset))?.value ?? 0n,
  }
}

/** Spreads the calls over two connections to one file, as two processes of one wallet would. */
async function onTwoHandles(): Promise<LedgerUnderTest> {
  const path = newFile()
  const ledgers = [sqlLedger(await open(path)), sqlLedger(await open(path))] as const
  let calls = 0
  const next = (): Ledger => {
    calls += 1
    return calls % 2 === 0 ? ledgers[0] : ledgers[1]
  }
  return walletOf(ledgers[0], {
    account: (account) => next().account(account),
    hold: (hold) => next().hold(hold),
    settle: (settlement) => next().settle(settlement),
    release: (release) => next().release(release),
    credit: (credit) => next().credit(credit),
  })
}

const LEDGERS: Readonly<Record<string, () => Promise<LedgerUnderTest>>> = {
  memory: async () => walletOf(memoryLedger()),
  'SQLite in memory': async () => walletOf(sqlLedger(await open(':memory:'))),
  'SQLite in a file': async () => walletOf(sqlLedger(await open(newFile()))),
  'two connections to one SQLite file': onTwoHandles,
  'a connection shared with the storage': async () => {
    const handle = await open(newFile())
    sqliteStorage(handle)
    return walletOf(sqlLedger(handle))
  },
}

describe.each(Object.entries(LEDGERS))('the ledger contract on %s', (_name, makeLedger) => {
  it.each(ledgerContract().map((contractCase) => [contractCase.name, contractCase] as const))('%s', (_case, { run }) =>
    expect(run(makeLedger)).resolves.toBeUndefined(),
  )
})

async function casesBrokenBy(wrap: (ledger: DoubleEntryLedger) => Partial<Ledger>): Promise<readonly string[]> {
  const broken: string[] = []
  for (const { name, run } of ledgerContract()) {
    const books = memoryLedger()
    await run(async () => walletOf(books, { ...books, ...wrap(books) })).catch(() => broken.push(name))
  }
  return broken
}

function randomId(): string {
  return crypto.randomUUID().replaceAll('-', '')
}

describe('the ledger contract finds a ledger that', () => {
  it.each<[string, (ledger: DoubleEntryLedger) => Partial<Ledger>, RegExp]>([
    [
      'holds again when it is asked again',
      (ledger) => ({ hold: (hold) => ledger.hold({ ...hold, id: randomId() }) }),
      /a hold that is repeated/,
    ],
    [
      'credits again when it is asked again',
      (ledger) => ({ credit: (credit) => ledger.credit({ ...credit, id: randomId() }) }),
      /a credit that is repeated/,
    ],
    [
      'forgets its refusals',
      (ledger) => {
        const ids = new Map<string, string>()
        return {
          async hold(hold) {
            const id = ids.get(hold.id) ?? hold.id
            const answer = await ledger.hold({ ...hold, id })
            if (!answer.ok) ids.set(hold.id, randomId())
            return answer
          },
        }
      },
      /a refusal is kept/,
    ],
    [
      'forgets its refusals of credits',
      (ledger) => {
        const ids = new Map<string, string>()
        return {
          async credit(credit) {
            const answer = await ledger.credit({ ...credit, id: ids.get(credit.id) ?? credit.id })
            if (!answer.ok) ids.set(credit.id, randomId())
            return answer
          },
        }
      },
      /unknown account refuses credits/,
    ],
    [
      'checks the balance in one step and reserves in another',
      (ledger) => ({
        async hold(hold) {
          const balance = await ledger.balance(hold.account)
          const isCovered = balance !== undefined && balance.available >= hold.amount.value
          const answer = await ledger.hold(hold)
          return isCovered && !answer.ok && answer.reason === 'insufficient_funds' ? { ok: true } : answer
        },
      }),
      /of fifty holds of a tenth/,
    ],
    [
      'knows a hold by its id alone',
      (ledger) => {
        const known = new Set<string>()
        return {
          async hold(hold) {
            if (known.has(hold.id)) return { ok: true }
            const answer = await ledger.hold(hold)
            if (answer.ok) known.add(hold.id)
            return answer
          },
        }
      },
      /a hold with other arguments/,
    ],
    [
      'ignores the counterparty',
      (ledger) => ({
        hold: (hold) => ledger.hold({ ...hold, counterparty: { kind: 'rail', method: '', address: '' } }),
      }),
      /a hold with other arguments/,
    ],
    [
      'compares the counterparty as it was written',
      (ledger) => ({
        hold: (hold) =>
          ledger.hold({
            ...hold,
            counterparty: { kind: 'rail', method: '', address: JSON.stringify(hold.counterparty) },
          }),
      }),
      /a hold with other arguments/,
    ],
    [
      'settles all that is held',
      (ledger) => {
        const amounts = new Map<string, bigint>()
        return {
          hold: (hold) => {
            amounts.set(hold.id, hold.amount.value)
            return ledger.hold(hold)
          },
          settle: (settlement) => {
            const value = amounts.get(settlement.id) ?? settlement.amount.value
            return ledger.settle({ ...settlement, amount: { ...settlement.amount, value } })
          },
        }
      },
      /takes its amount once and frees the rest/,
    ],
    [
      'keeps no fees',
      (ledger) => ({
        settle: (settlement) => ledger.settle({ ...settlement, fee: { ...settlement.fee, value: 0n } }),
      }),
      /a fee goes to the wallet/,
    ],
    [
      'takes the fee on top of the amount',
      (ledger) => ({
        settle: (settlement) => {
          const value = settlement.amount.value + settlement.fee.value
          return ledger.settle({ ...settlement, amount: { ...settlement.amount, value } })
        },
      }),
      /a fee goes to the wallet/,
    ],
    [
      'settles after a release',
      (ledger) => {
        const released = new Set<string>()
        return {
          release: (release) => {
            released.add(release.id)
            return ledger.release(release)
          },
          settle: async (settlement) => (released.has(settlement.id) ? { ok: true } : ledger.settle(settlement)),
        }
      },
      /settlement afterwards is a conflict/,
    ],
    [
      'releases what it has settled',
      (ledger) => ({
        release: async (release) => {
          await ledger.release(release)
          return { ok: true }
        },
      }),
      /a release after a settlement/,
    ],
    [
      'lets nobody be paid from a closed account, not even by a hold',
      (ledger) => ({
        settle: async (settlement) => {
          const alice = await ledger.account('alice')
          return alice?.canSend ? ledger.settle(settlement) : { ok: false, reason: 'conflict' }
        },
      }),
      /closed or emptied meanwhile/,
    ],
    [
      'counts in floating point',
      (ledger) => ({
        hold: (hold) => ledger.hold({ ...hold, amount: { ...hold.amount, value: BigInt(Number(hold.amount.value)) } }),
      }),
      /exact to the last unit/,
    ],
    [
      'makes the money of a credit',
      (ledger) => ({
        async credit(credit) {
          const { assetCode, assetScale, value } = credit.amount
          const answer = await ledger.credit(credit)
          if (answer.ok) {
            const account = `minted ${credit.id}`
            await ledger.createAccount({ account, assetCode, assetScale, balance: value })
          }
          return answer
        },
      }),
      /neither make nor lose money/,
    ],
  ])('%s', async (_name, wrap, expected) => {
    const broken = await casesBrokenBy(wrap)
    expect(broken.some((name) => expected.test(name))).toBe(true)
  })

  it('is sound itself: a ledger that is only wrapped breaks nothing', async () => {
    expect(await casesBrokenBy((ledger) => ({ ...ledger }))).toEqual([])
  })
})
