import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'
import { parseArgs } from 'node:util'
import { conditionsNow } from './conditions.ts'
import { type FirstAnswer, measureFirstAnswer } from './first-answer.ts'
import { type Figure, measure } from './measure.ts'
import { OPERATIONS } from './operations.ts'
import { type Part, planOf } from './plan.ts'
import { type BenchPostgres, openPostgres } from './postgres.ts'
import { renderPicture } from './render-picture.ts'
import { renderFigure, renderHead } from './render-table.ts'
import { drawKey, startSubject } from './subject.ts'
import type { ClientKey } from './wallet.ts'

const { values } = parseArgs({
  options: {
    runtimes: { type: 'string', default: '' },
    storages: { type: 'string', default: '' },
    hosts: { type: 'string', default: '' },
    connections: { type: 'string', default: '' },
    only: { type: 'string', default: '' },
    passes: { type: 'string', default: '3' },
    share: { type: 'string', default: '1' },
    out: { type: 'string', default: '' },
  },
})

/** What was measured in one part of a run. */
interface PartResult {
  readonly place: string
  readonly figures: readonly Figure[]
  /** Where a process was started on SQLite. */
  readonly firstAnswer?: FirstAnswer
}

const folder = mkdtempSync(join(tmpdir(), 'bench-'))
const say = (text: string): void => {
  process.stdout.write(`${text}\n`)
}

async function runPart(part: Part, key: ClientKey, postgres: BenchPostgres | undefined): Promise<PartResult> {
  const { runtime, storage, host, connections } = part
  const own = mkdtempSync(join(folder, 'part-'))
  const newPlace = async (of: string): Promise<string> =>
    storage === 'postgres' && postgres ? postgres.newDatabase() : join(own, `${of}.db`)
  const place = `${runtime.name}, ${storage}, ${host}`
  say(`\n${place}\n${renderHead()}`)
  const subject = await startSubject(part, key, newPlace)
  const sharedCpu = storage === 'postgres' && postgres ? postgres.cpuMicroseconds : () => 0
  const extent = { passes: Number(values.passes), share: Number(values.share), sharedCpu }
  const figures: Figure[] = []
  for (const operation of OPERATIONS.filter(({ name }) => part.measures(name))) {
    for (const count of connections) {
      const figure = await measure(subject, operation, count, extent)
      figures.push(figure)
      say(renderFigure(figure))
    }
  }
  await subject.end()
  if (storage !== 'sqlite' || host !== 'node') return { place, figures }
  const firstAnswer = await measureFirstAnswer(runtime, key, join(own, 'start.db'))
  const [listening, read, granted] = Object.values(firstAnswer).map((milliseconds: number) => milliseconds.toFixed(0))
  say(
    `CPU from start: ${listening} ms until it listens, ${read} ms with a first read, ${granted} ms with a first grant`,
  )
  return { place, figures, firstAnswer }
}

const parts = planOf(values)
const before = conditionsNow()
const results: PartResult[] = []
const postgres = parts.some(({ storage }) => storage === 'postgres') ? await openPostgres(folder) : undefined
try {
  const key = await drawKey()
  for (const part of parts) results.push(await runPart(part, key, postgres))
} finally {
  await postgres?.close()
  rmSync(folder, { recursive: true, force: true })
}
if (values.out !== '') {
  const [first] = results
  const run = { before, after: conditionsNow(), passes: Number(values.passes), share: Number(values.share), results }
  writeFileSync(`${values.out}.json`, `${JSON.stringify(run, null, 2)}\n`)
  const shown = first?.figures.filter(({ connections }) => connections === 32) ?? []
  const title = `CPU of the server per request, 32 at a time (${first?.place}); dark: the floor`
  writeFileSync(`${values.out}.svg`, renderPicture(title, shown))
}
