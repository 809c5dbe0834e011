import { isObject } from '../../../src/protocol/is-object.ts'

/** The code of an error: a SQLSTATE if it came from the database. */
export function sqlState(error: unknown): string | undefined {
  const code = isObject(error) ? error['code'] : undefined
  return typeof code === 'string' ? code : undefined
}

/**
 * Waits a random time whose bound doubles with each round, by default from 5 ms to 160 ms, so that colliding writers
 * drift apart.
 */
export function backOff(round: number, milliseconds = 5): Promise<void> {
  const ceiling = milliseconds * 2 ** Math.min(round, 5)
  return new Promise((resolve) => setTimeout(resolve, ceiling / 2 + (ceiling / 2) * Math.random()))
}

// A serialization failure and a deadlock: the database reports that it has undone the whole transaction. After any
// other error, including 40003 and every lost connection, the outcome is unknown, or trying again would fail in the
// same way.
const UNDONE: ReadonlySet<string | undefined> = new Set(['40001', '40P01'])

const MOST_ROUNDS = 10

/** Repeats an attempt, at most ten in all, if the database reports that it undid it because of other transactions. */
export async function retryUndone<T>(attempt: () => Promise<T>): Promise<T> {
  for (let round = 1; ; round++) {
    try {
      return await attempt()
    } catch (error) {
      if (!UNDONE.has(sqlState(error)) || round === MOST_ROUNDS) throw error
    }
    await backOff(round)
  }
}
