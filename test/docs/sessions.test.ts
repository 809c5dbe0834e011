import { type IncomingMessage, request } from 'node:http'
import { text } from 'node:stream/consumers'
import express from 'express'
import fastify from 'fastify'
import type { AuthenticatedUser } from 'open-payments-server/consent'
import { expect, it } from 'vitest'
import { gate } from '../support/gate.ts'
import { testServers } from '../support/test-servers.ts'
import { ALICE, AUTH, BOB, requestConsent, type TestWallet, testWallet } from '../support/test-wallet.ts'
import * as ofExpress from './express-sessions.ts'
import * as ofFastify from './fastify-sessions.ts'

const { listen } = testServers()

const PEOPLE: Readonly<Record<string, AuthenticatedUser>> = {
  alice: { session: 'the session of Alice', walletAddresses: [ALICE], name: 'Alice' },
  bob: { session: 'the session of Bob', walletAddresses: [BOB], name: 'Bob' },
}

type PersonOf = (request: Pick<IncomingMessage, 'method' | 'headers'>) => AuthenticatedUser | undefined

/** Applications with their own routes behind Open Payments; each answers its port. */
const FRAMEWORKS = {
  Express: async ({ openPayments }: TestWallet, personOf: PersonOf) => {
    const app = express()
    ofExpress.mountOpenPayments(app, openPayments, personOf)
    app.use(express.json())
    app.post('/own', (sent, answer) => void answer.json(sent.body))
    return listen(app)
  },
  Fastify: async ({ openPayments }: TestWallet, personOf: PersonOf) => {
    const app = fastify()
    ofFastify.mountOpenPayments(app, openPayments, personOf)
    app.post('/own', async ({ body }) => body)
    await app.ready()
    return listen((sent, answer) => app.routing(sent, answer))
  },
}

/** An application with that login, and a way to visit it; the bodies of four forms come when the heads of all are there. */
async function start(framework: keyof typeof FRAMEWORKS, wallet: TestWallet) {
  const { open, opened } = gate()
  let forms = 0
  const port = await FRAMEWORKS[framework](wallet, ({ method, headers }) => {
    if (method === 'POST' && headers.cookie !== undefined) forms += 1
    if (forms === 4) open()
    return PEOPLE[headers.cookie ?? '']
  })
  const own = await fetch(`http://127.0.0.1:${port}/own`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: '{"own":1}',
  })
  expect([own.status, await own.text()]).toEqual([200, '{"own":1}'])
  expect((await fetch(`http://127.0.0.1:${port}/nothing/here`)).status).toBe(404)
  return async (url: string, cookie: string, csrf?: string) => {
    const isForm = csrf !== undefined
    const body = isForm ? `decision=approve&csrf=${encodeURIComponent(csrf)}` : ''
    const type = { 'content-type': 'application/x-www-form-urlencoded', 'content-length': body.length }
    const sent = request(`http://127.0.0.1:${port}${url.slice(AUTH.length)}`, {
      method: isForm ? 'POST' : 'GET',
      headers: { cookie, ...(isForm && type) },
      agent: false,
    })
    sent.flushHeaders()
    if (isForm) await opened
    const answer = await new Promise<IncomingMessage>((resolve, reject) => {
      sent.on('response', resolve).on('error', reject).end(body)
    })
    const page = await text(answer)
    return {
      status: answer.statusCode,
      location: answer.headers.location,
      person: /Alice|Bob/.exec(/<header>.*<\/header>/s.exec(page)?.[0] ?? '')?.[0],
      csrf: /name="csrf" value="([^"]*)"/.exec(page)?.[1] ?? '',
    }
  }
}

it.each([
  ['Express', ofExpress.consent],
  ['Fastify', ofFastify.consent],
] as const)(
  'people with sessions of %s decide at the same time, each for themselves alone',
  async (framework, consent) => {
    const wallet = await testWallet({ consent })
    const visit = await start(framework, wallet)
    const questionTo = async (owner: string, identifier: string, other: string) => {
      const access = [{ type: 'outgoing-payment', actions: ['create'], identifier }]
      const url = (await requestConsent(wallet, access)).body.interact.redirect
      const [own, foreign, nobody] = await Promise.all([visit(url, owner), visit(url, other), visit(url, '')])
      expect(own).toMatchObject({ status: 200, person: PEOPLE[owner]?.name })
      expect(foreign).toMatchObject({ status: 403, person: PEOPLE[other]?.name })
      const login = `/login?next=${encodeURIComponent(url.slice(AUTH.length))}`
      expect(nobody).toMatchObject({ status: 303, location: login })
      return { url, csrf: own.csrf }
    }
    const [one, two] = await Promise.all([questionTo('alice', ALICE, 'bob'), questionTo('bob', BOB, 'alice')])
    const [foreignToOne, foreignToTwo, ...own] = await Promise.all([
      visit(one.url, 'bob', one.csrf),
      visit(two.url, 'alice', two.csrf),
      visit(one.url, 'alice', one.csrf),
      visit(two.url, 'bob', two.csrf),
    ])
    // Somebody else's; or that, and answered by now.
    for (const { status } of [foreignToOne, foreignToTwo]) expect([403, 410]).toContain(status)
    expect([foreignToOne.person, foreignToTwo.person]).toEqual(['Bob', 'Alice'])
    const location = expect.stringMatching(/^https:\/\/shop\.example\/done\?/)
    expect(own).toMatchObject(Array(2).fill({ status: 303, location }))
  },
)
