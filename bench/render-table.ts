import type { Figure } from './measure.ts'

const COLUMNS = [
  'operation',
  'at once',
  'req/s',
  'p50 ms',
  'p99 ms',
  'CPU µs',
  'floor µs',
  'ratio',
  '(of passes)',
] as const
const WIDTHS = [50, 8, 8, 8, 8, 8, 9, 6, 12] as const

function cellsOf({ operation, connections, ours, floor, ratio: [least, middle, most] }: Figure): readonly string[] {
  return [
    operation,
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
