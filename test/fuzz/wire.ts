import { connect } from 'node:net'
import type { HttpResponse } from 'open-payments-server'
import type { InMemoryRequest } from 'open-payments-server/testing'
import type { FakeClock } from '../support/fake-clock.ts'
import { turn } from '../support/turns.ts'
import type { Random } from './random.ts'

// Requests as the bytes of a connection, where there is more to break than in memory.

const CRLF = '\r\n'

/** How a body may be sent. */
function framed(body: string, random: Random): { readonly lines: readonly string[]; readonly body: string } {
  const chunked = ['Transfer-Encoding: chunked']
  const half = Math.floor(body.length / 2)
  const chunk = (text: string): string => (text === '' ? '' : `${text.length.toString(16)}${CRLF}${text}${CRLF}`)
  const whole = `${chunk(body.slice(0, half))}${chunk(body.slice(half))}`
  const end = `0${CRLF}${CRLF}`
  if (!random.oneIn(3)) return { lines: [], body }
  return random.pick([
    { lines: chunked, body: whole + end },
    { lines: chunked, body: `${whole.replace(CRLF, `;ext="x"${CRLF}`)}0${CRLF}X-Trailer: x${CRLF}${CRLF}` },
    { lines: chunked, body: `${whole}zz${CRLF}` },
    { lines: chunked, body: `ffffffffffffffff${CRLF}${body}` },
    { lines: chunked, body: whole },
    { lines: [...chunked, 'Content-Length: 3'], body: whole + end },
    { lines: ['Transfer-Encoding: gzip, chunked'], body: whole + end },
    { lines: ['Content-Length: 3'], body },
    { lines: ['Content-Length: -1'], body },
    { lines: ['Content-Length: 1e3'], body },
    { lines: [`Content-Length: ${body.length + 7}`], body },
    { lines: ['Content-Length: 99999999999999999999'], body },
    { lines: ['Expect: 100-continue'], body },
    { lines: ['Expect: x', 'Upgrade: h2c', 'Connection: upgrade, close'], body },
  ])
}

/** The bytes of a request, broken in the ways that only bytes can be; one character for each. */
export function toWire({ method, target, headers, body }: InMemoryRequest, random: Random): string {
  const frame = framed(Buffer.from(body).toString('latin1'), random)
  const isFramed = frame.lines.some((line) => /^(content-length|transfer-encoding)/i.test(line))
  const own = Object.entries(headers).flatMap(([name, values]) =>
    name === 'content-length' && isFramed
      ? []
      : values.map((value) => `${name}: ${Buffer.from(value).toString('latin1')}`),
  )
  const lines = [...own, ...frame.lines]
  const ways: readonly (() => readonly string[])[] = [
    () => [...lines, ...lines],
    () => lines.map((line) => line.replace(': ', ':\t ')),
    () => lines.map((line) => line.replace(': ', ' : ')),
    () => lines.map((line) => line.replace(/, /g, `,${CRLF} `)),
    () => [...lines, `x-long: ${'a'.repeat(20_000)}`],
    () => [...lines, ...Array.from({ length: 300 }, (_, index) => `x-${index}: y`)],
    () => [...lines, 'no colon', ': no name'],
    () => [...lines, 'x\u0000: y', 'x: \u0001\u0080'],
    () => lines.filter((line) => !line.startsWith('host')),
  ]
  const head = random.oneIn(6) ? random.pick(ways)() : lines
  const version = random.oneIn(20) ? random.pick(['HTTP/1.0', 'HTTP/2.0', 'HTTP/1.1 x', '']) : 'HTTP/1.1'
  const path = Buffer.from(target).toString('latin1')
  const text = [`${method} ${path} ${version}`, ...head, '', frame.body].join(random.oneIn(30) ? '\n' : CRLF)
  if (!random.oneIn(12)) return text
  const { from, to } = random.stretch(text)
  return text.slice(0, from) + String.fromCharCode(random.below(256)).repeat(random.below(3)) + text.slice(to)
}

/** A right request that asks for the end of the connection. */
export const LAST = ['GET /alice HTTP/1.1', 'Host: wallet.example', 'Connection: close', '', ''].join(CRLF)

const TURNS_BEFORE_DEADLINE = 500
const TURNS_BEFORE_END = 3_000
const HANG_MILLISECONDS = 10_000

/**
 * Sends bytes and reads until the server closes the connection. A server that waits for more of a body is brought to
 * its deadline; one that waits for more of a head is told that there is no more.
 */
export async function converse(port: number, bytes: string, clock: FakeClock): Promise<string> {
  const socket = connect(port, '127.0.0.1')
  let text = ''
  let isClosed = false
  socket.setEncoding('latin1')
  socket.on('data', (part) => {
    text += part
  })
  socket.on('error', () => undefined)
  socket.on('close', () => {
    isClosed = true
  })
  socket.write(bytes, 'latin1')
  const started = performance.now()
  for (let passed = 0; !isClosed; passed++) {
    if (passed === TURNS_BEFORE_DEADLINE) clock.advance(11_000)
    if (passed === TURNS_BEFORE_END) socket.end()
    if (performance.now() - started > HANG_MILLISECONDS) throw new Error('the connection was never closed')
    await turn()
  }
  return text
}

/** What stands on a connection: the answers of the server, and those that Node gives by itself. */
export function readResponses(text: string): readonly (HttpResponse & { readonly isOwn: boolean })[] {
  const responses: (HttpResponse & { readonly isOwn: boolean })[] = []
  let rest = text
  while (rest !== '') {
    const end = rest.indexOf(`${CRLF}${CRLF}`)
    const [, status] = /^HTTP\/1\.1 (\d{3}) [A-Za-z -]+\r\n/.exec(rest) ?? []
    if (end < 0 || status === undefined) throw new Error(`not a response: ${JSON.stringify(rest.slice(0, 200))}`)
    const headers = new Map(
      rest
        .slice(rest.indexOf(CRLF) + 2, end)
        .split(CRLF)
        .filter((line) => line !== '')
        .map((line) => [line.slice(0, line.indexOf(':')).toLowerCase(), line.slice(line.indexOf(':') + 2)] as const),
    )
    const isOwn = headers.has('cache-control')
    const length = Number(headers.get('content-length') ?? 0)
    const body = Buffer.from(rest.slice(end + 4, end + 4 + length), 'latin1').toString()
    rest = rest.slice(end + 4 + length)
    // Node frames its own empty answers in chunks.
    if (!isOwn && headers.get('transfer-encoding') === 'chunked') rest = rest.replace(/^0\r\n\r\n/, '')
    for (const name of ['date', 'connection', 'keep-alive', 'content-length']) headers.delete(name)
    const hasBody = !['204', '304'].includes(status) && (length > 0 || !isOwn)
    responses.push({
      status: Number(status),
      headers: Object.fromEntries(headers),
      body: hasBody ? body : undefined,
      isOwn,
    })
  }
  return responses
}
