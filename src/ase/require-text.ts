import { shownValue } from '../protocol/shown-value.ts'

/** Requires a text of a wallet in plain JavaScript, where a misspelt member gives undefined. */
export function requireText(name: string, value: unknown): void {
  if (typeof value !== 'string') throw new TypeError(`${name} must be a string, not ${shownValue(value)}`)
}
