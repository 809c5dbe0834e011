import { once } from 'node:events'
import type { Fuse } from '../crashes/wallet-process/watched-calls.ts'
import type { WalletProgram } from '../crashes/wallet-program.ts'
import type { Order, ProcessOptions, Report } from './wallet-process/main.ts'

/** The program of a wallet on a rail. */
export const RAIL_PROGRAM = 'test/rails/wallet-process/main.ts'

/** A process of one of the two wallets. */
export interface WalletServer {
  /** Its port, once it listens; `undefined` where it ended before. */
  readonly port: Promise<number | undefined>
  /** Resolves when it has ended. */
  readonly ended: Promise<void>
  readonly isRunning: () => boolean
  setAhead(milliseconds: number): void
  /** Resolves once it counts its calls, or has ended. */
  arm(fuse: Fuse): Promise<unknown>
  /** Has it recover and let everything run out. */
  recover(): Promise<unknown>
  /** What its host is asked to decide, as it lists it; `undefined` where it has ended. */
  undecided(): Promise<unknown>
  /** The host's word on a payment; the answer, `undefined` where the process has ended. */
  decide(id: string, hasArrived: boolean): Promise<unknown>
  /** Ends it as a power failure would, and waits until it is gone. */
  kill(): Promise<void>
  /** Why it ended, where nobody killed it. */
  readonly fault: () => string | undefined
}

/** Starts a process of a wallet; `tell` hears what the process is told by the library. */
export function startServer(
  program: WalletProgram<ProcessOptions>,
  options: ProcessOptions,
  tell: (type: string, subject: string | undefined) => void,
): WalletServer {
  const child = program.start(options)
  let complaint = ''
  child.stderr?.on('data', (text) => {
    complaint = `${complaint}${text}`.slice(-4_000)
  })
  // A message to a process that has just been killed is lost, as it would be for any other reason.
  child.on('error', () => undefined)
  const exited = once(child, 'close').then(() => undefined)
  const waiting: ((answer: unknown) => void)[] = []
  const port = new Promise<number | undefined>((resolve) => {
    child.on('message', (report: Report) => {
      if ('port' in report) resolve(report.port)
      else if ('told' in report) tell(report.told, report.subject)
      else waiting[report.done]?.(report.answer)
    })
    exited.then(() => {
      resolve(undefined)
      for (const answer of waiting) answer(undefined)
    })
  })
  const isRunning = (): boolean => child.exitCode === null && child.signalCode === null
  const order = (what: Order): void => {
    if (isRunning() && child.connected) child.send(what, () => undefined)
  }
  const carryOut = (orderOf: (number: number) => Order): Promise<unknown> =>
    new Promise((resolve) => {
      const number = waiting.push(resolve) - 1
      if (!isRunning()) resolve(undefined)
      order(orderOf(number))
    })
  return {
    port,
    ended: exited,
    isRunning,
    setAhead: (milliseconds) => order({ set: 'ahead', milliseconds }),
    arm: (fuse) => carryOut((number) => ({ set: 'fuse', fuse, number })),
    recover: () => carryOut((number) => ({ set: 'recover', number })),
    undecided: () => carryOut((number) => ({ set: 'list undecided', number })),
    decide: (id, hasArrived) => carryOut((number) => ({ set: 'decide', id, hasArrived, number })),
    async kill() {
      child.kill('SIGKILL')
      await exited
    },
    fault: () => (isRunning() || child.signalCode === 'SIGKILL' ? undefined : `it ended by itself: ${complaint}`),
  }
}
