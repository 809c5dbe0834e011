import { readFileSync } from 'node:fs'
import process from 'node:process'
import { fileURLToPath } from 'node:url'
import { installRuntime } from './install-runtime.ts'
import type { HostName } from './wallet/main.ts'
import type { SqliteFile } from './wallet/places.ts'

/** Something that runs JavaScript, in one exact version. */
export interface Runtime {
  readonly name: string
  readonly hosts: readonly HostName[]
  /** How it reaches SQLite: by a module of its own, or else through `libsql`. */
  readonly sqlite: readonly SqliteFile['driver'][]
  /** Installs it where that is needed; resolves with the command and its arguments before a file. */
  command(): Promise<readonly string[]>
}

// Every version that is tested. Of Bun and Deno the newest are the project's own dependencies; the first of each is the
// first with which every test here passes: Bun before 1.4.4 loses a byte order mark at the start of a text in `bun:sqlite`,
// Deno before 2.8.3 rewrites some queries.
const FIRST_NODE_VERSION = '20.16.0'
const LATER_NODE_VERSIONS = ['22.23.3', '24.21.0', '26.10.0']
const FIRST_BUN_VERSION = '1.4.4'
const FIRST_DENO_VERSION = '2.8.3'

const ON_NODE = ['node:http', 'Express 5', 'Express 4', 'fetch in node:http'] as const
const DENO_OPTIONS = ['run', '--allow-all', '--no-lock', '--node-modules-dir=manual']
const MODULES = new URL('../../node_modules/', import.meta.url)
const present = (name: string): string => fileURLToPath(new URL(`.bin/${name}`, MODULES))
const presentVersion = (name: string): string =>
  JSON.parse(readFileSync(new URL(`${name}/package.json`, MODULES), 'utf8')).version

function node(version: string): Runtime {
  return {
    name: `Node ${version}`,
    hosts: ON_NODE,
    sqlite: ['sqlite'],
    command: async () => [await installRuntime('node', version)],
  }
}

/** The Node that runs the tests. */
export const PRESENT_NODE: Runtime = { ...node(process.versions.node), command: async () => [process.execPath] }

/** The first Node that will do. */
export const FIRST_NODE: Runtime = node(FIRST_NODE_VERSION)

/** The newest release of each later line that is supported, and the newest of all. */
export const LATER_NODES: readonly Runtime[] = LATER_NODE_VERSIONS.map(node)

/** Bun as the project has it. */
export const BUN: Runtime = {
  name: `Bun ${presentVersion('bun')}`,
  hosts: ['Bun.serve', 'fetch in Bun.serve', ...ON_NODE],
  sqlite: ['sqlite', 'bun:sqlite'],
  command: async () => [present('bun')],
}

/** The first Bun that will do. */
export const FIRST_BUN: Runtime = {
  ...BUN,
  name: `Bun ${FIRST_BUN_VERSION}`,
  hosts: ['Bun.serve'],
  command: async () => [await installRuntime('bun', FIRST_BUN_VERSION)],
}

/** Deno as the project has it. */
export const DENO: Runtime = {
  name: `Deno ${presentVersion('deno')}`,
  hosts: ['Deno.serve', 'fetch in Deno.serve', ...ON_NODE],
  sqlite: ['sqlite'],
  command: async () => [present('deno'), ...DENO_OPTIONS],
}

/** The first Deno that will do. */
export const FIRST_DENO: Runtime = {
  ...DENO,
  name: `Deno ${FIRST_DENO_VERSION}`,
  hosts: ['Deno.serve'],
  command: async () => [await installRuntime('deno', FIRST_DENO_VERSION), ...DENO_OPTIONS],
}
