import { createHash } from 'node:crypto'
import type { Script, ScriptedAnswer, ScriptedExchange } from './script.ts'

/** What of a host matters to a comparison. */
export interface ComparedHost {
  /** Whether it hands on what is not for Open Payments, to routes of the wallet's own or of the framework. */
  readonly handsOn: boolean
  /** Whether a URL parser sees a target before the library does. */
  readonly parsesUrls: boolean
}

/** Fields that belong to a connection, to the moment or to a framework, and not to the answer. */
const OF_THE_HOST: ReadonlySet<string> = new Set([
  'connection',
  'content-length',
  'date',
  'keep-alive',
  'transfer-encoding',
  'x-powered-by',
])

/** All of an answer that may not differ, as text. What is no answer of the library's (its own all have that field) is not looked at. */
function comparable(method: string, { status, headers, body }: ScriptedAnswer): string {
  if (status === 404 && headers['cache-control'] === undefined) return HANDED_ON
  const fields = Object.entries(headers).filter(([name]) => !OF_THE_HOST.has(name))
  const lines = fields.map(([name, value]) => `${name}: ${value}`).sort()
  const bytes = method === 'HEAD' ? new Uint8Array() : body
  const digest = createHash('sha256').update(bytes).digest('hex')
  return [status, ...lines, digest, new TextDecoder().decode(bytes)].join('\n')
}

const HANDED_ON = 'handed on'

function expectedOf({ request, answer }: ScriptedExchange, { handsOn }: ComparedHost): string {
  return handsOn && !request.isOwned ? HANDED_ON : comparable(request.method, answer)
}

/** The first answer that is not byte for byte what the reference gave, told in full; `undefined` where there is none. */
export function firstDifference(
  script: Script,
  answers: readonly ScriptedAnswer[],
  host: ComparedHost,
): string | undefined {
  for (const [at, exchange] of script.entries()) {
    const { request, answer, rewritten } = exchange
    const given = answers[at]
    const got = given === undefined ? 'nothing' : comparable(request.method, given)
    const expected = expectedOf(exchange, host)
    // A host that is given the target by a parser may have asked for the path with the one and read the other.
    const others =
      rewritten !== undefined && host.parsesUrls
        ? [expectedOf(rewritten, host), comparable(request.method, answer)]
        : []
    if (![expected, ...others].includes(got)) {
      return `request ${request.number}, ${request.title}: ${request.method} ${request.target}\n--- expected\n${expected}\n--- but got\n${got}`
    }
  }
  return undefined
}
