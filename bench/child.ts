import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'

/** What a measured process has used since its start. */
export interface Usage {
  /** User and system time. */
  readonly cpuMicroseconds: number
  readonly residentBytes: number
  readonly heapBytes: number
  /** Outside of the heap, for objects in it; of that, array buffers. */
  readonly externalBytes: number
  readonly arrayBufferBytes: number
  /** What each space of the engine's heap has taken, by its name; nothing where the runtime does not say. */
  readonly spaces: Readonly<Record<string, number>>
  /** What is open or pending: sockets, timers and the like; 0 where the runtime does not say. */
  readonly handles: number
  /** How late the event loop was since the last question. */
  readonly delayMilliseconds: { readonly p99: number; readonly most: number }
}

/** What a measured process may be told with the question for its usage. */
export interface Question {
  /** Profile from now until the next question, into this file. */
  readonly profile?: string | undefined
  /** Collect all garbage first: what is used then is kept by something. */
  readonly collects?: boolean
  /** Move the clock on by so many days, and sweep. */
  readonly sweepAfterDays?: number
}

/** A measured process: it writes one line when it listens, and answers each line that it is sent with one. */
export interface Child<Hello> {
  /** What it said when it listened. */
  readonly hello: Hello
  readonly pid: number | undefined
  /** What it has used so far; it lets everything run out first, and is told something with the question. */
  usage(question?: unknown): Promise<Usage>
  end(): Promise<void>
}

/** Starts a process and waits until it listens; its options are its last argument, as JSON. */
export async function startChild<Hello>(command: readonly string[], options: unknown): Promise<Child<Hello>> {
  const [file = '', ...rest] = command
  const child: ChildProcess = spawn(file, [...rest, JSON.stringify(options)], { stdio: ['pipe', 'pipe', 'inherit'] })
  const { stdin, stdout } = child
  if (stdin === null || stdout === null) throw new Error('a process without pipes')
  const lines = createInterface({ input: stdout })[Symbol.asyncIterator]()
  const nextLine = async (): Promise<string> => {
    const { value, done } = await lines.next()
    if (done === true) throw new Error(`a measured process has ended: ${command.join(' ')}`)
    return value
  }
  const hello: Hello = JSON.parse(await nextLine())
  return {
    hello,
    pid: child.pid,
    async usage(question = {}) {
      stdin.write(`${JSON.stringify(question)}\n`)
      return JSON.parse(await nextLine())
    },
    async end() {
      stdin.end()
      if (child.exitCode === null) await once(child, 'exit')
    },
  }
}
