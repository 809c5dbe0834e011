import { writeFileSync } from 'node:fs'
import process from 'node:process'
import { createInterface } from 'node:readline'
import type { Usage } from './child.ts'

/**
 * The other end of `startChild`: says hello, then answers each line with what the process has used, once whatever it is
 * still busy with has run out. Ends the process when the asker goes away.
 */
export async function answerLines(hello: unknown, settle: (question: string) => Promise<void>): Promise<never> {
  process.stdout.write(`${JSON.stringify(hello)}\n`)
  let endProfile: (() => Promise<void>) | undefined
  for await (const question of createInterface({ input: process.stdin })) {
    await settle(question)
    await endProfile?.()
    endProfile = await startProfile(JSON.parse(question))
    const { user, system } = process.cpuUsage()
    const usage: Usage = { cpuMicroseconds: user + system, residentBytes: process.memoryUsage().rss }
    process.stdout.write(`${JSON.stringify(usage)}\n`)
  }
  process.exit(0)
}

/** Profiles this process until the next question, where one asks for that with the name of a file. */
async function startProfile({ profile }: { readonly profile?: string }): Promise<(() => Promise<void>) | undefined> {
  if (profile === undefined) return undefined
  const { profileThis } = await import('./cpu-profile.ts')
  const end = await profileThis()
  return async () => writeFileSync(profile, JSON.stringify(await end()))
}
