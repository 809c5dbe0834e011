import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import ts from 'typescript'
import { freePort } from '../support/free-port.ts'

/** The folder of the project: examples find the built package from there by its name. */
export const ROOT = fileURLToPath(new URL('../../', import.meta.url))

/** Node 20 does not read TypeScript, so it is given an example without its types. */
export function withoutTypes(path: string): string {
  const compilerOptions = { target: ts.ScriptTarget.ES2022, module: ts.ModuleKind.ESNext }
  return ts.transpileModule(readFileSync(`${ROOT}${path}`, 'utf8'), { compilerOptions }).outputText
}

/** An example that is running; `stop` ends it. */
export interface RunningHost {
  readonly walletAddress: string
  stop(): Promise<void>
}

/**
 * How an example is run on the built package: `PORT` says where it listens, `ready` what it prints once it does, `path`
 * where its wallet address is.
 */
export interface ExampleCommand {
  readonly command: readonly string[]
  readonly folder?: string
  readonly ready?: RegExp
  readonly path?: string
}

/** Runs an example in Node. */
export function inNode(path: string): ExampleCommand {
  return { command: [process.execPath, '--input-type=module', '--eval', withoutTypes(path)] }
}

function spawnExample({ command, folder = ROOT }: ExampleCommand, port: number): ChildProcess {
  const [executable = '', ...parameters] = command
  const { PATH, HOME } = process.env
  const env = { PATH, HOME, PORT: String(port), NO_COLOR: '1', NEXT_TELEMETRY_DISABLED: '1' }
  return spawn(executable, parameters, { cwd: folder, env, stdio: ['ignore', 'pipe', 'pipe'], timeout: 300_000 })
}

/** Starts an example and waits until it listens. */
export async function startExample(example: ExampleCommand): Promise<RunningHost> {
  const port = await freePort()
  const child = spawnExample(example, port)
  const stop = async (): Promise<void> => {
    if (child.exitCode !== null || child.signalCode !== null) return
    child.kill()
    await once(child, 'exit')
  }
  await untilPrinted(child, example.ready ?? /wallet address is/).catch(async (error) => {
    await stop()
    throw error
  })
  return { walletAddress: `http://localhost:${port}${example.path ?? '/alice'}`, stop }
}

/** Runs a command until it ends; rejects with what it printed where it fails. */
export async function runToEnd(example: ExampleCommand): Promise<void> {
  const child = spawnExample(example, 0)
  let output = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream?.on('data', (text) => {
      output += text
    })
  }
  const [code] = await once(child, 'exit')
  if (code !== 0) throw new Error(`it ended with ${code}\n${output}`)
}

function untilPrinted(child: ChildProcess, ready: RegExp): Promise<void> {
  return new Promise((resolve, reject) => {
    let output = ''
    const read = (text: unknown): void => {
      output += text
      if (ready.test(output)) resolve()
    }
    child.stdout?.on('data', read)
    child.stderr?.on('data', read)
    child.on('error', reject)
    child.on('exit', () => reject(new Error(`it ended before it listened; was the package built?\n${output}`)))
  })
}
