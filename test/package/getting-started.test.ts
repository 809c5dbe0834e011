import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { answerAsPerson } from '../../examples/sandbox/person.ts'
import { codeBlocksOf } from '../docs/markdown.ts'
import { freePort } from '../support/free-port.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const PAGE = 'docs/getting-started.md'
const blocks = codeBlocksOf(PAGE)
const codeOf = (language: string): readonly string[] =>
  blocks.filter((block) => block.language === language).map(({ code }) => code)

let folder = ''
const children: ChildProcessWithoutNullStreams[] = []

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'getting-started-'))
  await mkdir(join(folder, 'node_modules'))
  await symlink(root, join(folder, 'node_modules', 'open-payments-server'))
  await symlink(join(root, 'node_modules', '@interledger'), join(folder, 'node_modules', '@interledger'))
})
afterAll(async () => {
  for (const child of children) child.kill('SIGKILL')
  await rm(folder, { recursive: true })
})

/** A program of the page. Its lines are collected; `line` resolves with the first one that begins so. */
function run(name: string) {
  const child = spawn(process.execPath, [name], { cwd: folder })
  children.push(child)
  const lines: string[] = []
  const reader = createInterface(child.stdout)
  let error = ''
  child.stderr.on('data', (text) => (error += text))
  reader.on('line', (line) => lines.push(line))
  let isOver = false
  reader.on('close', () => {
    isOver = true
  })
  const line = async (beginning: string): Promise<string> => {
    for (;;) {
      const found = lines.find((one) => one.startsWith(beginning))
      if (found !== undefined) return found
      if (isOver) throw new Error(`${name} ended: ${error}`)
      await Promise.race([once(reader, 'line'), once(reader, 'close')])
    }
  }
  return { lines, line, ended: once(child, 'exit').then(([code]) => ({ code, error })) }
}

/** Output as the page has it: ids differ from run to run. */
function masked(text: string): string {
  return text.trim().replace(/\b(?:[0-9a-f]{12})?[0-9a-f]{32}\b/g, 'ID')
}

it('the first ten minutes are as their page says', { timeout: 60_000 }, async () => {
  const [keys = '', wallet = '', shop = ''] = codeOf('ts')
  const [shopSays = '', walletSays = ''] = codeOf('text')
  const [document = ''] = codeOf('json')
  const [walletPort, shopPort] = [await freePort(), await freePort()]
  const local = (text: string): string => text.replaceAll('3000', `${walletPort}`).replaceAll('3001', `${shopPort}`)
  await writeFile(join(folder, 'keys.mjs'), keys)
  await writeFile(join(folder, 'wallet.mjs'), local(wallet))
  await writeFile(join(folder, 'shop.mjs'), local(shop))

  expect(await run('keys.mjs').ended).toEqual({ code: 0, error: '' })
  const walletProcess = run('wallet.mjs')
  await walletProcess.line('Alice is at')
  const answer = await fetch(`http://localhost:${walletPort}/alice`)
  expect(await answer.json()).toEqual(JSON.parse(local(document)))

  const shopProcess = run('shop.mjs')
  const link = await shopProcess.line('Open this in a browser and approve: ')
  const finish = await answerAsPerson(link.split(': ')[1] ?? '', {}, 'approve')
  expect(await (await fetch(finish ?? '')).text()).toContain('Thank you')
  expect(await shopProcess.ended).toEqual({ code: 0, error: '' })
  await walletProcess.line('incoming_payment.completed')

  expect(masked(shopProcess.lines.join('\n'))).toBe(masked(local(shopSays)))
  expect(walletProcess.lines.join('\n')).toBe(local(walletSays).trim())

  const denied = run('shop.mjs')
  const question = await denied.line('Open this in a browser and approve: ')
  const refusal = await answerAsPerson(question.split(': ')[1] ?? '', {}, 'deny')
  expect(await (await fetch(refusal ?? '')).text()).toContain('You denied it')
  expect(await denied.ended).toEqual({ code: 1, error: expect.stringContaining('Alice has denied it') })
})

it('and its test of a wallet passes', async () => {
  await writeFile(join(folder, 'wallet.test.mjs'), codeOf('ts')[3] ?? '')
  const { lines, ended } = run('wallet.test.mjs')
  expect(await ended).toEqual({ code: 0, error: '' })
  expect(lines.join('\n')).toMatch(/ pass 1$/m)
})

it('and its commands are those that the test runs, but for the installation', () => {
  expect(codeOf('sh').join('').trim().split('\n')).toEqual([
    'mkdir my-wallet && cd my-wallet',
    'npm init --yes',
    'npm install open-payments-server @interledger/open-payments',
    'curl http://localhost:3000/alice',
  ])
})
