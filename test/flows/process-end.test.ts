import { once } from 'node:events'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Busy } from './draining-process.ts'
import { type BundledProgram, bundleProgram } from './races/bundled-program.ts'

let program: BundledProgram

beforeAll(async () => {
  program = await bundleProgram('test/flows/draining-process.ts')
})
afterAll(() => program.remove())

/** What a process has said by the time that it ends by itself, and its exit code. */
async function runToEnd(busy: Busy): Promise<readonly unknown[]> {
  const said: unknown[] = []
  const child = program.start(busy)
  child.on('message', (message) => said.push(message))
  const [code] = await once(child, 'exit')
  return [...said, code]
}

describe('a process of which nothing else is left', () => {
  it('ends after drain() has resolved, not while work pauses', async () => {
    expect(await runToEnd('work')).toEqual(['drained', 0])
  })

  it('ends while a server waits for its next work', async () => {
    expect(await runToEnd('idle')).toEqual([0])
  })
})
