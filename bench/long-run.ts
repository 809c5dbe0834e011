import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { openSqlite } from 'open-payments-server/storage/sqlite'
import type { Runtime } from '../test/runtimes/runtimes.ts'
import type { Child, Usage } from './child.ts'
import { conditionsNow } from './conditions.ts'
import { runLoad } from './load.ts'
import { operationsNamed } from './operations.ts'
import { knownOne } from './plan.ts'
import { readProc } from './postgres.ts'
import { RUNTIMES } from './runtimes.ts'
import { say, writeRun } from './say.ts'
import { drawKey, signAll, startSubject } from './subject.ts'

// Full load for so many minutes, all operations in turn, then quiet: what grows although nothing has to?

const { values } = parseArgs({
  options: {
    runtime: { type: 'string', default: 'node24' },
    minutes: { type: 'string', default: '30' },
    quiet: { type: 'string', default: '3' },
    only: { type: 'string', default: '' },
    flags: { type: 'string', default: '' },
    out: { type: 'string', default: '' },
  },
})

const ROUND = 250

/** What was seen at one moment. */
interface Moment extends Usage {
  readonly minutes: number
  readonly requests: number
  /** What the records take in the file; what they took before and do not any more is used again. */
  readonly storedBytes: number
  /** Of what is resident, what belongs to no file: the rest is mostly the program of the runtime. */
  readonly anonymousBytes: number
}

const named = knownOne('runtime', values.runtime, RUNTIMES)
const flags = values.flags.split(' ').filter((flag) => flag !== '')
const runtime: Runtime = { ...named, command: async () => [...(await named.command()), ...flags] }
const folder = mkdtempSync(join(tmpdir(), 'bench-'))
const place = join(folder, 'ours.db')
const before = conditionsNow()
const moments: Moment[] = []
const started = performance.now()
const minutesNow = (): number => (performance.now() - started) / 60_000
let requests = 0

async function storedBytes(): Promise<number> {
  const database = await openSqlite(place)
  const sql = `SELECT (page_count - freelist_count) * page_size AS bytes
    FROM pragma_page_count, pragma_freelist_count, pragma_page_size`
  const row = database.prepare(sql).get()
  database.close()
  return typeof row === 'object' && row !== null ? Number(Reflect.get(row, 'bytes')) : 0
}

const megabytes = (bytes: number): string => (bytes / 1e6).toFixed(0)

async function note({ pid }: Child<unknown>, usage: Usage): Promise<void> {
  const anonymousBytes = Number(/^RssAnon:\s*(\d+) kB$/m.exec(readProc(String(pid), 'status'))?.[1] ?? 0) * 1024
  const moment = { minutes: minutesNow(), requests, storedBytes: await storedBytes(), anonymousBytes, ...usage }
  moments.push(moment)
  const { spaces, delayMilliseconds } = usage
  const young = (spaces['new_space'] ?? 0) + (spaces['new_large_object_space'] ?? 0)
  const cells = [
    moment.minutes.toFixed(1),
    requests,
    megabytes(usage.residentBytes),
    megabytes(anonymousBytes),
    megabytes(usage.heapBytes),
    megabytes(young),
    megabytes(Object.values(spaces).reduce((sum, bytes) => sum + bytes, -young)),
    megabytes(usage.externalBytes),
    usage.handles,
    delayMilliseconds.p99.toFixed(1),
    delayMilliseconds.most.toFixed(0),
    megabytes(moment.storedBytes),
  ]
  say(cells.map((cell) => String(cell).padStart(9)).join(' '))
}

try {
  const subject = await startSubject(
    { runtime, storage: 'sqlite', host: 'node' },
    await drawKey(),
    async (of) => (of === 'ours' ? place : join(folder, `${of}.db`)),
    join(folder, 'ledger.db'),
  )
  const { ours } = subject
  say([runtime.name, ...flags, 'SQLite, 32 at a time'].join(', '))
  const heads = [
    ...['minutes', 'requests', 'RSS MB', 'anonymous', 'heap used', 'young', 'rest', 'external'],
    ...['handles', 'delay p99', 'most ms', 'stored MB'],
  ]
  say(heads.map((head) => head.padStart(9)).join(' '))
  await note(ours, await ours.usage({ collects: true }))
  let next = 1
  while (minutesNow() < Number(values.minutes)) {
    for (const operation of operationsNamed(values.only)) {
      const signed = await signAll(subject, operation, ROUND)
      await runLoad(ours.hello.port, signed, 32, operation.status)
      requests += ROUND
    }
    if (minutesNow() < next) continue
    await note(ours, await ours.usage())
    next = Math.floor(minutesNow()) + 1
  }
  say('quiet')
  await new Promise((resolve) => setTimeout(resolve, Number(values.quiet) * 60_000))
  await note(ours, await ours.usage())
  say('all garbage collected')
  await note(ours, await ours.usage({ collects: true }))
  say('a year later, swept')
  await note(ours, await ours.usage({ sweepAfterDays: 366 }))
  await subject.end()
} finally {
  rmSync(folder, { recursive: true, force: true })
}
writeRun(values.out, { before, after: conditionsNow(), runtime: runtime.name, flags, moments })
