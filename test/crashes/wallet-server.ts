import { existsSync, readFileSync } from 'node:fs'
import { childOf, type RunningChild } from './wallet-child.ts'
import type { Order, ProcessOptions } from './wallet-process/main.ts'
import { type Fuse, NOTED, type Noted } from './wallet-process/watched-calls.ts'
import type { WalletProgram } from './wallet-program.ts'

/** A process of the wallet that was started here. */
export interface WalletServer extends RunningChild {
  setAhead(milliseconds: number): void
  /** Resolves once it counts its calls, or has ended. Without a fuse it does not end any more. */
  arm(fuse?: Fuse): Promise<boolean>
  /** Has it recover and let everything run out; whether it lived to say so. */
  recover(): Promise<boolean>
  /** How many of each were under way when it ended, or are now. */
  underWay(): Readonly<Record<Noted, number>>
}

/** Starts a process of the wallet. */
export function startServer(program: WalletProgram, options: ProcessOptions): WalletServer {
  const { tell, carryOut, ...child } = childOf<Order>(program.start(options))
  const isCarriedOut = async (orderOf: (number: number) => Order): Promise<boolean> =>
    (await carryOut(orderOf)) !== undefined
  return {
    ...child,
    setAhead: (milliseconds) => tell({ set: 'ahead', milliseconds }),
    arm: (fuse) => isCarriedOut((number) => ({ set: 'fuse', ...(fuse && { fuse }), number })),
    recover: () => isCarriedOut((number) => ({ set: 'recover', number })),
    underWay: () => {
      // A process that was killed as it started has noted nothing yet.
      const trace = existsSync(options.traceFile) ? readFileSync(options.traceFile) : []
      return Object.fromEntries(NOTED.map((name, index) => [name, trace[index] ?? 0])) as Record<Noted, number>
    },
  }
}
