import { openSync, writeSync } from 'node:fs'
import process from 'node:process'

/** The calls of its ports at which a process can be told to end; `event`: all that deliver events; `statement`: of SQL. */
export const CALLS = [
  'get',
  'list',
  'due',
  'commit',
  'account',
  'hold',
  'settle',
  'release',
  'credit',
  'event',
  'statement',
] as const

/** One of them. */
export type CallName = (typeof CALLS)[number]

/** Those that write, but for events. */
export const WRITES = ['commit', 'hold', 'settle', 'release', 'credit'] as const

/** What a process notes as it begins and ends, so that whoever finds it dead knows what was under way. */
export const NOTED = [...CALLS, 'transaction', 'order'] as const

/** One of them; `order` is a request that creates an outgoing payment. */
export type Noted = (typeof NOTED)[number]

/** Where a process ends: at the nth of some calls, before its effect or once that has happened and before anybody knows. */
export interface Fuse {
  readonly calls: readonly CallName[]
  readonly nth: number
  readonly when: 'before' | 'after'
}

/** The calls of one process. */
export interface WatchedCalls {
  /** Counts from here on, and ends the process where the fuse says so. */
  arm(fuse: Fuse | undefined): void
  note(what: Noted, change: 1 | -1): void
  during<T>(name: CallName, call: () => Promise<T>): Promise<T>
  /** The same for a call that returns its result. */
  duringNow<T>(name: CallName, call: () => T): T
  /** Where `during` cannot be used: `begin` before the call is made, `end` when it is over. */
  begin(name: CallName): void
  end(name: CallName): void
}

/** Nothing after this happens: it is not an exit, no handler runs and nothing is flushed. */
function dieAtOnce(): never {
  process.kill(process.pid, 'SIGKILL')
  for (;;) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)
}

/** Watches the calls of this process. What is under way stands in a file, one byte for each of `NOTED`: the kernel keeps it. */
export function watchCalls(traceFile: string): WatchedCalls {
  const file = openSync(traceFile, 'w')
  const running = new Uint8Array(NOTED.length)
  let fuse: Fuse | undefined
  let counted = 0

  const note: WatchedCalls['note'] = (what, change) => {
    const index = NOTED.indexOf(what)
    running[index] = (running[index] ?? 0) + change
    writeSync(file, running, 0, running.length, 0)
  }
  let burning = new Set<CallName>()
  const begin = (name: CallName): void => {
    note(name, 1)
    if (!fuse?.calls.includes(name) || ++counted !== fuse.nth) return
    if (fuse.when === 'before') dieAtOnce()
    burning.add(name)
  }
  const end = (name: CallName): void => {
    if (burning.has(name)) dieAtOnce()
    note(name, -1)
  }
  return {
    arm: (armed) => {
      fuse = armed
      counted = 0
      burning = new Set()
    },
    note,
    begin,
    end,
    during: async (name, call) => {
      begin(name)
      try {
        return await call()
      } finally {
        end(name)
      }
    },
    duringNow: (name, call) => {
      begin(name)
      try {
        return call()
      } finally {
        end(name)
      }
    },
  }
}
