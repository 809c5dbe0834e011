import { childOf, type RunningChild } from '../crashes/wallet-child.ts'
import type { Fuse } from '../crashes/wallet-process/watched-calls.ts'
import type { WalletProgram } from '../crashes/wallet-program.ts'
import type { Order, ProcessOptions } from './wallet-process/main.ts'

/** The program of a wallet on a rail. */
export const RAIL_PROGRAM = 'test/rails/wallet-process/main.ts'

/** A process of one of the two wallets. */
export interface WalletServer extends RunningChild {
  setAhead(milliseconds: number): void
  /** Resolves once it counts its calls, or no longer does where there is no fuse, or has ended. */
  arm(fuse?: Fuse): Promise<unknown>
  /** Has it recover and let everything run out. */
  recover(): Promise<unknown>
  /** Has it let everything run out that is under way. */
  drain(): Promise<unknown>
  /** What its host is asked to decide, as it lists it; `undefined` where it has ended. */
  undecided(): Promise<unknown>
  /** The host's word on a payment; the answer, `undefined` where the process has ended. */
  decide(id: string, hasArrived: boolean): Promise<unknown>
}

/** Starts a process of a wallet; `hear` is given what the process is told by the library. */
export function startServer(
  program: WalletProgram<ProcessOptions>,
  options: ProcessOptions,
  hear: (type: string, subject: string | undefined) => void,
): WalletServer {
  const { tell, carryOut, ...child } = childOf<Order>(program.start(options), ({ told, subject }) =>
    hear(told, subject),
  )
  const answerOf = async (orderOf: (number: number) => Order): Promise<unknown> => (await carryOut(orderOf))?.answer
  return {
    ...child,
    setAhead: (milliseconds) => tell({ set: 'ahead', milliseconds }),
    arm: (fuse) => answerOf((number) => ({ set: 'fuse', ...(fuse && { fuse }), number })),
    recover: () => answerOf((number) => ({ set: 'recover', number })),
    drain: () => answerOf((number) => ({ set: 'drain', number })),
    undecided: () => answerOf((number) => ({ set: 'list undecided', number })),
    decide: (id, hasArrived) => answerOf((number) => ({ set: 'decide', id, hasArrived, number })),
  }
}
