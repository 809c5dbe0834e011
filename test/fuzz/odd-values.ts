import type { Random } from './random.ts'

/** An object with own members of any name, `__proto__` included. */
export function objectOf(entries: readonly (readonly [string, unknown])[]): object {
  return Object.fromEntries(entries)
}

function nested(depth: number, isObject: boolean): unknown {
  let value: unknown = 1
  for (let level = 0; level < depth; level++) value = isObject ? { a: value } : [value]
  return value
}

const POLLUTION = '{"polluted":true,"toString":1,"then":1}'

/** What would leave its mark on every object where it was merged carelessly. */
export const POLLUTING: readonly string[] = [
  `{"__proto__":${POLLUTION}}`,
  `{"constructor":{"prototype":${POLLUTION}}}`,
  `{"prototype":${POLLUTION},"__proto__":null}`,
]

const TEXTS: readonly string[] = [
  '',
  ' ',
  'x',
  '0',
  '-1',
  '00',
  '1e3',
  '0x10',
  ' 1',
  '1.0',
  '18446744073709551615',
  '18446744073709551616',
  '9'.repeat(400),
  '\ud800',
  '\u0000',
  '\ufeff',
  '\u202e',
  'é',
  'e\u0301',
  '💩',
  'a\r\nb: c',
  '%',
  '%00',
  '%2e%2e%2f',
  '__proto__',
  'constructor',
  'toString',
  'null',
  'https://',
  'https://[::1',
  'https://127.0.0.1/a',
  'https://169.254.169.254/latest',
  'https://evil.example/incoming-payments/1',
  'https://user:pass@wallet.example/alice',
  'https://wallet.example:8443/alice',
  'http://wallet.example/alice',
  'https://wallet.example/alice/',
  'https://wallet.example//alice',
  'https://WALLET.example/alice',
  'https://wallet.example/Alice',
  'https://wallet.example/alice?x=1',
  'https://wallet.example/alice#x',
  'https://wallet.example/bob/../alice',
  'https://wallet.example/inactive',
  'https://wallet.example/closed',
  'https://wallet.example/nobody',
  'javascript:alert(1)',
  'data:text/html,x',
  '//wallet.example/alice',
  'R/2026-01-01T00:00:00Z/P1M',
  'R0/2026-01-01T00:00:00Z/PT60S',
  'R-1/9999-12-31T23:59:59Z/P9999Y',
  'R/P1M/2026-12-31T00:00:00Z',
  'R999999999/1970-01-01T00:00:00Z/PT60S',
  'R/2026-01-01T00:00:00Z/PT0S',
  '2026-03-01T12:00:01Z',
  '2026-03-02T12:00:00+14:00',
  '2026-02-30T00:00:00Z',
  '9999-12-31T23:59:60Z',
  '-000001-01-01T00:00:00Z',
  'USD',
  'EUR',
  'usd',
  'read-all',
  'list-all',
  'create',
  'outgoing-payment',
  'incoming-payment',
  'quote',
  'redirect',
  'sha-256',
  'ilp',
]

const NUMBERS: readonly number[] = [0, -0, 1, -1, 2, 0.5, 255, 256, 2 ** 31, 2 ** 53, 2 ** 64, 1e21, 1e308, 5e-324]

/** Values that a careless reader may stumble over. */
export function oddValue(random: Random, pool: readonly string[]): unknown {
  switch (random.below(9)) {
    case 0:
    case 1:
      return random.pick(TEXTS)
    case 2:
    case 3:
      return random.pick(pool.length === 0 ? TEXTS : pool)
    case 4:
      return random.pick(NUMBERS)
    case 5:
      return random.pick([null, true, false, [], {}, [[]], [null], { a: [] }])
    case 6:
      return JSON.parse(random.pick(POLLUTING))
    case 7:
      return random.pick(['a', '\u0000', '/', '%', '[', '💩', '\ud800']).repeat(random.pick([100, 300, 3_000, 9_000]))
    default:
      return nested(random.pick([2, 7, 8, 9, 28, 31, 32, 33, 100, 500]), random.oneIn(2))
  }
}

/** One odd text. */
export function oddText(random: Random): string {
  return random.pick(TEXTS)
}

/** What stands in JSON, or must not, and cannot be written from a value. */
export const ODD_TOKENS: readonly string[] = [
  '1e400',
  '-1e400',
  '-0',
  '1e-400',
  '0x10',
  '01',
  '+1',
  'NaN',
  'Infinity',
  'undefined',
  '"\\ud800"',
  '"\\udc00\\ud800"',
  '"\\u0000"',
  `${'9'.repeat(500)}`,
  `0.${'0'.repeat(500)}1`,
  "'x'",
  '[1,]',
  '{"a":1,}',
  '{"a":1,"a":2}',
  '// x',
  '"\t"',
  ...POLLUTING,
]

/** Names that a member may be given. */
export const ODD_NAMES: readonly string[] = [
  '__proto__',
  'constructor',
  'prototype',
  'hasOwnProperty',
  'toString',
  'then',
  '',
  'id',
  'value',
  'metadata',
  'limits',
  'identifier',
  'walletAddress',
  'receiveAmount',
  'debitAmount',
  'jwk',
  'd',
  '\ud800',
  'a'.repeat(5_000),
]
