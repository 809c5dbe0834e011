import { createHash } from 'node:crypto'
import type { Script, ScriptedAnswer, ScriptedExchange } from './script.ts'

const LONGEST_TARGET = 100
const DIGEST_DIGITS = 16

/** What an answer says, in a few words: the code of a refusal, or the members of a document. */
function summary({ headers, body }: ScriptedAnswer): string {
  if (headers['content-type'] !== 'application/json') return headers['content-type'] ?? headers['location'] ?? 'nothing'
  const json: Readonly<Record<string, unknown>> & { readonly error?: { readonly code: string } } = JSON.parse(
    new TextDecoder().decode(body),
  )
  return json.error?.code ?? Object.keys(json).join(' ')
}

/** A digest of all of an answer but for pages, whose words and looks are not the protocol's. */
function digestOf({ headers, body }: ScriptedAnswer): string {
  if (headers['content-type']?.startsWith('text/html')) return '-'.repeat(DIGEST_DIGITS)
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\n`)
  const hash = createHash('sha256').update(lines.sort().join('')).update(body)
  return hash.digest('hex').slice(0, DIGEST_DIGITS)
}

function lineOf({ request, answer }: ScriptedExchange): string {
  const { number, title, method, target } = request
  const shown = target.length > LONGEST_TARGET ? `${target.slice(0, LONGEST_TARGET)}…` : target
  return `${number} ${digestOf(answer)} ${answer.status} ${summary(answer)} | ${title} | ${method} ${shown}\n`
}

/** A script for people to read, one line per request: number, digest and status of the answer, what it says, the request. */
export function writeDown(script: Script): string {
  return script.map(lineOf).join('')
}
