import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Libsql from 'libsql'
import { afterAll, describe, expect, it } from 'vitest'
import { memoryStorage } from '../../adapters/storage/memory.ts'
import { type OpenedSqlite, openSqlite, type SqliteHandle, sqliteStorage } from '../../adapters/storage/sqlite.ts'
import type { Storage } from '../../src/ports/storage.ts'
import { storageContract } from '../../src/testing/storage-contract.ts'

const folder = mkdtempSync(join(tmpdir(), 'storage-'))
const opened: OpenedSqlite[] = []
let files = 0

async function open(path: string): Promise<SqliteHandle> {
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

/** Spreads the calls over two connections to one file, as two processes of one wallet would. */
async function onTwoHandles(): Promise<Storage> {
  const path = newFile()
  const stores = [sqliteStorage(await open(path)), sqliteStorage(await open(path))]
  let calls = 0
  const next = (): Storage => {
    calls += 1
    return stores[calls % 2] as Storage
  }
  return {
    get: (keys) => next().get(keys),
    list: (query) => next().list(query),
    due: (kind, now, limit) => next().due(kind, now, limit),
    commit: (changes) => next().commit(changes),
  }
}

const STORES: Readonly<Record<string, () => Promise<Storage>>> = {
  memory: async () => memoryStorage(),
  'SQLite in memory': async () => sqliteStorage(await open(':memory:')),
  'SQLite in a file': async () => sqliteStorage(await open(newFile())),
  'two connections to one SQLite file': onTwoHandles,
  libsql: async () => {
    const handle = new Libsql(newFile())
    opened.push(handle)
    return sqliteStorage(handle)
  },
}

describe.each(Object.entries(STORES))('the storage contract on %s', (_name, makeStorage) => {
  it.each(storageContract().map((contractCase) => [contractCase.name, contractCase] as const))('%s', (_case, { run }) =>
    expect(run(makeStorage)).resolves.toBeUndefined(),
  )
})

async function casesBrokenBy(wrap: (storage: Storage) => Storage): Promise<readonly string[]> {
  const broken: string[] = []
  for (const { name, run } of storageContract()) {
    await run(async () => wrap(memoryStorage())).catch(() => broken.push(name))
  }
  return broken
}

describe('the storage contract finds a store that', () => {
  it.each<[string, (storage: Storage) => Storage, RegExp]>([
    [
      'compares versions in one step and writes in another',
      (storage) => ({
        ...storage,
        async commit(changes) {
          const keys = changes.map((change) => ({
            kind: change.kind,
            id: 'value' in change ? change.value.id : change.id,
          }))
          const found = await storage.get(keys)
          const conflicts = changes.flatMap((change, index) =>
            found[index]?.version === ('version' in change ? change.version : undefined) ? [] : [index],
          )
          if (conflicts.length > 0) return { conflicts }
          // The check is past; whatever happens until the write is overwritten.
          for (let attempt = 0; attempt < 100; attempt++) {
            const now = await storage.get(keys)
            const forced = changes.map((change, index) =>
              change.action === 'insert' ? change : { ...change, version: now[index]?.version ?? 0 },
            )
            if ((await storage.commit(forced)) === 'committed') return 'committed'
          }
          return { conflicts: [0] }
        },
      }),
      /two writers of one version/,
    ],
    [
      'commits its changes one by one',
      (storage) => ({
        ...storage,
        async commit(changes) {
          const conflicts: number[] = []
          for (const [index, change] of changes.entries()) {
            if ((await storage.commit([change])) !== 'committed') conflicts.push(index)
          }
          return conflicts.length > 0 ? { conflicts } : 'committed'
        },
      }),
      /all changes of a commit happen or none/,
    ],
    [
      'overwrites on insert',
      (storage) => ({
        ...storage,
        async commit(changes) {
          for (const change of changes) {
            if (change.action !== 'insert') continue
            const [found] = await storage.get([{ kind: change.kind, id: change.value.id }])
            if (found === undefined) continue
            await storage.commit([{ action: 'delete', kind: change.kind, id: change.value.id, version: found.version }])
          }
          return storage.commit(changes)
        },
      }),
      /an insert of an id that exists|two inserts of one id/,
    ],
    [
      'ignores checks',
      (storage) => ({
        ...storage,
        commit: (changes) => storage.commit(changes.filter(({ action }) => action !== 'check')),
      }),
      /each check what the other replaces/,
    ],
    [
      'loses digits of amounts',
      (storage) => ({
        ...storage,
        get: async (keys) =>
          structuredClone(await storage.get(keys)).map((record) => {
            const received: unknown = record && Reflect.get(record.value, 'received')
            if (typeof received === 'object' && received !== null) {
              Reflect.set(received, 'value', BigInt(Number(Reflect.get(received, 'value'))))
            }
            return record
          }),
      }),
      /comes back as it was written/,
    ],
    [
      'merges metadata into an object of its own',
      (storage) => ({
        ...storage,
        get: async (keys) =>
          structuredClone(await storage.get(keys)).map((record) => {
            const metadata: unknown = record && Reflect.get(record.value, 'metadata')
            if (record && metadata) {
              const merged: Record<string, unknown> = {}
              for (const [name, value] of Object.entries(metadata)) merged[name] = value
              Reflect.set(record.value, 'metadata', merged)
            }
            return record
          }),
      }),
      /comes back as it was written/,
    ],
    [
      'shows hidden records',
      (storage) => ({
        ...storage,
        commit: (changes) =>
          storage.commit(changes.map((change) => ('value' in change ? { ...change, isListed: true } : change))),
      }),
      /shows nothing hidden or foreign/,
    ],
    [
      'skips the records of one moment when it turns a page',
      (storage) => ({
        ...storage,
        list: async (query) => {
          const records = await storage.list({ ...query, limit: 100 })
          const { after } = query
          return records
            .filter(({ value }) => after === undefined || ('createdAt' in value && value.createdAt !== after.createdAt))
            .slice(0, query.limit)
        },
      }),
      /pages of any size/,
    ],
    [
      'lists the records of all clients',
      (storage) => ({
        ...storage,
        list: ({ client: _client, ...query }) => storage.list(query),
      }),
      /a list of one client/,
    ],
    [
      'keeps the oldest work for last',
      (storage) => ({
        ...storage,
        due: async (kind, now, limit) => (await storage.due(kind, now, 100)).toReversed().slice(0, limit),
      }),
      /the longest due first/,
    ],
    [
      'keeps a mark that was taken away',
      (storage) => {
        const due = new Map<string, number>()
        return {
          ...storage,
          commit: (changes) =>
            storage.commit(
              changes.map((change) => {
                if (!('value' in change)) return change
                const dueAt = change.dueAt ?? due.get(change.value.id)
                if (dueAt === undefined) return change
                due.set(change.value.id, dueAt)
                return { ...change, dueAt }
              }),
            ),
        }
      },
      /takes members and marks away/,
    ],
  ])('%s', async (_name, wrap, expected) => {
    const broken = await casesBrokenBy(wrap)
    expect(broken.some((name) => expected.test(name))).toBe(true)
  })

  it('is sound itself: a store that is only wrapped breaks nothing', async () => {
    expect(await casesBrokenBy((storage) => ({ ...storage }))).toEqual([])
  })
})
