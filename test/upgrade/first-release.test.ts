import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import process from 'node:process'
import { fileURLToPath } from 'node:url'
import { postgresStorage } from 'open-payments-server/storage/postgres'
import { sqliteStorage } from 'open-payments-server/storage/sqlite'
import { describe, expect, it } from 'vitest'
import { ask, OPENING, recoverUntilQuiet, signedBy, type World } from '../payments/money-world.ts'
import { useDatabases, watchStatements } from '../storage/postgres-databases.ts'
import { keyed } from '../support/keyed.ts'
import { lastSegment } from '../support/last-segment.ts'
import { ALICE, BASE, usd, usdAmount } from '../support/test-wallet.ts'
import { dumpRows, dumpSchema } from './dump.ts'
import { decideUndecided, goOnBetweenWallets, type WorldWithRail } from './rails-in-midlife.ts'
import { liveHalfALife, type Midlife } from './wallet-in-midlife.ts'
import { databaseOf, type Query, walletOnDisk } from './wallet-on-disk.ts'

const FOLDER = fileURLToPath(new URL('./releases/', import.meta.url))
const LEASE = 30_000

/** A wallet as a release has left it: the tables of its storage, their rows, its ledger, and what its clients know. */
interface Release {
  readonly sqlite: string
  readonly postgres: string
  readonly rows: string
  readonly ledger: string
  readonly midlife: Midlife
}

async function readRelease(version: string): Promise<Release> {
  const read = (name: string): Promise<string> => readFile(`${FOLDER}${version}/${name}`, 'utf8')
  return {
    sqlite: await read('sqlite.sql'),
    postgres: await read('postgres.sql'),
    rows: await read('rows.sql'),
    ledger: await read('ledger.sql'),
    midlife: JSON.parse(await read('midlife.json')),
  }
}

const databases = useDatabases()

/** The statements that make the tables of this release in PostgreSQL. */
async function postgresTables(): Promise<string> {
  const scripts: string[] = []
  const pool = databases.openPool(await databases.newSchema())
  await postgresStorage(
    watchStatements(pool, (text) => /(CREATE|ALTER) TABLE/.test(text) && scripts.push(`${text};\n`)),
  )
  return scripts.join('')
}

/** Writes the wallet of this very release down; once it is out, its folder never changes. */
async function writeRelease(version: string): Promise<void> {
  const [storage, books] = [await databaseOf(), await databaseOf()]
  const world = await walletOnDisk(sqliteStorage(storage.handle), storage.query, books.handle)
  const midlife = await liveHalfALife(world)
  await mkdir(`${FOLDER}${version}`, { recursive: true })
  const write = (name: string, text: string): Promise<void> => writeFile(`${FOLDER}${version}/${name}`, text)
  const isMeta = (table: string): boolean => table === 'op_meta'
  await write('sqlite.sql', (await dumpSchema(storage.query)) + (await dumpRows(storage.query, isMeta)))
  await write('postgres.sql', await postgresTables())
  await write('rows.sql', await dumpRows(storage.query, (table) => !isMeta(table)))
  await write('ledger.sql', (await dumpSchema(books.query)) + (await dumpRows(books.query, () => true)))
  await write('midlife.json', `${JSON.stringify(midlife, null, 2)}\n`)
}

/** Sends a request of the client to the wallet as it is now. */
async function send(world: World, method: string, url: string, token: string, json?: unknown, key?: string) {
  const request = await signedBy(world, method, url, token, json, key === undefined ? {} : keyed(key))
  const answer = await ask(world.start(), request)
  if (answer === undefined) throw new Error('the process crashed')
  return answer
}

/** Everybody goes on where the other release has stopped. */
async function goOn(world: WorldWithRail, midlife: Midlife): Promise<void> {
  const { wallet, storage } = world
  const { token, manage } = midlife.spending
  wallet.clock.advance(LEASE)
  await decideUndecided(world, midlife.rails)
  await recoverUntilQuiet(world)
  await goOnBetweenWallets(world, midlife.rails)

  const payments = (await storage.all('outgoing-payment')).map(({ value }) => value)
  const ended = payments.map(({ state }) => state).sort()
  expect(ended).toEqual([...Array.from({ length: 8 }, () => 'completed'), 'failed', 'failed', 'failed', 'refused'])
  expect(midlife.interrupted).toHaveLength(7)
  expect(await world.ledger.balance('alice')).toMatchObject({ total: OPENING - 77n, held: 0n })
  expect(await world.ledger.balance('bob')).toMatchObject({ total: 75n })
  expect(await world.ledger.balance('clearing:USD:2')).toMatchObject({ total: 2n })

  const again = await send(world, 'POST', `${BASE}/outgoing-payments`, token, midlife.keyed.body, 'order-7')
  expect(again).toMatchObject({ status: 201, body: midlife.keyed.answer })
  expect(await send(world, 'POST', `${BASE}/outgoing-payments`, token, midlife.quote.body)).toMatchObject({
    status: 201,
  })
  const { body } = midlife.rails.quote
  expect(await send(world, 'POST', `${BASE}/outgoing-payments`, token, body)).toMatchObject({ status: 201 })
  await recoverUntilQuiet(world)

  // 92 of 200 are spent: what failed and what was refused is not.
  const rest = { walletAddress: ALICE, incomingPayment: midlife.open, debitAmount: usd('109') }
  expect(await send(world, 'POST', `${BASE}/outgoing-payments`, token, rest)).toMatchObject({ status: 403 })
  const all = { ...rest, debitAmount: usd('108') }
  expect(await send(world, 'POST', `${BASE}/outgoing-payments`, token, all)).toMatchObject({ status: 201 })
  await recoverUntilQuiet(world)
  expect(await world.ledger.balance('bob')).toMatchObject({ total: 193n })

  const { incomingPayments } = wallet.openPayments
  const partly = lastSegment(midlife.partlyReceived)
  expect(await incomingPayments.received(partly, usdAmount(3n), 'transfer 1')).toEqual({
    ok: true,
    accepted: 3n,
    excess: 0n,
  })
  expect(await incomingPayments.received(partly, usdAmount(4n), 'transfer 1')).toEqual({
    ok: false,
    reason: 'conflict',
  })
  const read = await send(world, 'GET', midlife.partlyReceived, midlife.receiving)
  expect(read).toMatchObject({ status: 200, body: { receivedAmount: usd('3') } })

  const { uri, token: continuation, reference } = midlife.approved
  const given = await send(world, 'POST', uri, continuation, { interact_ref: reference })
  expect(given).toMatchObject({ status: 200, body: { access_token: { value: expect.any(String) } } })
  const rotated = await send(world, 'POST', manage, token)
  expect(rotated.status).toBe(200)
  const list = `${BASE}/outgoing-payments?wallet-address=${encodeURIComponent(ALICE)}`
  const listed = await send(world, 'GET', list, rotated.body.access_token.value)
  expect(listed.body.result).toHaveLength(14)

  const audited = []
  for await (const payment of wallet.openPayments.audit(ALICE)) audited.push(payment)
  expect(audited.map(({ signedRequest }) => signedRequest.signatureBase).filter(Boolean)).toHaveLength(14)
  expect(audited.map(({ states }) => states.at(-1)?.state)).toEqual(audited.map(({ state }) => state))
}

const { RELEASE } = process.env
if (RELEASE !== undefined) await writeRelease(RELEASE)

describe.each(await readdir(FOLDER))('a wallet that release %s has left', (version) => {
  it('T-31 goes on in SQLite', async () => {
    const { sqlite, rows, ledger, midlife } = await readRelease(version)
    const [storage, books] = [await databaseOf(sqlite + rows), await databaseOf(ledger)]
    await goOn(await walletOnDisk(sqliteStorage(storage.handle), storage.query, books.handle, midlife.now), midlife)
  })

  it('T-31 goes on in PostgreSQL', async () => {
    const { postgres, rows, ledger, midlife } = await readRelease(version)
    const pool = databases.openPool(await databases.newSchema())
    await pool.query(postgres)
    await pool.query(rows)
    const query: Query = async (text) => (await pool.query(text)).rows
    const books = await databaseOf(ledger)
    await goOn(await walletOnDisk(await postgresStorage(pool), query, books.handle, midlife.now), midlife)
  })
})
