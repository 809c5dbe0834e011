import { createPrivateKey } from 'node:crypto'
import { createServer } from 'node:http'
import { type AuthenticatedClient, isFinalizedGrantWithAccessToken, isPendingGrant } from '@interledger/open-payments'
import { afterEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import { type Configuration, readConfiguration } from '../../examples/sandbox/configuration.ts'
import { answerAsPerson } from '../../examples/sandbox/person.ts'
import { listen, type Sandbox, startSandbox } from '../../examples/sandbox/server.ts'
import { codeBlocksOf } from '../docs/markdown.ts'
import { useMovedTime } from '../examples/moved-time.ts'
import { officialClient } from '../examples/official-client.ts'

const { advance } = useMovedTime()
const cleanups: (() => unknown)[] = []
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup()
})

/** The configurations that the page gives for two sandboxes, on the ports that there are. */
function configurationsOfThePage(ports: readonly [number, number]): readonly Configuration[] {
  const pages = codeBlocksOf('docs/sandbox.md').filter(
    ({ language, code }) => language === 'json' && !code.includes('accounts'),
  )
  return pages.map(({ code }) => {
    const read = readConfiguration(code.replace('4000', String(ports[0])).replace('4001', String(ports[1])))
    if (!read.ok) throw new Error(read.message)
    return read.configuration
  })
}

async function startPair(): Promise<readonly [Sandbox, Sandbox]> {
  const servers = [createServer(), createServer()] as const
  const ports = [await listen(servers[0], 0), await listen(servers[1], 0)] as const
  const [first = {}, second = {}] = configurationsOfThePage(ports)
  const start = async (configuration: Configuration, index: 0 | 1): Promise<Sandbox> => {
    const [port, server] = [ports[index], servers[index]]
    const sandbox = await startSandbox({ port, server, database: ':memory:', configuration, warn: () => {} })
    cleanups.push(sandbox.stop)
    return sandbox
  }
  return [await start(first, 0), await start(second, 1)]
}

type Token = Promise<string>

/** A client with an account at one of the wallets, and what it needs to pay from there. */
async function openPayer(sandbox: Sandbox) {
  const { client, authServer, wallets, consent } = await sandbox.describe()
  const key = { keyId: client.keyId, privateKey: createPrivateKey(client.privateKeyPem) }
  const official = await officialClient(client.walletAddress, key)
  const identifier = wallets[0]?.walletAddress ?? ''
  const finish = { method: 'redirect' as const, uri: 'http://localhost/finish', nonce: 'a nonce' }
  const grant = await official.grant.request(
    { url: authServer },
    {
      access_token: { access: [{ type: 'outgoing-payment', actions: ['create', 'read'], identifier }] },
      interact: { start: ['redirect'], finish },
    },
  )
  if (!isPendingGrant(grant)) throw new Error('the grant is not pending')
  const back = new URL((await answerAsPerson(grant.interact.redirect, consent.credentials, 'approve')) ?? '')
  advance((grant.continue.wait ?? 0) * 1000)
  const { uri, access_token } = grant.continue
  const continued = await official.grant.continue(
    { url: uri, accessToken: access_token.value },
    { interact_ref: back.searchParams.get('interact_ref') ?? '' },
  )
  if (!('access_token' in continued)) throw new Error('the grant was not issued')
  return { official, sandbox, walletAddress: identifier, token: continued.access_token.value }
}

type Payer = Awaited<ReturnType<typeof openPayer>>

async function tokenAt(client: AuthenticatedClient, sandbox: Sandbox, type: 'incoming-payment' | 'quote'): Token {
  const access_token = { access: [{ type, actions: ['create' as const, 'read' as const] }] }
  const grant = await client.grant.request({ url: `${sandbox.origin}/auth` }, { access_token })
  if (!isFinalizedGrantWithAccessToken(grant)) throw new Error('the grant is pending')
  return grant.access_token.value
}

/** Pays `value` to an account at the other wallet; answers both sides of it once it is over. */
async function payAcross({ official, sandbox, walletAddress, token }: Payer, to: Sandbox, path: string, value: string) {
  const [incomingToken, quoteToken] = await Promise.all([
    tokenAt(official, to, 'incoming-payment'),
    tokenAt(official, sandbox, 'quote'),
  ])
  const { assetCode, assetScale } = await official.walletAddress.get({ url: to.origin + path })
  const incoming = await official.incomingPayment.create(
    { url: to.origin, accessToken: incomingToken },
    { walletAddress: to.origin + path, incomingAmount: { value, assetCode, assetScale } },
  )
  const quote = await official.quote.create(
    { url: sandbox.origin, accessToken: quoteToken },
    { walletAddress, receiver: incoming.id, method: 'ilp' },
  )
  const ordered = await official.outgoingPayment.create(
    { url: sandbox.origin, accessToken: token },
    { walletAddress, quoteId: quote.id },
  )
  await sandbox.openPayments.drain()
  await to.openPayments.drain()
  const [outgoing, received] = await Promise.all([
    official.outgoingPayment.get({ url: ordered.id, accessToken: token }),
    official.incomingPayment.get({ url: incoming.id, accessToken: incomingToken }),
  ])
  return { quote, outgoing, received }
}

async function booksOf(sandbox: Sandbox) {
  const { wallets, peers } = await sandbox.describe()
  const balances = wallets.map((wallet) => [new URL(wallet.walletAddress).pathname, Number(wallet.balance)])
  const [peer] = peers
  return { ...Object.fromEntries(balances), sent: Number(peer?.sent), received: Number(peer?.received) }
}

describe('two sandboxes with the configurations of the page', () => {
  it('pay each other, both ways, in one asset and across', async () => {
    const [first, second] = await startPair()
    expect((await first.describe()).peers).toEqual([
      { address: 'test.second', assetCode: 'USD', assetScale: 2, sent: '0', received: '0', owed: '0' },
    ])
    const [fromFirst, fromSecond] = await Promise.all([openPayer(first), openPayer(second)])

    const dollars = await payAcross(fromFirst, second, '/bob', '1234')
    expect(dollars.received).toMatchObject({ completed: true, receivedAmount: { value: '1234', assetCode: 'USD' } })
    expect(dollars.outgoing).toMatchObject({ failed: false, sentAmount: dollars.quote.debitAmount })
    const sent = Number((await booksOf(first))['sent'])

    const euros = await payAcross(fromSecond, first, '/chloe', '500')
    expect(euros.received).toMatchObject({ completed: true, receivedAmount: { value: '500', assetCode: 'EUR' } })

    const [one, other] = await Promise.all([booksOf(first), booksOf(second)])
    expect(one).toMatchObject({ '/chloe': 75_500, sent: 1234 })
    expect(one['/alice']).toBe(100_000 - Number(dollars.quote.debitAmount.value))
    expect(other).toMatchObject({ '/bob': 51_234 })
    expect(other['/alice']).toBe(100_000 - Number(euros.quote.debitAmount.value))
    const { consent } = await first.describe()
    const body = new URLSearchParams(consent.credentials)
    const login = await fetch(`${first.origin}/sandbox/login`, { method: 'POST', body, redirect: 'manual' })
    const cookie = (login.headers.get('set-cookie') ?? '').split(';')[0] ?? ''
    const home = await (await fetch(`${first.origin}/`, { headers: { cookie } })).text()
    const dollarsOf = (cents: number): string => `${(cents / 100).toFixed(2)} USD`
    expect(home).toContain(`sent ${dollarsOf(sent)}, received ${dollarsOf(Number(one['received']))}`)
    expect(home).toContain(`owes you ${dollarsOf(Number(one['received']) - sent)}`)
    // What one has sent is what the other has received, to the cent.
    expect([sent, one['received']]).toEqual([other['received'], other['sent']])
    expect(one['received']).toBeGreaterThan(500)
  })
})

describe('a sandbox whose peer does not answer', () => {
  it('says so to the person who started it', async () => {
    const print = vi.spyOn(console, 'error').mockReturnValue()
    onTestFinished(() => print.mockRestore())
    const start = async (configuration: Configuration): Promise<Sandbox> => {
      const sandbox = await startSandbox({ port: 0, database: ':memory:', configuration, warn: () => {} })
      cleanups.push(sandbox.stop)
      return sandbox
    }
    // Nobody listens where the first one's peer should be; its receiver is there.
    const [configuration = {}, other = {}] = configurationsOfThePage([1, 1])
    const [first, second] = [await start(configuration), await start(other)]
    const payer = await openPayer(first)
    const told = 'open-payments-server: nothing moves through test.second/USD/2: unreachable'
    // Timers are real here: where the machine is too busy to find the receiver within 3 seconds, the peer is not asked yet.
    await vi.waitFor(async () => {
      await expect(payAcross(payer, second, '/bob', '10')).rejects.toMatchObject({ status: 400 })
      expect(print).toHaveBeenCalledWith(expect.stringContaining(told))
    }, 50_000)
  })
})

describe('a sandbox without peers', () => {
  it('T-45 pays no receiver elsewhere', async () => {
    const [first, second] = await Promise.all(
      [0, 1].map(async () => {
        const sandbox = await startSandbox({ port: 0, database: ':memory:', configuration: {}, warn: () => {} })
        cleanups.push(sandbox.stop)
        return sandbox
      }),
    )
    if (first === undefined || second === undefined) throw new Error('there are two')
    const payer = await openPayer(first)
    await expect(payAcross(payer, second, '/bob', '10')).rejects.toMatchObject({
      status: 400,
      code: 'invalid_receiver',
    })
    expect((await first.describe()).peers).toEqual([])
  })
})

describe('a peer that is none', () => {
  const peer = {
    address: 'test.other',
    url: 'http://localhost:4001/ilp',
    outgoingToken: 'shown-to-the-other',
    incomingTokens: ['shown-by-the-other'],
    asset: { assetCode: 'USD', assetScale: 2 },
  }

  it.each([
    ['an address that is none', { address: 'https://other.example' }, 'peers[0].address'],
    ['a URL that is none', { url: 'localhost:4001' }, 'peers[0].url'],
    ['a URL that everybody on the way can read', { url: 'http://wallet.example/ilp' }, 'peers[0].url'],
    ['a token that anybody guesses', { incomingTokens: ['secret'] }, 'peers[0].incomingTokens'],
  ])('is refused by the name of what is wrong: %s', async (_what, wrong, name) => {
    const configuration = { ilpAddress: 'test.mine', peers: [{ ...peer, ...wrong }] }
    const warn = vi.fn()
    await expect(startSandbox({ port: 0, database: ':memory:', configuration, warn })).rejects.toThrow(name)
    expect(warn).not.toHaveBeenCalled()
  })

  it('leaves the own address to be named as the configuration does', async () => {
    const options = { port: 0, database: ':memory:', warn: vi.fn() }
    const started = (ilpAddress: string) => startSandbox({ ...options, configuration: { ilpAddress, peers: [peer] } })
    await expect(started('first')).rejects.toThrow(/^ilpAddress must be an ILP address .*`test\.` and a name/)
  })
})
