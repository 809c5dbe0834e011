import type { RecordKind, Storage, StoredRecord } from 'open-payments-server'
import { sqliteLedger } from 'open-payments-server/ledger/sqlite'
import { type OpenedSqlite, openSqlite } from 'open-payments-server/storage/sqlite'
import { createSigningKey } from 'open-payments-server/testing'
import { processesOn } from '../payments/money-world.ts'
import { seededCryptography } from '../properties/seeded-cryptography.ts'
import { CLIENT, testWallet } from '../support/test-wallet.ts'
import { railsOfWallet, type WorldWithRail } from './rails-in-midlife.ts'

/** Reads every row of a query. */
export type Query = (sql: string) => Promise<readonly Readonly<Record<string, unknown>>[]>

const SETTINGS = { lifetimes: { accessTokenSeconds: 1e7, interactionSeconds: 3600 } }

/**
 * A wallet whose storage and ledger are in databases, and whose client has the same key whenever it is made: so it goes
 * on where a wallet of another release has stopped.
 */
export async function walletOnDisk(
  storage: Storage,
  query: Query,
  books: OpenedSqlite,
  now?: number,
): Promise<WorldWithRail> {
  const ledger = sqliteLedger(books)
  const { rail, options } = railsOfWallet()
  const made = await testWallet({ storage, ledger, settings: SETTINGS, ...options })
  made.clock.advance((now ?? made.clock.now()) - made.clock.now())
  const key = await createSigningKey(seededCryptography('the client of every release'), 'client-key')
  made.directory.set(CLIENT, { account: 'bob', assetCode: 'USD', assetScale: 2, publicName: 'A Shop', keys: [key.jwk] })
  const client = { key, client: CLIENT }
  const wallet = {
    ...made,
    client,
    send: ((method, url, sending = {}) =>
      made.send(method, url, { as: client, ...sending })) satisfies typeof made.send,
  }
  const all = async <K extends RecordKind>(kind: K) => {
    const rows = await query(`SELECT id FROM op_${kind.replaceAll('-', '_')} ORDER BY id`)
    const records = await storage.get(rows.map(({ id }) => ({ kind, id: String(id) })))
    return records.filter((record) => record !== undefined) as unknown as readonly StoredRecord<K>[]
  }
  return {
    wallet,
    storage: { ...storage, all },
    ledger,
    rail,
    told: () => wallet.events.filter((event) => 'id' in event),
    start: processesOn(wallet, storage, ledger, { settings: SETTINGS, ...options }),
  }
}

/** A SQLite database in memory, after some SQL. */
export async function databaseOf(sql = ''): Promise<{ readonly handle: OpenedSqlite; readonly query: Query }> {
  const handle = await openSqlite(':memory:')
  handle.exec(sql)
  return { handle, query: async (text) => handle.prepare(text).all() as Readonly<Record<string, unknown>>[] }
}
