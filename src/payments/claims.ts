import type { Context } from '../ports/context.ts'

/** Claims one of several due records by `take`, which reports what fails under the message that it is given, if any. */
export type Claim = <T>(take: (fault?: string) => Promise<T | 'failed'>, fault: string) => Promise<T | 'failed'>

/** So many that fail in a row, each alone, and the storage fails for all of them: the next call asks again. */
const MOST_FAILURES = 3

/**
 * Claims records that are due at the same time, each in a commit of its own. All are asked for at once, and a storage may
 * share what it does for them: on PostgreSQL one record that somebody keeps locked fails them all. So each that has failed is
 * tried once more, alone. If the first try happened after all, the second one is lost, and the record is due again later.
 */
export function createClaims({ inTurn }: Pick<Context, 'inTurn'>): Claim {
  let failures = 0
  return async (take, fault) => {
    const together = await take()
    if (together !== 'failed') return together
    return inTurn('claims', async () => {
      const alone = failures < MOST_FAILURES ? await take(fault) : together
      failures = alone === 'failed' ? failures + 1 : 0
      return alone
    })
  }
}
