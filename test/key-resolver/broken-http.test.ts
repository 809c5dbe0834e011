import type { Socket } from 'node:net'
import { describe, expect, it } from 'vitest'
import { fetchKeyResolver } from '../../src/runtime/fetch-key-resolver.ts'
import { gate } from '../support/gate.ts'
import { testServers } from '../support/test-servers.ts'
import { heldClock, publishedKey } from './fake-network.ts'

const { listen } = testServers()

const KEYS = JSON.stringify({ keys: [publishedKey('a')] })
const JSON_TYPE = 'content-type: application/json'
const CHUNKED = 'transfer-encoding: chunked'
const CHUNKS = `${KEYS.length.toString(16)}\r\n${KEYS}\r\n0\r\n`

const message = (status: string, lines: readonly string[], body = ''): string =>
  [`HTTP/1.1 ${status}`, ...lines, '', body].join('\r\n')

const RIGHT = message('200 OK', [JSON_TYPE, `content-length: ${KEYS.length}`], KEYS)
const UPGRADE = message('101 Switching Protocols', ['connection: upgrade', 'upgrade: other'])

/** A server that answers with what it likes, be it HTTP or not; `closed` resolves once its connection is. */
async function serve(answer: (socket: Socket) => void) {
  const { open: close, opened: closed } = gate()
  const clock = heldClock()
  const port = await listen(({ socket }) => {
    socket.on('close', close)
    answer(socket)
  })
  const resolver = fetchKeyResolver({ clock, loopbackHttp: true })
  return { clock, closed, ask: () => resolver.keySet(`http://localhost:${port}/alice`) }
}

describe('a server of keys that answers with bytes of its own', () => {
  it.each([
    ['nothing odd', RIGHT],
    ['100 before its answer', message('100 Continue', []) + RIGHT],
    ['hints before its answer', message('103 Early Hints', ['link: </style.css>']).repeat(50) + RIGHT],
    ['another answer behind it', RIGHT + message('200 OK', [JSON_TYPE, 'content-length: 2'], '{}')],
    ['trailers', message('200 OK', [JSON_TYPE, CHUNKED], `${CHUNKS}content-type: text/html\r\n\r\n`)],
  ])('KEY-6 is heard with %s', async (_, text) => {
    const { ask, closed } = await serve((socket) => void socket.end(text))
    expect(await ask()).toMatchObject({ ok: true, keys: [{ kid: 'a' }] })
    await closed
  })

  it.each([
    ['what is no HTTP', '\0\0\0'],
    ['two lengths', message('200 OK', [JSON_TYPE, `content-length: ${KEYS.length}`, 'content-length: 2'], KEYS)],
    ['a length and chunks', message('200 OK', [JSON_TYPE, 'content-length: 2', CHUNKED], `${CHUNKS}\r\n`)],
    ['less than its length', message('200 OK', [JSON_TYPE, `content-length: ${KEYS.length + 1}`], KEYS)],
    ['chunks without an end', message('200 OK', [JSON_TYPE, CHUNKED], CHUNKS.replace(/0\r\n$/, ''))],
    ['a head of 64 KiB', message('200 OK', [JSON_TYPE, `x: ${'x'.repeat(65_536)}`], KEYS)],
    ['a status without content', message('204 No Content', [JSON_TYPE], KEYS)],
  ])('T-4 gives no keys with %s', async (_, text) => {
    const { ask, closed } = await serve((socket) => void socket.end(text))
    expect(await ask()).toMatchObject({ ok: false, reason: 'unreachable' })
    await closed
  })

  it.each([
    ['another protocol', UPGRADE],
    ['hints, and no answer', message('103 Early Hints', ['link: </style.css>']).repeat(50)],
    ['a head without an end', 'HTTP/1.1 200 OK\r\nx: x\r\n'],
  ])('T-4 is waited for 3 seconds with %s, and its connection closed', async (_, text) => {
    const { open: written, opened: isWritten } = gate()
    const { clock, ask, closed } = await serve((socket) => void socket.write(text, () => written()))
    const answer = ask()
    await isWritten
    clock.advance(3000)
    expect(await answer).toEqual({ ok: false, reason: 'unreachable', detail: 'no answer in time' })
    await closed
  })
})
