import { type ChildProcess, fork } from 'node:child_process'
import { rmSync } from 'node:fs'
import { dirname } from 'node:path'
import { buildProgram, WALLET_PROGRAM } from './build-program.ts'
import type { ProcessOptions } from './wallet-process/main.ts'

/** The program of a wallet's server, and its processes. */
export interface WalletProgram<Options = ProcessOptions> {
  /** A folder for what the processes leave. */
  readonly folder: string
  start(options: Options): ChildProcess
  /** Kills what still runs, and removes everything. */
  end(): void
}

/** Builds the program, on the package of this project or on another one; `program` is another program than that of these tests. */
export async function openProgram<Options = ProcessOptions>(
  packageFolder?: string,
  program = WALLET_PROGRAM,
): Promise<WalletProgram<Options>> {
  const file = await buildProgram(packageFolder, program)
  const folder = dirname(file)
  const running = new Set<ChildProcess>()
  return {
    folder,
    start(options) {
      const child = fork(file, [JSON.stringify(options)], { stdio: ['ignore', 'ignore', 'pipe', 'ipc'], execArgv: [] })
      running.add(child)
      child.on('close', () => running.delete(child))
      return child
    },
    end() {
      for (const child of running) child.kill('SIGKILL')
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
