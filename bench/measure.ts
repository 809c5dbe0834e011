import type { Child } from './child.ts'
import type { FloorTask } from './floor.ts'
import type { HostName } from './host-names.ts'
import { runLoad } from './load.ts'
import type { Operation } from './operations.ts'
import { median, quantile } from './statistics.ts'
import { type Subject, sampleAnswer, signAll } from './subject.ts'
import type { Listening } from './wallet.ts'

/** What one side did in all passes. */
export interface Side {
  readonly requestsPerSecond: number
  /** Milliseconds. */
  readonly p50: number
  readonly p99: number
  /** User and system time of the server per request, what it does after the answer included. */
  readonly cpuMicroseconds: number
}

/** One figure: an operation with so many connections, medians of the passes. */
export interface Figure {
  readonly operation: string
  readonly host: HostName
  readonly connections: number
  readonly ours: Side
  readonly floor: Side
  /** CPU of ours to that of the floor: the least, the median and the most of the passes. */
  readonly ratio: readonly [least: number, median: number, most: number]
  /** CPU of each pass that counts, in microseconds per request: whether it was still falling. */
  readonly passes: readonly (readonly [ours: number, floor: number])[]
}

/** How much is measured. */
export interface Extent {
  readonly passes: number
  /** How many of the requests of a full run. */
  readonly share: number
  /** What a database server has used, where there is one. */
  readonly sharedCpu: () => number
}

/** One pass over an operation. */
export interface Pass {
  /** User and system time of the server per request, in microseconds. */
  readonly cpu: number
  readonly requestsPerSecond: number
  readonly latencies: readonly number[]
}

/** Sends requests, and lets what they have begun run out. */
export async function runPass(
  child: Child<Listening>,
  requests: readonly Buffer[],
  connections: number,
  task: FloorTask,
  sharedCpu: () => number,
): Promise<Pass> {
  const used = async (): Promise<number> => (await child.usage(task)).cpuMicroseconds + sharedCpu()
  const before = await used()
  const started = performance.now()
  const { latencies } = await runLoad(child.hello.port, requests, connections, task.status)
  const after = await used()
  const seconds = (performance.now() - started) / 1000
  return { cpu: (after - before) / requests.length, requestsPerSecond: requests.length / seconds, latencies }
}

/** What was done to a subject so far. */
interface Run {
  readonly subject: Subject
  readonly task: FloorTask
  readonly ours: Pass[]
  readonly floor: Pass[]
  requests: readonly Buffer[]
}

/** Measures an operation at every subject, its library and its floor, in turn: whatever else the machine does meets all. */
export async function measure(
  subjects: readonly Subject[],
  operation: Operation,
  connections: number,
  { passes, share, sharedCpu }: Extent,
): Promise<readonly Figure[]> {
  const count = Math.max(100, Math.round(operation.requests * share * (connections < 32 ? 0.25 : 1)))
  const { status, stores } = operation
  const runs: Run[] = []
  for (const subject of subjects) {
    const body = await sampleAnswer(subject, operation)
    runs.push({ subject, task: { status, stores, body }, ours: [], floor: [], requests: [] })
  }
  // The first pass does not count: caches are another operation's then.
  for (let pass = 0; pass <= passes; pass++) {
    for (const run of runs) {
      const { subject, task } = run
      // What was read can be read again; what was made is made anew.
      if (stores || pass === 0) run.requests = await signAll(subject, operation, count)
      run.floor.push(await runPass(subject.floor, run.requests, connections, task, sharedCpu))
      run.ours.push(await runPass(subject.ours, run.requests, connections, task, sharedCpu))
    }
  }
  return runs.map((run) => figureOf(operation, connections, run))
}

function figureOf({ name }: Operation, connections: number, run: Run): Figure {
  const ours = run.ours.slice(1)
  const floor = run.floor.slice(1)
  const ratios = ours.map(({ cpu }, index) => cpu / (floor[index]?.cpu ?? 0))
  return {
    operation: name,
    host: run.subject.host,
    connections,
    ours: summarise(ours),
    floor: summarise(floor),
    ratio: [Math.min(...ratios), median(ratios), Math.max(...ratios)],
    passes: ours.map(({ cpu }, index) => [cpu, floor[index]?.cpu ?? 0]),
  }
}

function summarise(passes: readonly Pass[]): Side {
  const latencies = passes.flatMap((pass) => pass.latencies).sort((a, b) => a - b)
  return {
    requestsPerSecond: median(passes.map(({ requestsPerSecond }) => requestsPerSecond)),
    p50: quantile(latencies, 0.5),
    p99: quantile(latencies, 0.99),
    cpuMicroseconds: median(passes.map(({ cpu }) => cpu)),
  }
}
