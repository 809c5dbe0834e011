import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import type { Runtime } from '../test/runtimes/runtimes.ts'
import { conditionsNow } from './conditions.ts'
import { type FilledDatabase, openFilledPostgres, openFilledSqlite } from './filled-database.ts'
import type { StorageName } from './host-names.ts'
import { type Extent, type Pass, runPass } from './measure.ts'
import { type Operation, operationOf, operationsNamed } from './operations.ts'
import { knownOne } from './plan.ts'
import { openPostgres } from './postgres.ts'
import { RUNTIMES } from './runtimes.ts'
import { say, writeRun } from './say.ts'
import { median } from './statistics.ts'
import { drawKey, type Subject, signAll, startSubject } from './subject.ts'
import { BASE } from './wallet.ts'
import { warmUp } from './warm-up.ts'

// The same operations with few and with very many records stored, in turn: what a record more costs shows as a ratio.

const { values } = parseArgs({
  options: {
    runtime: { type: 'string', default: 'node24' },
    storages: { type: 'string', default: 'sqlite,postgres' },
    records: { type: 'string', default: '1000,100000,2000000' },
    only: { type: 'string', default: '' },
    passes: { type: 'string', default: '5' },
    share: { type: 'string', default: '0.125' },
    'warm-up': { type: 'string', default: '10000' },
    out: { type: 'string', default: '' },
  },
})

/** How many payments one grant has. */
const PAYMENTS = 10_000

/** Time per request with so many records, and its ratio to that with the fewest: of CPU, and of the time that passes. */
interface GrowthFigure {
  readonly operation: string
  readonly records: number
  readonly cpuMicroseconds: number
  readonly cpuRatio: number
  readonly microseconds: number
  readonly ratio: number
}

interface Filled {
  readonly records: number
  readonly subject: Subject
  readonly database: FilledDatabase
}

async function measureGrowth(
  operation: Operation,
  filled: readonly Filled[],
  { passes, share, sharedCpu }: Extent,
): Promise<readonly GrowthFigure[]> {
  const count = Math.max(100, Math.round(operation.requests * share))
  const { status, stores } = operation
  const runs = filled.map((): Pass[] => [])
  for (let pass = 0; pass <= passes; pass++) {
    for (const [index, { subject }] of filled.entries()) {
      const requests = await signAll(subject, operation, count)
      const run = await runPass(subject.ours, requests, 32, { status, stores, body: '' }, sharedCpu)
      if (pass > 0) runs[index]?.push(run)
    }
  }
  const [fewest = []] = runs
  return filled.map(({ records }, index) => {
    const own = runs[index] ?? []
    const ratioOf = (of: (pass: Pass) => number): number =>
      median(own.map((pass, at) => of(pass) / of(fewest[at] ?? pass)))
    const timeOf = ({ requestsPerSecond }: Pass): number => 1e6 / requestsPerSecond
    return {
      operation: operation.name,
      records,
      cpuMicroseconds: median(own.map(({ cpu }) => cpu)),
      cpuRatio: ratioOf(({ cpu }) => cpu),
      microseconds: median(own.map(timeOf)),
      ratio: ratioOf(timeOf),
    }
  })
}

function render({ operation, records, cpuMicroseconds, cpuRatio, microseconds, ratio }: GrowthFigure): string {
  const numbers = [records, cpuMicroseconds.toFixed(0), cpuRatio.toFixed(2), microseconds.toFixed(0), ratio.toFixed(2)]
  return [operation.padEnd(50), ...numbers.map((number) => String(number).padStart(10))].join(' ')
}

const folder = mkdtempSync(join(tmpdir(), 'bench-'))
const storages: readonly StorageName[] = (['sqlite', 'postgres'] as const).filter((name) =>
  values.storages.split(',').includes(name),
)
const postgres = storages.includes('postgres') ? await openPostgres(folder) : undefined
const runtime = knownOne('runtime', values.runtime, RUNTIMES)

async function startFilled(runtime: Runtime, storage: StorageName, records: number): Promise<Filled> {
  const places: string[] = []
  const newPlace = async (of: string): Promise<string> => {
    const place =
      postgres && storage === 'postgres' ? await postgres.newDatabase() : join(folder, `${of}-${records}.db`)
    places.push(place)
    return place
  }
  const subject = await startSubject({ runtime, storage, host: 'node' }, key, newPlace)
  const [place = ''] = places
  const database = storage === 'postgres' ? await openFilledPostgres(place) : await openFilledSqlite(place)
  const pay = operationOf('create-outgoing-payment, debit limit, one grant')
  await runPass(subject.ours, await signAll(subject, pay, 1), 1, { ...pay, body: '' }, () => 0)
  const started = performance.now()
  await database.fill(['incoming-payment', 'grant', 'access-token'], records)
  await database.fill(['outgoing-payment', 'replay-claim'], PAYMENTS)
  const size = storage === 'sqlite' ? `, ${(statSync(place).size / 1e6).toFixed(0)} MB` : ''
  say(
    `${storage}, ${records} records of each kind${size}: filled in ${((performance.now() - started) / 1000).toFixed(1)} s`,
  )
  // What is read and paid lies all over the table, like its pages in a file.
  const incoming = (await database.incomingPayments()).map((id) => `${BASE}/incoming-payments/${id}`)
  return { records, subject: { ...subject, target: { ...subject.target, incoming } }, database }
}

const key = await drawKey()
const before = conditionsNow()
const results: {
  readonly storage: string
  readonly figures: readonly GrowthFigure[]
  readonly scans: readonly string[]
}[] = []
try {
  for (const storage of storages) {
    const filled: Filled[] = []
    for (const records of values.records.split(',').map(Number))
      filled.push(await startFilled(runtime, storage, records))
    const plans = (await filled.at(-1)?.database.plans()) ?? []
    const scans = plans
      .filter(([, plan]) => /\bSCAN\b|Seq Scan|TEMP B-TREE|Sort Key: (?!asked(_\d+)?\.id\b)/.test(plan))
      .map(([sql]) => sql)
    say(`${plans.length} statements, ${scans.length} of them read more than they need ${scans.join('; ')}`)
    say(
      `${'operation'.padEnd(50)} ${['records', 'CPU µs', 'ratio', 'µs', 'ratio'].map((head) => head.padStart(10)).join(' ')}`,
    )
    const sharedCpu = storage === 'postgres' && postgres ? postgres.cpuMicroseconds : () => 0
    const extent = { passes: Number(values.passes), share: Number(values.share), sharedCpu }
    const operations = operationsNamed(values.only)
    const subjects = filled.map(({ subject }) => subject)
    await warmUp(subjects, operations, Number(values['warm-up']))
    const figures: GrowthFigure[] = []
    for (const operation of operations) {
      const measured = await measureGrowth(operation, filled, extent)
      figures.push(...measured)
      for (const figure of measured) say(render(figure))
    }
    results.push({ storage, figures, scans })
    for (const { subject, database } of filled) {
      await subject.end()
      await database.close()
    }
  }
} finally {
  await postgres?.close()
  rmSync(folder, { recursive: true, force: true })
}
writeRun(values.out, { before, after: conditionsNow(), runtime: runtime.name, results })
