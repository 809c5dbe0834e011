import { writeFileSync } from 'node:fs'
import process from 'node:process'

/** Prints a line. */
export function say(text: string): void {
  process.stdout.write(`${text}\n`)
}

/** Writes what was measured to `<out>.json`, if the command line names a file. */
export function writeRun(out: string, run: unknown): void {
  if (out !== '') writeFileSync(`${out}.json`, `${JSON.stringify(run, null, 2)}\n`)
}
