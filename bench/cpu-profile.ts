import { Session } from 'node:inspector/promises'

/** A function on the stack, as V8 names it. */
export interface Frame {
  readonly functionName: string
  readonly url: string
  readonly lineNumber: number
  readonly columnNumber: number
}

/** Where a process has spent its time, sample by sample. */
export interface CpuProfile {
  readonly nodes: readonly {
    readonly id: number
    readonly callFrame: Frame
    readonly children?: number[] | undefined
  }[]
  readonly samples?: number[] | undefined
  /** Microseconds before each sample. */
  readonly timeDeltas?: number[] | undefined
}

const SAMPLED_MICROSECONDS = 100

/** Begins to profile this process; what it resolves with ends that and gives the profile. */
export async function profileThis(): Promise<() => Promise<CpuProfile>> {
  const session = new Session()
  session.connect()
  await session.post('Profiler.enable')
  await session.post('Profiler.setSamplingInterval', { interval: SAMPLED_MICROSECONDS })
  await session.post('Profiler.start')
  return async () => {
    const { profile } = await session.post('Profiler.stop')
    session.disconnect()
    return profile
  }
}

/** Sums the time of all samples by a name that is given to the stack of each, the innermost function first. */
export function sumByStack(
  { nodes, samples = [], timeDeltas = [] }: CpuProfile,
  nameOf: (stack: readonly Frame[]) => string,
): readonly (readonly [name: string, microseconds: number])[] {
  const parents = new Map(nodes.flatMap(({ id, children = [] }) => children.map((child) => [child, id] as const)))
  const frames = new Map(nodes.map(({ id, callFrame }) => [id, callFrame]))
  const stackOf = (id: number | undefined): readonly Frame[] => {
    const frame = id === undefined ? undefined : frames.get(id)
    return frame === undefined || id === undefined ? [] : [frame, ...stackOf(parents.get(id))]
  }
  const names = new Map(nodes.map(({ id }) => [id, nameOf(stackOf(id))]))
  const sums = new Map<string, number>()
  for (const [index, id] of samples.entries()) {
    const name = names.get(id) ?? ''
    sums.set(name, (sums.get(name) ?? 0) + (timeDeltas[index + 1] ?? 0))
  }
  return [...sums].sort(([, a], [, b]) => b - a)
}
