import { turn } from '../support/turns.ts'
import type { Random } from './random.ts'
import type { Trace } from './trace.ts'

/** One call of a port by one process. */
export interface Call {
  readonly process: number
  readonly port:
    | 'storage'
    | 'ledger'
    | 'walletAddresses'
    | 'pricing'
    | 'keyResolver'
    | 'remoteReceivers'
    | 'rail'
    | 'onEvent'
    | 'clock'
  readonly name: string
  readonly arguments: readonly unknown[]
}

/**
 * Something that can happen next. A call of a port has two: its effect in the world, and the reply that the process
 * hears of it; anything may come between them.
 */
export interface Task {
  readonly what: 'effect' | 'reply' | 'step'
  readonly call?: Call
  /** For the trace; only worked out where that is read. */
  readonly title: () => string
  /** Not before this moment of simulated time. */
  readonly readyAt: number
  /** What it answers ends in the same step. */
  run(): void | Promise<void>
}

/** Tasks that are kept from happening until they are let go. */
export interface KeptBack {
  /** How many there are now. */
  count(): number
  /** From now on they may happen. */
  letGo(): void
}

/** Decides what happens next: the only source of order, and of time. */
export interface Scheduler {
  /** Simulated milliseconds since the start, as timers see them: they never run backwards. */
  elapsed(): number
  add(task: Task): void
  /** Lets one task happen and everything that follows from it until somebody waits again; `false` where none is left. */
  step(): Promise<boolean>
  /** Lets time pass; what it makes ready has not happened yet. */
  pass(milliseconds: number): void
  /** Takes out the tasks that are chosen, and gives them back. */
  take(isChosen: (task: Task) => boolean): readonly Task[]
  keepBack(isKept: (task: Task) => boolean): KeptBack
}

export function createScheduler(random: Random, trace: Trace): Scheduler {
  let elapsed = 0
  let tasks: Task[] = []
  let filters: readonly ((task: Task) => boolean)[] = []
  const isFree = (task: Task): boolean => filters.length === 0 || !filters.some((isKept) => isKept(task))

  const choose = (mayPass: boolean): Task | undefined => {
    const free = tasks.filter(isFree)
    if (free.length === 0) return undefined
    const earliest = free.reduce((least, { readyAt }) => Math.min(least, readyAt), Number.POSITIVE_INFINITY)
    if (earliest > elapsed && !mayPass) return undefined
    // Time passes where nothing can happen now.
    elapsed = Math.max(elapsed, earliest)
    const chosen = random.pick(free.filter(({ readyAt }) => readyAt <= elapsed))
    tasks.splice(tasks.indexOf(chosen), 1)
    return chosen
  }

  return {
    elapsed: () => elapsed,
    add: (task) => void tasks.push(task),
    async step() {
      let task = choose(false)
      if (task === undefined) {
        // Somebody may be about to ask for something.
        await turn()
        task = choose(true)
      }
      if (task === undefined) return false
      const { title } = task
      trace.add(() => `${(elapsed / 1000).toFixed(3)} ${title()}`)
      const done = task.run()
      // Cryptography is synchronous, so everything up to the next call of a port runs out in microtasks.
      await turn()
      await done
      return true
    },
    pass: (milliseconds) => {
      elapsed += milliseconds
    },
    take(isChosen) {
      const taken = tasks.filter(isChosen)
      tasks = tasks.filter((task) => !taken.includes(task))
      return taken
    },
    keepBack(isKept) {
      filters = [...filters, isKept]
      return {
        count: () => tasks.filter(isKept).length,
        letGo: () => {
          filters = filters.filter((filter) => filter !== isKept)
        },
      }
    },
  }
}
