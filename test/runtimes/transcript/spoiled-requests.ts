import { INCOMING, incomingToken } from './grant-requests.ts'
import { spendingGrant } from './interaction-requests.ts'
import type { Alteration, Recorder, Sending } from './recorder.ts'

type Template = readonly [title: string, method: string, url: string, sending: Sending]

const BASE64 = /:([^:]+):$/

/** Changes the bytes of the signature. */
function resigned(change: (signature: Buffer) => Buffer): NonNullable<Sending['alter']> {
  return ({ headers }) => {
    const bytes = Buffer.from(BASE64.exec(headers['signature']?.[0] ?? '')?.[1] ?? '', 'base64')
    return { headers: { signature: [`sig1=:${change(bytes).toString('base64')}:`] } }
  }
}

/** Signatures that are wrong, or unusual, in one thing. */
function spoiledSignatures({ keys }: Recorder, hasBody: boolean): readonly (readonly [string, Sending])[] {
  const COVERED = ['@method', '@target-uri', 'authorization', ...(hasBody ? ['content-digest'] : [])]
  const alter = (alteration: Alteration): Sending => ({ alter: alteration })
  const spoiled: (readonly [string, Sending])[] = [
    ['not signed', { isSigned: false }],
    ['no signature-input', alter({ headers: { 'signature-input': [] } })],
    ['no signature', alter({ headers: { signature: [] } })],
    ['a signature that is none', alter({ headers: { signature: ['sig1=yes'] } })],
    ['another key', { key: keys.stranger }],
    ['another key under the name of the first', { key: { ...keys.stranger, keyId: keys.shop.keyId } }],
    ['63 bytes', { alter: resigned((bytes) => bytes.subarray(0, 63)) }],
    ['65 bytes', { alter: resigned((bytes) => Buffer.concat([bytes, Buffer.alloc(1)])) }],
    [
      'S that is too large',
      { alter: resigned((bytes) => Buffer.concat([bytes.subarray(0, 32), Buffer.alloc(32, 255)])) },
    ],
    ['one bit', { alter: resigned((bytes) => Buffer.from(bytes.map((byte, at) => (at === 0 ? byte ^ 1 : byte)))) }],
    ['too old', { signedAfter: -301 }],
    ['old', { signedAfter: -300 }],
    ['too far ahead', { signedAfter: 61 }],
    ['ahead', { signedAfter: 60 }],
    ['expired', { expires: 1 }],
    ['another algorithm', { alg: 'rsa-v1_5-sha256' }],
    ['its algorithm', { alg: 'ed25519' }],
    ['another label', { label: 'mine' }],
    ['another tag', { tag: 'web-bot-auth' }],
    ['a nonce', { nonce: `nonce-${hasBody}` }],
    ['the same nonce', { nonce: `nonce-${hasBody}` }],
    ['method not covered', { components: ['@target-uri'] }],
    ['target not covered', { components: ['@method'] }],
    ['more covered', { headers: { 'x-order': '7' }, components: [...COVERED, 'x-order', '@path', '@authority'] }],
    ['two labels', { alter: ({ headers }) => ({ headers: doubled(headers) }) }],
    [
      'its lines twice',
      {
        alter: ({ headers }) => ({
          headers: { signature: [...(headers['signature'] ?? []), ...(headers['signature'] ?? [])] },
        }),
      },
    ],
    ['two lines for two labels', { alter: ({ headers }) => ({ headers: inTwoLines(headers) }) }],
  ]
  const ofBodies: readonly (readonly [string, Sending])[] = [
    ['digest not covered', { components: ['@method', '@target-uri', 'authorization'] }],
    ['no digest', alter({ headers: { 'content-digest': [] } })],
    ['digest of something else', { headers: { 'content-digest': `sha-512=:${'A'.repeat(86)}==:` } }],
    ['digest with SHA-256 alone', { headers: { 'content-digest': 'sha-256=:AAAA:' } }],
    [
      'in chunks',
      { isChunked: true, components: ['@method', '@target-uri', 'authorization', 'content-digest', 'content-type'] },
    ],
  ]
  return hasBody ? [...spoiled, ...ofBodies] : spoiled
}

function doubled(headers: Readonly<Record<string, readonly string[]>>): Readonly<Record<string, readonly string[]>> {
  const twice = (name: string): readonly string[] => {
    const line = headers[name]?.[0] ?? ''
    return [`${line}, ${line.replace('sig1', 'sig2')}`]
  }
  return { signature: twice('signature'), 'signature-input': twice('signature-input') }
}

function inTwoLines(headers: Readonly<Record<string, readonly string[]>>): Readonly<Record<string, readonly string[]>> {
  const twice = (name: string): readonly string[] => {
    const line = headers[name]?.[0] ?? ''
    return [line, line.replace('sig1', 'sig2')]
  }
  return { signature: twice('signature'), 'signature-input': twice('signature-input') }
}

/** Bodies that are wrong in one thing, rightly signed. */
const SPOILED_BODIES: readonly (readonly [string, Sending])[] = [
  ['no body', {}],
  ['not JSON', { body: '{"walletAddress":' }],
  ['JSON twice', { body: '{}{}' }],
  ['a byte order mark', { body: '\u{FEFF}{}' }],
  ['no UTF-8', { body: Uint8Array.of(0x7b, 0xff, 0x7d) }],
  ['nested deeply', { body: '['.repeat(40) + ']'.repeat(40) }],
  ['a text', { body: '"text"' }],
  ['a prototype', { body: '{"__proto__":{"client":"x"},"constructor":1}' }],
  ['another type', { body: '{}', headers: { 'content-type': 'text/plain' } }],
  ['its type with a charset', { body: '{}', headers: { 'content-type': 'application/json; charset=utf-8' } }],
  ['compressed', { body: '{}', headers: { 'content-encoding': 'gzip' } }],
  ['as large as it may be', { body: `{"a":"${'x'.repeat(65_528)}"}` }],
  ['too large', { body: `{"a":"${'x'.repeat(65_529)}"}` }],
  ['much too large', { body: 'x'.repeat(200_000) }],
]

/** Every endpoint with signatures, bodies and headers that are wrong. */
export async function requestSpoiled(recorder: Recorder): Promise<void> {
  const { send, authServer, resourceServer } = recorder
  const token = await incomingToken(recorder)
  const shop = `${resourceServer}/shop`
  const list = `${resourceServer}/incoming-payments?wallet-address=${encodeURIComponent(`${resourceServer}/bob`)}&first=1`
  const json = { walletAddress: `${resourceServer}/bob` }
  const templates: readonly Template[] = [
    ['grant', 'POST', authServer, { json: { access_token: { access: [INCOMING] }, client: shop } }],
    ['create', 'POST', `${resourceServer}/incoming-payments`, { token, json }],
    ['list', 'GET', list, { token }],
  ]
  for (const [title, method, url, sending] of templates) {
    for (const [wrong, more] of spoiledSignatures(recorder, sending.json !== undefined)) {
      const components = more.components?.filter((name) => name !== 'authorization' || sending.token !== undefined)
      await send(`${title}: ${wrong}`, method, url, { ...sending, ...more, ...(components && { components }) })
    }
  }
  const altered = new TextEncoder().encode(JSON.stringify({ ...json, metadata: { a: 1 } }))
  await send('another body', 'POST', `${resourceServer}/incoming-payments`, { token, json, alter: { body: altered } })
  const target = new URL(list)
  await send('another query', 'GET', list, { token, alter: { target: `${target.pathname}?first=2` } })
  await send('another method', 'POST', list, { token, alter: { method: 'GET' } })

  const spending = (await spendingGrant(recorder)).json.access_token.value
  const creating = ['/incoming-payments', '/quotes', '/outgoing-payments'].map((path) => resourceServer + path)
  for (const url of [authServer, ...creating]) {
    const sender = url === creating[0] ? token : spending
    for (const [title, sending] of SPOILED_BODIES) await send(title, 'POST', url, { token: sender, ...sending })
  }
  const field = (value: string, lines: readonly string[]): Sending => ({
    token,
    headers: { 'x-order': value },
    components: ['@method', '@target-uri', 'authorization', 'x-order'],
    alter: { headers: { 'x-order': lines } },
  })
  await send('a covered field in two lines', 'GET', list, field('7, 8', ['7', '8']))
  await send('a covered field between spaces', 'GET', list, field('7', [' \t7 ']))
  await send('a covered field that is empty', 'GET', list, field('', ['']))
  await send('a covered field that is not ASCII', 'GET', list, field('7', ['K\u00e4se']))
  await send('a covered field that is missing', 'GET', list, field('7', []))
  await send('a body where none is taken', 'GET', list, { token, json: {} })
  for (const authorization of [
    'Bearer x',
    'GNAP',
    `GNAP  ${token}`,
    `GNAP ${token} x`,
    `gnap ${token}`,
    `GNAP "${token}"`,
  ]) {
    await send('authorization', 'GET', list, { headers: { authorization } })
  }
  await send('two tokens', 'GET', list, { token, alter: { headers: { authorization: [`GNAP ${token}`, 'GNAP x'] } } })
  const forwarded = { host: 'evil.example', 'x-forwarded-host': 'evil.example', forwarded: 'host=evil.example' }
  await send('another host', 'GET', list, { token, headers: forwarded })
}
