import { describe, expect, it, vi } from 'vitest'
import { parseGrant, parseIncomingPayment, parsePublicView } from '../../src/client/answers.ts'
import { chunks, jsonReply } from '../key-resolver/fake-network.ts'
import { noteParsed } from '../support/note-parsed.ts'
import { lines } from './internet.ts'
import {
  type Answers,
  AUTH_SERVER,
  MANAGE,
  paymentDocument,
  RECEIVER,
  SHARED_SECRET,
  standIn,
  TOKEN,
  tokenDocument,
} from './stand-in.ts'

const EUR = { assetCode: 'EUR', assetScale: 2 }
const eur = (value: bigint) => ({ value, ...EUR })
const method = { type: 'ilp', ilpAddress: 'test.pay.1', sharedSecret: SHARED_SECRET } as const

const GOOD = {
  url: RECEIVER,
  walletAddress: 'https://pay.example/bob',
  isCompleted: false,
  incomingAmount: eur(500n),
  receivedAmount: eur(120n),
  expiresAt: Date.parse('2026-03-02T12:00:00Z'),
  methods: [method],
}

/** What is found where one of the four answers is another one. Nothing that is said of it holds a secret. */
async function foundWith(change: Partial<Answers>) {
  const there = standIn()
  Object.assign(there.answers, change)
  const found = await there.receivers.find(RECEIVER)
  const said = JSON.stringify([found.ok ? '' : found, there.events])
  for (const secret of [SHARED_SECRET, TOKEN]) expect(said).not.toContain(secret)
  expect(there.events).toEqual([])
  return { ...there, found }
}

describe('what another server says of an incoming payment', () => {
  it('QUO-9 is taken as it is', async () => {
    expect((await foundWith({})).found).toEqual({ ok: true, payment: GOOD })
  })

  it.each([
    ['without an amount', { incomingAmount: undefined }, { incomingAmount: undefined }],
    ['with null for an amount', { incomingAmount: null }, { incomingAmount: undefined }],
    ['without an expiry', { expiresAt: undefined }, { expiresAt: undefined }],
    ['with null for an expiry', { expiresAt: null }, { expiresAt: undefined }],
    ['without methods', { methods: undefined }, { methods: [] }],
    ['with null for methods', { methods: null }, { methods: [] }],
    ['without saying that it is open', { completed: undefined }, {}],
    ['with null for whether it is completed', { completed: null }, {}],
    ['completed', { completed: true, methods: [] }, { isCompleted: true, methods: [] }],
    ['expired', { expiresAt: '2020-01-01T00:00:00+01:00' }, { expiresAt: Date.parse('2019-12-31T23:00:00Z') }],
    ['with more received than asked for', { receivedAmount: { ...EUR, value: '501' } }, { receivedAmount: eur(501n) }],
    ['with members that nobody knows', { note: 'x', constructor: 1 }, {}],
    ['with methods that nobody knows', { methods: [{ type: 'card', iin: '4' }, method, { type: '' }] }, {}],
    [
      'for a wallet address elsewhere',
      { walletAddress: 'https://bob.example' },
      { walletAddress: 'https://bob.example/.well-known/pay' },
    ],
    ['for one in another spelling', { walletAddress: 'https://PAY.example/bob/' }, {}],
    ['for nobody', { walletAddress: undefined }, { walletAddress: undefined }],
    ['for null', { walletAddress: null }, { walletAddress: undefined }],
    ['for a number', { walletAddress: 7 }, { walletAddress: undefined }],
    ['for a wallet address over http', { walletAddress: 'http://pay.example/bob' }, { walletAddress: undefined }],
    ['for a wallet address on this machine', { walletAddress: 'http://localhost/bob' }, { walletAddress: undefined }],
    ['for a name', { walletAddress: 'Bob\n$pay.example/bob' }, { walletAddress: undefined }],
    [
      'for a wallet address of 2049 characters',
      { walletAddress: `https://pay.example/${'b'.repeat(2029)}` },
      { walletAddress: undefined },
    ],
    ['with its URL in another spelling', { id: 'https://PAY.example:443/incoming-payments/1' }, {}],
    [
      'with two methods',
      { methods: [method, { ...method, ilpAddress: 'g.pay.2' }] },
      { methods: [method, { ...method, ilpAddress: 'g.pay.2' }] },
    ],
  ])('QUO-9 may be a payment %s', async (_, change, expected) => {
    const { found } = await foundWith({ payment: () => jsonReply({ ...paymentDocument(), ...change }) })
    expect(found).toEqual({ ok: true, payment: { ...GOOD, ...expected } })
  })

  it.each([
    ['the id of another payment', { id: `${RECEIVER}2` }],
    ['an id on another host', { id: RECEIVER.replace('pay.', 'pays.') }],
    ['an id with a query', { id: `${RECEIVER}?` }],
    ['an id over http', { id: RECEIVER.replace('https', 'http') }],
    ['an id of another kind', { id: 'https://pay.example/quotes/1' }],
    ['an id that is a number', { id: 1 }],
    ['no received amount', { receivedAmount: undefined }],
    ['a received amount that is null', { receivedAmount: null }],
    ['a received amount that is a number', { receivedAmount: { ...EUR, value: 120 } }],
    ['a received amount below zero', { receivedAmount: { ...EUR, value: '-1' } }],
    ['a received amount with a point', { receivedAmount: { ...EUR, value: '1.5' } }],
    ['a received amount in hexadecimal', { receivedAmount: { ...EUR, value: '0x10' } }],
    ['a received amount beyond 64 bits', { receivedAmount: { ...EUR, value: '18446744073709551616' } }],
    ['no value', { receivedAmount: EUR }],
    ['an asset scale beyond 255', { receivedAmount: { value: '120', assetCode: 'EUR', assetScale: 256 } }],
    ['an asset scale that is text', { receivedAmount: { value: '120', assetCode: 'EUR', assetScale: '2' } }],
    ['an asset code of 13 characters', { receivedAmount: { value: '1', assetCode: 'E'.repeat(13), assetScale: 2 } }],
    ['an amount in another asset', { incomingAmount: { value: '500', assetCode: 'USD', assetScale: 2 } }],
    ['an amount at another scale', { incomingAmount: { value: '500', assetCode: 'EUR', assetScale: 3 } }],
    ['an amount that is text', { incomingAmount: '500' }],
    ['completed as text', { completed: 'false' }],
    ['an expiry that is no moment', { expiresAt: 'tomorrow' }],
    ['an expiry that is a number', { expiresAt: 1772452800 }],
    ['methods that are no list', { methods: { 0: method } }],
    ['a method that is text', { methods: ['ilp'] }],
    ['a method without a type', { methods: [{ ilpAddress: 'test.pay.1', sharedSecret: SHARED_SECRET }] }],
    ['more than 20 methods', { methods: Array.from({ length: 21 }, (_, at) => ({ type: `card-${at}` })) }],
    ['no ILP address', { methods: [{ type: 'ilp', sharedSecret: SHARED_SECRET }] }],
    ['an ILP address without a segment', { methods: [{ ...method, ilpAddress: 'test' }] }],
    ['an ILP address of 1024 characters', { methods: [{ ...method, ilpAddress: 'test.'.padEnd(1024, 'a') }] }],
    ['an ILP address with a space', { methods: [{ ...method, ilpAddress: 'test.pay. 1' }] }],
    ['no shared secret', { methods: [{ type: 'ilp', ilpAddress: 'test.pay.1' }] }],
    ['a shared secret of 42 characters', { methods: [{ ...method, sharedSecret: SHARED_SECRET.slice(1) }] }],
    ['a shared secret of 44 characters', { methods: [{ ...method, sharedSecret: `${SHARED_SECRET}A` }] }],
    [
      'a shared secret with a foreign character',
      { methods: [{ ...method, sharedSecret: `+${SHARED_SECRET.slice(1)}` }] },
    ],
    ['a shared secret with bits left over', { methods: [{ ...method, sharedSecret: `${SHARED_SECRET.slice(1)}B` }] }],
    ['one good method, and one that is not', { methods: [method, { ...method, ilpAddress: '' }] }],
  ])('QUO-9 may not have %s', async (_, change) => {
    const { found } = await foundWith({ payment: () => jsonReply({ ...paymentDocument(), ...change }) })
    expect(found).toEqual({ ok: false, reason: 'invalid', detail: 'incoming payment: not what it should be' })
  })

  it.each(['null', '[]', '"text"', '{', '', '{}'])('QUO-9 may not be %j', async (text) => {
    const body = () => jsonReply(undefined, { body: chunks([text]) })
    for (const name of ['view', 'grant', 'payment'] as const)
      expect((await foundWith({ [name]: body })).found, name).toMatchObject({ ok: false, reason: 'invalid' })
  })
})

describe('whatever another server says', () => {
  it('T-4 costs little: of too many methods none is read, and of several wrong ones only the first', () => {
    let reads = 0
    const wrong = {
      get type() {
        reads++
        return 7
      },
    }
    const payment = (count: number) => ({ ...paymentDocument(), methods: Array.from({ length: count }, () => wrong) })
    for (const count of [21, 20_000])
      expect(parseIncomingPayment(payment(count), RECEIVER, { loopbackHttp: false })).toBeUndefined()
    expect(reads).toBe(0)
    expect(parseIncomingPayment(payment(20), RECEIVER, { loopbackHttp: false })).toBeUndefined()
    expect(reads).toBeGreaterThan(0)
    expect(reads).toBeLessThanOrEqual(8)
  })

  const hostile = [
    null,
    [],
    [[]],
    {},
    '',
    'x',
    '\ud800',
    'x'.repeat(60_000),
    0,
    -1,
    1.5,
    1e300,
    true,
    { toString: null },
    JSON.parse('{"__proto__":{"ok":true}}'),
    JSON.parse(`${'['.repeat(10_000)}${']'.repeat(10_000)}`),
  ]

  /** The document once for each of its members, at every depth, and each hostile value in the place of that member. */
  function* spoilt(document: unknown): Generator<unknown> {
    yield* hostile
    if (typeof document !== 'object' || document === null) return
    for (const [name, value] of Object.entries(document))
      for (const other of spoilt(value))
        yield Array.isArray(document) ? document.with(Number(name), other) : { ...document, [name]: other }
  }

  it('QUO-9 is either of use or not: nothing throws, and what is of use is sound', () => {
    const documents = [paymentDocument(), tokenDocument(), { authServer: AUTH_SERVER }].map((good) => [...spoilt(good)])
    let payments = 0
    for (const document of documents.flat()) {
      const authServer = parsePublicView(document)
      if (authServer !== undefined) expect(new URL(authServer).href).toBe(authServer)
      const token = parseGrant(document)
      if (typeof token === 'object') expect(`${token.value}${token.manage}`).toMatch(/^[!-~]+$/)
      const payment = parseIncomingPayment(document, RECEIVER, { loopbackHttp: false })
      if (payment === undefined) continue
      payments++
      const { methods, receivedAmount, incomingAmount = receivedAmount, ...rest } = payment
      expect([typeof receivedAmount.value, incomingAmount.assetCode]).toEqual(['bigint', 'EUR'])
      expect(rest).toMatchObject({ url: RECEIVER, isCompleted: expect.any(Boolean) })
      for (const one of methods) expect(one).toEqual(method)
    }
    expect(payments).toBeGreaterThan(20)
  })
})

describe('the public view of another server', () => {
  it.each([
    ['nothing', {}],
    ['no text', { authServer: 7 }],
    ['no URL', { authServer: 'auth.example' }],
    ['a URL of 2049 characters', { authServer: `${AUTH_SERVER}/`.padEnd(2049, 'a') }],
    ['a URL over http', { authServer: AUTH_SERVER.replace('https', 'http') }],
    ['another port', { authServer: 'https://auth.example:8443/gnap' }],
    ['a user', { authServer: 'https://user@auth.example/gnap' }],
    ['a query', { authServer: `${AUTH_SERVER}?a` }],
    ['an IP address', { authServer: 'https://93.184.216.34/gnap' }],
    ['this machine', { authServer: 'https://localhost/gnap' }],
    ['a file', { authServer: 'file:///etc/passwd' }],
  ])('T-1 may not name %s as authorization server', async (_, document) => {
    const { found, world } = await foundWith({ view: () => jsonReply(document) })
    expect(found).toMatchObject({ ok: false, reason: 'invalid' })
    expect(lines(world)).toEqual([`GET ${RECEIVER}`])
    expect(world.lookups).toEqual(['pay.example'])
  })

  it('may name it in any spelling: the operator is told of one', async () => {
    const { found } = await foundWith({
      view: () => jsonReply({ authServer: AUTH_SERVER.replace('auth.example', 'AUTH.example:443') }),
      grant: () => jsonReply({}, { status: 403 }),
    })
    expect(found).toEqual({ ok: false, reason: 'refused', detail: `grant at ${AUTH_SERVER}: status 403` })
  })
})

describe('a URL at a host beyond ASCII', () => {
  const ideographs = String.fromCodePoint(...Array.from({ length: 1900 }, (_, at) => 0x4e00 + at))
  const granted = (manage: string) =>
    jsonReply({ access_token: { ...Object(tokenDocument()['access_token']), manage } })

  it.each<[string, (host: string) => Partial<Answers>]>([
    ['as authorization server', (host) => ({ view: () => jsonReply({ authServer: `https://${host}/gnap` }) })],
    ['in a token', (host) => ({ grant: () => granted(`https://${host}/token/1`) })],
    ['in a payment', (host) => ({ payment: () => jsonReply(paymentDocument(`https://${host}/incoming-payments/1`)) })],
  ])('T-24 is refused %s before a parser, if it is longer than a name can be', async (_, answering) => {
    const parsed = noteParsed('URL')
    const tested = vi.spyOn(URL, 'canParse')
    try {
      const { found } = await foundWith(answering(ideographs))
      expect(found).toMatchObject({ ok: false, reason: 'invalid' })
      const given = [...parsed, ...tested.mock.calls.map(([text]) => String(text))]
      expect(given.filter((text) => text.includes(ideographs))).toEqual([])
    } finally {
      tested.mockRestore()
      vi.unstubAllGlobals()
    }
  })

  it('is read in any spelling', async () => {
    const { world, answers, receivers } = standIn()
    answers.view = () => jsonReply({ authServer: 'https://b\u00fccher.example/gnap' })
    world.hosts.set('xn--bcher-kva.example', () => granted('https://b\u00fccher.example/token/1'))
    expect(await receivers.find(RECEIVER)).toMatchObject({ ok: true })
  })
})

describe('a token of another server', () => {
  const granted = (change: object) => () =>
    jsonReply({ access_token: { ...Object(tokenDocument()['access_token']), ...change } })

  it.each([
    ['no text', { value: 7 }],
    ['empty', { value: '' }],
    ['two lines', { value: 'a\r\nx-admin: 1' }],
    ['two words', { value: 'a b' }],
    ['beyond ASCII', { value: 'é' }],
    ['two tokens', { value: 'a,b' }],
    ['padded in its middle', { value: 'a=b' }],
    ['4097 characters', { value: 'a'.repeat(4097) }],
    ['managed nowhere', { manage: undefined }],
    ['managed at no URL', { manage: '/token/1' }],
    ['of a lifetime below zero', { expires_in: -1 }],
    ['of a lifetime in text', { expires_in: '600' }],
    ['of a lifetime with a fraction', { expires_in: 0.5 }],
    ['of a lifetime beyond 2^53', { expires_in: 2 ** 53 }],
    ['managed at a URL of 2049 characters', { manage: `${MANAGE}/`.padEnd(2049, 'a') }],
  ])('may not be %s', async (_, change) => {
    const { found, world } = await foundWith({ grant: granted(change) })
    expect(found).toEqual({
      ok: false,
      reason: 'invalid',
      detail: `grant at ${AUTH_SERVER}: not what it should be`,
    })
    expect(lines(world)).toHaveLength(2)
  })

  it('may be any that fits a header line', async () => {
    for (const value of ['aZ09-._~+/==', 'a'.repeat(4096)]) {
      const { found, world } = await foundWith({ grant: granted({ value }) })
      expect(found).toMatchObject({ ok: true })
      expect(world.connections.at(-1)?.headers).toMatchObject({ authorization: `GNAP ${value}` })
    }
  })

  it('may last for no time: it is used at once, and rotated for the next payment', async () => {
    const { found, world, receivers } = await foundWith({ grant: granted({ expires_in: 0 }) })
    expect(found).toMatchObject({ ok: true })
    world.connections.length = 0
    expect(await receivers.find(RECEIVER)).toMatchObject({ ok: true })
    expect(lines(world)).toEqual([`signed POST ${MANAGE}`, `signed GET ${RECEIVER}`])
  })

  it('may be managed at a URL of 2048 characters', async () => {
    const { found } = await foundWith({ grant: granted({ manage: `${MANAGE}/`.padEnd(2048, 'a') }) })
    expect(found).toMatchObject({ ok: true })
  })

  it('is used although more could be had of a person', async () => {
    const interact = { redirect: 'https://auth.example/ask', finish: 'x' }
    const { found } = await foundWith({ grant: () => jsonReply({ ...Object(tokenDocument()), interact }) })
    expect(found).toMatchObject({ ok: true })
  })

  it.each([undefined, null])('whose lifetime is %s is used until it is refused', async (lifetime) => {
    const { clock, world, receivers, answers } = await foundWith({ grant: granted({ expires_in: lifetime }) })
    clock.advance(365 * 24 * 3600_000)
    world.connections.length = 0
    expect(await receivers.find(RECEIVER)).toMatchObject({ ok: true })
    expect(lines(world)).toEqual([`signed GET ${RECEIVER}`])
    answers.payment = ({ headers, url }) =>
      headers['authorization'] === 'GNAP new' ? jsonReply(paymentDocument(url.href)) : jsonReply({}, { status: 401 })
    answers.grant = granted({ value: 'new' })
    expect(await receivers.find(RECEIVER)).toMatchObject({ ok: true })
  })

  it.each([
    ['at another host', 'https://auth2.example/token/1'],
    ['at the host of the receiver', 'https://pay.example/token/1'],
    ['at another port', 'https://auth.example:8443/token/1'],
    ['over http', 'http://auth.example/token/1'],
    ['at a subdomain', 'https://x.auth.example/token/1'],
  ])('T-46 T-1 that is managed %s is not rotated: its value is told nobody there', async (_, manage) => {
    const { clock, world, receivers } = await foundWith({ grant: granted({ manage }) })
    clock.advance(600_000)
    world.connections.length = 0
    expect(await receivers.find(RECEIVER)).toMatchObject({ ok: true })
    expect(lines(world)).toEqual([`signed POST ${AUTH_SERVER}`, `signed GET ${RECEIVER}`])
  })

  it('T-1 that is managed under a URL with a query is not rotated either', async () => {
    const { clock, world, receivers } = await foundWith({ grant: granted({ manage: `${MANAGE}?next=1` }) })
    clock.advance(600_000)
    world.connections.length = 0
    expect(await receivers.find(RECEIVER)).toMatchObject({ ok: true })
    expect(lines(world)).toEqual([`signed POST ${AUTH_SERVER}`, `signed GET ${RECEIVER}`])
  })
})
