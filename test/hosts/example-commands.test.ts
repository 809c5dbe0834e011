import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, afterEach, beforeAll, describe, expect, inject, it } from 'vitest'
import { answerAsPerson } from '../../examples/sandbox/person.ts'
import { useDatabases } from '../storage/postgres-databases.ts'
import { freePort } from '../support/free-port.ts'

// The commands of examples/README.md, as they stand there, but for ports that are free and a folder of its own.

const ROOT = fileURLToPath(new URL('../../', import.meta.url))
const { newSchema } = useDatabases()
const children: ChildProcess[] = []
const programsRun = new Set<string>()
let folder: string

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'examples-'))
  writeFileSync(join(folder, 'quick.json'), '{"lifetimes":{"continuationWaitSeconds":1}}')
})
afterEach(async () => {
  for (const child of children.splice(0)) await stop(child)
})
afterAll(() => rmSync(folder, { recursive: true }))

/** Runs `npx bun <program>`, and resolves with the first line that it prints and that matches. */
async function run(program: string, words: readonly string[], expected: RegExp, env: Record<string, string> = {}) {
  programsRun.add(program)
  const child = spawn(`${ROOT}node_modules/.bin/bun`, [`${ROOT}${program}`, ...words], {
    cwd: folder,
    env: { PATH: process.env['PATH'], HOME: process.env['HOME'], NO_COLOR: '1', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: 120_000,
  })
  children.push(child)
  let output = ''
  let complaints = ''
  child.stderr.on('data', (text) => {
    complaints += text
  })
  const readUntil = (pattern: RegExp): Promise<string> =>
    new Promise((resolve, reject) => {
      const look = (): void => {
        const found = output
          .split('\n')
          .slice(0, -1)
          .find((line) => pattern.test(line))
        if (found !== undefined) resolve(found)
      }
      child.stdout.on('data', look)
      child.on('exit', () =>
        reject(new Error(`${program} has ended before it printed ${pattern}\n${output}${complaints}`)),
      )
      look()
    })
  child.stdout.on('data', (text) => {
    output += text
  })
  return { child, line: await readUntil(expected), readUntil }
}

async function stop(child: ChildProcess): Promise<number | null> {
  if (child.exitCode === null && child.signalCode === null) {
    const exit = once(child, 'exit')
    child.kill()
    await exit
  }
  return child.exitCode
}

/** Buys something as somebody with a wallet address does, and resolves with what the shop says in the end. */
async function buy(
  file: string,
  walletAddress: string,
  approve: (interaction: string) => Promise<string | undefined>,
): Promise<string> {
  const PORT = String(await freePort())
  await run('examples/shop/main.ts', [file], /The shop is at/, { PORT })
  const body = new URLSearchParams({ wallet: walletAddress })
  const ordered = await fetch(`http://localhost:${PORT}/orders`, { method: 'POST', body, redirect: 'manual' })
  const finish = await approve(ordered.headers.get('location') ?? '')
  const cookie = ordered.headers.get('set-cookie')?.split(';')[0] ?? ''
  const { url } = await fetch(finish ?? '', { headers: { cookie } })
  let page = ''
  await expect.poll(async () => (page = await (await fetch(url)).text()), { interval: 50 }).not.toContain('on its way')
  return page
}

const sandbox = () =>
  run('examples/sandbox/main.ts', ['--json', '--port', '0', '--db', ':memory:', '--config', 'quick.json'], /^\{/)

describe('the commands of the examples', { timeout: 60_000 }, () => {
  it('sell something to an account of the sandbox', async () => {
    const { line } = await sandbox()
    writeFileSync(join(folder, 'sandbox.json'), line)
    const { wallets, consent } = JSON.parse(line)
    const approve = (interaction: string) => answerAsPerson(interaction, consent.credentials, 'approve')
    expect(await buy('sandbox.json', wallets[0].walletAddress, approve)).toContain('Paid')
  })

  it('charge an account of the sandbox', async () => {
    const { line } = await sandbox()
    writeFileSync(join(folder, 'sandbox.json'), line)
    const subscription = await run('examples/subscription/main.ts', ['sandbox.json'], /^Open http/)
    await answerAsPerson(subscription.line.slice('Open '.length), JSON.parse(line).consent.credentials, 'approve')
    await subscription.readUntil(/^period 0: sent/)
    await subscription.readUntil(/^period 0: paid/)
    const kept = readFileSync(join(folder, 'subscription.json'), 'utf8')
    expect(JSON.parse(kept)).toMatchObject({ charged: { period: '0' } })
  })

  it('sell something to a customer of the wallet with a screen in a single page', async () => {
    const { line } = await run('examples/consent-spa/main.ts', [], /^\{/, { PORT: String(await freePort()) })
    writeFileSync(join(folder, 'wallet.json'), line)
    const url = new URL(JSON.parse(line).client.walletAddress).origin
    const approve = async (interaction: string): Promise<string> => {
      const { hash } = new URL((await fetch(interaction, { redirect: 'manual' })).headers.get('location') ?? '')
      const headers = { 'sec-fetch-site': 'same-origin' }
      const credentials = { method: 'POST', headers, body: '{"name":"alice","password":"alice"}' }
      const cookie = (await fetch(`${url}/api/session`, credentials)).headers.get('set-cookie')?.split(';')[0] ?? ''
      const path = `${url}/api/interactions/${hash.slice(1)}`
      const { consent, csrf } = await (await fetch(path, { headers: { ...headers, cookie } })).json()
      const access = consent.access.map((right: { readonly access: unknown }) => right.access)
      const body = JSON.stringify({ decision: 'approve', csrf, access })
      const decided = await fetch(path, { method: 'POST', headers: { ...headers, cookie }, body })
      return (await decided.json()).redirect
    }
    expect(await buy('wallet.json', `${url}/alice`, approve)).toContain('Paid')
  })

  it('make a wallet in PostgreSQL, sell something to its customer, and end in order', async () => {
    const search = `?host=${inject('postgresSocket')}&options=-csearch_path%3D${await newSchema()}`
    const PORT = String(await freePort())
    const DATABASE_URL = `postgres://postgres:postgres@localhost/postgres${search}`
    const env = { DATABASE_URL, PORT, WALLET_URL: `http://localhost:${PORT}`, SECRETS: 'x'.repeat(44) }
    const setup = await run('examples/users-in-postgres/setup.ts', [], /^\{/, env)
    writeFileSync(join(folder, 'wallet.json'), setup.line)
    const wallet = await run('examples/users-in-postgres/main.ts', [], /The wallet is at/, env)
    const approve = async (interaction: string): Promise<string> => {
      const headers = { 'sec-fetch-site': 'same-origin' }
      const login = (await fetch(interaction, { redirect: 'manual' })).headers.get('location') ?? ''
      const form = { method: 'POST', headers, body: new URLSearchParams({ name: 'alice', password: 'alice' }) }
      const entered = await fetch(new URL(login, interaction), { ...form, redirect: 'manual' })
      const cookie = entered.headers.get('set-cookie')?.split(';')[0] ?? ''
      const page = await (await fetch(interaction, { headers: { cookie } })).text()
      const csrf = /name="csrf" value="([^"]+)"/.exec(page)?.[1] ?? ''
      const body = new URLSearchParams({ decision: 'approve', csrf })
      const decided = await fetch(interaction, { method: 'POST', headers: { cookie }, body, redirect: 'manual' })
      return decided.headers.get('location') ?? ''
    }
    expect(await buy('wallet.json', `http://localhost:${PORT}/alice`, approve)).toContain('Paid')
    expect(await stop(wallet.child)).toBe(0)
  })

  it.each(['node', 'express', 'bun', 'fastify', 'hono', 'koa'])('start %s', async (host) => {
    const PORT = String(await freePort())
    const { line } = await run(`examples/${host}.ts`, [], /^Alice's wallet address is/, { PORT })
    const { status } = await fetch(line.split(' ').at(-1) ?? '')
    expect(status).toBe(200)
  })

  it('are all run here', () => {
    const index = readFileSync(`${ROOT}examples/README.md`, 'utf8')
    const named = [...index.matchAll(/npx bun (examples\/\S+)/g)].map(([, program = '']) => program)
    expect(named.length).toBeGreaterThan(6)
    expect(named.filter((program) => !programsRun.has(program))).toEqual([])
    const listed = [...index.matchAll(/^\| \[`([\w./-]+)`\]\(([\w./-]+)\)/gm)]
    expect(listed.every(([, name, target]) => name?.replace(/\/$/, '') === target)).toBe(true)
  })
})
