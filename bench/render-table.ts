import type { ExpressFigure } from './compare-hosts.ts'
import type { Figure } from './measure.ts'
import type { ReferenceFigure } from './reference.ts'

const COLUMNS = [
  'operation',
  'host',
  'at once',
  'req/s',
  'p50 ms',
  'p99 ms',
  'CPU µs',
  'floor µs',
  'ratio',
  '(of passes)',
] as const
const WIDTHS = [50, 8, 8, 8, 8, 8, 8, 9, 6, 12] as const

function cellsOf({
  operation,
  host,
  connections,
  ours,
  floor,
  ratio: [least, middle, most],
}: Figure): readonly string[] {
  return [
    operation,
    host,
    String(connections),
    ours.requestsPerSecond.toFixed(0),
    ours.p50.toFixed(1),
    ours.p99.toFixed(1),
    ours.cpuMicroseconds.toFixed(0),
    floor.cpuMicroseconds.toFixed(0),
    middle.toFixed(2),
    `${least.toFixed(2)}-${most.toFixed(2)}`,
  ]
}

function line(cells: readonly string[]): string {
  const padded = cells.map((cell, at) => (at === 0 ? cell.padEnd(WIDTHS[at] ?? 0) : cell.padStart(WIDTHS[at] ?? 0)))
  return padded.join(' ').trimEnd()
}

/** The heads of the columns. */
export function renderHead(): string {
  return line(COLUMNS)
}

/** A figure as a line of the table. */
export function renderFigure(figure: Figure): string {
  return line(cellsOf(figure))
}

/** What Express adds to the library, as lines of a table. */
export function renderExpress(figures: readonly ExpressFigure[]): string {
  const head = '(ours on Express - bare Express) / (ours on node - bare node), CPU'
  return [
    head,
    ...figures.map(({ runtime, storage, verifier, operation, connections, ratio }) => {
      const place = [runtime, storage, `${connections} at a time`, ...(verifier === 'host' ? [] : [verifier])]
      return `${operation.padEnd(50)} ${ratio.toFixed(2).padStart(8)}  ${place.join(', ')}`
    }),
  ].join('\n')
}

/** The reference server beside the library, as lines of a table. */
export function renderReference(figures: readonly ReferenceFigure[]): string {
  const head =
    'beside the reference server, which was measured on another day: CPU µs, of ours as on a machine where a verification takes as long'
  const lines = figures.map((figure) => {
    const { runtime, storage, verifier, operation, oursMicroseconds, theirsMicroseconds, ratio } = figure
    const place = [runtime, storage, ...(verifier === 'host' ? [] : [verifier])].join(', ')
    const numbers = [oursMicroseconds.toFixed(0), theirsMicroseconds.toFixed(0), `1/${(1 / ratio).toFixed(1)}`]
    const cells = numbers.map((number) => number.padStart(8))
    return [operation.padEnd(50), ...cells, ` ${place}`].join(' ')
  })
  return [head, ...lines].join('\n')
}
