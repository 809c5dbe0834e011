import { AsyncLocalStorage } from 'node:async_hooks'
import type { Storage } from 'open-payments-server'
import { memoryStorage } from 'open-payments-server/storage/memory'

/** Which act goes on at each place where more than one could; places beyond the list go to the first. */
type Order = number[]

/** One run: a storage that holds every operation of a racing act back until it is its turn. */
export interface Race {
  readonly storage: Storage
  /** Runs the acts side by side, one storage operation at a time, in the order of this run. */
  atOnce<T>(...acts: readonly (() => Promise<T>)[]): Promise<readonly T[]>
}

interface Runner {
  /** Lets the operation that it waits with go on. */
  resume?: (() => void) | undefined
  isDone: boolean
}

function createRace(acting: AsyncLocalStorage<Runner>, inner: Storage, order: Order, widths: number[]): Race {
  let standing = (): void => undefined
  const turn = async (): Promise<void> => {
    const runner = acting.getStore()
    if (runner === undefined) return
    await new Promise<void>((resolve) => {
      runner.resume = resolve
      standing()
    })
  }
  const inTurn = async <T>(operation: () => Promise<T>): Promise<T> => {
    await turn()
    return operation()
  }
  const storage: Storage = {
    get: (keys) => inTurn(() => inner.get(keys)),
    list: (query) => inTurn(() => inner.list(query)),
    due: (...query) => inTurn(() => inner.due(...query)),
    commit: (changes) => inTurn(() => inner.commit(changes)),
  }
  return {
    storage,
    async atOnce(...acts) {
      const runners: Runner[] = acts.map(() => ({ isDone: false }))
      const allStand = (): Promise<void> =>
        new Promise((resolve) => {
          standing = () => {
            if (runners.every(({ isDone, resume }) => isDone || resume !== undefined)) resolve()
          }
          standing()
        })
      const answers = acts.map((act, at) => {
        const runner = runners[at] ?? { isDone: false }
        return acting.run(runner, act).finally(() => {
          runner.isDone = true
          standing()
        })
      })
      for (let place = 0; ; place++) {
        await allStand()
        const waiting = runners.filter(({ isDone }) => !isDone)
        if (waiting.length === 0) break
        if (widths.length <= place) widths.push(waiting.length)
        const next = waiting[order[place] ?? 0]
        const resume = next?.resume
        if (next) next.resume = undefined
        resume?.()
      }
      return Promise.all(answers)
    },
  }
}

/**
 * Plays a race in every order in which its storage operations can follow each other, each time on a storage of its own,
 * and answers how many there are. A failure names its order.
 */
export async function inEveryOrder(play: (race: Race) => Promise<void>): Promise<number> {
  const acting = new AsyncLocalStorage<Runner>()
  let order: Order | undefined = []
  let count = 0
  try {
    while (order !== undefined) {
      const widths: number[] = []
      const played: Order = order
      await play(createRace(acting, memoryStorage(), played, widths)).catch((cause: unknown) => {
        throw new Error(`in the order ${JSON.stringify(played)}`, { cause })
      })
      count++
      order = nextOrder(played, widths)
    }
    return count
  } finally {
    // Otherwise Node 20 slows every promise of this process down from here on: all tests that follow.
    acting.disable()
  }
}

/** The next order, the last place first; `undefined` after the last one. */
function nextOrder(order: Order, widths: readonly number[]): Order | undefined {
  for (let place = widths.length - 1; place >= 0; place--) {
    const chosen = order[place] ?? 0
    if (chosen + 1 < (widths[place] ?? 0))
      return [...Array.from({ length: place }, (_, at) => order[at] ?? 0), chosen + 1]
  }
  return undefined
}
