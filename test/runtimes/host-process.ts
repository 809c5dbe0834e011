import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { fileURLToPath } from 'node:url'
import ts from 'typescript'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))

/** Node 20 does not read TypeScript, so it is given the example without its types. */
function withoutTypes(path: string): string {
  const compilerOptions = { target: ts.ScriptTarget.ES2022, module: ts.ModuleKind.ESNext }
  return ts.transpileModule(readFileSync(`${ROOT}${path}`, 'utf8'), { compilerOptions }).outputText
}

/** How each example is run on the built package, as a command and its arguments. */
export const HOSTS = {
  'node:http': () => [process.execPath, '--input-type=module', '--eval', withoutTypes('examples/node.ts')],
  Express: () => [process.execPath, '--input-type=module', '--eval', withoutTypes('examples/express.ts')],
  // Not the project's own tsconfig.json: that one leads to the sources.
  Bun: () => [`${ROOT}node_modules/.bin/bun`, '--tsconfig-override=tsconfig.base.json', 'examples/bun.ts'],
  Deno: () => [
    `${ROOT}node_modules/.bin/deno`,
    ...['run', '--no-lock', '--allow-env', '--allow-read=.', '--allow-net=127.0.0.1', 'examples/deno.ts'],
  ],
} as const satisfies Readonly<Record<string, () => readonly string[]>>

/** An example that is running; `stop` ends it. */
export interface HostProcess {
  readonly walletAddress: string
  stop(): Promise<void>
}

/** Starts an example and waits for the wallet address that it prints. */
export async function startHost(name: keyof typeof HOSTS): Promise<HostProcess> {
  const [command = '', ...commandArguments] = HOSTS[name]()
  const env = { PATH: process.env['PATH'], HOME: process.env['HOME'], PORT: String(await freePort()), NO_COLOR: '1' }
  const child = spawn(command, commandArguments, { cwd: ROOT, env, stdio: ['ignore', 'pipe', 'pipe'], timeout: 60_000 })
  return {
    walletAddress: await printedWalletAddress(child),
    async stop() {
      if (child.exitCode !== null || child.signalCode !== null) return
      child.kill()
      await once(child, 'exit')
    },
  }
}

/** An example must know its port before it listens, because its wallet addresses hold it. */
async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  server.close()
  await once(server, 'close')
  if (address === null || typeof address === 'string') throw new Error('a port was asked for')
  return address.port
}

function printedWalletAddress(child: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    let output = ''
    child.stderr?.on('data', (text) => {
      output += text
    })
    child.stdout?.on('data', (text) => {
      output += text
      const [walletAddress] = /http:\/\/localhost:\d+\/\w+(?=\s)/.exec(output) ?? []
      if (walletAddress !== undefined) resolve(walletAddress)
    })
    child.on('error', reject)
    child.on('exit', () => reject(new Error(`it ended before it listened; was the package built?\n${output}`)))
  })
}
