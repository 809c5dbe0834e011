import type { ReadAnswer, Recorder } from './recorder.ts'

/** An entry for everything that may be done with incoming payments. */
export const INCOMING = { type: 'incoming-payment', actions: ['create', 'read', 'list', 'complete'] } as const
/** An entry for quotes. */
export const QUOTE = { type: 'quote', actions: ['create', 'read'] } as const

/** An amount in the asset of Alice and Bob. */
export function eur(value: string): Readonly<Record<string, unknown>> {
  return { value, assetCode: 'EUR', assetScale: 2 }
}

/** How a client asks to be told that its owner has answered. */
export const FINISH = { method: 'redirect', uri: 'https://shop.example/done?order=7', nonce: 'nonce-of-the-shop' }

/** An entry for paying from Alice's account. */
export function outgoing({ resourceServer }: Recorder, limits?: Readonly<Record<string, unknown>>) {
  const entry = { type: 'outgoing-payment', actions: ['create', 'read', 'list'], identifier: `${resourceServer}/alice` }
  return limits === undefined ? entry : { ...entry, limits }
}

/** Asks for access as the shop; `interact` where a person is to be asked. */
export function requestGrant(
  { send, authServer, resourceServer }: Recorder,
  title: string,
  access: readonly unknown[],
  more: Readonly<Record<string, unknown>> = {},
): Promise<ReadAnswer> {
  const json = { access_token: { access }, client: `${resourceServer}/shop`, ...more }
  return send(title, 'POST', authServer, { json })
}

/** Asks for access to incoming payments as the shop; resolves with the token. */
export async function incomingToken(recorder: Recorder): Promise<string> {
  return (await requestGrant(recorder, 'access to incoming payments', [INCOMING])).json.access_token.value
}

/** Grants that need nobody, in every form, and requests for grants that are refused. */
export async function requestGrants(recorder: Recorder): Promise<void> {
  const { send, authServer, resourceServer, keys } = recorder
  const shop = `${resourceServer}/shop`
  const ask = (title: string, json: unknown, more = {}) => send(title, 'POST', authServer, { json, ...more })
  const access_token = { access: [INCOMING] }
  await requestGrant(recorder, 'one entry', [{ ...INCOMING, identifier: `${resourceServer}/bob` }])
  await requestGrant(recorder, 'two entries', [INCOMING, QUOTE])
  await requestGrant(recorder, 'read-all', [
    { ...INCOMING, actions: ['read-all', 'list-all'], identifier: `${resourceServer}/bob` },
  ])
  await ask('client as an object', { access_token, client: { walletAddress: shop } })
  await send('the endpoint with a slash', 'POST', `${authServer}/`, { json: { access_token, client: shop } })
  await ask('a key alone', { access_token, client: { jwk: keys.directed.jwk } }, { key: keys.directed })
  await ask('a key alone that does not sign', { access_token, client: { jwk: keys.directed.jwk } })

  const refused: readonly (readonly [string, unknown])[] = [
    ['no client', { access_token }],
    ['client of another type', { access_token, client: 7 }],
    ['client that is no wallet address', { access_token, client: 'shop' }],
    ['client elsewhere', { access_token, client: 'https://elsewhere.example/shop' }],
    ['client that is not there', { access_token, client: `${resourceServer}/nobody` }],
    ['client without a key', { access_token, client: `${resourceServer}/bob` }],
    ['client with two names', { access_token, client: { walletAddress: shop, jwk: keys.shop.jwk } }],
    ['a key with its private part', { access_token, client: { jwk: { ...keys.shop.jwk, d: 'AAAA' } } }],
    ['a key of small order', { access_token, client: { jwk: { ...keys.shop.jwk, x: 'A'.repeat(43) } } }],
    ['a key of another curve', { access_token, client: { jwk: { ...keys.shop.jwk, crv: 'X25519' } } }],
    ['no access', { access_token: { access: [] }, client: shop }],
    ['nothing', { client: shop }],
    ['unknown type', { access_token: { access: [{ type: 'account', actions: ['read'] }] }, client: shop }],
    ['unknown action', { access_token: { access: [{ ...INCOMING, actions: ['delete'] }] }, client: shop }],
    ['repeated action', { access_token: { access: [{ ...INCOMING, actions: ['read', 'read'] }] }, client: shop }],
    ['no action', { access_token: { access: [{ ...INCOMING, actions: [] }] }, client: shop }],
    ['unknown member', { access_token: { access: [{ ...INCOMING, amount: 1 }] }, client: shop }],
    ['repeated entry', { access_token: { access: [QUOTE, QUOTE] }, client: shop }],
    [
      'identifier elsewhere',
      { access_token: { access: [{ ...INCOMING, identifier: 'https://a.example/b' }] }, client: shop },
    ],
    [
      'identifier unknown',
      { access_token: { access: [{ ...INCOMING, identifier: `${resourceServer}/nobody` }] }, client: shop },
    ],
    ['spending without a person', { access_token: { access: [outgoing(recorder)] }, client: shop }],
    [
      'spending of nobody',
      { access_token: { access: [{ type: 'outgoing-payment', actions: ['create'] }] }, client: shop },
    ],
    ['an array', []],
    ['null', null],
  ]
  for (const [title, json] of refused) await ask(title, json)
  const interact = { start: ['redirect'], finish: FINISH }
  const limits: readonly (readonly [string, Readonly<Record<string, unknown>>])[] = [
    ['a limit in another asset', { debitAmount: { ...eur('1'), assetCode: 'USD' } }],
    ['two limits', { debitAmount: eur('1'), receiveAmount: eur('1') }],
    ['an amount with a sign', { debitAmount: eur('-1') }],
    ['an amount with a point', { debitAmount: eur('1.5') }],
    ['an amount that is a number', { debitAmount: { ...eur('1'), value: 1 } }],
    ['an amount of zero', { debitAmount: eur('0') }],
    ['the largest amount', { debitAmount: eur('18446744073709551615') }],
    ['more than the largest amount', { debitAmount: eur('18446744073709551616') }],
    ['an interval that is none', { debitAmount: eur('1'), interval: 'monthly' }],
    ['an interval without a window', { debitAmount: eur('1'), interval: 'R0/2026-03-01T00:00:00Z/P1M' }],
    ['a receiver that is none', { receiver: 'https://a.example/b' }],
  ]
  for (const [title, limit] of limits) await requestGrant(recorder, title, [outgoing(recorder, limit)], { interact })
  const finishes: readonly (readonly [string, unknown])[] = [
    ['finish over http', { ...FINISH, uri: 'http://shop.example/done' }],
    ['finish that runs', { ...FINISH, uri: 'javascript:alert(1)' }],
    ['finish with a fragment', { ...FINISH, uri: 'https://shop.example/#a' }],
    ['finish by push', { ...FINISH, method: 'push' }],
    ['finish without a nonce', { method: 'redirect', uri: FINISH.uri }],
    ['nonce with a line break', { ...FINISH, nonce: 'a\nb' }],
  ]
  for (const [title, finish] of finishes) {
    await requestGrant(recorder, title, [outgoing(recorder)], { interact: { start: ['redirect'], finish } })
  }
  await requestGrant(recorder, 'another start', [outgoing(recorder)], { interact: { start: ['user_code'] } })
}
