import type { Recorder, Sending } from './recorder.ts'

/** Sent by anybody, unsigned. */
const OPEN: Sending = { isSigned: false }

/** The documents that anybody may read, paths that nobody has, and methods that no endpoint takes. */
export async function requestPublicDocuments({ send, authServer, resourceServer }: Recorder): Promise<void> {
  const get = (url: string, headers?: Readonly<Record<string, string>>) =>
    send('read', 'GET', url, { ...OPEN, ...(headers && { headers }) })
  for (const name of ['alice', 'bob', 'carol', 'shop', 'closed', 'nobody']) {
    await get(`${resourceServer}/${name}`)
    await get(`${resourceServer}/${name}/jwks.json`)
  }
  for (const path of [
    '/alice/',
    '/alice?x=1',
    '/alice?',
    '/alice/jwks.json/',
    '/shop/jwks.json?a=b',
    '/jwks.json',
    '/',
  ]) {
    await get(resourceServer + path)
  }
  const alice = `${resourceServer}/alice`
  const { headers } = await get(alice)
  const etag = headers['etag'] ?? ''
  for (const held of [etag, `W/${etag}`, `"other", ${etag}`, '*', '"other"'])
    await get(alice, { 'if-none-match': held })
  await get(alice, { accept: 'text/html', origin: 'https://page.example' })
  const named = (url: string): string => `wallet-address=${encodeURIComponent(url)}`
  for (const path of ['/wallet-address', '/wallet-address/keys']) {
    for (const query of [
      named(alice),
      named(`${resourceServer}/shop`),
      named(`${alice}/`),
      named('https://other.example/x'),
    ])
      await get(`${resourceServer}${path}?${query}`)
    for (const query of ['', '?wallet-address=', `?${named(alice)}&${named(alice)}`, '?wallet-address=%E0%A4%A'])
      await get(`${resourceServer}${path}${query}`)
  }
  await send('discovery', 'OPTIONS', authServer, OPEN)
  await send('discovery with a slash', 'OPTIONS', `${authServer}/`, OPEN)
}

/** What no endpoint answers: methods, paths, and targets that a URL parser would write in another way. */
export async function requestOddTargets({ send, authServer, resourceServer }: Recorder): Promise<void> {
  const endpoints = [
    resourceServer,
    `${resourceServer}/incoming-payments`,
    `${resourceServer}/incoming-payments/1`,
    `${resourceServer}/incoming-payments/1/complete`,
    `${resourceServer}/quotes`,
    `${resourceServer}/outgoing-payments/1`,
    `${resourceServer}/outgoing-payment-grant`,
    `${resourceServer}/wallet-address`,
    `${resourceServer}/alice`,
    authServer,
    `${authServer}/continue/1`,
    `${authServer}/token/1`,
    `${authServer}/interact/1`,
  ]
  for (const endpoint of endpoints) {
    for (const method of ['PUT', 'PATCH', 'DELETE', 'HEAD']) await send('method', method, endpoint, OPEN)
  }
  const paths = [
    '/alice/x',
    '/quotes/',
    '/quotes/1/2',
    '/incoming-payments/%31',
    '/incoming-payments/%ff',
    '/incoming-payments/a%2fb',
    '/Alice',
    '/al%69ce',
    '/favicon.ico',
    '/robots.txt',
    '/.well-known/pay',
    '/did.json',
    '/authx',
    '/x/../alice',
    '/./alice',
    '/%2e%2e/alice',
    '/alice/..',
    '//alice',
    '/alice//',
    '/alice%00',
    '/alice;x',
    '/alice\\x',
    '/alice?<>"\'`{}|\\^',
    '/alice#x',
    `/${'x'.repeat(5000)}`,
  ]
  for (const path of paths) await send('path', 'GET', resourceServer + path, OPEN)
  for (const path of ['/alice', '/incoming-payments', '/nobody'])
    await send('POST', 'POST', resourceServer + path, OPEN)
}
