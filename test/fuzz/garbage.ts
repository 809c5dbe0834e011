import { alterRequest, type InMemoryRequest } from 'open-payments-server/testing'
import type { FuzzWorld } from './fuzz-world.ts'
import { mutateText } from './mutate-json.ts'
import { POLLUTING } from './odd-values.ts'
import type { Random } from './random.ts'

// Requests that no client makes: broken after they were signed, or put together from pieces.

const METHODS = [
  'GET',
  'POST',
  'DELETE',
  'OPTIONS',
  'HEAD',
  'PUT',
  'PATCH',
  'TRACE',
  'CONNECT',
  'get',
  '',
  'G ET',
  'Ünit',
  '__proto__',
]

const SEGMENTS = [
  'incoming-payments',
  'outgoing-payments',
  'quotes',
  'outgoing-payment-grant',
  'wallet-address',
  'keys',
  'jwks.json',
  'did.json',
  'continue',
  'token',
  'interact',
  'complete',
  'alice',
  'client',
  'inactive',
  'auth',
  '.well-known',
  'pay',
]

const PIECES = [
  '',
  '.',
  '..',
  '%2e%2e',
  '%2F',
  '%5c',
  '%00',
  '\u0000',
  '%',
  '%zz',
  '%e0%a4',
  '%ff',
  '\\',
  '*',
  ':id',
  '(',
  '[',
  '+',
  '?',
  '#',
  ';a=b',
  ' ',
  '\t',
  '\r\nx: y',
  'é',
  '💩',
  '\ud800',
  '__proto__',
  'constructor',
  'toString',
  '0'.repeat(32),
  'a'.repeat(4_096),
  '/'.repeat(300),
]

function oddTarget(random: Random, pool: readonly string[]): string {
  const piece = (): string => random.pick(random.oneIn(3) ? PIECES : random.oneIn(4) ? [...pool, 'x'] : SEGMENTS)
  const path = Array.from({ length: random.below(5) }, () => `/${piece()}`).join('')
  const query = random.oneIn(3) ? `?${random.pick(['wallet-address', 'first', 'cursor', '__proto__'])}=${piece()}` : ''
  return (
    random.pick(['', '', '', '', '/', '//', '*', 'https://wallet.example', 'http:', '//evil.example']) + path + query
  )
}

const FIELDS = [
  'signature',
  'signature-input',
  'content-digest',
  'content-type',
  'content-length',
  'content-encoding',
  'authorization',
  'host',
  'if-none-match',
  'accept',
  'transfer-encoding',
  'cookie',
]

const STRUCTURED = [
  'sig1',
  'sig2',
  '=',
  '=:',
  ':',
  '(',
  ')',
  '"',
  '"@method"',
  '"@target-uri"',
  '"authorization"',
  '"content-digest"',
  '"@status"',
  '"@query-param";name="a"',
  ' ',
  ', ',
  ';',
  ';created=1772366400',
  ';created=-1',
  ';created=1.5',
  ';created="1"',
  ';created=99999999999999999',
  ';keyid="client-key"',
  ';keyid=:AAAA:',
  ';alg="none"',
  ';expires=0',
  ';nonce="\\""',
  ';sf',
  ';bs',
  ';key="sha-512"',
  ';req',
  'sha-512=:AAAA:',
  ':AAAA',
  '==',
  '?1',
  '@1',
  '%"',
  '\\',
  '\u0000',
  '\r\n ',
  'é',
  '\ud800',
  'GNAP ',
  'a'.repeat(9_000),
]

function oddLine(random: Random, pool: readonly string[]): string {
  const pieces = Array.from({ length: random.below(9) }, () =>
    random.pick(random.oneIn(6) ? [...pool, 'x'] : STRUCTURED),
  )
  return random.oneIn(12) ? pieces.join('').repeat(40) : pieces.join('')
}

/** One line of a field, with a small edit anywhere. */
function edited(line: string, { stretch, pick, oneIn }: Random): string {
  const { from, to } = stretch(line)
  return line.slice(0, from) + (oneIn(3) ? '' : pick(STRUCTURED)) + line.slice(to)
}

function oddLines(lines: readonly string[], random: Random, pool: readonly string[]): readonly string[] {
  const [line = ''] = lines
  return random.pick<() => readonly string[]>([
    () => [],
    () => [line, line],
    () => [line, oddLine(random, pool)],
    () => [oddLine(random, pool), line],
    () => [edited(line, random)],
    () => [edited(edited(line, random), random)],
    () => [oddLine(random, pool)],
    () => [`${line}, ${line}`],
    () => [line.toUpperCase()],
    () => Array.from({ length: 200 }, () => line),
  ])()
}

function oddBody(random: Random, pool: readonly string[], request: InMemoryRequest): string | Uint8Array {
  const text = new TextDecoder().decode(request.body)
  return random.pick<() => string | Uint8Array>([
    () => mutateText(text === '' ? '{"client":"x"}' : text, { random, pool }),
    () => random.pick(POLLUTING),
    () => '{"a":'.repeat(10_000),
    () => 'x'.repeat(random.pick([1, 65_536, 65_537, 200_000])),
    () => Uint8Array.from({ length: random.below(64) }, () => random.below(256)),
    () => '',
  ])()
}

/** Breaks a request in one to three places. */
export function breakRequest(request: InMemoryRequest, { pool }: FuzzWorld, random: Random): InMemoryRequest {
  let broken = request
  for (let left = random.pick([1, 1, 2, 3]); left > 0; left--) {
    switch (random.below(8)) {
      case 0:
        broken = alterRequest(broken, { method: random.pick(METHODS) })
        break
      case 1:
      case 2:
        broken = alterRequest(broken, {
          target: random.oneIn(3) ? edited(broken.target, random) : oddTarget(random, pool),
        })
        break
      case 3:
        broken = alterRequest(broken, { body: oddBody(random, pool, broken) })
        break
      default: {
        const name = random.pick(FIELDS)
        broken = alterRequest(broken, { headers: { [name]: oddLines(broken.headerLines(name), random, pool) } })
      }
    }
  }
  return broken
}
