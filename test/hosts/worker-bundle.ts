import { build } from 'esbuild'
import { Miniflare, type SharedOptions, type WorkerOptions } from 'miniflare'
import { ROOT } from './example-process.ts'

/** The built package and a file of the project, as one module for Workers: nothing of Node is left in it. */
export async function bundleForWorkers(path: string): Promise<string> {
  const { outputFiles } = await build({
    entryPoints: [`${ROOT}${path}`],
    bundle: true,
    write: false,
    format: 'esm',
    target: 'es2022',
    platform: 'browser',
    conditions: ['workerd', 'worker'],
    // Never loaded: Workers have Ed25519, and a SQLite of their own.
    external: ['@peculiar/webcrypto', 'libsql'],
    // Not the project's own tsconfig.json: that one leads to the sources.
    tsconfig: `${ROOT}tsconfig.base.json`,
    logLevel: 'silent',
  })
  return outputFiles[0]?.text ?? ''
}

/** What a Worker may be told beside its script. */
export type Worker = Partial<WorkerOptions & SharedOptions>

/** Starts a Worker with one kind of Durable Object on SQLite; nothing leaves it but through `outboundService`. */
export function startWorker(script: string, options: Worker): Miniflare {
  return new Miniflare({
    modules: [{ type: 'ESModule', path: 'worker.js', contents: script }],
    compatibilityDate: '2026-04-01',
    durableObjects: { WALLET: { className: 'Wallet', useSQLite: true } },
    // Else it asks the network what a request would know of its client.
    cf: false,
    ...options,
  })
}
