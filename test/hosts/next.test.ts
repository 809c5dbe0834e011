import ts from 'typescript'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createClient, playSignedFlow, readAnswer, type WalletAddressDocument } from '../runtimes/signed-flow.ts'
import { ROOT, type RunningHost, startExample, withoutTypes } from './example-process.ts'
import { describeHost, UNUSUAL_QUERY } from './host-behaviour.ts'
import { createNextApplication, type NextApplication } from './next-application.ts'

/** A consent screen of a wallet's own that sets a cookie, and needs nothing else to be right. */
const COOKIES = `
import { createOpenPayments } from 'open-payments-server'
import { memoryLedger } from 'open-payments-server/ledger/memory'
import { memoryStorage } from 'open-payments-server/storage/memory'

const openPayments = createOpenPayments({
  authServer: 'https://wallet.example/cookies/auth',
  resourceServer: 'https://wallet.example/cookies',
  secrets: ['a secret of the tests, long enough to be one'],
  storage: memoryStorage(),
  ledger: memoryLedger(),
  walletAddresses: { find: async () => undefined },
  consent: {
    respond: async () => ({ status: 303, headers: { location: '/login', 'set-cookie': 'session=1; HttpOnly' }, body: '' }),
  },
})

export const GET = (request) => openPayments.fetch(request)
`

const FILES = {
  'app/op/[...path]/route.js': withoutTypes('examples/next.ts'),
  'app/account/route.js': "export const GET = () => new Response('the wallet itself\\n')",
  'app/page.js': "export default function Page() { return 'the page of the wallet' }",
  'app/layout.js': `import { createElement } from 'react'
export default function Layout({ children }) { return createElement('html', null, createElement('body', null, children)) }`,
  'app/cookies/[...path]/route.js': COOKIES,
  // The packages are linked from elsewhere here.
  'next.config.mjs': "export default { skipTrailingSlashRedirect: true, turbopack: { root: '/' } }",
}

it('the example for Next.js compiles with the target of an application that `create-next-app` makes', () => {
  const { config } = ts.readConfigFile(`${ROOT}tsconfig.json`, ts.sys.readFile)
  const { options } = ts.parseJsonConfigFileContent(config, ts.sys, ROOT)
  const program = ts.createProgram([`${ROOT}examples/next.ts`], { ...options, target: ts.ScriptTarget.ES2017 })
  const found = ts.getPreEmitDiagnostics(program, program.getSourceFile(`${ROOT}examples/next.ts`))
  expect(found.map(({ messageText }) => messageText)).toEqual([])
})

describe('Next.js', () => {
  let application: NextApplication
  let host: RunningHost
  const at = (path: string): string => new URL(path, host.walletAddress).href

  beforeAll(async () => {
    application = createNextApplication(FILES)
    await application.build()
    host = await startExample(application.start)
  }, 240_000)
  afterAll(async () => {
    await host?.stop()
    application?.remove()
  })

  describeHost('Next.js', {
    start: async () => ({ ...host, stop: async () => undefined }),
    query: 'x=%7E%2F++&y=&z=a%3Ab',
  })

  it('SIG-30 has a query that Next writes in its own way refused, as one that nobody has signed', async () => {
    const client = createClient()
    const { token, wallet } = await playSignedFlow(client, host.walletAddress)
    const url = `${wallet.resourceServer}/incoming-payments?wallet-address=${wallet.id}&${UNUSUAL_QUERY}`
    const refusal = await readAnswer(client.request('GET', url, { token }), 401)
    expect(refusal).toMatchObject({ error: { code: 'invalid_signature' } })
  })

  it('EMB-6 keeps the pages of the application', async () => {
    const page = await fetch(at('/'))
    expect([page.status, await page.text()]).toEqual([200, expect.stringContaining('the page of the wallet')])
    expect((await fetch(at('/nowhere'))).status).toBe(404)
  })

  it('D16 takes the grant endpoint with a slash at its end, too', async () => {
    const client = createClient()
    const { authServer } = await readAnswer<WalletAddressDocument>(fetch(host.walletAddress), 200)
    const json = { access_token: { access: [{ type: 'quote', actions: ['create'] }] }, client: { jwk: client.jwk } }
    await readAnswer(client.request('POST', `${authServer}/`, { json }), 200)
  })

  it('GRT-18 answers OPTIONS itself, and HEAD and unknown paths with its own refusals', async () => {
    const { authServer } = await readAnswer<WalletAddressDocument>(fetch(host.walletAddress), 200)
    expect(await readAnswer(fetch(authServer, { method: 'OPTIONS' }), 200)).toMatchObject({
      grant_request_endpoint: authServer,
    })
    expect((await fetch(at('/op/quotes'), { method: 'HEAD' })).status).toBe(405)
    const unknown = await fetch(at('/op/nobody'))
    expect([unknown.status, unknown.headers.get('content-type')]).toEqual([404, 'application/json'])
  })

  it('hands on the cookie of a consent screen, with its redirect', async () => {
    const answer = await fetch(at('/cookies/auth/interact/x'), { redirect: 'manual' })
    expect([answer.status, answer.headers.get('location'), answer.headers.getSetCookie()]).toEqual([
      303,
      '/login',
      ['session=1; HttpOnly'],
    ])
    expect(answer.headers.get('cache-control')).toBe('no-store')
  })
})
