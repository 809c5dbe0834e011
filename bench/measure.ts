import type { Child } from './child.ts'
import type { FloorTask } from './floor.ts'
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
  readonly connections: number
  readonly ours: Side
  readonly floor: Side
  /** CPU of ours to that of the floor: the least, the median and the most of the passes. */
  readonly ratio: readonly [least: number, median: number, most: number]
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

/** Measures an operation at the library and at the floor in turn, with the same requests. */
export async function measure(
  subject: Subject,
  operation: Operation,
  connections: number,
  { passes, share, sharedCpu }: Extent,
): Promise<Figure> {
  const count = Math.max(100, Math.round(operation.requests * share * (connections === 1 ? 0.25 : 1)))
  const { status, stores } = operation
  const task: FloorTask = { status, stores, body: await sampleAnswer(subject, operation) }
  const ours: Pass[] = []
  const floor: Pass[] = []
  // The first pass warms both up and does not count.
  let requests = await signAll(subject, operation, count)
  for (let pass = 0; pass <= passes; pass++) {
    // What was read can be read again; what was made is made anew.
    if (stores && pass > 0) requests = await signAll(subject, operation, count)
    floor.push(await runPass(subject.floor, requests, connections, task, sharedCpu))
    ours.push(await runPass(subject.ours, requests, connections, task, sharedCpu))
  }
  const ratios = ours.map(({ cpu }, index) => cpu / (floor[index]?.cpu ?? 0)).slice(1)
  return {
    operation: operation.name,
    connections,
    ours: summarise(ours.slice(1)),
    floor: summarise(floor.slice(1)),
    ratio: [Math.min(...ratios), median(ratios), Math.max(...ratios)],
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
