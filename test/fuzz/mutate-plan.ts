import type { FuzzWorld, Plan } from './fuzz-world.ts'
import { mutateJson, mutateText } from './mutate-json.ts'
import { oddText } from './odd-values.ts'
import type { Random } from './random.ts'

// Changes to a right request before it is signed: the signature is good, and what it covers is not.

type Change = (plan: Plan, world: FuzzWorld, random: Random) => Plan

const HEADERS: readonly (readonly [string, readonly string[]])[] = [
  ['content-type', ['application/json; charset=utf-8', 'APPLICATION/JSON', 'text/plain', 'application/jsonp', '', ';']],
  ['content-encoding', ['identity', 'gzip', '']],
  ['content-length', ['0', '1', '999999999999', '-1', 'x', '']],
  [
    'content-digest',
    ['sha-512=::', 'sha-256=:AAAA:', 'md5=:AAAA:', 'x', '', 'sha-512="x"', 'sha-256=:AAAA:, sha-256=:AAAA:'],
  ],
  ['authorization', ['GNAP', 'GNAP  x', 'gnap x', 'Bearer x', 'GNAP x, GNAP y', 'GNAP x y', 'Basic eDp5']],
  ['accept', ['text/html', 'application/xml', '*/*;q=0']],
  ['if-none-match', ['*', 'W/"x"', '"', ',,,']],
  ['idempotency-key', ['1', '"1"', 'a'.repeat(500)]],
  ['host', ['evil.example', '', 'wallet.example:443']],
  ['x-forwarded-host', ['evil.example']],
  ['forwarded', ['host=evil.example;proto=http']],
  ['transfer-encoding', ['chunked', 'gzip, chunked']],
  ['x-odd', ['a'.repeat(20_000), '\u00e9', '"', '']],
]

const changeJson: Change = (plan, world, random) =>
  plan.json === undefined
    ? random.pick([changePath, changeQuery])(plan, world, random)
    : { ...plan, json: mutateJson(plan.json, { random, pool: world.pool }) }

const changeText: Change = ({ json, ...plan }, world, random) => {
  const text = json === undefined ? plan.body : JSON.stringify(json)
  const body = typeof text === 'string' ? text : '{"interact_ref":"x","access_token":{"access":[]}}'
  return { ...plan, body: mutateText(body, { random, pool: world.pool }) }
}

/** A text as it may stand in a URL; half characters cannot. */
const encoded = (text: string): string => encodeURIComponent(text.replace(/[\ud800-\udfff]/gu, ''))

const changeQuery: Change = (plan, world, random) => {
  const [path = '', query = ''] = plan.url.split('?')
  const value = (): string => encoded(random.oneIn(2) ? random.pick([...world.pool, 'x']) : oddText(random))
  const names = ['wallet-address', 'cursor', 'first', 'last', '__proto__', 'x']
  const parts = query === '' ? [] : query.split('&')
  const added = `${random.pick(names)}=${random.oneIn(2) ? random.pick(['0', '1', '100', '101', '-1', '1e1', '01', '', '%zz', '+1']) : value()}`
  const kept = random.oneIn(2) ? parts : parts.filter(() => random.oneIn(2))
  return {
    ...plan,
    url: `${path}?${(random.oneIn(2) ? [...kept, added] : [added, ...kept]).join(random.oneIn(9) ? ';' : '&')}`,
  }
}

const changePath: Change = (plan, world, random) => {
  const [path = '', ...query] = plan.url.split('?')
  const segments = path.split('/')
  const at = 3 + random.below(Math.max(1, segments.length - 3))
  const other = random.pick<() => string>([
    () => encoded(random.pick([...world.pool, 'x'])),
    () => encoded(oddText(random)),
    () =>
      random.pick(['%2e%2e', '..', '.', '%00', '%2F', '%zz', '%', '', 'jwks.json', 'complete', '💩', 'é', "'", '%ff']),
    () => (segments[at] ?? '').toUpperCase(),
    () => `${segments[at] ?? ''}${random.pick(['/', '//', '%20', ';x', '.', '0', '\\'])}`,
    () => 'a'.repeat(random.pick([33, 2_000, 5_000])),
  ])()
  return { ...plan, url: [segments.toSpliced(at, 1, other).join('/'), ...query].join('?') }
}

const changeToken: Change = (plan, world, random) => {
  if (random.oneIn(6)) return { ...plan, token: undefined }
  if (random.oneIn(3)) return { ...plan, token: `${plan.token ?? 'x'}${random.pick(['x', '=', '==', ' '])}` }
  return { ...plan, token: random.pick([...world.pool.filter((text) => !/[^\x20-\x7e]/.test(text)), 'x']) }
}

const changeHeader: Change = (plan, _, random) => {
  const [name, values] = random.pick(HEADERS)
  const headers = { ...plan.headers, [name]: random.pick(values) }
  if (name !== 'idempotency-key' || random.oneIn(3)) return { ...plan, headers }
  const isEmpty = plan.json === undefined && plan.body === undefined
  const content = isEmpty ? [] : ['content-digest', 'content-length', 'content-type']
  const components = [
    '@method',
    '@target-uri',
    ...(plan.token === undefined ? [] : ['authorization']),
    ...content,
    name,
  ]
  return { ...plan, headers, signing: { ...plan.signing, components } }
}

const changeSigning: Change = (plan, world, random) => ({
  ...plan,
  signing: {
    ...plan.signing,
    ...random.pick<NonNullable<Plan['signing']>>([
      { key: random.pick(world.keys) },
      { age: random.pick([-61, -60, 299, 300, 301, 1e9, -1e9]) },
      { expires: random.pick([0, -1, 1, 4e9, 999_999_999_999_999]) },
      { alg: random.pick(['ed25519', 'EdDSA', 'hmac-sha256', 'none', '']) },
      { nonce: random.pick(['n', '', 'a'.repeat(256), 'a'.repeat(257)]) },
      { tag: random.pick(['gnap', 'GNAP', 'web-bot-auth', '']) },
      { label: random.pick(['sig', 'a', '*b', 'gnap', 'sig1-x.y_z']) },
      {
        components: random.pick([
          ['@method', '@target-uri'],
          ['@target-uri', '@method', 'authorization'],
          ['@method', '@path', '@query', '@authority', '@scheme', '@request-target', '@target-uri', 'authorization'],
          ['@method', '@target-uri', 'authorization', 'content-digest', 'content-type', 'content-length', 'host'],
          ['@method', '@target-uri', 'content-digest'],
          [],
        ]),
      },
    ]),
  },
})

const changeMethod: Change = (plan, _, random) => ({
  ...plan,
  method: random.pick(['GET', 'POST', 'DELETE', 'OPTIONS', 'HEAD', 'PUT', 'PATCH', 'TRACE', 'get', 'QUERY']),
})

/** A right value at another place: somebody else's account, another asset, another server's resource. */
const changeOwner: Change = (plan, world, random) => {
  const others = ['alice', 'bob', 'carol', 'inactive', 'closed', 'nobody', 'other', 'client']
  const swap = (text: string): string =>
    random.pick<() => string>([
      () => text.replace(/\/(alice|bob|carol|client)\b/, `/${random.pick(others)}`),
      () => text.replace(/\/(alice|bob|carol|client)\b/, `/${random.pick(others)}`),
      () => text.replaceAll('wallet.example', 'evil.example'),
      () => text.replace(/"USD"/, '"EUR"').replace('"assetScale":2', '"assetScale":4'),
      () =>
        text.replace(
          /"value":"[0-9]+"/,
          `"value":"${random.pick(['0', '1', '99999', '100001', '18446744073709551615'])}"`,
        ),
      () =>
        text.replace(
          /\/(?:[0-9a-f]{12})?[0-9a-f]{32}/,
          `/${random.pick([...world.pool.filter((known) => /^(?:[0-9a-f]{12})?[0-9a-f]{32}$/.test(known)), '0'.repeat(32)])}`,
        ),
    ])()
  const { json, url, ...rest } = plan
  const isInBody = json !== undefined && !random.oneIn(4)
  if (!isInBody) return { ...plan, url: swap(url) }
  return { ...rest, url, json: JSON.parse(swap(JSON.stringify(json))) }
}

const CHANGES: readonly Change[] = [
  changeJson,
  changeJson,
  changeJson,
  changeOwner,
  changeOwner,
  changeText,
  changeQuery,
  changePath,
  changeToken,
  changeHeader,
  changeSigning,
  changeMethod,
]

/** A right request, once in ten as it is, else with one to three changes. */
export function mutatePlan(plan: Plan, world: FuzzWorld, random: Random): Plan {
  if (random.oneIn(10)) return plan
  let changed = plan
  for (let left = random.pick([1, 1, 1, 2, 3]); left > 0; left--) changed = random.pick(CHANGES)(changed, world, random)
  return changed
}
