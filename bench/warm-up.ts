import { runLoad } from './load.ts'
import type { Operation } from './operations.ts'
import { type Subject, signAll } from './subject.ts'

const ROUNDS = 4

/**
 * Sends so many requests to every subject, to its library and to its floor, spread over the operations that are measured:
 * an engine compiles what runs often, in steps, and a server that runs for days is never seen before that is done.
 */
export async function warmUp(
  subjects: readonly Subject[],
  operations: readonly Operation[],
  requests: number,
): Promise<void> {
  const count = Math.ceil(requests / ROUNDS / operations.length)
  for (let round = 0; round < ROUNDS && requests > 0; round++) {
    for (const operation of operations) {
      const { status, stores } = operation
      for (const subject of subjects) {
        const signed = await signAll(subject, operation, count)
        await subject.floor.usage({ status, stores, body: '{}' })
        await Promise.all([subject.floor, subject.ours].map(({ hello }) => runLoad(hello.port, signed, 32, status)))
        await subject.ours.usage()
      }
    }
  }
}
