import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync } from 'node:fs'
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Change } from 'open-payments-server'
import { consentPage } from 'open-payments-server/consent'
import { describe, expect, it } from 'vitest'
import { authServerRoutes } from '../../src/auth-server/routes.ts'
import { resourceServerRoutes } from '../../src/resource-server/routes.ts'
import { walletAddressServerRoutes } from '../../src/wallet-address-server/routes.ts'
import { readText } from '../architecture/source-tree.ts'
import { codeBlocksOf, PAGES, proseOf } from '../docs/markdown.ts'
import type { Call } from '../payments/faulty-ports.ts'
import { grantTokens, moneyWorld, pay, preparePayment, signedBy } from '../payments/money-world.ts'
import { freePort } from '../support/free-port.ts'
import { BASE, testWallet } from '../support/test-wallet.ts'
import { turn, turns } from '../support/turns.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const readme = readText('README.md')
const blocks = codeBlocksOf('README.md')
const { dependencies, exports, scripts } = JSON.parse(readText('package.json'))

async function answerOf(url: string, child: ChildProcess): Promise<Response> {
  for (;;) {
    const answer = await fetch(url).catch(() => undefined)
    if (answer !== undefined) return answer
    if (child.exitCode !== null) throw new Error(`the server ended with ${child.exitCode}`)
    await turn()
  }
}

/** What the page says of its first server. The test below runs the one and sends what the other does. */
const START = 'node server.mjs'
const ASK = 'curl http://localhost:3000/alice'

it('no page has a secret that could be copied from it', () => {
  const written = PAGES.flatMap((page) => codeBlocksOf(page)).filter(({ code }) => code.includes('secrets: ['))
  expect(written.length).toBeGreaterThan(1)
  for (const { code } of written) expect(code).not.toMatch(/secrets: \[\s*['"`]/)
})

describe('the README', () => {
  it('has its first code within the first 15 lines, and under 200 in all', () => {
    expect(readme.split('\n').indexOf('```ts')).toBeLessThan(15)
    expect(readme.trimEnd().split('\n').length).toBeLessThan(200)
  })

  it('begins with a server that runs as it stands', async () => {
    const [{ code } = { code: '' }] = blocks
    const port = await freePort()
    const folder = await mkdtemp(join(tmpdir(), 'readme-'))
    const [, file = ''] = START.split(' ')
    await writeFile(join(folder, file), code.replaceAll('3000', String(port)))
    await mkdir(join(folder, 'node_modules'))
    await symlink(root, join(folder, 'node_modules', 'open-payments-server'))
    const child = spawn(process.execPath, [file], { cwd: folder, stdio: 'ignore' })
    try {
      const answer = await answerOf(ASK.replace('curl ', '').replace('3000', String(port)), child)
      const [printed] = blocks.filter(({ language }) => language === 'json')
      expect(await answer.text()).toBe(printed?.code.trim().replaceAll('3000', String(port)))
    } finally {
      child.kill()
      await once(child, 'exit')
      await rm(folder, { recursive: true })
    }
  })
})

/** Where each other command of the page is run, and by what line of that file. */
const COMMANDS: Readonly<Record<string, readonly [file: string, line: string]>> = {
  'npm install open-payments-server': ['test/package/pack-package.ts', "'npm', 'install'"],
  'npm ci': ['.ci/run', 'step npm ci'],
  'npm run build': ['.ci/run', 'step npm run build'],
  'npm test': ['.ci/run', 'run_tests test'],
  'npm start': ['test/sandbox/main.test.ts', 'dist/sandbox/main.js'],
  'npm run demo': ['test/package/demo.test.ts', 'dist/sandbox/demo.js'],
  'npx open-payments-server sandbox': ['test/package/check-program.ts', "'npx', 'open-payments-server', 'sandbox'"],
}

describe('the commands of the README', () => {
  const written = [
    ...blocks.filter(({ language }) => language === 'sh').flatMap(({ code }) => code.trim().split('\n')),
    ...[...proseOf(readme).matchAll(/`((?:npm|npx|node|curl) [^`]+)`/g)].map(([, line = '']) => line),
  ].map((line) => line.replace(/\s+#.*$/, ''))

  it('are all run by a test', () => {
    expect([...new Set(written)].sort()).toEqual([START, ASK, ...Object.keys(COMMANDS)].sort())
    for (const [file, line] of Object.values(COMMANDS)) expect(readText(file)).toContain(line)
  })

  it('that build first run the programs which the tests run', () => {
    expect(scripts.start).toBe('tsup --silent --no-dts && node dist/sandbox/main.js')
    expect(scripts.demo).toBe('tsup --silent --no-dts && node dist/sandbox/demo.js')
  })
})

describe('the tables of the README', () => {
  it('have every operation with its methods and paths', async () => {
    const { openPayments } = await testWallet()
    const consent = consentPage({ walletName: 'Wallet', authenticate: async () => undefined })
    const routes = [
      ...authServerRoutes(consent, openPayments.interactions),
      ...resourceServerRoutes(),
      ...walletAddressServerRoutes(),
    ]
    const rows = [
      ...readme.matchAll(/^\| ([A-Z, ]+) \| (.+) \| \[`([\w-]+)`\]\(docs\/spec-map\.md#[\w-]+\) \| .+ \|$/gm),
    ]
    const named = rows.flatMap(([, methods = '', paths = '', operation]) =>
      methods
        .split(', ')
        .flatMap((method) => paths.split(', ').map((path) => `${method} ${path.replaceAll('`', '')} ${operation}`)),
    )
    const roots = {
      'auth-server': '{authServer}',
      'resource-server': '{resourceServer}',
      'wallet-address-server': '{walletAddress}',
    }
    const served = routes.map(({ method, path, role, operation }) => {
      const own = path
        .replace(/^\/?\*/, '')
        .replace(/^\/$/, '')
        .replace(/:(\w+)/g, '{$1}')
      return `${method} ${roots[role]}${own} ${operation}`
    })
    expect(named.sort()).toEqual([...new Set(served)].sort())
  })

  it('have every dependency, with a reason', () => {
    const [, section = ''] = readme.split('## Dependencies\n')
    const named = [...section.matchAll(/^- `([^`]+)`: .{20,}$/gm)].map(([, name]) => name)
    expect(named.sort()).toEqual(Object.keys(dependencies).sort())
  })

  it('have every host of the package, and every one that there is an example for', () => {
    const [, section = ''] = readme.split('## Hosts\n')
    const [hosts = ''] = section.split('\n## ')
    const entries = Object.keys(exports).filter((entry) =>
      /^\.\/(?!package|consent|ilp|reconciliation|testing)\w+$/.test(entry),
    )
    for (const entry of entries) expect(hosts).toContain(`\`${entry}\``)
    const files = readdirSync(join(root, 'examples')).filter((name) => /(?<!\.d)\.ts$/.test(name))
    const servers = files.filter((name) => readText(`examples/${name}`).includes('createOpenPayments('))
    expect(servers.length).toBeGreaterThan(7)
    for (const name of [...servers, 'workers']) expect(hosts).toContain(`](examples/${name})`)
  })
})

describe('the cost of a payment that the README names', () => {
  const isCommit = ({ name, arguments: [changes] }: Call): boolean =>
    name === 'commit' &&
    !(changes as readonly Change[]).every(({ action, kind }) => action === 'delete' && kind === 'event')
  const isMovement = ({ port, name }: Call): boolean => port === 'ledger' && name !== 'account'
  const costOf = (calls: readonly Call[]) => [calls.filter(isCommit).length, calls.filter(isMovement).length]
  const named =
    /\*\*(\d) commits and (\d) ledger calls\*\*, of which (\d) commits and (\d) ledger call come before the 201/

  it('is what is counted', async () => {
    const [commits, movements, commitsBefore, movementsBefore] = (named.exec(readme) ?? []).slice(1).map(Number)
    const world = await moneyWorld()
    const tokens = await grantTokens(world)
    const whole = world.start()
    await pay(world, whole, await preparePayment(world, tokens))
    expect(costOf(whole.ports.calls)).toEqual([commits, movements])
    const acknowledged = whole.ports.calls.filter((call) => call.name === 'commit' && !isCommit(call)).length
    expect(acknowledged).toBe(Number(/each delivered event adds a commit: (\d) for such a payment/.exec(readme)?.[1]))
    expect(whole.ports.calls.some(({ port, name }) => port === 'ledger' && name === 'account')).toBe(false)

    // Each call waits until nothing else goes on: what the answer does not wait for is never made before it.
    const { token, body } = await preparePayment(world, tokens)
    const { openPayments, ports } = world.start()
    const made: Call[] = []
    let isAnswered = false
    ports.plan = async (call) => {
      await turns(10)
      if (!isAnswered) made.push(call)
      return undefined
    }
    const request = await signedBy(world, 'POST', `${BASE}/outgoing-payments`, token, body)
    const { status } = await openPayments.handle(request)
    isAnswered = true
    expect([status, ...costOf(made)]).toEqual([201, commitsBefore, movementsBefore])
    await openPayments.drain()
  })
})
