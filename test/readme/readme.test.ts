import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'

const root = fileURLToPath(new URL('../..', import.meta.url))
const readme = readFileSync(join(root, 'README.md'), 'utf8')

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  server.close()
  await once(server, 'close')
  return typeof address === 'object' && address !== null ? address.port : 0
}

async function answerOf(url: string, child: ChildProcess): Promise<Response> {
  for (;;) {
    const answer = await fetch(url).catch(() => undefined)
    if (answer !== undefined) return answer
    if (child.exitCode !== null) throw new Error(`the server ended with ${child.exitCode}`)
    await new Promise((resolve) => setImmediate(resolve))
  }
}

describe('the README', () => {
  it('has its first code within the first 15 lines', () => {
    expect(readme.split('\n').indexOf('```ts')).toBeLessThan(15)
  })

  it('begins with a server that runs as it stands', async () => {
    const [, code = ''] = /```ts\n([\s\S]*?)```/.exec(readme) ?? []
    const port = await freePort()
    const folder = await mkdtemp(join(tmpdir(), 'readme-'))
    await writeFile(join(folder, 'server.mjs'), code.replaceAll('3000', String(port)))
    await mkdir(join(folder, 'node_modules'))
    await symlink(root, join(folder, 'node_modules', 'open-payments-server'))
    const child = spawn(process.execPath, ['server.mjs'], { cwd: folder, stdio: 'ignore' })
    try {
      const answer = await answerOf(`http://localhost:${port}/alice`, child)
      expect(await answer.json()).toEqual({
        id: `http://localhost:${port}/alice`,
        publicName: 'Alice',
        assetCode: 'EUR',
        assetScale: 2,
        authServer: `http://localhost:${port}/auth`,
        resourceServer: `http://localhost:${port}`,
      })
    } finally {
      child.kill()
      await once(child, 'exit')
      await rm(folder, { recursive: true })
    }
  })

  it('names no script that package.json has not', () => {
    const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
    const named = [...readme.matchAll(/npm (?:run )?(start|test|[a-z]+(?=\s))/g)].map(([, name]) => name ?? '')
    for (const name of named.filter((one) => one !== 'ci' && one !== 'run'))
      expect(Object.keys(scripts)).toContain(name)
    expect(named).toContain('test')
  })
})
