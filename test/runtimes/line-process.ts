import { spawn } from 'node:child_process'
import { once } from 'node:events'
import process from 'node:process'
import { createInterface } from 'node:readline'

/** A program that is running, and speaks in lines of JSON. */
export interface LineProcess {
  /** The next line that it prints. Rejects where it ends instead, with what it complained of; after a while it is killed. */
  read(): Promise<unknown>
  write(value: unknown): void
  /** Ends it. */
  stop(): Promise<void>
}

const SILENT_MILLISECONDS = 30_000

/** Starts a program with one parameter. */
export function startLines(
  command: readonly string[],
  parameter: unknown,
  environment: Readonly<Record<string, string>> = {},
): LineProcess {
  const [executable = '', ...parameters] = [...command, JSON.stringify(parameter)]
  const env = { PATH: process.env['PATH'], HOME: process.env['HOME'], TZ: process.env['TZ'], ...environment }
  const child = spawn(executable, parameters, { env, stdio: 'pipe' })
  let complaints = ''
  child.stderr.on('data', (text) => {
    complaints += text
  })
  child.on('error', (error) => {
    complaints += String(error)
  })
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  return {
    async read() {
      const timer = setTimeout(() => child.kill(), SILENT_MILLISECONDS)
      const line = await lines.next()
      clearTimeout(timer)
      if (line.done === true) throw new Error(`the process has ended\n${complaints}`)
      return JSON.parse(line.value)
    },
    write: (value) => void child.stdin.write(`${JSON.stringify(value)}\n`),
    async stop() {
      if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return
      child.kill()
      await once(child, 'exit')
    },
  }
}
