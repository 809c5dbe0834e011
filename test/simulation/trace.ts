import { createHash } from 'node:crypto'

/** What happened in a run, line by line. A line is only written where somebody reads it: most runs are not looked at. */
export interface Trace {
  readonly isOn: boolean
  add(line: () => string): void
  lines(): readonly string[]
  /** SHA-256 over all lines. */
  hash(): string
}

export function createTrace(isOn: boolean): Trace {
  const lines: string[] = []
  return {
    isOn,
    add: (line) => {
      if (isOn) lines.push(line())
    },
    lines: () => lines,
    hash: () => createHash('sha256').update(lines.join('\n')).digest('hex'),
  }
}
