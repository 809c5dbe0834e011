import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type PostgresDatabase, postgresStorage } from '../../adapters/storage/postgres.ts'
import type { Storage } from '../../src/ports/storage.ts'
import { claim, insertClaim, mustCommit, replaceClaim } from '../../src/testing/storage-case.ts'
import { ALICE, BASE, incomingPayment, spendingToken, testLedger, testWallet, usd } from '../support/test-wallet.ts'
import { isCommit, useDatabases, watchStatements } from './postgres-databases.ts'
import { type PostgresProxy, startProxy, startSilentServer } from './postgres-proxy.ts'

const { newSchema, openPool, openSql, run, waitingIn, whileLocked } = useDatabases()

let proxy: PostgresProxy
beforeAll(async () => {
  proxy = await startProxy()
})
afterAll(() => proxy.close())

const DRIVERS: readonly (readonly [string, (schema: string) => PostgresDatabase])[] = [
  ['pg', (schema) => openPool(schema, {}, { host: proxy.host, port: proxy.port, max: 1 })],
  ['postgres', (schema) => openSql(schema, {}, { host: proxy.host, port: proxy.port, max: 1 })],
]

/** Makes one call at a time: else the reply of another one could be taken for that of a commit. */
function inTurn(storage: Storage): Storage {
  let last: Promise<unknown> = Promise.resolve()
  const next = <T>(call: () => Promise<T>): Promise<T> => {
    const answer = last.then(call, call)
    last = answer
    return answer
  }
  return {
    get: (keys) => next(() => storage.get(keys)),
    list: (query) => next(() => storage.list(query)),
    due: (...query) => next(() => storage.due(...query)),
    commit: (changes) => next(() => storage.commit(changes)),
  }
}

/** The processes of the connections that are open to a schema. */
function sessionsOf(schema: string): Promise<unknown> {
  return run(schema, `SELECT pid FROM pg_stat_activity WHERE application_name = '${schema}'`)
}

interface Proxied {
  readonly schema: string
  readonly storage: Storage
  /** How many commits were sent. */
  readonly commits: () => number
  /** Loses the reply of a commit, counted from now. */
  readonly loseReply: (commit: number) => void
}

async function proxied(open: (schema: string) => PostgresDatabase): Promise<Proxied> {
  const schema = await newSchema()
  let commits = 0
  let lost = 0
  const watched = watchStatements(open(schema), (text) => {
    if (!isCommit(text)) return
    commits += 1
    if (commits === lost) proxy.loseNextReply()
  })
  return {
    schema,
    storage: inTurn(await postgresStorage(watched)),
    commits: () => commits,
    loseReply: (commit) => {
      lost = commits + commit
    },
  }
}

describe.each(DRIVERS)('a connection through %s that is lost', (_name, open) => {
  it('before a commit has left changes nothing', async () => {
    const { storage, commits } = await proxied(open)
    await mustCommit(storage, insertClaim('a'))
    proxy.cutNextRequest()
    await expect(storage.commit([insertClaim('b'), replaceClaim('a', 1, 5)])).rejects.toThrow()
    expect(await storage.get([claim('a'), claim('b')])).toMatchObject([{ version: 1 }, undefined])
    expect(commits()).toBe(2)
    await mustCommit(storage, insertClaim('b'), replaceClaim('a', 1, 5))
  })

  it('while a commit waits for a lock changes nothing', async () => {
    const { schema, storage, commits } = await proxied(open)
    await mustCommit(storage, insertClaim('a'))
    const commit = whileLocked(
      schema,
      'UPDATE op_replay_claim SET version = version',
      () => storage.commit([insertClaim('0'), replaceClaim('a', 1, 5)]),
      (_client, waiting) => run(schema, `SELECT pg_terminate_backend(${waiting})`),
    )
    await expect(commit).rejects.toThrow()
    // `postgres` gives the first call after that the error of the lost one.
    const read = () => storage.get([claim('a'), claim('0')]).catch(() => 'still lost')
    await expect.poll(read, { interval: 2 }).toMatchObject([{ version: 1 }, undefined])
    expect(commits()).toBe(2)
    await mustCommit(storage, insertClaim('0'), replaceClaim('a', 1, 5))
  })

  it('after a commit has happened rejects it, and it is there, once', async () => {
    const { storage, commits, loseReply } = await proxied(open)
    await mustCommit(storage, insertClaim('a'), insertClaim('c'))
    loseReply(1)
    await expect(storage.commit([insertClaim('b'), replaceClaim('a', 1, 5)])).rejects.toThrow()
    const found = await storage.get([claim('a'), claim('b'), claim('c')])
    expect(found).toMatchObject([{ version: 2, value: { expiresAt: 5 } }, { version: 1 }, { version: 1 }])
    expect(commits()).toBe(2)
    expect(await storage.commit([replaceClaim('a', 1, 5)])).toEqual({ conflicts: [0] })
  })

  it('in a read rejects it, and the next one succeeds', async () => {
    const { storage } = await proxied(open)
    await mustCommit(storage, insertClaim('a', { dueAt: 1 }))
    proxy.loseNextReply()
    await expect(storage.get([claim('a')])).rejects.toThrow()
    expect(await storage.due('replay-claim', 1, 10)).toMatchObject([{ version: 1 }])
  })
})

describe('a commit of a payment whose reply is lost', () => {
  /** Pays while the reply of one commit, counted from the request on, is lost; false where there was no such commit. */
  async function payLosing(open: (schema: string) => PostgresDatabase, lost: number): Promise<boolean> {
    const database = await proxied(open)
    const ledger = testLedger()
    const wallet = await testWallet({ storage: database.storage, ledger })
    const token = await spendingToken(wallet, { debitAmount: usd('15') })
    const { payment } = await incomingPayment(wallet, { incomingAmount: usd('10') })
    const json = { walletAddress: ALICE, incomingPayment: payment.id, debitAmount: usd('10') }
    const before = database.commits()
    database.loseReply(lost)
    const answer = await wallet.send('POST', `${BASE}/outgoing-payments`, { token, json })
    await wallet.openPayments.drain()
    const made = database.commits() - before
    expect(answer.status).toBe(201)
    for (let round = 0; round < 3; round++) {
      wallet.clock.advance(60_000)
      await wallet.openPayments.recover()
    }

    const query = { kind: 'outgoing-payment', walletAddress: ALICE, direction: 'older', limit: 10 } as const
    const [record, ...others] = await database.storage.list(query)
    expect(record?.value).toMatchObject({ state: 'completed', sentAmount: { value: 10n } })
    expect(others).toEqual([])
    expect(await ledger.balance('alice')).toMatchObject({ total: 99_990n, held: 0n })
    expect(await ledger.balance('bob')).toMatchObject({ total: 10n, held: 0n })
    // What is left of the limit was counted once: another five are admitted, not ten.
    const spent = await run(database.schema, `SELECT debit_value FROM op_spending WHERE id LIKE '%life'`)
    expect(spent).toEqual([{ debit_value: '10' }])
    return made >= lost
  }

  it.each(DRIVERS)('ends right, whichever of them it is, through %s', async (_name, open) => {
    let lost = 1
    while (await payLosing(open, lost)) lost += 1
    expect(lost).toBeGreaterThan(4)
  })
})

describe('a transaction that fails when all of it is done, at its very end', () => {
  it.each<[string, (schema: string) => PostgresDatabase]>([
    ['pg', (schema) => openPool(schema)],
    ['postgres', (schema) => openSql(schema)],
  ])('rejects the commit, through %s', async (_name, open) => {
    const schema = await newSchema()
    const storage = await postgresStorage(open(schema))
    await run(
      schema,
      `CREATE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql AS
         $$ BEGIN RAISE EXCEPTION 'too late' USING ERRCODE = '23514'; END $$;
       CREATE CONSTRAINT TRIGGER fail AFTER INSERT ON op_replay_claim DEFERRABLE INITIALLY DEFERRED
         FOR EACH ROW EXECUTE FUNCTION fail()`,
    )
    await expect(storage.commit([insertClaim('a')])).rejects.toMatchObject({ code: '23514' })
    expect(await storage.get([claim('a')])).toEqual([undefined])
  })
})

describe('a timeout', () => {
  /** A schema with one record, which somebody else has locked. */
  async function lockedSchema(): Promise<{ readonly schema: string; unlock(): Promise<void> }> {
    const schema = await newSchema()
    await mustCommit(await postgresStorage(openPool(schema)), insertClaim('a'))
    const other = await openPool(schema).connect()
    await other.query('BEGIN; UPDATE op_replay_claim SET version = version')
    return {
      schema,
      unlock: async () => {
        await other.query('ROLLBACK')
        other.release()
      },
    }
  }

  it.each([
    ['statement_timeout', '57014', 'pg'],
    ['lock_timeout', '55P03', 'pg'],
    ['statement_timeout', '57014', 'postgres'],
  ])('of the database, %s, rejects at once with %s through %s, and the storage goes on', async (name, code, driver) => {
    const { schema, unlock } = await lockedSchema()
    const settings = { [name]: '500ms' }
    const storage = await postgresStorage(driver === 'pg' ? openPool(schema, settings) : openSql(schema, settings))
    await expect(storage.commit([insertClaim('0'), replaceClaim('a', 1, 5)])).rejects.toMatchObject({ code })
    await unlock()
    expect(await storage.get([claim('a'), claim('0')])).toMatchObject([{ version: 1 }, undefined])
    await mustCommit(storage, replaceClaim('a', 1, 5))
  })

  it('of the pool rejects at once, and the storage goes on', async () => {
    const pool = openPool(await newSchema(), {}, { max: 1 })
    const storage = await postgresStorage(pool)
    const client = await pool.connect()
    pool.options.connectionTimeoutMillis = 20
    const calls = [storage.commit([insertClaim('a')]), storage.get([claim('a')])]
    for (const { status } of await Promise.allSettled(calls)) expect(status).toBe('rejected')
    pool.options.connectionTimeoutMillis = 0
    client.release()
    expect(await storage.get([claim('a')])).toEqual([undefined])
    await mustCommit(storage, insertClaim('a'))
  })

  it.each([
    ['pg', (schema: string) => openPool(schema)],
    ['postgres', (schema: string) => openSql(schema)],
  ])('of the storage itself rejects at once, through %s, and the storage goes on', async (_name, open) => {
    const { schema, unlock } = await lockedSchema()
    const storage = await postgresStorage(open(schema), { answerSeconds: 1 })
    await expect(storage.commit([replaceClaim('a', 1, 5)])).rejects.toThrow('the database did not answer within 1 s')
    expect(await storage.get([claim('0')])).toEqual([undefined])
    await unlock()
    await expect.poll(async () => (await storage.get([claim('a')]))[0]?.version, { interval: 5 }).toBe(2)
  })

  it('of the storage itself ends the wait for a connection, and one that comes later goes back to the pool', async () => {
    const schema = await newSchema()
    const pool = openPool(schema, {}, { max: 1 })
    const storage = await postgresStorage(pool, { answerSeconds: 1 })
    const before = await sessionsOf(schema)
    const client = await pool.connect()
    const calls = [storage.commit([insertClaim('a')]), storage.get([claim('a')])]
    for (const { status } of await Promise.allSettled(calls)) expect(status).toBe('rejected')
    client.release()
    expect(await storage.get([claim('a')])).toEqual([undefined])
    await mustCommit(storage, insertClaim('a'))
    expect(await sessionsOf(schema)).toEqual(before)
  })

  it('of the client rejects at once, and nobody is handed the connection that goes on in the database', async () => {
    const { schema, unlock } = await lockedSchema()
    const storage = await postgresStorage(openPool(schema, {}, { max: 1, query_timeout: 1000 }))
    await expect(storage.commit([replaceClaim('a', 1, 5)])).rejects.toThrow('timeout')
    await waitingIn(schema)
    expect(await storage.get([claim('0')])).toEqual([undefined])
    await unlock()
    // Nobody has told the database to stop: the outcome was unknown indeed.
    await expect.poll(async () => (await storage.get([claim('a')]))[0]?.version, { interval: 5 }).toBe(2)
  })
})

describe.each([
  ['pg', (schema: string) => openPool(schema, {}, { max: 1 })],
  ['postgres', (schema: string) => openSql(schema, {}, { max: 1 })],
])('through %s, the connection stays open', (_name, open) => {
  /** A storage in which a claim `a` is stored, and what tells the processes of its connections. */
  const openOne = async () => {
    const schema = await newSchema()
    const storage = await postgresStorage(open(schema))
    await mustCommit(storage, insertClaim('a'))
    const sessions = () => sessionsOf(schema)
    return { schema, storage, sessions, before: await sessions() }
  }

  it('after a conflict', async () => {
    const { storage, sessions, before } = await openOne()
    for (let round = 0; round < 3; round++) {
      expect(await storage.commit([insertClaim('a')])).toEqual({ conflicts: [0] })
    }
    expect(await sessions()).toEqual(before)
  })

  it.each(['40001', '40P01'])('after a transaction that the database has undone (%s)', async (code) => {
    const { schema, storage, sessions, before } = await openOne()
    // What a sequence has counted is not undone: only the first insert fails.
    await run(
      schema,
      `CREATE SEQUENCE inserts;
       CREATE FUNCTION fail_once() RETURNS trigger LANGUAGE plpgsql AS
         $$ BEGIN IF nextval('inserts') = 1 THEN RAISE EXCEPTION 'undone' USING ERRCODE = '${code}'; END IF; RETURN NEW; END $$;
       CREATE TRIGGER fail_once BEFORE INSERT ON op_replay_claim FOR EACH ROW EXECUTE FUNCTION fail_once()`,
    )
    await mustCommit(storage, insertClaim('b'))
    expect(await run(schema, 'SELECT last_value::int AS count FROM inserts')).toEqual([{ count: 2 }])
    expect(await sessions()).toEqual(before)
  })
})

describe('a database that is not there', () => {
  it('rejects', async () => {
    await expect(postgresStorage(openPool('none', {}, { host: '/nowhere' }))).rejects.toThrow('ENOENT')
    await expect(postgresStorage(openSql('none', {}, { host: '/nowhere' }))).rejects.toThrow('ENOENT')
  })

  it.each<[string, (access: { host: string; port: number }) => PostgresDatabase]>([
    ['pg', (access) => openPool('none', {}, access)],
    ['postgres', (access) => openSql('none', {}, access)],
  ])('but accepts connections and says nothing rejects, through %s', async (_name, open) => {
    const silent = await startSilentServer()
    try {
      const storage = postgresStorage(open(silent), { answerSeconds: 0.2 })
      await expect(storage).rejects.toThrow('the database did not answer within 0.2 s')
    } finally {
      await silent.close()
    }
  })
})
