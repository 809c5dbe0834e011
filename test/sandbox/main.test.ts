import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'

// The built program: `npm test` builds it first.
const MAIN = fileURLToPath(new URL('../../dist/sandbox/main.js', import.meta.url))

let folder = ''
let child: ChildProcess | undefined
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'sandbox-'))
})
afterEach(() => {
  child?.kill('SIGKILL')
  rmSync(folder, { recursive: true })
})

function run(...words: readonly string[]) {
  const started = spawn(process.execPath, [MAIN, ...words], { cwd: folder, stdio: ['ignore', 'pipe', 'pipe'] })
  child = started
  const output = { stdout: '', stderr: '' }
  started.stdout.on('data', (text) => {
    output.stdout += text
  })
  started.stderr.on('data', (text) => {
    output.stderr += text
  })
  const ended = once(started, 'close').then(([code]) => ({ code, ...output }))
  return {
    started,
    ended,
    firstLine: () => once(createInterface(started.stdout), 'line').then(([line]) => String(line)),
  }
}

describe('the program', () => {
  it.each(['SIGINT', 'SIGTERM'] as const)(
    'prints one line of JSON once it answers, and ends cleanly on %s',
    async (signal) => {
      const { started, ended, firstLine } = run('sandbox', '--port', '0', '--json')
      const description = JSON.parse(await firstLine())
      expect(Object.keys(description).sort()).toEqual([
        'authServer',
        'client',
        'consent',
        'peers',
        'resourceServer',
        'wallets',
      ])
      expect((await fetch(description.wallets[0].walletAddress)).status).toBe(200)
      started.kill(signal)
      const { code, stdout, stderr } = await ended
      expect(code).toBe(0)
      expect(stdout.split('\n')).toHaveLength(2)
      expect(stderr.replace(/^.*(?:ExperimentalWarning|--trace-warnings).*\n/gm, '')).toBe('')
    },
  )

  it('tells a person what it serves and how to try it, and keeps the private key to itself', async () => {
    const { started, ended } = run('--port', '0', '--db', ':memory:')
    await once(started.stdout, 'data')
    started.kill('SIGINT')
    const { stdout } = await ended
    for (const text of ['/alice', '1000.00 USD', '/auth', 'sandbox', 'curl http://localhost:'])
      expect(stdout).toContain(text)
    expect(stdout).not.toContain('PRIVATE KEY')
  })

  it('reads its configuration from a file', async () => {
    const config = join(folder, 'sandbox.json')
    writeFileSync(config, '{"accounts":[{"path":"/dora","assetCode":"GBP","assetScale":2,"balance":"700"}]}')
    const { started, ended, firstLine } = run('--port', '0', '--db', ':memory:', '--json', '--config', config)
    const { wallets } = JSON.parse(await firstLine())
    started.kill('SIGTERM')
    await ended
    expect(wallets).toEqual([
      { walletAddress: expect.stringMatching(/\/dora$/), assetCode: 'GBP', assetScale: 2, balance: '700' },
    ])
  })

  it.each([
    ['an unknown flag', ['--verbose'], '--verbose'],
    ['a configuration that is not there', ['--config', 'nothing.json'], 'nothing.json'],
    ['an unknown key', ['--config', 'bad.json'], 'bad.json: there is no key colour'],
  ])('refuses %s in one line with exit code 2', async (_, words, text) => {
    writeFileSync(join(folder, 'bad.json'), '{"colour":"red"}')
    const { code, stdout, stderr } = await run('--port', '0', '--db', ':memory:', ...words).ended
    expect(code).toBe(2)
    expect(stdout).toBe('')
    expect(stderr).toContain(text)
    expect(stderr.trim().split('\n')).toHaveLength(1)
  })

  it('says in one line that a port is taken, and how to choose another', async () => {
    const blocker = createServer()
    await new Promise<void>((resolve) => blocker.listen(0, '127.0.0.1', resolve))
    const address = blocker.address()
    const port = typeof address === 'object' ? String(address?.port) : ''
    const { code, stderr } = await run('--port', port, '--db', ':memory:').ended
    blocker.close()
    expect(code).toBe(1)
    expect(stderr).toContain(`port ${port} is taken: choose another with --port, or let --port 0 choose`)
    expect(stderr.trim().split('\n')).toHaveLength(1)
  })

  it('explains itself with --help', async () => {
    const { code, stdout } = await run('--help').ended
    expect(code).toBe(0)
    expect(stdout).toContain('--config FILE')
  })
})
