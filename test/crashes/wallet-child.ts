import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'

/** What a process says: where it listens, which numbered order it has carried out, and what else it was told. */
export type Report = { readonly port: number } | Done | Told

type Done = { readonly done: number; readonly answer?: unknown }
type Told = { readonly told: string; readonly subject?: string }

/** A process of a wallet that was started here. */
export interface RunningChild {
  /** Its port, once it listens; `undefined` where it ended before. */
  readonly port: Promise<number | undefined>
  /** Resolves when it has ended. */
  readonly ended: Promise<void>
  readonly isRunning: () => boolean
  /** Ends it as a power failure would, and waits until it is gone. */
  kill(): Promise<void>
  /** Why it ended, where nobody killed it. */
  readonly fault: () => string | undefined
}

/** The process, and how it takes orders. */
export interface WalletChild<Order> extends RunningChild {
  /** Gives an order that nothing is reported of. */
  tell(order: Order): void
  /** Gives a numbered order, and resolves with what is reported of it; `undefined` where the process has ended. */
  carryOut(orderOf: (number: number) => Order): Promise<Done | undefined>
}

/** A process that was started just now; `hear` is given what it was told by the library. */
export function childOf<Order extends object>(
  child: ChildProcess,
  hear: (told: Told) => void = () => undefined,
): WalletChild<Order> {
  let complaint = ''
  child.stderr?.on('data', (text) => {
    complaint = `${complaint}${text}`.slice(-4_000)
  })
  // A message to a process that has just been killed is lost, as it would be for any other reason.
  child.on('error', () => undefined)
  const ended = once(child, 'close').then(() => undefined)
  const waiting: ((report?: Done) => void)[] = []
  const port = new Promise<number | undefined>((resolve) => {
    child.on('message', (report: Report) => {
      if ('port' in report) resolve(report.port)
      else if ('told' in report) hear(report)
      else waiting[report.done]?.(report)
    })
    ended.then(() => {
      resolve(undefined)
      for (const answer of waiting) answer()
    })
  })
  const isRunning = (): boolean => child.exitCode === null && child.signalCode === null
  const tell = (order: Order): void => {
    if (isRunning() && child.connected) child.send(order, () => undefined)
  }
  return {
    port,
    ended,
    isRunning,
    tell,
    carryOut: (orderOf) =>
      new Promise((resolve) => {
        const number = waiting.push(resolve) - 1
        if (!isRunning()) resolve(undefined)
        tell(orderOf(number))
      }),
    async kill() {
      child.kill('SIGKILL')
      await ended
    },
    fault: () => (isRunning() || child.signalCode === 'SIGKILL' ? undefined : `it ended by itself: ${complaint}`),
  }
}
