import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { compareHosts } from './compare-hosts.ts'
import { conditionsNow, quickestVerification } from './conditions.ts'
import { measureFirstAnswer } from './first-answer.ts'
import { type Figure, measure } from './measure.ts'
import { operationsNamed } from './operations.ts'
import type { PartResult, RunResult } from './part-result.ts'
import { type Part, planOf } from './plan.ts'
import { type BenchPostgres, openPostgres } from './postgres.ts'
import { compareWithReference } from './reference.ts'
import { renderPicture } from './render-picture.ts'
import { renderExpress, renderFigure, renderHead, renderReference } from './render-table.ts'
import { say, writeRun } from './say.ts'
import { drawKey, type Subject, startSubject } from './subject.ts'
import type { ClientKey } from './wallet.ts'
import { warmUp } from './warm-up.ts'

const { values } = parseArgs({
  options: {
    runtimes: { type: 'string', default: '' },
    storages: { type: 'string', default: '' },
    hosts: { type: 'string', default: '' },
    verifiers: { type: 'string', default: '' },
    connections: { type: 'string', default: '' },
    only: { type: 'string', default: '' },
    passes: { type: 'string', default: '5' },
    share: { type: 'string', default: '1' },
    'warm-up': { type: 'string', default: '80000' },
    out: { type: 'string', default: '' },
  },
})

const folder = mkdtempSync(join(tmpdir(), 'bench-'))

async function runPart(part: Part, key: ClientKey, postgres: BenchPostgres | undefined): Promise<PartResult> {
  const { runtime, storage, verifier, hosts, connections } = part
  const own = mkdtempSync(join(folder, 'part-'))
  const operations = operationsNamed(values.only)
  const subjects: Subject[] = []
  for (const host of hosts) {
    const newPlace = async (of: string): Promise<string> =>
      storage === 'postgres' && postgres ? postgres.newDatabase() : join(own, `${of}-${host}.db`)
    subjects.push(await startSubject({ runtime, storage, verifier, host }, key, newPlace))
  }
  await warmUp(subjects, operations, Number(values['warm-up']))
  const verifying = verifier === 'host' ? '' : `, ${verifier} verifies`
  say(`\n${runtime.name}, ${storage}${verifying}; ${values['warm-up']} requests before\n${renderHead()}`)
  const sharedCpu = storage === 'postgres' && postgres ? postgres.cpuMicroseconds : () => 0
  const extent = { passes: Number(values.passes), share: Number(values.share) * part.share, sharedCpu }
  const figures: Figure[] = []
  for (const operation of operations) {
    for (const count of connections) {
      const measured = await measure(subjects, operation, count, extent)
      figures.push(...measured)
      for (const figure of measured) say(renderFigure(figure))
    }
  }
  for (const subject of subjects) await subject.end()
  const result = { runtime: runtime.name, storage, verifier, figures }
  if (storage !== 'sqlite' || verifier !== 'host' || hosts.join() !== 'node') return result
  const firstAnswer = await measureFirstAnswer(runtime, key, join(own, 'start.db'))
  const [listening, read, granted] = Object.values(firstAnswer).map((milliseconds: number) => milliseconds.toFixed(0))
  say(
    `CPU from start: ${listening} ms until it listens, ${read} ms with a first read, ${granted} ms with a first grant`,
  )
  return { ...result, firstAnswer }
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
const after = conditionsNow()
const express = results.flatMap(compareHosts)
const verification = quickestVerification(before, after)
const reference = results.flatMap((result) => compareWithReference(result, verification))
if (express.length > 0) say(`\n${renderExpress(express)}`)
if (reference.length > 0) say(`\n${renderReference(reference)}`)
if (values.out !== '') {
  const run: RunResult = {
    before,
    after,
    passes: Number(values.passes),
    share: Number(values.share),
    warmUpRequests: Number(values['warm-up']),
    results,
    express,
    reference,
  }
  writeRun(values.out, run)
  writeFileSync(`${values.out}.svg`, renderPicture(results[0]))
}
