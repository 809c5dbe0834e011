import { statSync } from 'node:fs'
import { inspect } from 'node:util'
import { describe, expect, it, vi } from 'vitest'
import { sqliteLedger } from '../../adapters/ledger/sqlite.ts'
import { layoutOf } from '../../adapters/storage/sql/layout.ts'
import { STORAGE_MIGRATIONS } from '../../adapters/storage/sql/schema.ts'
import { builtInSqlite } from '../../adapters/storage/sqlite/open.ts'
import { openSqlite, type SqliteHandle, type SqliteStatement, sqliteStorage } from '../../adapters/storage/sqlite.ts'
import { progressOf } from '../../src/payments/rail/delivery-progress.ts'
import type { Change, RecordKind, Storage } from '../../src/ports/storage.ts'
import { receivedIn } from '../../src/protocol/spent-amounts.ts'
import { recordsOfKind } from '../../src/records/read-record.ts'
import { sampleIncomingPayment, sampleInserts } from '../../src/testing/sample-records.ts'
import { KINDS, samplesOf } from '../../src/testing/storage-case.ts'
import { useSqlite } from './sqlite-databases.ts'

const { open, newFile } = useSqlite()

const KNOWN = STORAGE_MIGRATIONS.length

function insert(id: string): Change {
  return { action: 'insert', kind: 'replay-claim', value: { id, expiresAt: 1 } }
}

function replace(id: string, version: number): Change {
  return { action: 'replace', kind: 'replay-claim', version, value: { id, expiresAt: version } }
}

/** A handle that reports what runs on it, and may fail. */
function watch(handle: SqliteHandle, onExec: (sql: string) => void): SqliteHandle {
  return {
    prepare: (sql) => handle.prepare(sql),
    exec: (sql) => {
      onExec(sql)
      return handle.exec(sql)
    },
  }
}

/** How long a write on a connection waits for a lock, in milliseconds. */
function timeoutOf(handle: SqliteHandle): unknown {
  return Object.values(handle.prepare('PRAGMA busy_timeout').get() ?? {})[0]
}

async function contentOf(storage: Storage): Promise<unknown> {
  return storage.get(sampleInserts().map(({ kind, value }) => ({ kind, id: value.id })))
}

describe('the schema', () => {
  it('has a column for each member of each kind, and no other', async () => {
    const handle = await open()
    sqliteStorage(handle)
    for (const kind of KINDS) {
      const layout = layoutOf(kind)
      const rows = handle.prepare(`PRAGMA table_info(${layout.table})`).all()
      const columns = rows.map((row) => Reflect.get(row as object, 'name'))
      expect(columns.toSorted(), kind).toEqual([...layout.columns, 'version'].toSorted())
    }
  })

  it('holds amounts and decisions as text, and moments and versions as integers', async () => {
    const handle = await open()
    await sqliteStorage(handle).commit(sampleInserts())
    const types = `SELECT typeof(debit_amount_value) || ' ' || typeof(decision_amount) || ' ' || typeof(created_at)
      || ' ' || typeof(version) || ' ' || typeof(due_at) AS found FROM op_outgoing_payment WHERE id = 'full'`
    expect(handle.prepare(types).get()).toMatchObject({ found: 'text text integer integer integer' })
    const value = `SELECT debit_amount_value FROM op_outgoing_payment WHERE id = 'full'`
    expect(handle.prepare(value).get()).toMatchObject({ debit_amount_value: '18446744073709551615' })
  })

  it('uses an index, and sorts nothing, for a list, a list of one client, and work that is due', async () => {
    const handle = await open()
    sqliteStorage(handle)
    const list = 'SELECT id FROM op_incoming_payment WHERE is_listed = 1 AND wallet_address = ?'
    const order = 'ORDER BY created_at DESC, id DESC LIMIT 10'
    const plan = (sql: string, ...parameters: string[]): string =>
      JSON.stringify(handle.prepare(`EXPLAIN QUERY PLAN ${sql}`).all(...parameters))
    expect(plan(`${list} AND (created_at, id) < (?, ?) ${order}`, 'w', '1', 'i')).toContain('op_incoming_payment_list')
    expect(plan(`${list} AND client = ? ${order}`, 'w', 'c')).toContain('op_incoming_payment_client')
    expect(plan(`${list} ${order}`, 'w')).not.toContain('TEMP B-TREE')
    expect(plan(`${list} ORDER BY created_at ASC, id ASC`, 'w')).not.toContain('TEMP B-TREE')
    const due = plan('SELECT id FROM op_receipt WHERE due_at <= ? ORDER BY due_at, id LIMIT 5', '1')
    expect(due).toContain('op_receipt_due')
    expect(due).not.toContain('TEMP B-TREE')
  })

  it('is made once, however often and by whomever it is opened', async () => {
    const file = newFile()
    const first = await open(file)
    const storage = sqliteStorage(first)
    await storage.commit(sampleInserts())
    const before = await contentOf(storage)
    expect(await contentOf(sqliteStorage(first))).toEqual(before)
    expect(await contentOf(sqliteStorage(await open(file)))).toEqual(before)
    expect(first.prepare('SELECT name, version FROM op_meta').all()).toMatchObject([
      { name: 'storage', version: KNOWN },
    ])
  })

  it('refuses a database of a newer release and leaves it alone', async () => {
    const handle = await open()
    sqliteStorage(handle)
    handle.exec('UPDATE op_meta SET version = 99, readable_from = 99')
    expect(() => sqliteStorage(handle)).toThrow(
      `the storage schema of this database is version 99; this release knows ${KNOWN}`,
    )
    expect(handle.prepare('SELECT version FROM op_meta').get()).toMatchObject({ version: 99 })
  })

  it('is made whole or not at all', async () => {
    const handle = await open()
    const failing = watch(handle, (sql) => {
      if (sql.includes('CREATE TABLE op_quote')) throw new Error('disk I/O error')
    })
    expect(() => sqliteStorage(failing)).toThrow('disk I/O error')
    expect(handle.prepare('SELECT name FROM sqlite_master').all()).toEqual([])
    expect(await sqliteStorage(handle).commit([insert('a')])).toBe('committed')
  })
})

describe('durability', () => {
  it('loses nothing when the file is closed and opened again', async () => {
    const file = newFile()
    const first = await openSqlite(file)
    const storage = sqliteStorage(first)
    expect(await storage.commit(sampleInserts())).toBe('committed')
    const before = await contentOf(storage)
    first.close()
    expect(await contentOf(sqliteStorage(await open(file)))).toEqual(before)
  })

  it('keeps a write-ahead log, synchronises it fully, and waits for other processes', async () => {
    const handle = await open(newFile())
    sqliteStorage(handle, { busyTimeoutSeconds: 1.5 })
    const read = (name: string): unknown => handle.prepare(`PRAGMA ${name}`).get()
    expect(read('journal_mode')).toMatchObject({ journal_mode: 'wal' })
    expect(read('synchronous')).toMatchObject({ synchronous: 3 })
    expect(read('busy_timeout')).toMatchObject({ timeout: 1500 })
  })

  it.each([
    [undefined, 5000],
    [0, 0],
    [0.0015, 2],
    [86_400, 86_400_000],
  ])(
    'waits for other processes as long as it is told to, five seconds by itself: %s',
    async (seconds, milliseconds) => {
      const handle = await open()
      sqliteStorage(handle, { busyTimeoutSeconds: seconds })
      expect(timeoutOf(handle)).toBe(milliseconds)
    },
  )

  it('shows a commit to other connections once it has resolved, and not before', async () => {
    const file = newFile()
    const mine = sqliteStorage(await open(file))
    const handle = await open(file)
    const other = sqliteStorage(handle)
    const pending = mine.commit([insert('a')])
    expect(handle.prepare('SELECT id FROM op_replay_claim').all()).toEqual([])
    expect(await pending).toBe('committed')
    expect(await other.get([{ kind: 'replay-claim', id: 'a' }])).toMatchObject([{ version: 1 }])
  })

  it('rejects, and writes nothing, while another process holds the file for too long', async () => {
    const file = newFile()
    const mine = sqliteStorage(await open(file), { busyTimeoutSeconds: 0.02 })
    const other = await open(file)
    other.exec('BEGIN IMMEDIATE')
    await expect(mine.commit([insert('a')])).rejects.toThrow('locked')
    other.exec('COMMIT')
    expect(await mine.get([{ kind: 'replay-claim', id: 'a' }])).toEqual([undefined])
    expect(await mine.commit([insert('a')])).toBe('committed')
  })

  it('waits for the lock once in vain, and then a tenth of a second for each write until one gets it', async () => {
    const file = newFile()
    const handle = await open(file)
    const mine = sqliteStorage(handle, { busyTimeoutSeconds: 0.15 })
    const ledger = sqliteLedger(handle, { busyTimeoutSeconds: 0.15 })
    const account = { account: 'shop', assetCode: 'EUR', assetScale: 2 }
    const lock = await open(file)
    lock.exec('BEGIN IMMEDIATE')
    expect(timeoutOf(handle)).toBe(150)
    for (const write of [() => mine.commit([insert('a')]), () => ledger.createAccount(account)]) {
      await expect(write()).rejects.toThrow('locked')
      expect(timeoutOf(handle)).toBe(100)
    }
    expect(await mine.get([{ kind: 'replay-claim', id: 'a' }])).toEqual([undefined])
    lock.exec('COMMIT')
    expect(await mine.commit([insert('a')])).toBe('committed')
    expect(timeoutOf(handle)).toBe(150)
    // The ledger has not succeeded since.
    lock.exec('BEGIN IMMEDIATE')
    await expect(ledger.createAccount(account)).rejects.toThrow('locked')
    expect(timeoutOf(handle)).toBe(100)
    lock.exec('COMMIT')
    // The storage has not waited in vain since it succeeded: it does not end what the ledger has begun.
    expect(await mine.commit([insert('b')])).toBe('committed')
    expect(timeoutOf(handle)).toBe(100)
    await ledger.createAccount(account)
    expect(timeoutOf(handle)).toBe(150)
    // A conflict is no lock.
    expect(await mine.commit([insert('a')])).toEqual({ conflicts: [0] })
    expect(timeoutOf(handle)).toBe(150)
  })

  it('waits shortly too where it is not the start of a write that is held up, but its end', async () => {
    const file = newFile()
    const handle = await open(file)
    const mine = sqliteStorage(handle, { busyTimeoutSeconds: 0.15 })
    // Without a write-ahead log, as where SQLite cannot keep one, a commit waits for those who read.
    handle.exec('PRAGMA journal_mode = DELETE')
    const reader = await open(file)
    reader.exec('BEGIN; SELECT * FROM op_replay_claim')
    await expect(mine.commit([insert('a')])).rejects.toThrow('locked')
    expect(timeoutOf(handle)).toBe(100)
    reader.exec('COMMIT')
    expect(await mine.commit([insert('a')])).toBe('committed')
    expect(timeoutOf(handle)).toBe(150)
  })

  it('never waits longer than it is told to', async () => {
    const file = newFile()
    const handle = await open(file)
    const mine = sqliteStorage(handle, { busyTimeoutSeconds: 0.01 })
    const lock = await open(file)
    lock.exec('BEGIN IMMEDIATE')
    await expect(mine.commit([insert('a')])).rejects.toThrow('locked')
    expect(timeoutOf(handle)).toBe(10)
  })

  it('gives space back that its log took, once nobody reads there any more', async () => {
    const file = newFile()
    const handle = await open(file)
    const storage = sqliteStorage(handle)
    expect(handle.prepare('PRAGMA journal_size_limit').get()).toMatchObject({ journal_size_limit: 67_108_864 })
    // As it is in use, only smaller: the first write after a log was copied into the database begins it anew.
    handle.exec('PRAGMA journal_size_limit = 32768')
    const reader = await open(file)
    reader.exec('BEGIN; SELECT * FROM op_replay_claim')
    for (let round = 0; round < 40; round++) await storage.commit([insert(`a${round}`)])
    const before = statSync(`${file}-wal`).size
    reader.exec('COMMIT')
    handle.exec('PRAGMA wal_checkpoint(PASSIVE)')
    await storage.commit([insert('b')])
    expect([before > 200_000, statSync(`${file}-wal`).size]).toEqual([true, 32_768])
  })
})

it('prepares each statement once', async () => {
  const handle = await open()
  const prepared: string[] = []
  const prepare: typeof handle.prepare = (sql) => {
    prepared.push(sql)
    return handle.prepare(sql)
  }
  const storage = sqliteStorage({ exec: (sql) => handle.exec(sql), prepare })
  prepared.length = 0
  for (const id of ['a', 'b']) {
    await storage.commit([insert(id)])
    await storage.get([{ kind: 'replay-claim', id }])
    await storage.due('replay-claim', 1, 10)
  }
  expect(prepared).toHaveLength(3)
})

describe('group commit', () => {
  it('writes the commits of one turn in one transaction, in the order in which they were made', async () => {
    const executed: string[] = []
    const storage = sqliteStorage(watch(await open(), (sql) => executed.push(sql)))
    executed.length = 0
    const results = await Promise.all([
      storage.commit([insert('a')]),
      storage.commit([replace('a', 1)]),
      storage.commit([insert('a')]),
      storage.commit([insert('b'), replace('a', 2)]),
    ])
    expect(results).toEqual(['committed', 'committed', { conflicts: [0] }, 'committed'])
    expect(executed.filter((sql) => sql === 'COMMIT')).toHaveLength(1)
    expect(await storage.get([{ kind: 'replay-claim', id: 'a' }])).toMatchObject([{ version: 3 }])
  })

  it('names every conflict of a commit', async () => {
    const storage = sqliteStorage(await open())
    await storage.commit([insert('a')])
    const result = await storage.commit([insert('a'), insert('b'), replace('c', 1)])
    expect(result).toEqual({ conflicts: [0, 2] })
  })

  it('rejects every commit of a transaction that could not be made durable, and keeps none', async () => {
    let isBroken = false
    const handle = await open()
    const failing = watch(handle, (sql) => {
      if (isBroken && sql === 'COMMIT') throw new Error('disk I/O error')
    })
    const storage = sqliteStorage(failing)
    isBroken = true
    const results = await Promise.allSettled([storage.commit([insert('a')]), storage.commit([insert('b')])])
    expect(results.map(({ status }) => status)).toEqual(['rejected', 'rejected'])
    isBroken = false
    const keys = ['a', 'b'].map((id) => ({ kind: 'replay-claim' as const, id }))
    expect(await storage.get(keys)).toEqual([undefined, undefined])
    expect(await storage.commit([insert('a'), insert('b')])).toBe('committed')
  })

  it('rejects a value that cannot be stored, and only the commit that brings it', async () => {
    const storage = sqliteStorage(await open())
    const value = sampleIncomingPayment('bad', { metadata: { amount: 1n } })
    const [bad, good] = await Promise.allSettled([
      storage.commit([{ action: 'insert', kind: 'incoming-payment', value }]),
      storage.commit([insert('good')]),
    ])
    expect(bad.status).toBe('rejected')
    expect(good).toEqual({ status: 'fulfilled', value: 'committed' })
  })

  it('stores a value as it was when its commit was asked for, whatever has become of it until the transaction', async () => {
    const storage = sqliteStorage(await open())
    const metadata = { order: 1 }
    const value = sampleIncomingPayment('a', { metadata })
    const committed = storage.commit([{ action: 'insert', kind: 'incoming-payment', value }])
    metadata.order = 2
    expect(await committed).toBe('committed')
    const [found] = await storage.get([{ kind: 'incoming-payment', id: 'a' }])
    expect(found).toMatchObject({ value: { metadata: { order: 1 } } })
  })

  it.each<[RecordKind, string, unknown]>([
    ['incoming-payment', 'createdAt', 1.5],
    ['incoming-payment', 'createdAt', 2 ** 53],
    ['incoming-payment', 'createdAt', '1'],
    ['incoming-payment', 'state', undefined],
    ['incoming-payment', 'received', { value: 1, assetCode: 'USD', assetScale: 2 }],
    ['incoming-payment', 'received', null],
    ['outgoing-payment', 'decision', { action: 'release' }],
    ['grant', 'subject', 'yes'],
    ['grant', 'access', undefined],
  ])('rejects a record of kind %s with a %s of %j', async (kind, member, value) => {
    const storage = sqliteStorage(await open())
    const changes = samplesOf(kind, 'a').map((insert) => ({ ...insert, value: { ...insert.value, [member]: value } }))
    await expect(storage.commit(changes.slice(0, 1) as Change[])).rejects.toThrow(`cannot store ${member}: unexpected`)
  })

  it.each(['dueAt', 'schemaVersion'])('rejects a %s that is no integer, and could not be read back', async (mark) => {
    const storage = sqliteStorage(await open())
    await expect(storage.commit([{ ...insert('a'), [mark]: 1.5 }])).rejects.toThrow(`cannot store ${mark}`)
  })

  it('leaves a transaction alone that the host has left open, and says so', async () => {
    const handle = await open()
    const storage = sqliteStorage(handle)
    handle.exec('CREATE TABLE mine (n INTEGER)')
    handle.exec('BEGIN')
    handle.exec('INSERT INTO mine VALUES (1)')
    await expect(storage.commit([insert('a')])).rejects.toThrow('within a transaction')
    handle.exec('COMMIT')
    expect(handle.prepare('SELECT n FROM mine').all()).toMatchObject([{ n: 1 }])
    expect(await storage.get([{ kind: 'replay-claim', id: 'a' }])).toEqual([undefined])
  })
})

/** A statement that treats large integers as `node:sqlite` does: it throws, unless it was told to read each as `bigint`. */
function likeNode(statement: SqliteStatement): SqliteStatement {
  let isWide = false
  const read = (row: unknown): unknown => {
    const cells = Object.entries(row ?? {})
    if (!isWide && cells.some(([, cell]) => Number.isInteger(cell) && !Number.isSafeInteger(cell)))
      throw Object.assign(new RangeError('Value is too large'), { code: 'ERR_OUT_OF_RANGE' })
    const wide = ([name, cell]: [string, unknown]) => [name, Number.isInteger(cell) ? BigInt(Number(cell)) : cell]
    return row === undefined || !isWide ? row : Object.fromEntries(cells.map(wide))
  }
  return {
    run: (...parameters) => statement.run(...parameters),
    get: (...parameters) => read(statement.get(...parameters)),
    all: (...parameters) => statement.all(...parameters).map(read),
    setReadBigInts: (isOn) => {
      isWide = isOn
    },
  }
}

describe('rows of other databases', () => {
  it('reads integers that a handle returns as bigint or as text', async () => {
    const handle = await open()
    await sqliteStorage(handle).commit(sampleInserts())
    const before = await contentOf(sqliteStorage(handle))
    for (const convert of [BigInt, String]) {
      const converting: SqliteHandle = {
        exec: (sql) => handle.exec(sql),
        prepare: (sql) => {
          const statement = handle.prepare(sql)
          const converted = (row: unknown): unknown =>
            Object.fromEntries(
              Object.entries(row as object).map(([name, cell]) => [
                name,
                Number.isInteger(cell) ? convert(cell as number) : cell,
              ]),
            )
          return {
            run: (...parameters) => ({ changes: BigInt(statement.run(...parameters).changes) }),
            get: (...parameters) => {
              const row = statement.get(...parameters)
              return row === undefined ? null : converted(row)
            },
            all: (...parameters) => statement.all(...parameters).map(converted),
          }
        },
      }
      const storage = sqliteStorage(converting)
      expect(await contentOf(storage)).toEqual(before)
      expect(await storage.get([{ kind: 'grant', id: 'none' }])).toEqual([undefined])
      expect(await storage.commit([insert(`new-${convert.name}`)])).toBe('committed')
      // Where there is no row at all, this handle answers null.
      const check = { action: 'check', kind: 'grant', id: 'none', version: 1 } as const
      expect(await storage.commit([check])).toEqual({ conflicts: [0] })
    }
  })

  it('leaves one integer that no number can hold to its own row, on a handle that throws for it', async () => {
    const handle = await open()
    const storage = sqliteStorage({ exec: (sql) => handle.exec(sql), prepare: (sql) => likeNode(handle.prepare(sql)) })
    const claims = ['a', 'b'].map((id) => ({ ...insert(id), dueAt: 1 }))
    expect(await storage.commit(claims)).toBe('committed')
    handle.exec(`UPDATE op_replay_claim SET expires_at = 9007199254740993 WHERE id = 'a'`)
    for (const _ of [1, 2]) {
      const told: unknown[] = []
      const due = await storage.due('replay-claim', 2, 10, (cause) => told.push(cause))
      expect(due).toMatchObject([{ value: { id: 'b' } }])
      expect(told).toMatchObject([
        { message: 'the row a of op_replay_claim holds no replay-claim: expires_at holds no integer' },
      ])
    }
    await expect(storage.get([{ kind: 'replay-claim', id: 'a' }])).rejects.toThrow('the row a of op_replay_claim')
    handle.exec('UPDATE op_replay_claim SET expires_at = 7')
    expect(await storage.get([{ kind: 'replay-claim', id: 'a' }])).toMatchObject([{ value: { expiresAt: 7 } }])
  })

  it('says what a handle said that has no other way to read such an integer', async () => {
    const handle = await open()
    const prepare = (sql: string): SqliteStatement => {
      const { setReadBigInts: _, ...statement } = likeNode(handle.prepare(sql))
      return statement
    }
    const storage = sqliteStorage({ exec: (sql) => handle.exec(sql), prepare })
    await storage.commit([insert('a')])
    handle.exec('UPDATE op_replay_claim SET expires_at = 9007199254740993')
    await expect(storage.get([{ kind: 'replay-claim', id: 'a' }])).rejects.toThrow('Value is too large')
  })

  it.each([
    ['a\0', 'a\\u0000'],
    ['a\ud800', 'a\\ud800'],
  ])('leaves a text that could not be written again to its own row, where it is due: %j', async (text, shown) => {
    const handle = await open()
    // Later Nodes return a NUL that is in a text; others end the text there.
    const spoiled = (row: unknown): unknown =>
      Object.fromEntries(Object.entries(row ?? {}).map(([name, cell]) => [name, cell === 'a ' ? text : cell]))
    const prepare = (sql: string): SqliteStatement => {
      const { all, ...statement } = likeNode(handle.prepare(sql))
      return { ...statement, all: (...parameters) => all(...parameters).map(spoiled) }
    }
    const storage = sqliteStorage({ exec: (sql) => handle.exec(sql), prepare })
    await storage.commit(['a ', 'b'].map((id) => ({ ...insert(id), dueAt: 1 })))
    const told: unknown[] = []
    expect(await storage.due('replay-claim', 2, 10, (cause) => told.push(cause))).toMatchObject([
      { value: { id: 'b' } },
    ])
    const message = `the row "${shown}" of op_replay_claim holds no replay-claim: id holds a NUL or half a surrogate pair`
    expect(told).toMatchObject([{ message }])
    expect(await storage.due('replay-claim', 2, 10)).toMatchObject([{ value: { id: text } }, { value: { id: 'b' } }])
  })

  it.each<[RecordKind, string, string]>([
    ['receipt', `amount_value = 'many'`, 'amount_value holds no integer'],
    ['receipt', `amount_value = ''`, 'amount_value holds no integer'],
    ['receipt', `amount_value = '0x10'`, 'amount_value holds no integer'],
    ['receipt', `created_at = 'yesterday'`, 'created_at holds no integer'],
    ['receipt', `created_at = ''`, 'created_at holds no integer'],
    ['receipt', `created_at = '0x10'`, 'created_at holds no integer'],
    ['receipt', `state = x'00'`, 'state does not hold text'],
    ['receipt', `version = 'x'`, 'version holds no integer'],
    ['incoming-payment', 'incoming_amount_asset_scale = NULL', 'incoming_amount_asset_scale holds no integer'],
    ['outgoing-payment', `decision_action = 'paid'`, 'decision_reason does not hold text'],
    ['grant', `access = '['`, 'access holds no JSON, or null'],
    ['grant', `access = 'null'`, 'access holds no JSON, or null'],
  ])('names the cell that someone has spoiled, in a record of kind %s: %s', async (kind, change, problem) => {
    const handle = await open()
    const storage = sqliteStorage(handle)
    await storage.commit(sampleInserts())
    const table = `op_${kind.replaceAll('-', '_')}`
    handle.exec(`UPDATE ${table} SET ${change}`)
    const told = `the row full of ${table} holds no ${kind}: ${problem}`
    await expect(storage.get([{ kind, id: 'full' }])).rejects.toThrow(new TypeError(told))
  })

  it.each(['', '0x10', 'many'])(
    'hands out an amount in JSON that someone has spoiled, and it is no number: %j',
    async (text) => {
      const handle = await open()
      const storage = sqliteStorage(handle)
      await storage.commit(sampleInserts())
      handle.exec(`UPDATE op_spending SET receive = json_set(receive, '$[0].value', '${text}')`)
      handle.exec(`UPDATE op_outgoing_payment SET delivery = json_set(delivery, '$.sent', '${text}')`)
      const [spending] = recordsOfKind(await storage.get([{ kind: 'spending', id: 'full' }]), 'spending')
      const [payment] = recordsOfKind(await storage.get([{ kind: 'outgoing-payment', id: 'full' }]), 'outgoing-payment')
      if (spending === undefined || payment === undefined) throw new Error('both are stored')
      expect(() => spending.value.receive.map((sum) => receivedIn(spending.value, sum))).toThrow(TypeError)
      expect(() => progressOf(payment.value)).toThrow(TypeError)
    },
  )
})

describe('openSqlite', () => {
  it('takes what the runtime has built in, where it has', async () => {
    const handle = await open()
    const BuiltIn = builtInSqlite()
    if (BuiltIn === undefined) expect(handle.prepare('SELECT 1 AS one').get()).toMatchObject({ one: 1 })
    else expect(handle).toBeInstanceOf(BuiltIn)
  })

  it('rejects where the file cannot be opened', async () => {
    await expect(openSqlite(`${newFile()}/in-no-folder.db`)).rejects.toThrow()
  })

  it('says why libsql could not be loaded, where nothing is built in', async () => {
    vi.spyOn(process, 'getBuiltinModule').mockReturnValue(undefined)
    vi.doMock('libsql', () => Promise.reject(new Error('no native code for this machine')))
    try {
      const error = await openSqlite(':memory:').catch((caught: unknown) => caught)
      expect(error).toMatchObject({ message: expect.stringContaining('no SQLite: ') })
      expect(inspect(error)).toContain('no native code for this machine')
    } finally {
      vi.doUnmock('libsql')
      vi.restoreAllMocks()
    }
  })
})
