import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { STORAGES } from './host-names.ts'
import { type Pass, runPass } from './measure.ts'
import { type Operation, operationsNamed } from './operations.ts'
import { byName, knownOne } from './plan.ts'
import { openPostgres } from './postgres.ts'
import { RUNTIMES } from './runtimes.ts'
import { say } from './say.ts'
import { median } from './statistics.ts'
import { drawKey, type Served, signAll, startServed } from './subject.ts'

// Versions of the library beside each other, in turn, pass by pass: what else the machine does meets all of
// them. Each is named by its folder, in which it was built together with its benchmark.

const { values, positionals: folders } = parseArgs({
  allowPositionals: true,
  options: {
    runtime: { type: 'string', default: 'node24' },
    storage: { type: 'string', default: 'sqlite' },
    only: { type: 'string', default: '' },
    passes: { type: 'string', default: '9' },
    'warm-up': { type: 'string', default: '10000' },
  },
})

const runtime = knownOne('runtime', values.runtime, RUNTIMES)
const storage = knownOne('storage', values.storage, byName(STORAGES))
if (folders.length === 0) throw new Error('the folders of the versions are missing')
const own = mkdtempSync(join(tmpdir(), 'bench-'))
const operations = operationsNamed(values.only)
const key = await drawKey()
const versions: Served[] = []
const postgres = storage === 'postgres' ? await openPostgres(own) : undefined
const sharedCpu = postgres?.cpuMicroseconds ?? (() => 0)

/** One pass of an operation over each version, forwards or backwards: none is always the first. */
async function passOf(operation: Operation, count: number, backwards: boolean): Promise<readonly Pass[]> {
  const { status, stores } = operation
  const passes: Pass[] = []
  const inOrder = [...versions.entries()]
  for (const [index, version] of backwards ? inOrder.reverse() : inOrder) {
    const requests = await signAll(version, operation, count)
    passes[index] = await runPass(version.ours, requests, 32, { status, stores, body: '' }, sharedCpu)
  }
  return passes
}

try {
  for (const [index, folder] of folders.entries()) {
    const place = (await postgres?.newDatabase()) ?? join(own, `${index}.db`)
    const options = { host: 'node', storage, place, key } as const
    versions.push(await startServed(runtime, options, resolve(folder, 'bench/dist/server.js')))
  }
  for (const operation of operations) {
    await passOf(operation, Number(values['warm-up']), false)
    const passes: (readonly Pass[])[] = []
    while (passes.length < Number(values.passes))
      passes.push(await passOf(operation, operation.requests, passes.length % 2 > 0))
    for (const [index, folder] of folders.entries()) {
      const cpu = median(passes.map((pass) => pass[index]?.cpu ?? 0))
      const ratios = passes.map((pass) => (pass[index]?.cpu ?? 0) / (pass[0]?.cpu ?? 0)).sort((a, b) => a - b)
      const range = `${ratios[0]?.toFixed(2)} to ${ratios.at(-1)?.toFixed(2)}`
      const told = `${cpu.toFixed(0).padStart(5)} µs, ${median(ratios).toFixed(2)} of the first (${range})`
      say(`${operation.name.padEnd(50)} ${told}  ${folder}`)
    }
  }
} finally {
  for (const { ours } of versions) await ours.end()
  await postgres?.close()
  rmSync(own, { recursive: true, force: true })
}
