import { requireBoolean, requireOptionsOf } from '../../../src/errors/check-option.ts'
import { ConfigurationError } from '../../../src/index.ts'
import { inTime } from './in-time.ts'
import { backOff, sqlState } from './retry.ts'

/**
 * The value of a parameter: everything travels as text.
 * @inline
 */
export type Parameter = string | null

/** One statement as a pool of `pg` takes it. */
export interface PgStatement {
  readonly text: string
  readonly values: Parameter[]
  readonly rowMode: 'array'
  readonly types: {
    /** The parser for every type: values arrive as they are, whatever parsers the host has set. */
    getTypeParser(): (value: unknown) => unknown
  }
  /** If absent, the statement is not kept prepared. */
  readonly name?: string
}

/** The part of a connection of `pg` that is used here. */
export interface PgClient {
  /** Runs one statement. */
  query(statement: PgStatement): Promise<{ readonly rows: readonly (readonly unknown[])[] }>
  /** `T` or `E` within a transaction, as the server last reported. Missing in `pg` before 8.21. */
  getTransactionStatus?(): string | null
  /** Listens for connection errors, which would otherwise crash the process. */
  on(event: 'error', listener: () => void): unknown
  /** Stops listening. */
  removeListener(event: 'error', listener: () => void): unknown
  /** Returns the connection to the pool; a broken one is closed. */
  release(isBroken: boolean): void
}

/** The part of a pool of `pg` that is used here. */
export interface PgPool {
  /** Takes a connection out of the pool. Calls back at once when the pool hands it out, as `pg` does. */
  connect(callback: (error: Error | undefined, client: PgClient | undefined) => void): void
}

/** The part of an instance of `postgres` that is used here. */
export interface PostgresSql {
  /** Runs a statement with `$n` parameters. */
  unsafe(
    text: string,
    parameters?: Parameter[],
    options?: { readonly prepare: boolean },
  ): {
    /** The rows as arrays of raw bytes. */
    raw(): PromiseLike<readonly (readonly unknown[])[]>
  }
}

/** What a host passes in: a pool of `pg`, or an instance of `postgres`. */
export type PostgresDatabase = PgPool | PostgresSql

/** How a database is used. */
export interface PostgresOptions {
  /**
   * Whether statements stay prepared on their connection, which halves their cost. Set it to false behind a pooler that
   * assigns connections per transaction and does not keep prepared statements, such as PgBouncer before 1.21. Default true,
   * for the first 64 statements.
   */
  readonly prepare?: boolean | undefined
  /**
   * How long to wait for a connection, and for the answer to a statement. After that the call rejects, and its outcome is
   * unknown. This is for a server that has disappeared without notice; to end merely slow statements sooner, set the
   * database's `statement_timeout`. A step that brings the tables up to date may take as long as it needs. Default 30; above
   * 0, at most 86400.
   */
  readonly answerSeconds?: number | undefined
}

/** A statement with `$n` parameters, and their values as text. */
export interface Statement {
  readonly text: string
  readonly parameters: readonly Parameter[]
  /** Whether statements with exactly this text recur, and so stay prepared. */
  readonly isRepeated: boolean
}

/** Runs statements, each in a transaction and a round trip of its own. */
export interface Connections {
  /** Runs one statement. Rows hold text and `null`, whatever parsers the host has set. */
  query(statement: Statement): Promise<readonly (readonly Parameter[])[]>
  /** Runs several statements without parameters in one transaction: all have an effect, or none. */
  script(text: string): Promise<void>
}

function cellOf(value: unknown): Parameter {
  if (value === null || typeof value === 'string') return value
  throw new TypeError('a row holds something other than text')
}

function rowOf(row: unknown): readonly unknown[] {
  if (Array.isArray(row)) return row
  throw new TypeError('a row is not an array: the host transforms rows')
}

const VERBATIM: PgStatement['types'] = { getTypeParser: () => (value) => value }

// A conflict, a serialization failure and a deadlock are ordinary: the connection can still be used.
const UNHARMED: ReadonlySet<string | undefined> = new Set(['22P02', '40001', '40P01'])

const MOST_PREPARED = 64

/**
 * Names the statements that stay prepared. There are a few dozen, but which ones depends on the requests, and each may take
 * about 0.5 MB on every connection: so at most the first 64 get a name, and those of the start never do.
 */
function createNames(prepare: boolean): (statement: Statement) => string | undefined {
  // Unique, because a name belongs to one statement as long as its connection lives, and other storages may use the
  // same pool.
  const prefix = `op_${crypto.randomUUID()}`
  const names = new Map<string, string>()
  return ({ text, isRepeated }) => {
    if (!prepare || !isRepeated) return undefined
    if (!names.has(text) && names.size < MOST_PREPARED) names.set(text, `${prefix}_${names.size}`)
    return names.get(text)
  }
}

// The caller, who waits for an answer, learns of a lost connection anyway; but an error without a listener would end
// the process.
const ignore = (): void => undefined

function isClient(value: unknown): value is PgClient {
  return typeof value === 'object' && value !== null && 'release' in value
}

/** Takes a connection from a pool. One that comes too late is given back. */
async function takeClient(pool: PgPool, seconds: number): Promise<PgClient> {
  const coming = new Promise<PgClient>((resolve, reject) => {
    let isTaken = false
    const take = (client: PgClient): void => {
      if (isTaken) return
      isTaken = true
      client.on('error', ignore)
      resolve(client)
    }
    // By the time a promise delivers the client, the pool has already stopped listening to it; hence the callback. Some
    // wrappers of a pool only return a promise.
    const promised: unknown = pool.connect((error, client) => (client ? take(client) : reject(error)))
    Promise.resolve(promised).then((client) => isClient(client) && take(client), reject)
  })
  try {
    return await inTime(coming, seconds)
  } catch (error) {
    coming.then(
      (client) => giveBack(client, false),
      () => undefined,
    )
    throw error
  }
}

function giveBack(client: PgClient, isBroken: boolean): void {
  client.removeListener('error', ignore)
  client.release(isBroken)
}

function isInTransaction(client: PgClient): boolean {
  try {
    const status = client.getTransactionStatus?.()
    return status === 'T' || status === 'E'
  } catch {
    // `pg.native` throws if its own library is older than this call.
    return false
  }
}

// The pool's own `query` would close the connection after any error.
async function runOn<T>(pool: PgPool, seconds: number, run: (client: PgClient) => Promise<T>): Promise<T> {
  let client = await takeClient(pool, seconds)
  // Somebody else gave it back without COMMIT or ROLLBACK: anything written on it could still be undone.
  while (isInTransaction(client)) {
    giveBack(client, true)
    client = await takeClient(pool, seconds)
  }
  let isBroken = true
  try {
    const answer = await run(client)
    // It was given back while its BEGIN was still on the way.
    if (isInTransaction(client)) throw new Error('a connection of the pool was given back within a transaction')
    isBroken = false
    return answer
  } catch (error) {
    isBroken = isInTransaction(client) || !UNHARMED.has(sqlState(error))
    throw error
  } finally {
    giveBack(client, isBroken)
  }
}

function pgConnections(pool: PgPool, prepare: boolean, answerSeconds: number): Connections {
  const nameOf = createNames(prepare)
  return {
    async query(statement) {
      const name = nameOf(statement)
      const { text, parameters } = statement
      const unnamed: PgStatement = { text, values: [...parameters], rowMode: 'array', types: VERBATIM }
      const sent = name === undefined ? unnamed : { ...unnamed, name }
      const { rows } = await runOn(pool, answerSeconds, (client) => inTime(client.query(sent), answerSeconds))
      return rows.map((row) => rowOf(row).map(cellOf))
    },
    async script(text) {
      const statement: PgStatement = { text, values: [], rowMode: 'array', types: VERBATIM }
      await runOn(pool, answerSeconds, (client) => client.query(statement))
    },
  }
}

function postgresConnections(sql: PostgresSql, prepare: boolean, answerSeconds: number): Connections {
  const nameOf = createNames(prepare)
  // A byte order mark must be kept, like any other character.
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true })
  const decode = (value: unknown): Parameter => cellOf(value instanceof Uint8Array ? decoder.decode(value) : value)
  // `postgres` 3.4 never answers a query that is made between the error of a connection and its end shortly afterwards;
  // and a caller that lost a commit asks at once what became of it. So after an error, all queries wait a little.
  let pause = Promise.resolve()
  return {
    async query(statement) {
      await pause
      try {
        // `postgres` assigns the names itself.
        const options = { prepare: nameOf(statement) !== undefined }
        const { text, parameters } = statement
        const rows = await inTime(sql.unsafe(text, [...parameters], options).raw(), answerSeconds)
        // `postgres` 3.4 leaves places empty, if the query before this one failed once it had answered some rows.
        return rows.filter(() => true).map((row) => rowOf(row).map(decode))
      } catch (error) {
        if (!UNHARMED.has(sqlState(error))) pause = backOff(0)
        throw error
      }
    },
    async script(text) {
      await sql.unsafe(text).raw()
    },
  }
}

/** A timer with a longer delay than it supports would fire at once. */
const LONGEST_ANSWER_SECONDS = 86_400

/**
 * The connections of a host's database; `postgres` is recognised by its `unsafe`. Throws if it is neither, or a single
 * connection of `pg`, without saying what it is: a connection string contains a password.
 */
export function connectionsOf(database: PostgresDatabase, options: PostgresOptions): Connections {
  requireOptionsOf('postgresStorage', options, ['prepare', 'answerSeconds'])
  const { prepare = true, answerSeconds = 30 } = options
  const isInstance = typeof database === 'function' || (typeof database === 'object' && database !== null)
  // A client of `pg` can connect as well, but only its clients parse types.
  if (!isInstance || !('unsafe' in database || 'connect' in database) || 'getTypeParser' in database)
    throw new ConfigurationError('the database of postgresStorage must be a Pool of pg or an instance of postgres')
  requireBoolean('postgresStorage: prepare', prepare)
  if (typeof answerSeconds !== 'number' || !(answerSeconds > 0 && answerSeconds <= LONGEST_ANSWER_SECONDS))
    throw new ConfigurationError(
      `postgresStorage: answerSeconds must be above 0, and at most ${LONGEST_ANSWER_SECONDS}`,
    )
  return 'unsafe' in database
    ? postgresConnections(database, prepare, answerSeconds)
    : pgConnections(database, prepare, answerSeconds)
}
