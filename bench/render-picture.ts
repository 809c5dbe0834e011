import type { Figure } from './measure.ts'
import type { PartResult } from './part-result.ts'

const WIDTH = 800
const LEFT = 300
const RIGHT = 110
const TOP = 104
const ROW = 24
const BAR = 14
const BOTTOM = 34

// The picture has a background of its own: whoever shows it may be light or dark, whatever the reader's system is.
const STYLE = `text{font:13px system-ui,sans-serif;fill:#1b1f24}.title{font-size:17px;font-weight:600}
.quiet{fill:#57606a;font-size:12px}.end{text-anchor:end}.middle{text-anchor:middle}
.value{paint-order:stroke;stroke:#fff;stroke-width:4px}.back{fill:#fff}.line{stroke:#d8dee4}.ours{fill:#7fc4b1}.floor{fill:#0b5c4b}
@media(prefers-color-scheme:dark){text{fill:#e6edf3}.value{stroke:#0d1117}.quiet{fill:#9198a1}.back{fill:#0d1117}
.line{stroke:#30363d}.ours{fill:#2f7f6c}.floor{fill:#8fe0cb}}`

/** A picture of CPU per request on `node:http`, 32 at a time: behind each bar of the floor, that of the library. */
export function renderPicture(result: PartResult | undefined): string {
  const figures = result?.figures.filter(({ host, connections }) => host === 'node' && connections === 32) ?? []
  const most = Math.max(100, ...figures.map(({ ours, floor }) => Math.max(ours.cpuMicroseconds, floor.cpuMicroseconds)))
  const scale = (WIDTH - LEFT - RIGHT) / most
  const storage = result?.storage === 'sqlite' ? 'SQLite in a file, each write durable' : result?.storage
  const height = TOP + figures.length * ROW + BOTTOM
  const parts = [
    `<rect class="back" width="${WIDTH}" height="${height}" rx="8"/>`,
    text(20, 32, 'title', 'CPU of the server per request, in microseconds'),
    text(20, 52, 'quiet', `32 requests at a time, ${result?.runtime}, ${storage}`),
    `<rect class="floor" x="20" y="66" width="12" height="12"/>`,
    text(
      38,
      77,
      'quiet',
      'the floor: bare node:http that verifies as many signatures and stores a row where one is made',
    ),
    `<rect class="ours" x="20" y="84" width="12" height="12"/>`,
    text(38, 95, 'quiet', 'the whole bar is this library, beside it in the same run, and as a multiple of it'),
    ...ticks(most).map((tick) => renderTick(tick, LEFT + tick * scale, height - BOTTOM)),
    ...figures.map((figure, index) => renderRow(figure, TOP + 6 + index * ROW, scale)),
  ]
  const size = `viewBox="0 0 ${WIDTH} ${height}" width="${WIDTH}" height="${height}"`
  const head = `<svg xmlns="http://www.w3.org/2000/svg" ${size} role="img"><title>CPU per request</title>`
  return `${head}<style>${STYLE}</style>\n${parts.join('\n')}\n</svg>\n`
}

function text(x: number, y: number, style: string, content: string): string {
  return `<text x="${x.toFixed(0)}" y="${y}" class="${style}">${content}</text>`
}

/** Four or five round numbers up to the most. */
function ticks(most: number): readonly number[] {
  const step = [50, 100, 200, 250, 500, 1000, 2000, 5000].find((each) => most / each <= 5) ?? 10_000
  return Array.from({ length: Math.floor(most / step) + 1 }, (_, index) => index * step)
}

function renderTick(tick: number, x: number, bottom: number): string {
  const at = x.toFixed(1)
  return `<path class="line" d="M${at} ${TOP}V${bottom}"/>${text(x, bottom + 18, 'quiet middle', String(tick))}`
}

function renderRow({ operation, ours, floor, ratio: [, ratio] }: Figure, y: number, scale: number): string {
  const bar = (microseconds: number, style: string): string =>
    `<rect class="${style}" x="${LEFT}" y="${y}" width="${(microseconds * scale).toFixed(1)}" height="${BAR}"/>`
  const end = LEFT + Math.max(ours.cpuMicroseconds, floor.cpuMicroseconds) * scale + 6
  return [
    text(LEFT - 10, y + 12, 'end', operation.replace('create-outgoing-payment', 'create-outgoing')),
    bar(ours.cpuMicroseconds, 'ours'),
    bar(floor.cpuMicroseconds, 'floor'),
    text(end, y + 12, 'value', `${ours.cpuMicroseconds.toFixed(0)} · ${ratio.toFixed(1)}×`),
  ].join('')
}
