import type { Figure } from './measure.ts'

const ROW = 26
const LEFT = 330
const WIDTH = 860
const TOP = 44

/** A picture of CPU per request: of each bar, the dark part is the floor's. */
export function renderPicture(title: string, figures: readonly Figure[]): string {
  const height = TOP + figures.length * ROW + 12
  const most = Math.max(...figures.map(({ ours }) => ours.cpuMicroseconds))
  const scale = (WIDTH - LEFT - 120) / most
  const bars = figures.map(({ operation, ours, floor, ratio: [, ratio] }, index) => {
    const y = TOP + index * ROW
    const bar = (microseconds: number, colour: string): string =>
      `<rect x="${LEFT}" y="${y}" width="${(microseconds * scale).toFixed(1)}" height="18" rx="2" fill="${colour}"/>`
    const end = LEFT + Math.max(ours.cpuMicroseconds, floor.cpuMicroseconds) * scale + 6
    return [
      `<text x="${LEFT - 8}" y="${y + 13}" text-anchor="end">${operation}</text>`,
      bar(ours.cpuMicroseconds, '#8cc5b4'),
      bar(floor.cpuMicroseconds, '#0b5c4b'),
      `<text x="${end.toFixed(1)}" y="${y + 13}">${ours.cpuMicroseconds.toFixed(0)} µs, ${ratio.toFixed(2)} ×</text>`,
    ].join('')
  })
  const font = 'font-family="system-ui, sans-serif" font-size="12" fill="#1b1f24"'
  const head = `<text x="${LEFT}" y="24">${title}</text>`
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" width="${WIDTH}" height="${height}" ${font}><rect width="${WIDTH}" height="${height}" fill="#ffffff"/>${head}${bars.join('')}</svg>\n`
}
