import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import type { Order, ProcessOptions, Report } from './wallet-process/main.ts'
import { type Fuse, NOTED, type Noted } from './wallet-process/watched-calls.ts'
import type { WalletProgram } from './wallet-program.ts'

/** A process of the wallet that was started here. */
export interface WalletServer {
  /** Its port, once it listens; `undefined` where it ended before. */
  readonly port: Promise<number | undefined>
  /** Resolves when it has ended. */
  readonly ended: Promise<void>
  readonly isRunning: () => boolean
  setAhead(milliseconds: number): void
  /** Resolves once it counts its calls, or has ended. Without a fuse it does not end any more. */
  arm(fuse?: Fuse): Promise<boolean>
  /** Has it recover and let everything run out; whether it lived to say so. */
  recover(): Promise<boolean>
  /** Ends it as a power failure would, and waits until it is gone. */
  kill(): Promise<void>
  /** How many of each were under way when it ended, or are now. */
  underWay(): Readonly<Record<Noted, number>>
  /** Why it ended, where nobody killed it. */
  readonly fault: () => string | undefined
}

/** Starts a process of the wallet. */
export function startServer(program: WalletProgram, options: ProcessOptions): WalletServer {
  const child = program.start(options)
  let complaint = ''
  child.stderr?.on('data', (text) => {
    complaint += text
  })
  // A message to a process that has just been killed is lost, as it would be for any other reason.
  child.on('error', () => undefined)
  const exited = once(child, 'close').then(() => undefined)
  const orders: ((isDone: boolean) => void)[] = []
  const port = new Promise<number | undefined>((resolve) => {
    child.on('message', (report: Report) => {
      if ('port' in report) resolve(report.port)
      else orders[report.done]?.(true)
    })
    exited.then(() => {
      resolve(undefined)
      for (const answer of orders) answer(false)
    })
  })
  const isRunning = (): boolean => child.exitCode === null && child.signalCode === null
  const tell = (order: Order): void => {
    if (isRunning() && child.connected) child.send(order, () => undefined)
  }
  const carryOut = (orderOf: (number: number) => Order): Promise<boolean> =>
    new Promise((resolve) => {
      const number = orders.push(resolve) - 1
      if (!isRunning()) resolve(false)
      tell(orderOf(number))
    })
  return {
    port,
    ended: exited,
    isRunning,
    setAhead: (milliseconds) => tell({ set: 'ahead', milliseconds }),
    arm: (fuse) => carryOut((number) => ({ set: 'fuse', ...(fuse && { fuse }), number })),
    recover: () => carryOut((number) => ({ set: 'recover', number })),
    async kill() {
      child.kill('SIGKILL')
      await exited
    },
    underWay: () => {
      // A process that was killed as it started has noted nothing yet.
      const trace = existsSync(options.traceFile) ? readFileSync(options.traceFile) : []
      return Object.fromEntries(NOTED.map((name, index) => [name, trace[index] ?? 0])) as Record<Noted, number>
    },
    fault: () => (isRunning() || child.signalCode === 'SIGKILL' ? undefined : `it ended by itself: ${complaint}`),
  }
}
