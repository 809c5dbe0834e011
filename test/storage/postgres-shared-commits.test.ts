import { createHash } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { type PostgresDatabase, postgresStorage } from '../../adapters/storage/postgres.ts'
import type { Change, Storage } from '../../src/ports/storage.ts'
import { sampleGrant, sampleSpending } from '../../src/testing/sample-records.ts'
import {
  checkClaim,
  claim,
  deleteClaim,
  insertClaim,
  mustCommit,
  replaceClaim,
} from '../../src/testing/storage-case.ts'
import { turn } from '../support/turns.ts'
import { EMPTY_TABLES, isCommit, useDatabases, watchStatements } from './postgres-databases.ts'

const { newSchema, openPool, openSql, run, whileLocked } = useDatabases()

interface Watched {
  readonly schema: string
  readonly storage: Storage
  /** The commits that were sent, since the claims `a` and `b` and the spending `s` were made. */
  readonly sent: string[]
}

/** Made once, and emptied for each test. */
const made = newSchema().then(async (schema) => {
  await postgresStorage(openPool(schema, {}, { max: 1 }))
  return schema
})

async function watched(open: (schema: string) => PostgresDatabase = (schema) => openPool(schema)): Promise<Watched> {
  const schema = await made
  await run(schema, EMPTY_TABLES)
  const sent: string[] = []
  const storage = await postgresStorage(watchStatements(open(schema), (text) => isCommit(text) && sent.push(text)))
  await mustCommit(storage, insertClaim('a'), insertClaim('b'), insertSpending('s'))
  sent.length = 0
  return { schema, storage, sent }
}

const insertSpending = (id: string): Change => ({ action: 'insert', kind: 'spending', value: sampleSpending(id, 1n) })

const commitAll = (storage: Storage, commits: readonly (readonly Change[])[]): Promise<readonly unknown[]> =>
  Promise.all(commits.map((changes) => storage.commit(changes)))

async function versions(storage: Storage, ...ids: readonly string[]): Promise<readonly unknown[]> {
  return (await storage.get(ids.map(claim))).map((record) => record?.version)
}

/** A grant in a list whose row in the index is longer than PostgreSQL admits. */
function insertTooLong(): Change {
  // PostgreSQL compresses what repeats itself.
  const noise = Array.from({ length: 100 }, (_, index) => createHash('sha512').update(String(index)).digest('hex'))
  const value = { ...sampleGrant('long'), walletAddress: 'https://wallet.example/alice', client: noise.join('') }
  return { action: 'insert', kind: 'grant', value, isListed: true }
}

describe.each<[string, (schema: string) => PostgresDatabase]>([
  ['pg', (schema) => openPool(schema)],
  ['postgres', (schema) => openSql(schema)],
])('through %s, commits of one turn', (_name, open) => {
  it('share a statement if they take the same actions in the same tables, however often each does', async () => {
    const { storage, sent } = await watched(open)
    const commits = [
      [insertClaim('c'), insertSpending('d')],
      [insertSpending('c'), insertClaim('d'), insertClaim('e'), insertSpending('e')],
    ]
    expect(await commitAll(storage, commits)).toEqual(['committed', 'committed'])
    expect(sent).toHaveLength(1)
    expect(await versions(storage, 'c', 'd', 'e')).toEqual([1, 1, 1])
  })

  it('are told their own conflicts, by their places in each, and those without any are made', async () => {
    const { storage, sent } = await watched(open)
    const commits = [
      [replaceClaim('a', 1, 5), insertClaim('c')],
      [insertClaim('d'), replaceClaim('none', 1, 5), insertClaim('s'), replaceClaim('nor this', 1, 5)],
      [insertClaim('e'), replaceClaim('b', 1, 6)],
      [insertClaim('f'), replaceClaim('not either', 2, 5)],
    ]
    const results = ['committed', { conflicts: [1, 3] }, 'committed', { conflicts: [1] }]
    expect(await commitAll(storage, commits)).toEqual(results)
    expect(sent).toHaveLength(2)
    expect(await versions(storage, 'a', 'b', 'c', 'd', 'e', 'f', 's')).toEqual([
      2,
      2,
      1,
      undefined,
      1,
      undefined,
      undefined,
    ])
  })
})

describe('commits of one turn', () => {
  it('wait on as long as each turn brings more, and share a statement then too', async () => {
    const { storage, sent } = await watched()
    const first = [storage.commit([insertClaim('c')]), storage.commit([insertClaim('d')])]
    await turn()
    await Promise.all([...first, storage.commit([insertClaim('e')])])
    expect(sent).toHaveLength(1)
  })

  it('share none with commits of other actions or tables', async () => {
    const { storage, sent } = await watched()
    const commits = [[insertClaim('c')], [insertSpending('t')], [replaceClaim('a', 1, 5)], [deleteClaim('b', 1)]]
    expect(await commitAll(storage, commits)).toEqual(commits.map(() => 'committed'))
    expect(sent).toHaveLength(4)
  })

  it('may all check one record at one version, and are all told where that does not fit', async () => {
    const { storage, sent } = await watched()
    const at = (version: number, name: string): readonly (readonly Change[])[] =>
      ['1', '2', '3'].map((n) => [insertClaim(`${name}${n}`), checkClaim('a', version)])
    expect(await commitAll(storage, at(1, 'c'))).toEqual(['committed', 'committed', 'committed'])
    expect(sent).toHaveLength(1)
    expect(await commitAll(storage, at(2, 'd'))).toEqual([{ conflicts: [1] }, { conflicts: [1] }, { conflicts: [1] }])
    expect(sent).toHaveLength(2)
    expect(await versions(storage, 'a', 'c1', 'c3', 'd1')).toEqual([1, 1, 1, undefined])
  })

  it('that check one record at two versions are judged apart', async () => {
    const { storage, sent } = await watched()
    const commits = [
      [insertClaim('c'), checkClaim('a', 2)],
      [insertClaim('d'), checkClaim('a', 1)],
    ]
    expect(await commitAll(storage, commits)).toEqual([{ conflicts: [1] }, 'committed'])
    expect(sent).toHaveLength(2)
  })

  const rivals: readonly (readonly [string, readonly Change[], readonly Change[]])[] = [
    ['replace', [replaceClaim('a', 1, 5)], [replaceClaim('a', 1, 6)]],
    ['delete', [deleteClaim('a', 1)], [deleteClaim('a', 1)]],
    ['insert', [insertClaim('c')], [insertClaim('c')]],
    ['replace and check', [replaceClaim('a', 1, 5), checkClaim('b', 1)], [replaceClaim('b', 1, 5), checkClaim('a', 1)]],
  ]
  it.each(rivals)('that %s one record have a statement each, and one of them is made', async (_name, one, other) => {
    const { storage, sent } = await watched()
    const results = await commitAll(storage, [one, other])
    expect(results.filter((result) => result === 'committed')).toHaveLength(1)
    expect(results.filter((result) => result !== 'committed')).toEqual([{ conflicts: [expect.any(Number)] }])
    expect(sent).toHaveLength(2)
  })

  it('that delete what another one checks have a statement each', async () => {
    const { storage, sent } = await watched()
    await mustCommit(storage, insertClaim('c'))
    sent.length = 0
    const commits = [
      [checkClaim('b', 1), deleteClaim('a', 1)],
      [checkClaim('a', 1), deleteClaim('c', 1)],
    ]
    const [deleting] = await commitAll(storage, commits)
    expect(deleting).toBe('committed')
    expect(sent).toHaveLength(2)
  })

  it('wait for no statement that is under way', async () => {
    const { schema, storage } = await watched()
    let other: unknown
    const one = await whileLocked(
      schema,
      `SELECT FROM op_replay_claim WHERE id = 'a' FOR UPDATE`,
      () => storage.commit([replaceClaim('a', 1, 5)]),
      async () => {
        other = await storage.commit([replaceClaim('b', 1, 5)])
      },
    )
    expect([one, other]).toEqual(['committed', 'committed'])
  })

  it('are 128 to a statement at most, and about a megabyte', async () => {
    const { storage, sent } = await watched()
    const inserts = Array.from({ length: 300 }, (_, index) => [insertClaim(`n${index}`)])
    expect(new Set(await commitAll(storage, inserts))).toEqual(new Set(['committed']))
    expect(sent).toHaveLength(3)
    const long = Array.from({ length: 5 }, (_, index): readonly Change[] => {
      return [{ action: 'insert', kind: 'grant', value: { ...sampleGrant(`g${index}`), client: 'c'.repeat(400_000) } }]
    })
    expect(new Set(await commitAll(storage, long))).toEqual(new Set(['committed']))
    expect(sent).toHaveLength(5)
  })

  it('do not share what the database refuses to an index: that one rejects, and the others are made', async () => {
    const { storage, sent } = await watched()
    const insertGrant: Change = { action: 'insert', kind: 'grant', value: sampleGrant('g') }
    const [long, ...others] = await Promise.allSettled([
      storage.commit([insertTooLong(), insertClaim('c')]),
      storage.commit([insertGrant, insertClaim('d')]),
      storage.commit([{ ...insertGrant, value: sampleGrant('h') }, insertClaim('a')]),
    ])
    expect(long).toMatchObject({ status: 'rejected', reason: { code: '54000' } })
    expect(others).toMatchObject([{ value: 'committed' }, { value: { conflicts: [1] } }])
    expect(sent).toHaveLength(4)
    expect(await versions(storage, 'c', 'd')).toEqual([undefined, 1])
  })

  /** Has the database answer the insert of one claim with an error, which names a conflict where it may not count. */
  const refuse = (schema: string, code: string): Promise<unknown> =>
    run(
      schema,
      `CREATE OR REPLACE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
         IF NEW.id = 'refused' THEN RAISE EXCEPTION 'op_conflicts${code === '22P02' ? '' : ' 1'}' USING ERRCODE = '${code}'; END IF;
         RETURN NEW; END $$;
       CREATE OR REPLACE TRIGGER refuse BEFORE INSERT ON op_replay_claim FOR EACH ROW EXECUTE FUNCTION refuse()`,
    )

  it.each(['22001', '22P02', '23514', '54000', 'P0001', '40001', '40P01'])(
    'are made alone after %s, which undid them all: the one that caused it rejects, and the others are made',
    async (code) => {
      const { schema, storage } = await watched()
      await refuse(schema, code)
      const [refused, other] = await Promise.allSettled(['refused', 'c'].map((id) => storage.commit([insertClaim(id)])))
      expect(refused).toMatchObject({ status: 'rejected', reason: { code } })
      expect(other).toEqual({ status: 'fulfilled', value: 'committed' })
      expect(await versions(storage, 'refused', 'c')).toEqual([undefined, 1])
    },
  )

  it.each(['40003', '08006', '57014', '57P01', '55P03', '53300', '40002', 'XX000'])(
    'all reject after %s, and none is repeated: their outcome may be unknown',
    async (code) => {
      const { schema, storage, sent } = await watched()
      await refuse(schema, code)
      const ended = await Promise.allSettled(['refused', 'c'].map((id) => storage.commit([insertClaim(id)])))
      expect(ended).toMatchObject(['refused', 'c'].map(() => ({ status: 'rejected', reason: { code } })))
      expect(sent).toHaveLength(1)
    },
  )

  it('reject if they name a record twice, and hold up no others', async () => {
    const { storage, sent } = await watched()
    const twice = storage.commit([insertClaim('c'), checkClaim('c', 1)])
    const once = storage.commit([insertClaim('d')])
    await expect(twice).rejects.toThrow('a commit names a record twice')
    expect(await once).toBe('committed')
    expect(sent).toHaveLength(1)
  })

  it('that hold a value which cannot be stored reject before anything is sent, and hold up no others', async () => {
    const { storage, sent } = await watched()
    const insertGrant: Change = { action: 'insert', kind: 'grant', value: { ...sampleGrant('g'), client: 'a\0b' } }
    const refused = storage.commit([insertGrant])
    const others = storage.commit([{ ...insertGrant, value: sampleGrant('h') }])
    await expect(refused).rejects.toThrow('cannot store client')
    expect(await others).toBe('committed')
    expect(sent).toHaveLength(1)
  })

  it('are of the values that they had when they were asked for', async () => {
    const { storage } = await watched()
    const value = { id: 'c', expiresAt: 1 }
    const commit = storage.commit([{ action: 'insert', kind: 'replay-claim', value }])
    value.expiresAt = 2
    await commit
    expect(await storage.get([claim('c')])).toMatchObject([{ value: { expiresAt: 1 } }])
  })

  it('all reject if the outcome of their statement is unknown, and none is repeated', async () => {
    const { schema, storage, sent } = await watched()
    const end = `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = '${schema}' AND wait_event_type = 'Lock'`
    const ended = await whileLocked(
      schema,
      `SELECT FROM op_replay_claim WHERE id = 'a' FOR UPDATE`,
      () => Promise.allSettled(['a', 'b'].map((id) => storage.commit([replaceClaim(id, 1, 5)]))),
      () => run(schema, end),
    )
    expect(ended.map(({ status }) => status)).toEqual(['rejected', 'rejected'])
    expect(sent).toHaveLength(1)
    expect(await versions(storage, 'a', 'b')).toEqual([1, 1])
  })

  it('are all tried again where the database has undone their statement', async () => {
    const level = { default_transaction_isolation: 'repeatable read' }
    const { schema, storage, sent } = await watched((name) => openPool(name, level))
    const results = await whileLocked(schema, `UPDATE op_replay_claim SET version = 2 WHERE id = 'a'`, () =>
      commitAll(storage, [[replaceClaim('a', 1, 5)], [replaceClaim('b', 1, 5)]]),
    )
    expect(results).toEqual([{ conflicts: [0] }, 'committed'])
    expect(sent).toHaveLength(3)
  })
})
