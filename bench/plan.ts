import type { Runtime } from '../test/runtimes/runtimes.ts'
import { HOSTS, type HostName, STORAGES, type StorageName, VERIFIERS, type VerifierName } from './host-names.ts'
import { RUNTIMES } from './runtimes.ts'
import type { Place } from './subject.ts'

/** One part of a run: what is measured in turn on some hosts. */
export interface Part extends Omit<Required<Place>, 'host'> {
  readonly hosts: readonly HostName[]
  readonly connections: readonly number[]
  /** How many of the requests of a full part. */
  readonly share: number
}

/** What a command line says; an empty text leaves the choice to the plan. */
export interface Choice {
  readonly runtimes: string
  readonly storages: string
  readonly hosts: string
  readonly verifiers: string
  readonly connections: string
}

const words = (text: string): readonly string[] => text.split(',').filter((word) => word !== '')

/** What a command line names, of all that there is. */
export function known<T>(kind: string, text: string, all: Readonly<Record<string, T>>): readonly T[] {
  return words(text).map((name) => {
    const found = all[name]
    if (found === undefined) throw new Error(`there is no ${kind} ${name}: ${Object.keys(all).join(', ')}`)
    return found
  })
}

/** The one thing that a command line names. */
export function knownOne<T>(kind: string, text: string, all: Readonly<Record<string, T>>): T {
  const [found, ...others] = known(kind, text, all)
  if (found === undefined || others.length > 0) throw new Error(`name one ${kind}`)
  return found
}

/** Names, each by itself. */
export const byName = <T extends string>(names: readonly T[]): Readonly<Record<string, T>> =>
  Object.fromEntries(names.map((name) => [name, name]))

/**
 * What is measured where nothing else is asked for: all of it in some fifty minutes. Hosts that are compared are measured in
 * turn, and each waits while the others answer, so the figures that stand on their own are of one host alone.
 */
function wholePlan(): readonly Part[] {
  const at = (
    runtime: string,
    storage: StorageName,
    share: number,
    hosts: readonly HostName[],
    connections = [32],
    verifier: VerifierName = 'host',
  ) =>
    known('runtime', runtime, RUNTIMES).map((found) => ({
      runtime: found,
      storage,
      verifier,
      share,
      hosts,
      connections,
    }))
  return [
    ...at('node24', 'sqlite', 1, ['node']),
    ...at('node24', 'sqlite', 1, ['node'], [32], 'libsodium'),
    ...at('node24', 'sqlite', 0.5, ['node', 'express', 'fetch']),
    ...at('node24', 'sqlite', 1, ['node'], [1, 8]),
    ...at('node24', 'postgres', 1, ['node']),
    // A list in memory scans all that was made before it.
    ...at('node24', 'memory', 0.25, ['node']),
    ...at('node', 'sqlite', 0.5, ['node']),
    ...at('bun', 'sqlite', 0.5, ['fetch']),
    ...at('deno', 'sqlite', 0.5, ['fetch']),
  ]
}

/** The parts of a run. */
export function planOf({ runtimes, storages, hosts, verifiers, connections }: Choice): readonly Part[] {
  const isWhole = runtimes === '' && storages === '' && hosts === '' && verifiers === ''
  const numbers = words(connections).map(Number)
  const parts = isWhole ? wholePlan() : chosen(runtimes, storages, hosts, verifiers)
  return parts.map((part) => ({ ...part, ...(numbers.length > 0 && { connections: numbers }) }))
}

function chosen(runtimes: string, storages: string, hosts: string, verifiers: string): readonly Part[] {
  const names = known('host', hosts || 'node', byName(HOSTS))
  return known<Runtime>('runtime', runtimes || 'node', RUNTIMES).flatMap((runtime) =>
    known('storage', storages || 'sqlite', byName(STORAGES)).flatMap((storage) =>
      known('verifier', verifiers || 'host', byName(VERIFIERS)).map((verifier) => ({
        runtime,
        storage,
        verifier,
        hosts: names,
        connections: [32],
        share: 1,
      })),
    ),
  )
}
