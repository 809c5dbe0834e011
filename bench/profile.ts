import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { SourceMap } from 'node:module'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { type CpuProfile, type Frame, sumByStack } from './cpu-profile.ts'
import { STORAGES } from './host-names.ts'
import { runLoad } from './load.ts'
import { operationOf } from './operations.ts'
import { byName, knownOne } from './plan.ts'
import { openPostgres } from './postgres.ts'
import { RUNTIMES } from './runtimes.ts'
import { say } from './say.ts'
import { drawKey, signAll, startSubject } from './subject.ts'

// Where the time of one operation goes: by room and by function of this project, each with what it calls elsewhere, and
// by where it is spent in the end.

const { values } = parseArgs({
  options: {
    runtimes: { type: 'string', default: 'node' },
    storage: { type: 'string', default: 'sqlite' },
    operation: { type: 'string', default: 'create-incoming-payment' },
    side: { type: 'string', default: 'ours' },
    requests: { type: 'string', default: '6000' },
    rows: { type: 'string', default: '40' },
    out: { type: 'string', default: '' },
  },
})

const root = fileURLToPath(new URL('../../', import.meta.url))
const maps = new Map<string, SourceMap | undefined>()

function mapOf(path: string): SourceMap | undefined {
  if (!maps.has(path)) {
    const file = `${path}.map`
    maps.set(path, existsSync(file) ? new SourceMap(JSON.parse(readFileSync(file, 'utf8'))) : undefined)
  }
  return maps.get(path)
}

/** The file in which a function stands: in the sources, where there is a map to them. */
function sourceOf({ url, lineNumber, columnNumber }: Frame): string {
  if (!url.startsWith('file:')) return url
  const path = fileURLToPath(url)
  const entry = mapOf(path)?.findEntry(lineNumber, columnNumber)
  const source = entry && 'originalSource' in entry ? join(path, '..', entry.originalSource) : path
  const at = source.lastIndexOf('node_modules/')
  return at < 0 ? relative(root, source) : source.slice(at)
}

const isOwn = (source: string): boolean => /^(?:src|adapters)\//.test(source)

/** The innermost function of this project on a stack, and its file. */
function ownerOf(stack: readonly Frame[]): readonly [file: string, name: string] {
  for (const frame of stack) {
    const source = sourceOf(frame)
    if (isOwn(source)) return [source, frame.functionName || '(anonymous)']
  }
  const [leaf] = stack
  return leaf?.url === '' && leaf.functionName.startsWith('(') ? [leaf.functionName, ''] : ['(host)', '']
}

function leafOf([leaf, caller]: readonly Frame[]): string {
  if (leaf === undefined) return ''
  const source = sourceOf(leaf)
  const name = leaf.functionName || '(anonymous)'
  return source === '' && caller !== undefined
    ? `${name}, native, called by ${caller.functionName} ${sourceOf(caller)}`
    : `${name} ${source}`
}

function print(title: string, sums: readonly (readonly [string, number])[], count: number): void {
  const busy = sums.filter(([name]) => !name.startsWith('(idle)'))
  const total = busy.reduce((sum, [, time]) => sum + time, 0)
  say(`\n${title}: ${(total / count).toFixed(0)} µs for each request`)
  for (const [name, time] of busy.slice(0, Number(values.rows))) {
    const share = ((100 * time) / total).toFixed(1).padStart(5)
    say(`${share} %  ${(time / count).toFixed(1).padStart(7)} µs  ${name}`)
  }
}

async function profileOperation(folder: string): Promise<CpuProfile> {
  const runtime = knownOne('runtime', values.runtimes, RUNTIMES)
  const storage = knownOne('storage', values.storage, byName(STORAGES))
  const postgres = storage === 'postgres' ? await openPostgres(folder) : undefined
  const newPlace = async (of: string): Promise<string> => postgres?.newDatabase() ?? join(folder, `${of}.db`)
  const subject = await startSubject({ runtime, storage, host: 'node' }, await drawKey(), newPlace)
  const operation = operationOf(values.operation)
  const { status, stores } = operation
  const child = values.side === 'ours' ? subject.ours : subject.floor
  const file = values.out === '' ? join(folder, 'one.cpuprofile') : values.out
  // What comes first is compiled; only the second run is looked at.
  for (const profile of [undefined, file]) {
    const requests = await signAll(subject, operation, Number(values.requests))
    await child.usage({ status, stores, body: '{}', profile })
    await runLoad(child.hello.port, requests, 32, status)
    await child.usage()
  }
  await subject.end()
  await postgres?.close()
  say(`${runtime.name}, ${storage}, ${values.operation}, ${values.side}`)
  return JSON.parse(readFileSync(file, 'utf8'))
}

const folder = mkdtempSync(join(tmpdir(), 'bench-'))
try {
  const profile = await profileOperation(folder)
  const count = Number(values.requests)
  const roomOf = (stack: readonly Frame[]): string => ownerOf(stack)[0].split('/').slice(0, 2).join('/')
  print('by room', sumByStack(profile, roomOf), count)
  print(
    'by function of this project',
    sumByStack(profile, (stack) => [...ownerOf(stack)].reverse().join('  ')),
    count,
  )
  print('by where it is spent', sumByStack(profile, leafOf), count)
} finally {
  rmSync(folder, { recursive: true, force: true })
}
