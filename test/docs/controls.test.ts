import type { AuditedPayment, Change, Hold, Storage } from 'open-payments-server'
import { postgresStorage } from 'open-payments-server/storage/postgres'
import { openSqlite, type SqliteHandle, sqliteStorage } from 'open-payments-server/storage/sqlite'
import { expect, it } from 'vitest'
import { recordsOfKind } from '../../src/records/read-record.ts'
import { readText } from '../architecture/source-tree.ts'
import { detailsOf, packetFor } from '../ilp/packet-for.ts'
import {
  grantTokens,
  moneyWorld,
  type Process,
  type ProcessAnswer,
  pay,
  preparePayment,
  recoverUntilQuiet,
  type World,
} from '../payments/money-world.ts'
import { useDatabases } from '../storage/postgres-databases.ts'
import { lastSegment } from '../support/last-segment.ts'
import {
  ALICE,
  BASE,
  CLIENT,
  incomingPayment,
  spendingToken,
  testLedger,
  testWallet,
  usd,
} from '../support/test-wallet.ts'
import { codeBlocksOf } from './markdown.ts'
import { letArrive, openElsewhere, openLedger, openWallet, order, paymentsOf, recoverAll } from './restored-wallet.ts'

const { newSchema, openPool, run } = useDatabases()

const rows = [...readText('docs/controls.md').matchAll(/^\| (.+) \| .+ \| (\d.+) \| `(.+)` \|$/gm)]
const [readOrder = '', erase = ''] = codeBlocksOf('docs/controls.md').flatMap(({ language, code }) =>
  language === 'sql' ? [code] : [],
)

function changeAddress({ wallet }: World, url: string, members: object): void {
  const found = wallet.directory.get(url)
  if (found !== undefined) wallet.directory.set(url, { ...found, ...members })
}

/** How each row of the page stops payments, by its first cell. */
const STOPS: Readonly<Record<string, (world: World, process: Process) => unknown>> = {
  everybody: (_world, { ports }) => {
    ports.plan = ({ name }) => (name === 'hold' ? { refuse: 'not_allowed' } : undefined)
  },
  'one payer': ({ ledger }) => ledger.setPermissions('alice', { canSend: false, canReceive: true }),
  'one payee': ({ ledger }) => ledger.setPermissions('bob', { canSend: true, canReceive: false }),
  'one customer, both ways': (world) => changeAddress(world, ALICE, { isActive: false }),
  'one client': (world) => changeAddress(world, CLIENT, { keys: [] }),
  'one client at one customer': async ({ wallet }) => {
    const { grants } = wallet.openPayments
    for (const { id } of await grants.list(ALICE)) await grants.revoke(ALICE, id)
  },
}

it('the page on controls has a row for every stop that is tried here', () => {
  expect(rows.map(([, name]) => name)).toEqual(Object.keys(STOPS))
})

it.each(Object.entries(STOPS))('the page on controls is right about a stop of %s', async (name, stop) => {
  const world = await moneyWorld()
  const tokens = await grantTokens(world)
  const [begun, ordered] = [await preparePayment(world, tokens), await preparePayment(world, tokens)]
  const process = world.start()
  process.ports.plan = (call) => (call.name === 'credit' ? 'throws' : undefined)
  const underWay = await pay(world, process, begun)
  process.ports.plan = () => undefined
  await stop(world, process)
  const answer = await pay(world, process, ordered)
  await recoverUntilQuiet(world)
  const wordsOf = (one: ProcessAnswer | undefined) => [one?.status, one?.body.error?.code].filter(Boolean).join(' ')
  const payments = (await world.storage.all('outgoing-payment')).map(({ value }) => value)
  const state = payments.find(({ id }) => id === lastSegment(underWay?.body.id ?? ''))?.state
  const [, , got = '', end] = rows.find(([, row]) => row === name) ?? []
  expect([wordsOf(answer), state]).toEqual([got.replaceAll('`', ''), end])
  // What was answered 201 all the same is not paid.
  expect(payments.filter((one) => one.state === 'completed')).toHaveLength(end === 'completed' ? 1 : 0)
})

it('the page on controls is right about a stop of what leaves for a peer', async () => {
  const elsewhere = await openElsewhere()
  const { ledger } = await openLedger()
  let isStopped = false
  const settled = (): bigint => {
    if (isStopped) throw new Error('this peer is stopped')
    return 0n
  }
  const { wallet, balance, bring } = await openWallet(await openSqlite(':memory:'), ledger, { elsewhere, settled })
  const { payment } = await incomingPayment(wallet)
  const token = await spendingToken(wallet)
  const letAll = letArrive(elsewhere, 200n)
  const underWay = await order(wallet, token, elsewhere.url)
  letAll()
  isStopped = true
  const ordered = await order(wallet, token, elsewhere.url)
  const reasons = wallet.events.flatMap((event) => (event.type === 'payment_stalled' ? [event.reason] : []))
  expect(reasons.at(-1)).toBe('settled_unknown')
  await expect(bring(await packetFor(detailsOf(payment), 10n, wallet.clock.now()))).rejects.toThrow('500')
  await recoverAll(wallet)

  const paid = (await paymentsOf(wallet.openPayments)).map(({ id, state, sentAmount }) => [id, state, sentAmount.value])
  expect(paid).toEqual(
    expect.arrayContaining([
      [underWay, 'failed', '200'],
      [ordered, 'failed', '0'],
    ]),
  )
  expect(elsewhere.receiver.total()).toBe(200n)
  expect(await ledger.balance('alice')).toMatchObject({ total: 99_800n, held: 0n })
  isStopped = false
  expect(await balance()).toMatchObject({ sent: 200n, received: 0n })
})

/** What the page overwrites, as it says to write it on SQLite. */
const [ofPostgres, ofSqlite] = ["lpad(to_hex(created_at), 12, '0')", "printf('%012x', created_at)"]
const eraseOnSqlite = erase.replace(ofPostgres, ofSqlite)

const metadata = { note: 'for my dentist' }

/** A payment of Alice to herself, with metadata on both sides. */
async function paidWithMetadata(storage: Storage, onHold: (id: string) => void = () => undefined) {
  const books = testLedger()
  const wallet = await testWallet({
    storage,
    ledger: {
      ...books,
      hold: async (hold) => {
        onHold(hold.id)
        return books.hold(hold)
      },
    },
  })
  const { payment, token: receiving } = await incomingPayment(wallet, {
    walletAddress: ALICE,
    incomingAmount: usd('7'),
    metadata,
  })
  const token = await spendingToken(wallet)
  const json = { walletAddress: ALICE, incomingPayment: payment.id, debitAmount: usd('7'), metadata }
  const { body } = await wallet.send('POST', `${BASE}/outgoing-payments`, { token, json })
  await wallet.openPayments.drain()
  const read = async () => [
    (await wallet.send('GET', body.id, { token })).body,
    (await wallet.send('GET', payment.id, { token: receiving })).body,
  ]
  const audit = async () => {
    const payments: AuditedPayment[] = []
    for await (const audited of wallet.openPayments.audit(ALICE)) payments.push(audited)
    return payments[0]
  }
  /** An order of more than Alice has, to an incoming payment without an amount. */
  const orderTooMuch = async () => {
    const { payment: open } = await incomingPayment(wallet)
    const order = { walletAddress: ALICE, incomingPayment: open.id, debitAmount: usd('900000'), metadata }
    const refused = await wallet.send('POST', `${BASE}/outgoing-payments`, { token, json: order })
    expect([refused.status, refused.body.error.code]).toEqual([403, 'insufficient_funds'])
  }
  return { wallet, read, audit, orderTooMuch, receiver: payment.id }
}

/** The rows of an SQLite database that have what a client wrote. */
function rowsWithMetadata(handle: SqliteHandle): readonly string[] {
  const tables = handle.prepare(`SELECT name FROM sqlite_master WHERE type = 'table'`).all() as { name: string }[]
  return tables.flatMap(({ name }) => {
    const rows = handle.prepare(`SELECT * FROM ${name}`).all() as object[]
    return rows.filter((row) => Object.values(row).join().includes('dentist')).map(() => name)
  })
}

it('a review of the page on controls lets one order through that was ordered anew', async () => {
  const books = testLedger()
  const [asked, allowed]: [Hold[], { account: string; payee: string; ceiling: bigint; end: number }[]] = [[], []]
  const wallet = await testWallet({
    ledger: {
      ...books,
      hold: async (hold) => {
        const payee = hold.counterparty.kind === 'local' ? hold.counterparty.account : ''
        const found = allowed.findIndex(
          (one) =>
            one.account === hold.account &&
            one.payee === payee &&
            hold.amount.value <= one.ceiling &&
            wallet.clock.now() <= one.end,
        )
        if (found >= 0) allowed.splice(found, 1)
        else asked.push(hold)
        return found >= 0 ? books.hold(hold) : { ok: false, reason: 'not_allowed' }
      },
    },
  })
  const token = await spendingToken(wallet)
  const order = async (debit: string): Promise<number> => {
    const { payment } = await incomingPayment(wallet)
    const json = { walletAddress: ALICE, incomingPayment: payment.id, debitAmount: usd(debit) }
    return (await wallet.send('POST', `${BASE}/outgoing-payments`, { token, json })).status
  }
  expect(await order('700')).toBe(403)
  for (const { account, amount, counterparty } of asked.splice(0)) {
    if (counterparty.kind !== 'local') throw new Error('a payee on another server')
    const end = wallet.clock.now() + 3_600_000
    allowed.push({ account, payee: counterparty.account, ceiling: amount.value + 10n, end })
  }
  expect([await order('705'), await order('705')]).toEqual([201, 403])
  await wallet.openPayments.drain()
  expect(await books.balance('bob')).toMatchObject({ total: 705n })
})

it('the page on controls reads the order of a hold, whose client the ledger is not told', async () => {
  const handle = await openSqlite(':memory:')
  const seen: unknown[] = []
  const { receiver } = await paidWithMetadata(sqliteStorage(handle), (id) => {
    const sql = readOrder.replace('0123456789abcdef0123456789abcdef', id).replace(';', '')
    seen.push(handle.prepare(sql).all()[0])
  })
  const order = { client: CLIENT, wallet_address: ALICE, receiver, metadata: JSON.stringify(metadata) }
  expect(seen).toMatchObject([order])
})

it('the page on controls overwrites what clients wrote into payments that are over, and breaks nothing', async () => {
  const handle = await openSqlite(':memory:')
  const { wallet, read, audit, orderTooMuch } = await paidWithMetadata(sqliteStorage(handle))
  await orderTooMuch()
  wallet.clock.advance(3000)
  const [before, audited] = [await read(), await audit()]
  // Of the refused order nothing is kept that its client wrote.
  const paid = ['op_incoming_payment', 'op_outgoing_payment', 'op_signed_request']
  expect([...rowsWithMetadata(handle)].sort()).toEqual(paid)
  expect(readText('docs/controls.md')).toContain(`\`${ofSqlite}\``)
  handle.exec(eraseOnSqlite)
  expect(await read()).toEqual(before.map((body) => ({ ...body, metadata: undefined })))
  const { signedRequest, ...rest } = (await audit()) ?? {}
  expect({ ...rest, signedRequest: audited?.signedRequest }).toEqual(audited)
  expect(signedRequest).toMatchObject({ method: '', targetUri: '', body: '' })
  expect(rowsWithMetadata(handle)).toEqual([])

  handle.exec('DELETE FROM op_signed_request')
  await expect(audit()).rejects.toThrow(`the proof of the payment ${audited?.id} has vanished`)
})

it('INC-14 what the page on controls overwrites in an incoming payment without money is deleted in time', async () => {
  const handle = await openSqlite(':memory:')
  const wallet = await testWallet({ storage: sqliteStorage(handle) })
  const expiresAt = new Date(wallet.clock.now() + 1000).toISOString()
  await incomingPayment(wallet, { walletAddress: ALICE, expiresAt, metadata })
  const sweepLater = async (milliseconds: number): Promise<number> => {
    wallet.clock.advance(milliseconds)
    return wallet.openPayments.sweep()
  }
  await sweepLater(1001)
  handle.exec(eraseOnSqlite)
  const month = 30 * 24 * 3_600_000
  await sweepLater(month - 1)
  const states = handle.prepare('SELECT state, metadata FROM op_incoming_payment')
  expect(states.all()).toMatchObject([{ state: 'expired', metadata: null }])
  await sweepLater(1)
  expect(states.all()).toEqual([])
})

it('what the page on controls overwrites does not come back from a process that has read it before', async () => {
  const handle = await openSqlite(':memory:')
  const { wallet, read } = await paidWithMetadata(sqliteStorage(handle))
  const [outgoing, incoming] = (await read()).map(({ id }) => lastSegment(id))
  const records = await wallet.storage.get([
    { kind: 'outgoing-payment', id: outgoing ?? '' },
    { kind: 'incoming-payment', id: incoming ?? '' },
  ])
  handle.exec(eraseOnSqlite)
  const changes: readonly Change[] = [
    ...recordsOfKind(records, 'outgoing-payment').map((record) => ({ ...record, action: 'replace' as const })),
    ...recordsOfKind(records, 'incoming-payment').map((record) => ({ ...record, action: 'replace' as const })),
  ]
  const commits = changes.map((change) => wallet.storage.commit([change]))
  expect(await Promise.all(commits)).toEqual([{ conflicts: [0] }, { conflicts: [0] }])
  expect(JSON.stringify(await read())).not.toContain('dentist')
})

it('what the page on controls overwrites is found by an index of PostgreSQL', async () => {
  const schema = await newSchema()
  const { wallet, read, orderTooMuch } = await paidWithMetadata(await postgresStorage(openPool(schema)))
  await orderTooMuch()
  const fill = (table: string, members: string): string =>
    `INSERT INTO ${table} SELECT other.* FROM (SELECT * FROM ${table} ORDER BY id LIMIT 1) AS one, generate_series(1, 2000) AS n,
       LATERAL jsonb_populate_record(NULL::${table}, to_jsonb(one) || jsonb_build_object(${members})) AS other; ANALYZE ${table}`
  const ofOthers = `'id', md5(n::text), 'wallet_address', 'https://wallet.example/' || n, 'created_at', n,
    'is_listed', 1, 'state', 'completed'`
  await run(schema, fill('op_outgoing_payment', ofOthers))
  await run(schema, fill('op_incoming_payment', ofOthers))
  await run(schema, fill('op_signed_request', `'id', lpad(to_hex(n), 12, '0') || md5(n::text)`))

  const statements = erase.split(/;\n/).filter((one) => one !== '')
  const plans = await Promise.all(statements.map((one) => run(schema, `EXPLAIN ${one}`)))
  const scans = plans.map((plan) => plan.some((row) => String(row['QUERY PLAN']).includes('Seq Scan')))
  expect(scans).toEqual([false, false, false])
  wallet.clock.advance(3000)
  await run(schema, erase)
  expect(JSON.stringify(await read())).not.toContain('dentist')
  const ofAlice = `wallet_address = '${ALICE}' AND metadata IS NOT NULL`
  expect(await run(schema, `SELECT state FROM op_outgoing_payment WHERE ${ofAlice}`)).toEqual([])
  expect(await run(schema, `SELECT body FROM op_signed_request WHERE base = ''`)).toEqual([{ body: '' }])
  const erased = { method: '', targetUri: '', body: '', withheld: 'erased' }
  const audited: unknown[] = []
  for await (const { signedRequest } of wallet.openPayments.audit(ALICE)) audited.push(signedRequest)
  expect(audited).toEqual([expect.objectContaining(erased)])
  expect(audited[0]).not.toHaveProperty('signatureBase')
})
