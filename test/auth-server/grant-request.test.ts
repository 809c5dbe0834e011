import type { InMemoryRequest } from 'open-payments-server/testing'
import { alterRequest } from 'open-payments-server/testing'
import { describe, expect, it } from 'vitest'
import { ALICE, AUTH, BASE, BOB, CLIENT, FINISH, usd } from '../support/test-wallet.ts'
import { authWallet, CONSENT_REQUEST, INCOMING, INTERACT, OUTGOING, PLAIN_REQUEST } from './auth-wallet.ts'

const withAccess = (...access: readonly unknown[]): unknown => ({ ...CONSENT_REQUEST, access_token: { access } })
const withLimits = (limits: unknown): unknown => withAccess({ ...OUTGOING, limits })
const withFinish = (finish: unknown): unknown => ({ ...CONSENT_REQUEST, interact: { start: ['redirect'], finish } })
const withSubject = (...subIds: readonly unknown[]): unknown => ({
  client: CLIENT,
  interact: INTERACT,
  subject: { sub_ids: subIds },
})
const SUBJECT = { id: BOB, format: 'uri' }
const { access_token: _, ...WITHOUT_ACCESS } = CONSENT_REQUEST
const { interact: __, ...WITHOUT_INTERACT } = CONSENT_REQUEST

const BAD_BODIES: readonly (readonly [string, unknown])[] = [
  ['GRT-1 a body that is an array', [CONSENT_REQUEST]],
  ['GRT-1 a body that is null', null],
  ['GRT-2 neither access_token nor subject', WITHOUT_ACCESS],
  ['GRT-2 empty access', withAccess()],
  ['GRT-2 an access_token without access', { ...CONSENT_REQUEST, access_token: {} }],
  ['GRT-2 several access tokens', { ...CONSENT_REQUEST, access_token: [{ access: [OUTGOING] }] }],
  [
    'GRT-3 four entries',
    withAccess(OUTGOING, INCOMING, { type: 'quote', actions: ['create'] }, { type: 'quote', actions: ['read'] }),
  ],
  ['GRT-3 an entry twice', withAccess(OUTGOING, OUTGOING)],
  [
    'GRT-3 an entry twice, its members in another order',
    withAccess(OUTGOING, { identifier: OUTGOING.identifier, actions: OUTGOING.actions, type: OUTGOING.type }),
  ],
  [
    'GRT-3 an entry twice, its wallet address spelt in two ways',
    withAccess(OUTGOING, { ...OUTGOING, identifier: `${ALICE}/` }),
  ],
  [
    'GRT-3 an entry twice, its wallet address spelt in two ways and its actions in two orders',
    withAccess(
      { ...OUTGOING, actions: ['create', 'read'] },
      { ...OUTGOING, actions: ['read', 'create'], identifier: `${ALICE}/` },
    ),
  ],
  ['GRT-3 limits on incoming payments', withAccess({ ...INCOMING, limits: {} })],
  ['GRT-3 an identifier on quotes', withAccess({ type: 'quote', actions: ['create'], identifier: BOB })],
  ['GRT-4 an unknown type', withAccess({ type: 'account', actions: ['read'] })],
  ['GRT-4 an entry without type', withAccess({ actions: ['read'] })],
  ['GRT-4 an entry that is a reference', withAccess('outgoing-payment')],
  ['GRT-4 an unknown action', withAccess({ ...OUTGOING, actions: ['create', 'delete'] })],
  ['GRT-4 an action of another type', withAccess({ ...OUTGOING, actions: ['complete'] })],
  ['GRT-4 a list of quotes', withAccess({ type: 'quote', actions: ['list'] })],
  ['GRT-4 a repeated action', withAccess({ ...OUTGOING, actions: ['read', 'read'] })],
  ['GRT-4 no action', withAccess({ ...OUTGOING, actions: [] })],
  ['GRT-4 an entry without actions', withAccess({ type: 'outgoing-payment', identifier: BOB })],
  ['GRT-6 no interact where consent is needed', WITHOUT_INTERACT],
  ['GRT-6 interact without start', { ...CONSENT_REQUEST, interact: { finish: FINISH } }],
  ['GRT-6 no start mode', { ...CONSENT_REQUEST, interact: { start: [], finish: FINISH } }],
  ['GRT-6 another start mode', { ...CONSENT_REQUEST, interact: { start: ['app'], finish: FINISH } }],
  ['GRT-7 outgoing payments without identifier', withAccess({ type: 'outgoing-payment', actions: ['create'] })],
  ['GRT-7 list-all without identifier', withAccess({ type: 'incoming-payment', actions: ['list-all'] })],
  ['GRT-7 a wallet address of another server', withAccess({ ...OUTGOING, identifier: 'https://other.example/alice' })],
  ['GRT-7 an unknown wallet address', withAccess({ ...OUTGOING, identifier: `${BASE}/nobody` })],
  ['GRT-7 something that is no wallet address', withAccess({ ...OUTGOING, identifier: `${BASE}/alice?x=1` })],
  ['GRT-7 an unknown wallet address without consent', withAccess({ ...INCOMING, identifier: `${BASE}/nobody` })],
  ['GRT-7 two owners in one grant', withAccess(OUTGOING, { ...OUTGOING, identifier: BOB })],
  [
    'GRT-7 a second owner behind two rights of the first',
    withAccess(OUTGOING, { ...OUTGOING, actions: ['list'] }, { ...OUTGOING, identifier: BOB }),
  ],
  ['GRT-10 two amounts', withLimits({ debitAmount: usd('1'), receiveAmount: usd('1') })],
  ['GRT-10 a negative amount', withLimits({ debitAmount: usd('-1') })],
  ['GRT-10 an amount of more than 64 bits', withLimits({ debitAmount: usd('18446744073709551616') })],
  ['GRT-10 an amount in hexadecimal', withLimits({ receiveAmount: usd('0x10') })],
  ['GRT-10 an empty amount', withLimits({ receiveAmount: usd('') })],
  ['GRT-10 an amount as a number', withLimits({ debitAmount: { ...usd('1'), value: 1 } })],
  ['GRT-10 an amount without asset', withLimits({ debitAmount: { value: '1' } })],
  ['GRT-10 a debit limit in another asset', withLimits({ debitAmount: { ...usd('1'), assetCode: 'EUR' } })],
  [
    'GRT-10 a debit limit in another asset, though nothing may be paid',
    withAccess({ ...OUTGOING, actions: ['read'], limits: { debitAmount: { ...usd('1'), assetCode: 'EUR' } } }),
  ],
  ['GRT-10 a debit limit at another scale', withLimits({ debitAmount: { ...usd('1'), assetScale: 3 } })],
  ['GRT-10 an interval that is none', withLimits({ interval: 'every month' })],
  ['GRT-10 an interval without a period', withLimits({ interval: 'R/2026-01-01T00:00:00Z/PT0S' })],
  ['IVL-10 an interval of under a minute', withLimits({ interval: 'R/2026-01-01T00:00:00Z/PT59S' })],
  ['IVL-10 an interval of 129 characters', withLimits({ interval: `R/2026-01-01T00:00:00Z/P${'0'.repeat(103)}1M` })],
  ['GRT-10 a receiver that is a quote', withLimits({ receiver: `${BASE}/quotes/1` })],
  ['GRT-10 a receiver with a query', withLimits({ receiver: `${BASE}/incoming-payments/1?a=/incoming-payments/2` })],
  ['GRT-11 no subject identifier', withSubject()],
  ['GRT-11 two subject identifiers', withSubject(SUBJECT, SUBJECT)],
  ['GRT-11 another format', withSubject({ ...SUBJECT, format: 'email' })],
  ['GRT-11 a subject identifier with more members', withSubject({ ...SUBJECT, email: 'a@b.example' })],
  ['GRT-11 a subject without identifiers', { ...CONSENT_REQUEST, subject: {} }],
  ['GRT-12 the subject of another server', withSubject({ ...SUBJECT, id: 'https://other.example/bob' })],
  ['GRT-12 access of one owner and the subject of another', { ...CONSENT_REQUEST, subject: { sub_ids: [SUBJECT] } }],
  ['GRT-6 a subject without interact', { client: CLIENT, subject: { sub_ids: [SUBJECT] } }],
  ['GRT-14 an unknown member of an entry', withAccess({ ...OUTGOING, datatypes: ['x'] })],
  ['GRT-14 a member called like one of every object', withAccess({ ...OUTGOING, toString: 'x' })],
  ['GRT-14 a constructor', withAccess({ ...OUTGOING, constructor: { prototype: { x: 1 } } })],
  ['EMB-4 a prototype', withAccess({ ...OUTGOING, ...JSON.parse('{"__proto__":{"x":1}}') })],
  ['GRT-14 an unknown member of limits', withLimits({ debitAmount: usd('1'), currency: 'USD' })],
  ['GRT-14 an unknown member of client', { ...CONSENT_REQUEST, client: { walletAddress: CLIENT, name: 'Bank' } }],
  ['KEY-5 no client', { ...CONSENT_REQUEST, client: undefined }],
  ['KEY-5 a client that is null', { ...CONSENT_REQUEST, client: null }],
  ['KEY-5 an empty client', { ...CONSENT_REQUEST, client: {} }],
  ['KEY-5 a client of both forms', { ...CONSENT_REQUEST, client: { walletAddress: CLIENT, jwk: {} } }],
  ['KEY-5 a key by reference', { ...CONSENT_REQUEST, client: { jwk: 'key-1' } }],
  ['INT-5 a finish without method', withFinish({ uri: FINISH.uri, nonce: FINISH.nonce })],
  ['INT-5 a finish of another method', withFinish({ ...FINISH, method: 'push' })],
  ['INT-5 a finish without uri', withFinish({ method: 'redirect', nonce: FINISH.nonce })],
  ['INT-15 a finish without nonce', withFinish({ method: 'redirect', uri: FINISH.uri })],
  ['INT-15 an empty nonce', withFinish({ ...FINISH, nonce: '' })],
  ['INT-15 a nonce of 257 characters', withFinish({ ...FINISH, nonce: 'n'.repeat(257) })],
  ['INT-15 a nonce with a line feed', withFinish({ ...FINISH, nonce: 'a\nb' })],
  ['INT-15 a nonce with a control character', withFinish({ ...FINISH, nonce: 'a\u0000b' })],
  ['INT-15 a nonce beyond ASCII', withFinish({ ...FINISH, nonce: 'näh' })],
  ['INT-13 another hash method', withFinish({ ...FINISH, hash_method: 'sha3-512' })],
  ['INT-5 a relative finish uri', withFinish({ ...FINISH, uri: '/done' })],
  ['INT-5 a finish uri over http', withFinish({ ...FINISH, uri: 'http://shop.example/done' })],
  ['INT-5 a finish uri on loopback', withFinish({ ...FINISH, uri: 'http://localhost:3000/done' })],
  ['INT-5 a finish uri with a fragment', withFinish({ ...FINISH, uri: `${FINISH.uri}#top` })],
  ['INT-5 a finish uri with userinfo', withFinish({ ...FINISH, uri: 'https://bank.example@shop.example/' })],
  ['INT-5 a finish uri with an empty userinfo', withFinish({ ...FINISH, uri: 'https://@shop.example/' })],
  ['INT-5 a finish uri of an app', withFinish({ ...FINISH, uri: 'com.example.app://done' })],
  ['INT-5 a finish uri with a line break', withFinish({ ...FINISH, uri: 'https://shop.example/\r\nx: y' })],
  ['INT-5 a finish uri with a backslash', withFinish({ ...FINISH, uri: 'https://shop.example\\@bank.example/' })],
  [
    'INT-5 a finish uri that is none, where nobody is asked',
    { ...PLAIN_REQUEST, interact: { ...INTERACT, finish: { ...FINISH, uri: 'read-all' } } },
  ],
  ['INT-5 a finish uri that asks the next question', withFinish({ ...FINISH, uri: `${AUTH}/interact/x` })],
  ['INT-5 one that does, under another name', withFinish({ ...FINISH, uri: `${BASE}/interact/x` })],
  ['INT-5 one that does, with a final dot', withFinish({ ...FINISH, uri: `${AUTH}./interact/x` })],
  ['INT-5 one that does, spelt otherwise', withFinish({ ...FINISH, uri: `${AUTH}:443/x/../interact/x?y` })],
  ['INT-6 a script', withFinish({ ...FINISH, uri: 'javascript:alert(1)' })],
  ['INT-6 a script in upper case', withFinish({ ...FINISH, uri: 'JavaScript:alert(1)' })],
  ['INT-6 a document in the uri', withFinish({ ...FINISH, uri: 'data:text/html,x' })],
  ['INT-6 a file', withFinish({ ...FINISH, uri: 'file:///etc/passwd' })],
  ['INT-6 a blob', withFinish({ ...FINISH, uri: 'blob:https://shop.example/1' })],
  ['INT-6 a script of another language', withFinish({ ...FINISH, uri: 'vbscript:x' })],
]

describe('a grant request', () => {
  it('is answered with an interaction or with a token', async () => {
    const wallet = await authWallet()
    const pending = await wallet.ask(CONSENT_REQUEST)
    expect(pending.status).toBe(200)
    expect(Object.keys(pending.body)).toEqual(['interact', 'continue'])
    const issued = await wallet.ask(PLAIN_REQUEST)
    expect(issued.status).toBe(200)
    expect(Object.keys(issued.body)).toEqual(['access_token', 'continue'])
  })

  const shared = authWallet()
  it.each(BAD_BODIES)('%s is refused with 400 invalid_request', async (_name, body) => {
    const wallet = await shared
    await wallet.expectRefusal(400, 'invalid_request', () => wallet.ask(body))
    expect((await wallet.ask(CONSENT_REQUEST)).status).toBe(200)
  })

  it('GRT-10 the refusal of two amounts says so', async () => {
    const wallet = await authWallet()
    const answer = await wallet.ask(withLimits({ debitAmount: usd('1'), receiveAmount: usd('1') }))
    expect(answer.body.error.description).toContain('only one access amount allowed')
  })

  it('GRT-7 an inactive wallet address is refused', async () => {
    const wallet = await authWallet()
    wallet.directory.set(BOB, { account: 'bob', assetCode: 'USD', assetScale: 2, isActive: false })
    await wallet.expectRefusal(400, 'invalid_request', () => wallet.ask(PLAIN_REQUEST))
  })

  it.each([
    ['not JSON', '{"client":'],
    ['JSON with something behind it', `${JSON.stringify(CONSENT_REQUEST)}}`],
    ['not UTF-8', Uint8Array.from([0x7b, 0xff, 0x7d])],
    ['empty', ''],
    ['nested 33 deep', '['.repeat(33) + ']'.repeat(33)],
    ['nested 10 000 deep', '['.repeat(10_000) + ']'.repeat(10_000)],
  ])('EMB-3 a body that is %s is refused', async (_name, body) => {
    const wallet = await authWallet()
    await wallet.expectRefusal(400, 'invalid_request', () => wallet.send('POST', `${AUTH}/`, { body }))
  })

  it.each([
    ['of another type', ['text/plain']],
    ['of a form', ['application/x-www-form-urlencoded']],
    ['of no type', []],
  ])('GRT-1 a body %s is refused with 415', async (_name, lines) => {
    const wallet = await authWallet()
    const components = ['@method', '@target-uri', 'content-digest']
    const alter = (request: InMemoryRequest): InMemoryRequest =>
      alterRequest(request, { headers: { 'content-type': lines } })
    await wallet.expectRefusal(415, 'invalid_request', () => wallet.ask(CONSENT_REQUEST, { components, alter }))
    expect((await wallet.ask(CONSENT_REQUEST, { components })).status).toBe(200)
  })

  it('GRT-1 a media type may have parameters and capitals', async () => {
    const wallet = await authWallet()
    const headers = { 'content-type': 'Application/JSON; charset="utf-8"' }
    expect((await wallet.ask(CONSENT_REQUEST, { headers })).status).toBe(200)
  })

  it('GRT-14 unknown members at the top are ignored', async () => {
    const wallet = await authWallet()
    expect((await wallet.ask({ ...CONSENT_REQUEST, user: 'x', capabilities: [] })).status).toBe(200)
  })

  it('AMT-6 unknown members of an amount are dropped', async () => {
    const wallet = await authWallet()
    const pending = await wallet.ask(withLimits({ debitAmount: { ...usd('1'), symbol: '$' } }))
    expect(pending.status).toBe(200)
    expect(JSON.stringify(await wallet.records(), (_key, value) => value)).not.toContain('symbol')
  })
})
