import type { Asset, Ledger, LedgerAccount } from 'open-payments-server'
import { inTurns, type LedgerUnderTest } from 'open-payments-server/testing'
import type { Pool } from 'pg'
import { type Account, AccountFlags, type Client, CreateAccountStatus, CreateTransferStatus } from 'tigerbeetle-node'
import { type Book, tigerBeetleLedger } from '../../examples/tigerbeetle-ledger.ts'
import { type NextFailure, nextFailure } from '../support/next-failure.ts'

/** Lets the commits of a pool's connections fail; to be called before it has any. */
export function failCommits(pool: Pool, failure: NextFailure): void {
  pool.on('connect', (client) => {
    const { query } = client
    const send = async (call: readonly unknown[]): Promise<unknown> => Reflect.apply(query, client, call)
    const fail = (...call: readonly unknown[]): unknown =>
      call[0] === 'COMMIT' ? failure.commitLater(() => send(call)) : Reflect.apply(query, client, call)
    Object.assign(client, { query: fail })
  })
}

/** The wallet of the contract around the tables of the PostgreSQL example. */
export function postgresWallet(pool: Pool, ledger: Ledger): LedgerUnderTest {
  const read = async (sql: string, values: readonly unknown[]): Promise<bigint> => {
    const { rows } = await pool.query<{ sum: string | null }>(sql, [...values])
    return BigInt(rows[0]?.sum ?? -1)
  }
  const setPermissions: LedgerUnderTest['setPermissions'] = async (account, { canSend, canReceive }) => {
    const change = 'UPDATE account SET can_send = $2, can_receive = $3 WHERE id = $1'
    await pool.query(change, [account, canSend, canReceive])
  }
  return {
    ledger,
    openAccount: async (account, { assetCode, assetScale }, balance) => {
      const row = [account, assetCode, assetScale, balance]
      await pool.query('INSERT INTO account (id, asset_code, asset_scale, balance) VALUES ($1, $2, $3, $4)', row)
    },
    setClosed: (account, isClosed) => setPermissions(account, { canSend: !isClosed, canReceive: !isClosed }),
    setPermissions,
    available: (account) => read('SELECT balance - held AS sum FROM account WHERE id = $1', [account]),
    fees: ({ assetCode, assetScale }) =>
      read('SELECT COALESCE(sum(amount), 0) AS sum FROM posting WHERE account = $1', [
        `fees:${assetCode}:${assetScale}`,
      ]),
    total: ({ assetCode, assetScale }) =>
      read(
        `SELECT (SELECT COALESCE(sum(balance), 0) FROM account WHERE (asset_code, asset_scale) = ($1, $2))
           + (SELECT COALESCE(sum(amount), 0) FROM posting WHERE account IN ($3, $4)) AS sum`,
        [assetCode, assetScale, `fees:${assetCode}:${assetScale}`, `clearing:${assetCode}:${assetScale}`],
      ),
  }
}

/** The wallet's books in TigerBeetle. Money comes into its customers' accounts from outside. */
const BOOKS = [
  { assetCode: 'USD', assetScale: 2, ledger: 840, clearing: 1n, fees: 2n, outside: 3n },
  { assetCode: 'EUR', assetScale: 2, ledger: 978, clearing: 4n, fees: 5n, outside: 6n },
  { assetCode: 'USD', assetScale: 6, ledger: 841, clearing: 7n, fees: 8n, outside: 9n },
  { assetCode: 'usd', assetScale: 2, ledger: 2001, clearing: 10n, fees: 11n, outside: 12n },
  { assetCode: 'USDCOIN12345', assetScale: 2, ledger: 2002, clearing: 13n, fees: 14n, outside: 15n },
  { assetCode: 'USDCOIN12346', assetScale: 2, ledger: 2003, clearing: 16n, fees: 17n, outside: 18n },
  { assetCode: 'JPY', assetScale: 0, ledger: 392, clearing: 19n, fees: 20n, outside: 21n },
] as const

const ACCOUNT: Account = {
  ...{ id: 0n, debits_pending: 0n, debits_posted: 0n, credits_pending: 0n, credits_posted: 0n, timestamp: 0n },
  ...{ user_data_128: 0n, user_data_64: 0n, user_data_32: 0, reserved: 0, ledger: 0, code: 1, flags: 0 },
}

/** What tests do with the wallet around a TigerBeetle beside what the contract does. */
export interface TigerBeetleWallet extends LedgerUnderTest {
  /** The id of an account in TigerBeetle. */
  idOf(account: string): bigint
}

/** The wallet of the contract around TigerBeetle: its own records of accounts, and some processes with a client each. */
export async function tigerBeetleWallet(clients: readonly [Client, ...Client[]]): Promise<TigerBeetleWallet> {
  const [client] = clients
  const records = new Map<string, { readonly id: bigint; readonly account: LedgerAccount }>()
  const find = async (account: string) => records.get(account)
  const setPermissions: LedgerUnderTest['setPermissions'] = async (account, { canSend, canReceive }) => {
    const record = records.get(account)
    if (record !== undefined) records.set(account, { ...record, account: { ...record.account, canSend, canReceive } })
  }
  const create = async (accounts: readonly Account[]): Promise<void> => {
    for (const { status } of await client.createAccounts([...accounts])) {
      if (status !== CreateAccountStatus.created) throw new Error(CreateAccountStatus[status])
    }
  }
  const bookOf = ({ assetCode, assetScale }: Asset): (typeof BOOKS)[number] => {
    const book = BOOKS.find((one) => one.assetCode === assetCode && one.assetScale === assetScale)
    if (book === undefined) throw new Error('the wallet has no such asset')
    return book
  }
  const balanceOf = async (id: bigint): Promise<{ readonly posted: bigint; readonly available: bigint }> => {
    const [account] = await client.lookupAccounts([id])
    if (account === undefined) return { posted: -1n, available: -1n }
    const posted = account.credits_posted - account.debits_posted
    return { posted, available: posted - account.debits_pending }
  }
  await create(
    BOOKS.flatMap(({ ledger, ...ids }) =>
      [ids.clearing, ids.fees, ids.outside].map((id) => ({ ...ACCOUNT, id, ledger })),
    ),
  )
  const failure = nextFailure()
  const processes = clients.map((one): Client => {
    return { ...one, createTransfers: (batch) => failure.commitLater(() => one.createTransfers(batch)) }
  })
  const idOf = (account: string): bigint => records.get(account)?.id ?? 0n
  return {
    ledger: inTurns(processes.map((one) => tigerBeetleLedger(one, find, ...(BOOKS satisfies readonly Book[])))),
    failNext: failure.failNext,
    idOf,
    openAccount: async (account, asset, balance) => {
      const { ledger, outside } = bookOf(asset)
      const id = 100n + BigInt(records.size)
      await create([{ ...ACCOUNT, id, ledger, flags: AccountFlags.debits_must_not_exceed_credits }])
      const { assetCode, assetScale } = asset
      records.set(account, { id, account: { assetCode, assetScale, canSend: true, canReceive: true } })
      const [opened] = await client.createTransfers([
        {
          ...{ id: id + 2n ** 64n, debit_account_id: outside, credit_account_id: id, amount: balance, ledger, code: 9 },
          ...{
            pending_id: 0n,
            user_data_128: 0n,
            user_data_64: 0n,
            user_data_32: 0,
            timeout: 0,
            flags: 0,
            timestamp: 0n,
          },
        },
      ])
      if (opened?.status !== CreateTransferStatus.created) throw new Error('the account was not funded')
    },
    setClosed: (account, isClosed) => setPermissions(account, { canSend: !isClosed, canReceive: !isClosed }),
    setPermissions,
    available: async (account) => (await balanceOf(idOf(account))).available,
    fees: async (asset) => (await balanceOf(bookOf(asset).fees)).posted,
    // What came from outside is what all others have together.
    total: async (asset) => {
      const { clearing, fees, ledger } = bookOf(asset)
      const customers = [...records.values()].filter(({ account }) => bookOf(account).ledger === ledger)
      const balances = await Promise.all([clearing, fees, ...customers.map(({ id }) => id)].map(balanceOf))
      return balances.reduce((sum, { posted }) => sum + posted, 0n)
    },
  }
}
