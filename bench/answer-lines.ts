import process from 'node:process'
import { createInterface } from 'node:readline'
import type { Usage } from './child.ts'

/**
 * The other end of `startChild`: says hello, then answers each line with what the process has used, once whatever it is
 * still busy with has run out. Ends the process when the asker goes away.
 */
export async function answerLines(hello: unknown, settle: (question: string) => Promise<void>): Promise<never> {
  process.stdout.write(`${JSON.stringify(hello)}\n`)
  for await (const question of createInterface({ input: process.stdin })) {
    await settle(question)
    const { user, system } = process.cpuUsage()
    const usage: Usage = { cpuMicroseconds: user + system, residentBytes: process.memoryUsage().rss }
    process.stdout.write(`${JSON.stringify(usage)}\n`)
  }
  process.exit(0)
}
