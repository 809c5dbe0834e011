import { writeFileSync } from 'node:fs'
import process from 'node:process'
import { createInterface } from 'node:readline'
import type { Question, Usage } from './child.ts'

/**
 * The other end of `startChild`: says hello, then answers each line with what the process has used, once whatever it is
 * still busy with has run out. Ends the process when the asker goes away.
 */
export async function answerLines<Q extends object>(
  hello: unknown,
  settle: (question: Q & Question) => Promise<void>,
): Promise<never> {
  process.stdout.write(`${JSON.stringify(hello)}\n`)
  const delay = await watchDelay()
  let endProfile: (() => Promise<void>) | undefined
  for await (const line of createInterface({ input: process.stdin })) {
    const question: Q & Question = JSON.parse(line)
    await settle(question)
    await endProfile?.()
    endProfile = await startProfile(question)
    if (question.collects === true) collectGarbage()
    const { user, system } = process.cpuUsage()
    const { rss, heapUsed, external, arrayBuffers } = process.memoryUsage()
    const usage: Usage = {
      cpuMicroseconds: user + system,
      residentBytes: rss,
      heapBytes: heapUsed,
      externalBytes: external,
      arrayBufferBytes: arrayBuffers,
      spaces: spacesNow(),
      handles: process.getActiveResourcesInfo?.().length ?? 0,
      delayMilliseconds: delay(),
    }
    process.stdout.write(`${JSON.stringify(usage)}\n`)
  }
  process.exit(0)
}

/** What the spaces of V8's heap have taken; other engines have none. */
function spacesNow(): Usage['spaces'] {
  if (process.versions['bun'] !== undefined || process.versions['deno'] !== undefined) return {}
  const spaces = process.getBuiltinModule('node:v8').getHeapSpaceStatistics()
  return Object.fromEntries(spaces.map(({ space_name, physical_space_size }) => [space_name, physical_space_size]))
}

/** Collects all garbage, on Node without a flag at its start. */
function collectGarbage(): void {
  process.getBuiltinModule('node:v8').setFlagsFromString('--expose-gc')
  process.getBuiltinModule('node:vm').runInNewContext('gc()')
}

/** How late timers were since the last call. */
async function watchDelay(): Promise<() => Usage['delayMilliseconds']> {
  const { monitorEventLoopDelay } = await import('node:perf_hooks')
  const delay = monitorEventLoopDelay({ resolution: 20 })
  delay.enable()
  return () => {
    const read = { p99: delay.percentile(99) / 1e6, most: delay.max / 1e6 }
    delay.reset()
    return read
  }
}

/** Profiles this process until the next question, where one asks for that with the name of a file. */
async function startProfile({ profile }: Question): Promise<(() => Promise<void>) | undefined> {
  if (profile === undefined) return undefined
  const { profileThis } = await import('./cpu-profile.ts')
  const end = await profileThis()
  return async () => writeFileSync(profile, JSON.stringify(await end()))
}
