import { describe, expect, it } from 'vitest'
import { type PostgresDatabase, postgresStorage } from '../../adapters/storage/postgres.ts'
import type { Change, Storage } from '../../src/ports/storage.ts'
import { sampleGrant, sampleInserts, sampleSpending } from '../../src/testing/sample-records.ts'
import {
  checkClaim,
  claim,
  deleteClaim,
  insertClaim,
  mustCommit,
  replaceClaim,
} from '../../src/testing/storage-case.ts'
import { type Settings, useDatabases, watchStatements } from './postgres-databases.ts'
import { startProxy } from './postgres-proxy.ts'

const { newSchema, openPool, openSql, run, waitingIn, whileLocked } = useDatabases()

interface Watched {
  readonly schema: string
  readonly storage: Storage
  /** The statements since the tables were made. */
  readonly statements: string[]
}

async function watchedStorage(
  settings: Settings = {},
  open: (schema: string) => PostgresDatabase = (schema) => openPool(schema, settings),
): Promise<Watched> {
  const schema = await newSchema()
  const statements: string[] = []
  const storage = await postgresStorage(watchStatements(open(schema), (text) => statements.push(text)))
  statements.length = 0
  return { schema, storage, statements }
}

const spend = (id: string, version: number): Change => {
  return { action: 'replace', kind: 'spending', version, value: sampleSpending(id, BigInt(version)) }
}

describe('one round trip', () => {
  it('is all that a commit takes, and a get, whatever is in them', async () => {
    const { storage, statements } = await watchedStorage()
    const inserts = sampleInserts()
    expect(await storage.commit(inserts)).toBe('committed')
    const found = await storage.get(inserts.map(({ kind, value }) => ({ kind, id: value.id })))
    expect(found.map((record) => record?.value)).toEqual(inserts.map(({ value }) => value))
    expect(await storage.commit(inserts)).toEqual({ conflicts: [...inserts.keys()] })
    expect(statements).toHaveLength(3)
  })

  it.each<[string, (schema: string, at: { host: string; port: number }) => PostgresDatabase]>([
    ['pg', (schema, at) => openPool(schema, {}, { ...at, max: 1 })],
    ['postgres', (schema, at) => openSql(schema, {}, { ...at, max: 1 })],
  ])('is what it takes on the wire, through %s, once a connection knows the statement', async (_name, open) => {
    const proxy = await startProxy()
    try {
      const storage = await postgresStorage(open(await newSchema(), { host: proxy.host, port: proxy.port }))
      const keys = [claim('a0'), claim('b0'), { kind: 'spending', id: 's' }, { kind: 'grant', id: 'g' }] as const
      const act = async (name: string): Promise<void> => {
        await mustCommit(storage, insertClaim(`a${name}`), insertClaim(`b${name}`))
        await storage.get(keys)
      }
      await act('0')
      const before = proxy.roundTrips()
      for (const name of ['1', '2', '3']) await act(name)
      expect(proxy.roundTrips() - before).toBe(6)
    } finally {
      await proxy.close()
    }
  })

  it('is none for nothing', async () => {
    const { storage, statements } = await watchedStorage()
    expect(await storage.commit([])).toBe('committed')
    expect(await storage.get([])).toEqual([])
    expect(await storage.get([claim('\0'), claim('\ud800')])).toEqual([undefined, undefined])
    expect(statements).toEqual([])
  })
})

describe('a commit', () => {
  it('names every conflict by its place in the commit, in whatever order it is made', async () => {
    const { storage } = await watchedStorage()
    await mustCommit(storage, insertClaim('a'), insertClaim('m'), {
      action: 'insert',
      kind: 'spending',
      value: sampleSpending('s', 1n),
    })
    const result = await storage.commit([
      replaceClaim('z', 1, 5),
      insertClaim('new'),
      { action: 'insert', kind: 'grant', value: sampleGrant('g') },
      insertClaim('m'),
      spend('s', 2),
      checkClaim('a', 1),
      deleteClaim('a0', 1),
    ])
    expect(result).toEqual({ conflicts: [0, 3, 4, 6] })
  })

  it('rejects what a text column would not give back as it was, and leaves nothing', async () => {
    const { storage, statements } = await watchedStorage()
    for (const text of ['a\0b', 'a\ud800b', '\udc00']) {
      const value = { ...sampleGrant('g'), client: text }
      const commit = storage.commit([insertClaim('a'), { action: 'insert', kind: 'grant', value }])
      await expect(commit).rejects.toThrow('cannot store client: it holds a NUL or half a surrogate pair')
    }
    expect(statements).toEqual([])
    expect(await storage.get([claim('a')])).toEqual([undefined])
  })

  it('stores and lists the longest client that the library admits', async () => {
    const { storage } = await watchedStorage()
    const noise = Array.from({ length: 2048 }, (_, index) =>
      Math.floor(Math.abs(Math.sin(index + 1)) * 36).toString(36),
    )
    const walletAddress = `https://wallet.example/${noise.slice(0, 500).join('')}`
    const value = { ...sampleGrant('g'), client: noise.join(''), walletAddress }
    await mustCommit(storage, { action: 'insert', kind: 'grant', value, isListed: true })
    const listed = await storage.list({
      kind: 'grant',
      walletAddress,
      client: value.client,
      direction: 'older',
      limit: 2,
    })
    expect(listed.map((record) => record.value)).toEqual([value])
  })

  it('is on the disk before it resolves, where the database is set to answer earlier', async () => {
    const { schema, storage } = await watchedStorage({ synchronous_commit: 'off' })
    const flushed = async (): Promise<boolean> => {
      const [before] = await run(schema, 'SELECT pg_current_wal_insert_lsn() AS lsn')
      await mustCommit(storage, insertClaim(`a${String(before?.['lsn'])}`))
      const [after] = await run(schema, `SELECT pg_current_wal_flush_lsn() > '${String(before?.['lsn'])}' AS flushed`)
      return after?.['flushed'] === true
    }
    for (let round = 0; round < 5; round++) expect(await flushed()).toBe(true)
  })

  it('leaves synchronous_commit of the connection as the host has set it', async () => {
    const pool = openPool(await newSchema(), { synchronous_commit: 'off' }, { max: 1 })
    const storage = await postgresStorage(pool)
    await mustCommit(storage, insertClaim('a'))
    expect((await pool.query('SHOW synchronous_commit')).rows).toEqual([{ synchronous_commit: 'off' }])
  })
})

const LEVELS = ['read committed', 'repeatable read', 'serializable']

describe.each(LEVELS)('at %s, what waits for another transaction', (level) => {
  const made = watchedStorage({ default_transaction_isolation: level })
  const oneClaim = async (): Promise<Watched> => {
    const watched = await made
    await run(watched.schema, 'DELETE FROM op_replay_claim')
    await mustCommit(watched.storage, insertClaim('a'))
    return watched
  }
  const others: readonly (readonly [string, string, readonly Change[], 'committed' | readonly number[]])[] = [
    ['a replace, of a replace', 'UPDATE op_replay_claim SET version = 2', [replaceClaim('a', 1, 5)], [0]],
    ['a check, of a replace', 'UPDATE op_replay_claim SET version = 2', [insertClaim('n'), checkClaim('a', 1)], [1]],
    ['a delete, of a replace', 'UPDATE op_replay_claim SET version = 2', [deleteClaim('a', 1)], [0]],
    ['a replace, of a delete', 'DELETE FROM op_replay_claim', [replaceClaim('a', 1, 5)], [0]],
    ['a replace, of a check', 'UPDATE op_replay_claim SET version = version', [replaceClaim('a', 1, 5)], 'committed'],
    ['an insert, of an insert', `INSERT INTO op_replay_claim VALUES ('b', 1, NULL, 1, 1)`, [insertClaim('b')], [0]],
    ['an insert, of a delete', 'DELETE FROM op_replay_claim', [insertClaim('a')], 'committed'],
  ]

  it.each(others)('judges by what that has left: %s', async (_name, other, changes, expected) => {
    const { schema, storage } = await oneClaim()
    const result = await whileLocked(schema, other, () => storage.commit(changes))
    expect(result).toEqual(expected === 'committed' ? expected : { conflicts: expected })
  })

  it('judges by what was there before, where that is undone', async () => {
    const { schema, storage } = await oneClaim()
    const other = `UPDATE op_replay_claim SET version = 2; INSERT INTO op_replay_claim VALUES ('b', 1, NULL, 1, 1)`
    const commit = () => storage.commit([insertClaim('b'), replaceClaim('a', 1, 5)])
    expect(await whileLocked(schema, other, commit, (client) => client.query('ROLLBACK'))).toBe('committed')
    expect((await storage.get([claim('a'), claim('b')])).map((record) => record?.version)).toEqual([2, 1])
  })

  it('lets no two commits through that each check what the other replaces', async () => {
    const { schema, storage } = await oneClaim()
    await mustCommit(storage, insertClaim('b'))
    // The other one has checked `a`, and goes on to replace `b` once this one waits. Whether they wait for each other, and
    // which of the two the database then undoes, depends on the moments at which they began to wait.
    let isOtherUndone = false
    const result = await whileLocked(
      schema,
      `UPDATE op_replay_claim SET version = version WHERE id = 'a'`,
      () => storage.commit([replaceClaim('a', 1, 5), checkClaim('b', 1)]),
      async (client) => {
        const update = client.query(`UPDATE op_replay_claim SET version = 2 WHERE id = 'b'`)
        isOtherUndone = await update.then(
          () => false,
          () => true,
        )
      },
    )
    expect(result).toEqual(isOtherUndone ? 'committed' : { conflicts: [1] })
  })

  it('comes through where fifty check the same record at once', async () => {
    const { storage } = await oneClaim()
    const commits = Array.from({ length: 50 }, (_, index) =>
      storage.commit([checkClaim('a', 1), insertClaim(`n${index}`)]),
    )
    expect(new Set(await Promise.all(commits))).toEqual(new Set(['committed']))
  })
})

describe('what the database has undone', () => {
  /** The rows change, but not their versions: whoever waited still fits. */
  const touch = (id: string): string => `UPDATE op_replay_claim SET expires_at = 7 WHERE id = '${id}'`

  it.each([
    ['pg', (schema: string, settings: Settings) => openPool(schema, settings)],
    ['postgres', (schema: string, settings: Settings) => openSql(schema, settings)],
  ])('is tried again after a serialization failure, through %s', async (_name, open) => {
    const settings = { default_transaction_isolation: 'repeatable read' }
    const { schema, storage, statements } = await watchedStorage({}, (name) => open(name, settings))
    await mustCommit(storage, insertClaim('a'))
    statements.length = 0
    const result = await whileLocked(schema, touch('a'), () => storage.commit([replaceClaim('a', 1, 5)]))
    expect(result).toBe('committed')
    expect(statements).toHaveLength(2)
    expect(await storage.get([claim('a')])).toMatchObject([{ version: 2, value: { expiresAt: 5 } }])
  })

  it('is tried again after a deadlock', async () => {
    const { schema, storage, statements } = await watchedStorage({ deadlock_timeout: '10ms' })
    await mustCommit(storage, insertClaim('a'), insertClaim('b'), insertClaim('c'))
    statements.length = 0
    const changes = ['a', 'b', 'c'].map((id) => replaceClaim(id, 1, 5))
    const other = await openPool(schema, { deadlock_timeout: '60s' }, { application_name: `${schema} other` }).connect()
    await other.query(`BEGIN; ${touch('c')}`)
    // The commit has `a` and waits for `b`; the other has `c` and waits for `a`; then the commit asks for `c`. It looks
    // for a deadlock first, so it is the one that is undone.
    let asking: Promise<unknown> = Promise.resolve()
    const result = await whileLocked(
      schema,
      touch('b'),
      () => storage.commit(changes),
      async () => {
        asking = other.query(touch('a')).then(() => other.query('COMMIT'))
        await waitingIn(`${schema} other`)
      },
    )
    await asking
    other.release()
    expect(result).toBe('committed')
    expect(statements).toHaveLength(2)
    const found = await storage.get(['a', 'b', 'c'].map(claim))
    expect(found.map((record) => [record?.version, record?.value])).toEqual(
      ['a', 'b', 'c'].map((id) => [2, { id, expiresAt: 5 }]),
    )
  })

  const failing = watchedStorage()
  /** Lets the database answer each insert of a claim with an error. */
  const failWith = async (code: string): Promise<Watched> => {
    const watched = await failing
    await run(
      watched.schema,
      `CREATE OR REPLACE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql AS
         $$ BEGIN RAISE EXCEPTION 'op_conflicts' USING ERRCODE = '${code}'; END $$;
       CREATE OR REPLACE TRIGGER fail BEFORE INSERT ON op_replay_claim FOR EACH ROW EXECUTE FUNCTION fail()`,
    )
    watched.statements.length = 0
    return watched
  }

  it('is tried again up to a bound', async () => {
    const { storage, statements } = await failWith('40001')
    await expect(storage.commit([insertClaim('a')])).rejects.toMatchObject({ code: '40001' })
    expect(statements).toHaveLength(10)
  })

  it.each(['40003', '08006', '57014', '57P01', '55P03', '53300', '23514', '40002', 'XX000', '22P02'])(
    'is not taken for it after %s: the commit rejects and is not repeated',
    async (code) => {
      const { storage, statements } = await failWith(code)
      await expect(storage.commit([insertClaim('a')])).rejects.toMatchObject({ code })
      expect(statements).toHaveLength(1)
      expect(await storage.get([claim('a')])).toEqual([undefined])
    },
  )

  it('needs no second try where commits that name the same records meet in opposite orders', async () => {
    const { storage, statements } = await watchedStorage()
    const ids = Array.from({ length: 8 }, (_, index) => `a${index}`)
    const inserts = ids.map((id): Change => ({ action: 'insert', kind: 'spending', value: sampleSpending(id, 0n) }))
    await mustCommit(storage, ...ids.map((id) => insertClaim(id)), ...inserts)
    statements.length = 0
    for (let round = 1; round <= 10; round++) {
      const changes = [...ids.map((id) => replaceClaim(id, round, 5)), ...ids.map((id) => spend(id, round))]
      const orders = [changes, changes.toReversed(), [...changes.slice(8), ...changes.slice(0, 8)]]
      const results = await Promise.all(orders.map((order) => storage.commit(order)))
      expect(results.filter((result) => result === 'committed')).toHaveLength(1)
    }
    expect(statements).toHaveLength(30)
  })
})
