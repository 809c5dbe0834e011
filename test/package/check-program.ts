import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, readdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { createInterface, type Interface } from 'node:readline'
import { afterEach, expect, it } from 'vitest'
import { FIRST_NODE, LATER_NODES, PRESENT_NODE } from '../runtimes/runtimes.ts'
import type { PackageUnderTest } from './check-tarball.ts'

/** A command that is running, with the processes that it starts. */
interface Running {
  readonly lines: Interface
  /** Everything that it said, once it and all that it started have ended. */
  readonly ended: Promise<{ readonly code: number | null; readonly stdout: string; readonly stderr: string }>
  /** Asks all of its processes to end, as a terminal and a service manager do. */
  terminate(): void
}

const running: ChildProcess[] = []

function signalAll({ pid }: ChildProcess, signal: 'SIGTERM' | 'SIGKILL'): void {
  try {
    if (pid !== undefined) process.kill(-pid, signal)
  } catch {
    // All of them have ended.
  }
}

function start([command = '', ...words]: readonly string[], cwd: string): Running {
  mkdirSync(cwd, { recursive: true })
  // A cache of its own: npx keeps what it once installed.
  const env = { ...process.env, npm_config_cache: join(cwd, '../npm-cache'), NODE_NO_WARNINGS: '1' }
  const child = spawn(command, words, { cwd, env, detached: true, stdio: ['ignore', 'pipe', 'pipe'] })
  running.push(child)
  const said = { stdout: '', stderr: '' }
  child.stdout.on('data', (text) => {
    said.stdout += text
  })
  child.stderr.on('data', (text) => {
    said.stderr += text
  })
  const ended = once(child, 'close').then(([code]) => ({ code, ...said }))
  return { lines: createInterface(child.stdout), ended, terminate: () => signalAll(child, 'SIGTERM') }
}

/** The lines of this program: npm has warnings of its own. */
function ownLines(stderr: string): readonly string[] {
  return stderr.split('\n').filter((line) => line.startsWith('open-payments-server: '))
}

const NODES = [FIRST_NODE, PRESENT_NODE, ...LATER_NODES].map((node) => [node.name, node] as const)
const PROGRAM = 'node_modules/.bin/open-payments-server'

/** What `open-payments-server` does where the package is installed, and where it is not. */
export function describeProgram(get: () => PackageUnderTest): void {
  const project = (): string => dirname(dirname(get().installed))
  afterEach(() => {
    for (const child of running.splice(0)) signalAll(child, 'SIGKILL')
  })

  it('is run by npx: one line of JSON once it answers, and an end on SIGTERM', async () => {
    const sandbox = ['npx', 'open-payments-server', 'sandbox', '--port', '0', '--db', ':memory:', '--json']
    const { lines, ended, terminate } = start(sandbox, project())
    const answers: unknown[] = []
    for await (const line of lines) {
      const { wallets } = JSON.parse(line)
      answers.push(await (await fetch(wallets[0].walletAddress)).json())
      terminate()
    }
    const { stdout, stderr } = await ended
    const { authServer, wallets } = JSON.parse(stdout)
    expect(answers).toEqual([expect.objectContaining({ id: wallets[0].walletAddress, authServer })])
    expect(ownLines(stderr)).toEqual([])
  })

  it('is run by npx from the tarball, in an empty folder', async () => {
    const { packed } = get()
    const folder = join(project(), '../elsewhere')
    const { code, stdout } = await start(['npx', '--yes', `file:${packed.tarball}`, '--version'], folder).ended
    expect({ code, stdout }).toEqual({ code: 0, stdout: '0.1.0\n' })
    expect(readdirSync(folder)).toEqual([])
  })

  it.each(NODES)('on %s it answers, and says where its data is', async (name, node) => {
    const folder = join(project(), '../sandboxes', name)
    const program = [...(await node.command()), join(project(), PROGRAM), '--port', '0']
    const { lines, ended, terminate } = start(program, folder)
    for await (const line of lines) if (line.startsWith('Ctrl-C')) terminate()
    const { code, stdout, stderr } = await ended
    expect(code).toBe(0)
    const [, data] = /^Data: +(.*)$/m.exec(stdout) ?? []
    if (name.startsWith('Node 20.')) {
      expect(data).toBe('in memory, forgotten at the end')
      expect(ownLines(stderr)).toEqual([expect.stringContaining('no SQLite here (npm install libsql')])
      expect(readdirSync(folder)).toEqual([])
    } else {
      expect(data).toBe('open-payments-sandbox.db')
      expect(ownLines(stderr)).toEqual([])
      expect(readdirSync(folder)).toEqual(['open-payments-sandbox.db'])
    }
  })

  it.each([
    ['--help', 0, /^Usage: open-payments-server \[sandbox\] \[options\]\n/, /^$/],
    ['sandbox --help', 0, /--config FILE/, /^$/],
    ['--version', 0, /^0\.1\.0\n$/, /^$/],
    ['serve', 2, /^$/, /^open-payments-server: there is no command serve; see --help\n$/],
    ['sandbox now', 2, /^$/, /^open-payments-server: sandbox takes options only, not now; see --help\n$/],
    ['sandbox --prot 1', 2, /^$/, /^open-payments-server: Unknown option '--prot'; see --help\n$/],
    [
      '--port 70000',
      2,
      /^$/,
      /^open-payments-server: --port must be a number from 0 to 65535, not 70000; see --help\n$/,
    ],
  ])('open-payments-server %s ends with %d', async (words, code, stdout, stderr) => {
    const said = await start([process.execPath, PROGRAM, ...words.split(' ')], project()).ended
    expect(said).toEqual({ code, stdout: expect.stringMatching(stdout), stderr: expect.stringMatching(stderr) })
  })
}
