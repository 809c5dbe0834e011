import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, it } from 'vitest'

const root = fileURLToPath(new URL('../..', import.meta.url))
const TYPEDOC = join(root, 'node_modules', 'typedoc', 'bin', 'typedoc')

let folder = ''
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'typedoc-'))
})
afterAll(() => rm(folder, { recursive: true }))

async function runTypedoc(...words: readonly string[]): Promise<{ readonly code: unknown; readonly said: string }> {
  const options = ['--logLevel', 'Warn', '--pretty', 'false', ...words]
  const child = spawn(process.execPath, [TYPEDOC, ...options], { cwd: root, stdio: ['ignore', 'pipe', 'pipe'] })
  let said = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (text) => (said += text))
  const [code] = await once(child, 'close')
  return { code, said }
}

it('the reference is made of every entry point without a warning', { timeout: 300_000 }, async () => {
  const file = join(folder, 'reference.json')
  const { code, said } = await runTypedoc('--out', join(folder, 'html'), '--json', file)
  expect([said, code]).toEqual(['', 0])
  const { exports } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8'))
  const entries = Object.keys(exports).filter((path) => path !== './package.json')
  const reference: { children: readonly { name: string }[] } = JSON.parse(await readFile(file, 'utf8'))
  expect(reference.children.map(({ name }) => name).sort()).toEqual(
    entries.map((path) => path.replace('.', 'open-payments-server')).sort(),
  )
})

it('a name without a comment, a dead link and a hidden type make it fail', { timeout: 120_000 }, async () => {
  const wrong = [
    'export const bare = 1',
    '/** See {@link Nothing}. */\nexport const linked = 2',
    'interface Hidden { a: 1 }\n/** One. */\nexport function take(hidden: Hidden): void {}',
  ]
  await writeFile(join(folder, 'wrong.ts'), wrong.join('\n'))
  await writeFile(join(folder, 'tsconfig.json'), '{"compilerOptions":{"types":[]},"files":["wrong.ts"]}')
  await writeFile(join(folder, 'package.json'), '{"name":"wrong"}')
  const ours = JSON.parse(await readFile(join(root, 'typedoc.json'), 'utf8'))
  const options = { ...ours, entryPoints: ['wrong.ts'], tsconfig: 'tsconfig.json', intentionallyNotExported: [] }
  await writeFile(join(folder, 'typedoc.json'), JSON.stringify(options))
  const { code, said } = await runTypedoc('--options', join(folder, 'typedoc.json'), '--out', join(folder, 'no'))
  for (const name of ['bare', 'Nothing', 'Hidden']) expect(said).toContain(name)
  expect(code).not.toBe(0)
})
