import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'
import { createInterface } from 'node:readline'
import { parseArgs } from 'node:util'
import { operationOf } from './operations.ts'
import { knownOne } from './plan.ts'
import { RUNTIMES } from './runtimes.ts'
import { say } from './say.ts'
import { drawKey, sampleAnswer, signAll, startSubject } from './subject.ts'

// For another load client than this one: the server and the floor on ports of their own, and requests for both in a file,
// signed and ready, a JSON object a line. They are good for an hour, orders of outgoing payments for once at each.

const { values } = parseArgs({
  options: {
    runtime: { type: 'string', default: 'node24' },
    operation: { type: 'string', default: 'create-incoming-payment' },
    requests: { type: 'string', default: '10000' },
    out: { type: 'string', default: 'requests.jsonl' },
  },
})

const runtime = knownOne('runtime', values.runtime, RUNTIMES)

/** A request as other programs take it. */
function describe(bytes: Buffer): string {
  const end = bytes.indexOf('\r\n\r\n')
  const [first = '', ...lines] = bytes.toString('latin1', 0, end).split('\r\n')
  const [method, path] = first.split(' ')
  const headers = Object.fromEntries(
    lines.map((line) => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 2)]),
  )
  return JSON.stringify({ method, path, headers, body: bytes.toString('utf8', end + 4) })
}

const folder = mkdtempSync(join(tmpdir(), 'bench-'))
try {
  const operation = operationOf(values.operation)
  const place = { runtime, storage: 'sqlite', host: 'node' } as const
  const subject = await startSubject(place, await drawKey(), async (of) => join(folder, `${of}.db`))
  const { ours, floor } = subject
  const { status, stores } = operation
  const task = { status, stores, body: await sampleAnswer(subject, operation) }
  await floor.usage(task)
  const requests = await signAll(subject, operation, Number(values.requests))
  writeFileSync(values.out, requests.map((request) => `${describe(request)}\n`).join(''))
  say(`${requests.length} requests that are answered ${status}: ${values.out}`)
  say(`this library: http://127.0.0.1:${ours.hello.port}, process ${ours.pid}`)
  say(`the floor:    http://127.0.0.1:${floor.hello.port}, process ${floor.pid}`)
  say('Enter: what both have used since the last time; end of input: the end')
  let before = [0, 0]
  for await (const _ of createInterface({ input: process.stdin })) {
    const now = [(await ours.usage()).cpuMicroseconds, (await floor.usage(task)).cpuMicroseconds]
    const [own, bare] = now.map((microseconds, index) => ((microseconds - (before[index] ?? 0)) / 1e6).toFixed(3))
    say(`CPU seconds: this library ${own}, the floor ${bare}`)
    before = now
  }
  await subject.end()
} finally {
  rmSync(folder, { recursive: true, force: true })
}
