/** The code of an error: a SQLSTATE if the database has answered it. */
export function sqlState(error: unknown): string | undefined {
  const code: unknown = typeof error === 'object' && error !== null ? Reflect.get(error, 'code') : undefined
  return typeof code === 'string' ? code : undefined
}

/** Waits a random time that doubles with the round, from 5 ms to 160 ms unless told otherwise: those who collide drift apart. */
export function backOff(round: number, milliseconds = 5): Promise<void> {
  const ceiling = milliseconds * 2 ** Math.min(round, 5)
  return new Promise((resolve) => setTimeout(resolve, ceiling / 2 + (ceiling / 2) * Math.random()))
}

// A serialization failure and a deadlock: the database says that it has undone the whole transaction. After any other
// error, 40003 and every loss of a connection among them, the outcome is unknown or the same again.
const UNDONE: ReadonlySet<string | undefined> = new Set(['40001', '40P01'])

const MOST_ROUNDS = 10

/** Repeats an attempt, ten in all at most, if the database says that it undid it because of other transactions. */
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
