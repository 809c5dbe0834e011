import process from 'node:process'
import { setTimeout as pause } from 'node:timers/promises'
import type { Random } from '../fuzz/random.ts'
import type { DatabaseServer } from './database-server.ts'
import { openPool, type PostgresPlace } from './wallet-process/postgres-stores.ts'

/** What can befall the connections of a wallet, or the database itself. */
export type DatabaseStrike = 'connections cut' | 'backend killed' | 'database killed'

/** The database of a wallet, seen by somebody who wants to do it harm. */
export interface DatabaseStrikes {
  /** Resolves when the database takes connections again. */
  strike(kind: DatabaseStrike, random: Random): Promise<void>
  close(): Promise<void>
}

/** Strikes at the database of a place; at more than its connections only where the server is nobody else's. */
export function databaseStrikes(place: PostgresPlace, server: DatabaseServer | undefined): DatabaseStrikes {
  const pool = openPool(place, `strikes at ${place.schema}`)
  const backends = async (): Promise<readonly number[]> => {
    const sql = 'SELECT pid FROM pg_stat_activity WHERE application_name = $1'
    const { rows } = await pool.query<{ readonly pid: number }>(sql, [place.schema])
    return rows.map(({ pid }) => pid)
  }
  const crash = async (how: (own: DatabaseServer) => Promise<void>): Promise<void> => {
    if (server === undefined) throw new Error('this database belongs to others, too')
    const witness = await pool.connect()
    witness.on('error', () => undefined)
    const ended = new Promise((resolve) => witness.once('end', resolve))
    await how(server)
    await ended
    witness.release(true)
    await insist(() => pool.query('SELECT 1'))
  }
  return {
    async strike(kind, random) {
      const found = await backends()
      switch (kind) {
        case 'connections cut': {
          const cut = found.filter(() => random.oneIn(2))
          await pool.query('SELECT pg_terminate_backend(pid) FROM unnest($1::integer[]) AS pid', [cut])
          return
        }
        case 'backend killed':
          return crash(async () => void process.kill(random.pick(found), 'SIGKILL'))
        case 'database killed':
          return crash((own) => own.crash())
      }
    },
    close: () => pool.end(),
  }
}

const MOST_TRIES = 500

/** Reads again until the database answers. */
export async function insist<T>(read: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return await read()
    } catch (error) {
      if (tries === MOST_TRIES) throw error
      await pause(20)
    }
  }
}
