import { statSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { sqliteStorage } from '../../adapters/storage/sqlite.ts'
import type { Change, RecordMarks, Storage } from '../../src/ports/storage.ts'
import type { IncomingPayment } from '../../src/protocol/incoming-payment.ts'
import {
  CLIENT,
  MOMENT,
  sampleAmount,
  sampleGrant,
  sampleIncomingPayment,
  WALLET_ADDRESS,
} from '../../src/testing/sample-records.ts'
import { useSqlite } from './sqlite-databases.ts'

const { open, newFile } = useSqlite()

const KIND = 'incoming-payment'
const SHOWN: RecordMarks = { isListed: true, dueAt: MOMENT }

function replace(members: Partial<IncomingPayment>, marks: RecordMarks = SHOWN): Change {
  return { action: 'replace', kind: KIND, version: 1, value: sampleIncomingPayment('a', members), ...marks }
}

/** A storage in which one payment is, and how many pages a commit writes to the log of its file. */
async function withPayment(marks: RecordMarks): Promise<{
  readonly storage: Storage
  readonly pagesOf: (change: Change) => Promise<number>
}> {
  const path = newFile()
  const handle = await open(path)
  const storage = sqliteStorage(handle)
  await storage.commit([{ action: 'insert', kind: KIND, value: sampleIncomingPayment('a'), ...marks }])
  const pageSize = 4096
  handle.exec('PRAGMA wal_checkpoint(TRUNCATE)')
  return {
    storage,
    async pagesOf(change) {
      expect(await storage.commit([change])).toBe('committed')
      // A header, then each page behind a header of its own.
      return Math.max(0, statSync(`${path}-wal`).size - 32) / (24 + pageSize)
    },
  }
}

describe('a replacement', () => {
  // In a file as small as this the table is one page, and each index.
  it.each([
    ['the table alone', { isListed: true }, replace({ received: sampleAmount(1n) }, { isListed: true }), 1],
    ['the table and what is due', SHOWN, replace({}, { ...SHOWN, dueAt: 7 }), 2],
    ['the table and what is due no more', SHOWN, replace({}, { isListed: true }), 2],
    ['all indexes but that of ids where it is shown', { dueAt: MOMENT }, replace({}), 4],
    ['all indexes but that of ids where it is hidden', SHOWN, replace({}, { dueAt: MOMENT }), 4],
    ['all indexes but that of ids where it moves', SHOWN, replace({ createdAt: 7 }), 4],
  ] as const)('writes pages of %s', async (_, marks, change, pages) => {
    const { pagesOf } = await withPayment(marks)
    expect(await pagesOf(change)).toBe(pages)
  })

  it('is found by what it says now, whatever it changes', async () => {
    const { storage } = await withPayment(SHOWN)
    const moved = { walletAddress: 'https://wallet.example/moved', client: 'https://other.example/', createdAt: 7 }
    expect(await storage.commit([replace(moved, { isListed: true, dueAt: 9 })])).toBe('committed')
    const value = sampleIncomingPayment('a', moved)
    const record = { kind: KIND, version: 2, value, schemaVersion: 1, dueAt: 9, isListed: true }
    expect(await storage.get([{ kind: KIND, id: 'a' }])).toEqual([record])
    const query = { kind: KIND, direction: 'older', limit: 10 } as const
    const { walletAddress, client } = moved
    const after = { createdAt: 8, id: '' }
    expect(await storage.list({ ...query, walletAddress, client, after })).toEqual([record])
    expect(await storage.list({ ...query, walletAddress: WALLET_ADDRESS })).toEqual([])
    expect(await storage.list({ ...query, walletAddress, client: CLIENT })).toEqual([])
    expect(await storage.due(KIND, 9, 10)).toEqual([record])
    expect(await storage.due(KIND, 8, 10)).toEqual([])
  })

  it('leaves the marks alone where it does not fit', async () => {
    const { storage } = await withPayment(SHOWN)
    const late: Change = { action: 'replace', kind: KIND, version: 2, value: sampleIncomingPayment('a') }
    expect(await storage.commit([late])).toEqual({ conflicts: [0] })
    expect(await storage.get([{ kind: KIND, id: 'a' }])).toMatchObject([SHOWN])
  })
})

it('a replacement is one statement for a record that has none of what a list goes by, and so stays where it is', async () => {
  const handle = await open()
  const ran: string[] = []
  const prepare: typeof handle.prepare = (sql) => {
    const statement = handle.prepare(sql)
    const run: typeof statement.run = (...cells) => {
      ran.push(sql)
      return statement.run(...cells)
    }
    return { run, get: (...cells) => statement.get(...cells), all: (...cells) => statement.all(...cells) }
  }
  const storage = sqliteStorage({ exec: (sql) => handle.exec(sql), prepare })
  const grant = { kind: 'grant', value: sampleGrant('a') } as const
  await storage.commit([{ action: 'insert', ...grant }])
  ran.length = 0
  expect(await storage.commit([{ action: 'replace', version: 1, ...grant }])).toBe('committed')
  expect(ran).toHaveLength(1)
})

it('writes nothing for a record that is only checked', async () => {
  const { pagesOf } = await withPayment(SHOWN)
  expect(await pagesOf({ action: 'check', kind: KIND, id: 'a', version: 1 })).toBe(0)
})
