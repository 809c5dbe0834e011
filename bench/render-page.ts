import { quickestVerification } from './conditions.ts'
import type { VerifierName } from './host-names.ts'
import type { Figure } from './measure.ts'
import type { RunResult } from './part-result.ts'
import { REFERENCE_VERIFICATION_MICROSECONDS } from './reference.ts'
import { median } from './statistics.ts'

/** What the page calls the operations, in its order. */
const NAMES: Readonly<Record<string, string>> = {
  'get-wallet-address': 'wallet address',
  'get-wallet-address-keys': 'key set of a wallet address',
  'get-incoming-payment, public': 'incoming payment, public',
  'post-request, by wallet address': 'grant, client by wallet address',
  'post-request, by key': 'grant, client by key',
  'post-token': 'token rotated',
  'delete-token': 'token revoked',
  'post-request, with interaction': 'grant that a person is asked for',
  'interact, approved': 'interaction opened and approved',
  'post-continue': 'grant continued',
  'delete-continue': 'grant cancelled',
  'create-incoming-payment': 'create an incoming payment',
  'get-incoming-payment': 'incoming payment, signed',
  'list-incoming-payments, 10': 'ten incoming payments',
  'complete-incoming-payment': 'complete an incoming payment',
  'create-quote': 'quote',
  'get-quote': 'quote, read',
  'create-outgoing-payment, no limits': 'outgoing payment, no limits',
  'create-outgoing-payment, debit limit, many grants': 'outgoing payment, debit limit, many grants',
  'create-outgoing-payment, debit limit, one grant': 'outgoing payment, debit limit, one grant',
  'get-outgoing-payment': 'outgoing payment, read',
  'list-outgoing-payments, 10': 'ten outgoing payments',
  'get-outgoing-payment-grant': 'spent amounts of a grant',
}

/** Public documents cost so little that a quotient of differences of theirs means nothing. */
const PUBLIC = ['get-wallet-address', 'get-wallet-address-keys', 'get-incoming-payment, public']

/** Where a column was measured: the beginning of the runtime's name, the storage, the host, how many at a time, who verifies. */
const PLACES = {
  sqlite: ['Node 24', 'sqlite', 'node', 32],
  libsodium: ['Node 24', 'sqlite', 'node', 32, 'libsodium'],
  postgres: ['Node 24', 'postgres', 'node', 32],
  eight: ['Node 24', 'sqlite', 'node', 8],
  one: ['Node 24', 'sqlite', 'node', 1],
  memory: ['Node 24', 'memory', 'node', 32],
  express: ['Node 24', 'sqlite', 'express', 32],
  fetch: ['Node 24', 'sqlite', 'fetch', 32],
  older: ['Node 20', 'sqlite', 'node', 32],
  bun: ['Bun', 'sqlite', 'fetch', 32],
  deno: ['Deno', 'sqlite', 'fetch', 32],
} as const

function figureAt({ results }: RunResult, operation: string, place: keyof typeof PLACES): Figure {
  const [runtime, storage, host, connections, verifier = 'host'] = PLACES[place]
  const found = results
    .filter((part) => part.runtime.startsWith(runtime) && part.storage === storage && part.verifier === verifier)
    .flatMap(({ figures }) => figures)
    .find((each) => each.operation === operation && each.host === host && each.connections === connections)
  if (found === undefined) throw new Error(`${operation} was not measured: ${PLACES[place].join(', ')}`)
  return found
}

/** The cells of an operation's row after its name; `before` stand there now. */
type Cells = (operation: string, before: readonly string[]) => readonly string[]

/** The tables of a page, each by the beginning of its head. */
function tablesOf(run: RunResult): Readonly<Record<string, Cells>> {
  const at = (operation: string, place: keyof typeof PLACES): Figure => figureAt(run, operation, place)
  return {
    '| Operation | CPU, µs |': (operation) => {
      const { ours, floor } = at(operation, 'sqlite')
      return [
        ...[ours.cpuMicroseconds, floor.cpuMicroseconds].map((cpu) => cpu.toFixed(0)),
        ...[ours.requestsPerSecond, floor.requestsPerSecond].map((rate) => rate.toFixed(0)),
        ...[ours.p50, floor.p50, ours.p99, floor.p99].map((milliseconds) => milliseconds.toFixed(1)),
      ]
    },
    '| Operation | alone, SQLite:': (operation) => {
      const [alone, postgres] = [at(operation, 'one').ours, at(operation, 'postgres').ours]
      const times = [alone.p50, alone.p99, postgres.p50, postgres.p99].map((milliseconds) => milliseconds.toFixed(1))
      return [...times.slice(0, 2), postgres.requestsPerSecond.toFixed(0), ...times.slice(2)]
    },
    '| Operation | SQLite | libsodium verifies | other runs |': (operation, [, , others = '', , target = '']) => {
      const [sqlite, libsodium, postgres] = (['sqlite', 'libsodium', 'postgres'] as const).map((place) =>
        withPasses(at(operation, place)),
      )
      return [sqlite ?? '', libsodium ?? '', others, postgres ?? '', target]
    },
    '| Operation | 8 at a time |': (operation) => {
      const places = ['eight', 'one', 'memory', 'express', 'fetch', 'older', 'bun', 'deno'] as const
      return places.map((place) => at(operation, place).ratio[1].toFixed(1))
    },
    '| Operation | SQLite, µs |': (operation) => {
      const compared = run.reference.filter(
        (each) => each.operation === operation && each.runtime.startsWith('Node 24'),
      )
      const on = (storage: string, verifier: VerifierName) =>
        compared.filter((each) => each.storage === storage && each.verifier === verifier)
      const all = [...on('sqlite', 'host'), ...on('sqlite', 'libsodium'), ...on('postgres', 'host')]
      const theirs = on('sqlite', 'host').map(({ theirsMicroseconds }) => theirsMicroseconds)
      return [
        ...[...all.map(({ oursMicroseconds }) => oursMicroseconds), ...theirs].map((cpu) => cpu.toFixed(0)),
        ...all.map(({ ratio }) => `1/${(1 / ratio).toFixed(0)}`),
      ]
    },
  }
}

/** The median ratio of a figure, with the least and the most of its passes. */
function withPasses({ ratio: [least, middle, most] }: Figure): string {
  return `${middle.toFixed(2)} (${least.toFixed(1)}–${most.toFixed(1)})`
}

const OPERATION_OF = new Map(Object.entries(NAMES).map(([operation, name]) => [name, operation]))

/** Puts the figures of a run into the tables of a page: into the rows that are there. */
export function renderPage(page: string, run: RunResult): string {
  const tables = Object.entries(tablesOf(run))
  let cellsOf: Cells | undefined
  const lines = page.split('\n').map((line) => {
    if (!line.startsWith('|')) cellsOf = undefined
    cellsOf ??= tables.find(([head]) => line.startsWith(head))?.[1]
    const [name = '', ...before] = line
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim())
    const operation = OPERATION_OF.get(name)
    if (cellsOf === undefined || operation === undefined) return line
    return `| ${[name, ...cellsOf(operation, before)].join(' | ')} |`
  })
  return lines.join('\n')
}

/** What the README says of a run, word by word. */
export function summaryOf(run: RunResult): string {
  const payment = 'create-outgoing-payment, debit limit, many grants'
  const rateOf = (operation: string): string => figureAt(run, operation, 'sqlite').ours.requestsPerSecond.toFixed(0)
  const alone = figureAt(run, payment, 'one').ours.p50.toFixed(1)
  const rates = `${rateOf(payment)} orders of outgoing payments a second, or ${rateOf('create-incoming-payment')} creations of incoming ones`
  return `answered ${rates}, with 32 requests at a time. With one at a time, an order took ${alone} ms`
}

/** What the page says of a run in its sentences, word by word, where a line may end at any space. */
export function sentencesOf(run: RunResult): readonly string[] {
  const verificationMicroseconds = quickestVerification(run.before, run.after)
  const slower = REFERENCE_VERIFICATION_MICROSECONDS / verificationMicroseconds
  const starts = run.results.map(({ firstAnswer }) => firstAnswer).filter((start) => start !== undefined)
  const [first = [], second = [], older = []] = starts.map(({ listening, read, granted }) =>
    [listening, read, granted].map((milliseconds) => milliseconds.toFixed(0)),
  )
  const signed = run.express.filter(({ operation }) => !PUBLIC.includes(operation))
  return [
    `one Ed25519 verification takes ${verificationMicroseconds.toFixed(0)} µs`,
    `${first[0]} ms until it listens, ${first[1]} with a first read, ${first[2]} with a first grant`,
    `in another start of the same run ${second[0]}, ${second[1]} and ${second[2]}`,
    `on Node 20 ${older[0]}, ${older[1]} and ${older[2]}.`,
    `has a median of ${median(signed.map(({ ratio }) => ratio)).toFixed(2)} over the signed operations`,
    `(${slower.toFixed(2)} times what was measured)`,
  ]
}
