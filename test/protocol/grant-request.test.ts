import * as v from 'valibot'
import { describe, expect, it } from 'vitest'
import { IdentifiedRequest } from '../../src/protocol/client.ts'
import { GrantRequest } from '../../src/protocol/grant-request.ts'
import rfc8037 from '../vectors/rfc8037.json' with { type: 'json' }

const client = 'https://client.example/pay'
const incoming = { type: 'incoming-payment', actions: ['create', 'read'], identifier: 'https://wallet.example/bob' }
const quote = { type: 'quote', actions: ['create'] }
const outgoing = { type: 'outgoing-payment', actions: ['create'], identifier: 'https://wallet.example/alice' }
const finish = { method: 'redirect', uri: 'https://client.example/cb', nonce: 'n-1' }
const interact = { start: ['redirect'], finish }
const subject = { sub_ids: [{ id: 'https://wallet.example/alice', format: 'uri' }] }
const body = { client, access_token: { access: [incoming, quote, outgoing] }, subject, interact }

function read(value: unknown): GrantRequest {
  return v.parse(GrantRequest, value)
}

function refusal(value: unknown): string | undefined {
  const parsed = v.safeParse(GrantRequest, value)
  return parsed.success ? undefined : parsed.issues[0].message
}

describe('grant requests', () => {
  it('GRT-2 are read whole', () => {
    expect(read(body)).toEqual({
      access: [incoming, quote, outgoing],
      subject: 'https://wallet.example/alice',
      interact: { finish: { uri: finish.uri, nonce: 'n-1' } },
    })
  })

  it('GRT-2 ask for access or for a subject', () => {
    expect(read({ client, access_token: { access: [quote] } })).toEqual({
      access: [quote],
    })
    expect(read({ client, subject, interact: { start: ['redirect'] } })).toEqual({
      access: [],
      subject: 'https://wallet.example/alice',
      interact: {},
    })
  })

  it.each([{ client }, { client, access_token: { access: [] } }, { client, interact }])(
    'GRT-2 are refused when they ask for nothing: %j',
    (value) => expect(refusal(value)).toBe('ask for access or for a subject'),
  )

  it('GRT-2 count empty access as none beside a subject', () => {
    expect(read({ client, access_token: { access: [] }, subject }).access).toEqual([])
  })

  it.each([null, 'x', 1, [], undefined])('GRT-1 are no %j', (value) =>
    expect(v.is(IdentifiedRequest, value)).toBe(false),
  )

  it.each([
    { ...body, access_token: {} },
    { ...body, access_token: null },
    { ...body, access_token: [{ access: [quote] }] },
    { ...body, access_token: { access: quote } },
    { ...body, access_token: { access: 'quote' } },
  ])('GRT-2 have a list of access: %#', (value) => expect(refusal(value)).toBeDefined())
})

describe('the client', () => {
  const jwk = { ...rfc8037.jwk, kid: 'k' }

  it.each([
    [client, { walletAddress: client }],
    [{ walletAddress: client }, { walletAddress: client }],
    [{ jwk }, { jwk }],
  ])('KEY-5 is %j', (given, expected) =>
    expect(v.parse(IdentifiedRequest, { ...body, client: given })).toEqual({ client: expected }),
  )

  it.each([
    undefined,
    null,
    1,
    {},
    { walletAddress: client, jwk },
    { walletAddress: client, key: jwk },
    { jwk: 'x' },
    { jwk: null },
    { walletAddress: 1 },
  ])('KEY-5 is not %j', (given) => expect(v.is(IdentifiedRequest, { ...body, client: given })).toBe(false))

  it('KEY-5 is required', () => {
    const { client: _client, ...rest } = body
    expect(v.is(IdentifiedRequest, rest)).toBe(false)
  })
})

describe('access', () => {
  it('GRT-3 holds three entries and not four', () => {
    const entries = ['a', 'b', 'c', 'd'].map((name) => ({ ...incoming, identifier: `https://wallet.example/${name}` }))
    expect(read({ client, access_token: { access: entries.slice(0, 3) } }).access).toHaveLength(3)
    expect(refusal({ client, access_token: { access: entries } })).toBe('has more than 3 entries')
  })

  it('GRT-3 repeats no entry, whatever the order of its members', () => {
    const limits = { interval: 'R/2025-01-01/P1M', debitAmount: { value: '1', assetCode: 'USD', assetScale: 2 } }
    const same = { identifier: outgoing.identifier, actions: ['create'], type: 'outgoing-payment' }
    const swapped = { debitAmount: { assetScale: 2, assetCode: 'USD', value: '1' }, interval: 'R/2025-01-01/P1M' }
    const access = (second: unknown, first: unknown = outgoing): unknown => ({
      client,
      access_token: { access: [first, second] },
    })
    expect(refusal(access(same))).toBe('access repeats an entry')
    expect(refusal(access({ ...same, limits: swapped }, { ...outgoing, limits }))).toBe('access repeats an entry')
    expect(read(access({ ...same, limits })).access).toHaveLength(2)
    expect(read(access({ ...same, actions: ['create', 'read'] })).access).toHaveLength(2)
  })

  const receiver = 'https://shop.example/incoming-payments/1'
  const interval = 'R11/2026-03-01T00:00:00Z/P1M'
  it.each([
    ['actions', { actions: ['create', 'read'] }, { actions: ['read', 'create'] }],
    ['a receiver', { limits: { receiver } }, { limits: { receiver: receiver.replace('shop', 'SHOP') } }],
    ['an interval', { limits: { interval } }, { limits: { interval: 'R11/2026-03-01/P0Y1M' } }],
    ['no limits', {}, { limits: {} }],
  ])('GRT-3 repeats no entry that means the same: %s', (_, one, other) => {
    const access = [
      { ...outgoing, ...one },
      { ...outgoing, ...other },
    ]
    expect(refusal({ client, access_token: { access } })).toBe('access repeats an entry')
  })

  it.each([
    { ...incoming, type: 'other' },
    { ...incoming, actions: [] },
    { ...incoming, limits: {} },
    { ...incoming, locations: [] },
    { ...quote, identifier: 'https://wallet.example/bob' },
    'incoming-payment',
    null,
  ])('GRT-3 GRT-4 is refused for %j', (entry) =>
    expect(refusal({ client, access_token: { access: [entry] } })).toBeDefined(),
  )
})

describe('the subject', () => {
  const [identifier] = subject.sub_ids

  it.each([
    { sub_ids: [] },
    { sub_ids: [identifier, identifier] },
    { sub_ids: [{ id: 'x', format: 'email' }] },
    { sub_ids: [{ id: 'x' }] },
    { sub_ids: [{ format: 'uri' }] },
    { sub_ids: [{ ...identifier, email: 'x' }] },
    { sub_ids: identifier },
    { sub_id_formats: ['uri'] },
    { sub_ids: [{ id: 'x'.repeat(2049), format: 'uri' }] },
    null,
  ])('GRT-11 is not %#', (given) => expect(refusal({ ...body, subject: given })).toBeDefined())
})

describe('interact', () => {
  it('INT-5 keeps the finish and its hash method', () => {
    const given = { ...interact, finish: { ...finish, hash_method: 'sha-256' } }
    expect(read({ ...body, interact: given }).interact).toEqual({
      finish: { uri: finish.uri, nonce: 'n-1', hashMethod: 'sha-256' },
    })
  })

  it.each([
    {},
    { start: [] },
    { start: 'redirect' },
    { start: ['user_code'] },
    { start: ['redirect', 'user_code'] },
    { start: [{ mode: 'redirect' }] },
    { finish },
    null,
  ])('GRT-6 starts with a redirect, not %j', (given) => expect(refusal({ ...body, interact: given })).toBeDefined())

  it.each([
    { ...finish, method: 'push' },
    { ...finish, uri: 1 },
    { ...finish, uri: 'https://client.example/'.padEnd(2049, 'a') },
    { ...finish, nonce: '' },
    { ...finish, nonce: 'a\nb' },
    { ...finish, nonce: 'n'.repeat(257) },
    { ...finish, nonce: 1 },
    { ...finish, hash_method: 'sha3-512' },
    { uri: finish.uri, nonce: finish.nonce },
    { method: 'redirect', nonce: finish.nonce },
    { method: 'redirect', uri: finish.uri },
    null,
  ])('INT-15 refuses the finish %#', (given) =>
    expect(refusal({ ...body, interact: { ...interact, finish: given } })).toBeDefined(),
  )
})

describe('unknown members', () => {
  it('GRT-14 are ignored at the top and where RFC 9635 may add more', () => {
    const more = {
      ...body,
      user: 'x',
      access_token: { ...body.access_token, label: 'x' },
      subject: { ...subject, assertion_formats: [] },
      interact: { ...interact, hints: {}, finish: { ...finish, more: 1 } },
    }
    expect(read(more)).toEqual(read(body))
  })

  it('EMB-4 T-23 never reach a prototype', () => {
    const poison = '"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}}'
    const text = JSON.stringify(body).replaceAll('{', `{${poison},`)
    expect(refusal(JSON.parse(text))).toBeDefined()
    const top = JSON.parse(`{${poison},${JSON.stringify(body).slice(1)}`)
    expect(read(top)).toEqual(read(body))
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined()
  })
})
