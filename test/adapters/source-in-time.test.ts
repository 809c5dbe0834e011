import { IncomingMessage, ServerResponse } from 'node:http'
import { Socket } from 'node:net'
import { describe, expect, it } from 'vitest'
import { openPaymentsMiddleware } from '../../adapters/express.ts'
import { toNodeListener } from '../../adapters/node.ts'
import { serveHandler } from '../../adapters/serve-handler.ts'
import { gate } from '../support/gate.ts'
import { createNotingServer, type NotingServer } from './noting-server.ts'

/** A server whose directory says in its own time whether a request is for Open Payments, and that notes its sources. */
function createSlow() {
  const { open, opened } = gate()
  let isOwned = true
  return {
    ...createNotingServer(() => opened.then(() => isOwned)),
    decide(answer: boolean) {
      isOwned = answer
      open()
    },
  }
}

function arrive() {
  const request = Object.assign(new IncomingMessage(new Socket()), { method: 'GET', url: '/op', originalUrl: '/op' })
  return { request, response: new ServerResponse(request) }
}

/** For each host: a request reaches the server, or else `pass` is called. */
const HOSTS: readonly [string, (server: NotingServer, source: () => string, pass: () => void) => unknown][] = [
  [
    'node:http',
    (server, source, next) => {
      const { request, response } = arrive()
      return toNodeListener(server, { source, next })(request, response)
    },
  ],
  [
    'Express',
    (server, source, next) => {
      const { request, response } = arrive()
      return openPaymentsMiddleware(server, { source })(request, response, next)
    },
  ],
  [
    'Bun and Deno',
    (server, source, pass) => {
      const next = () => {
        pass()
        return new Response()
      }
      return serveHandler(server, { source, next })(new Request('https://wallet.example/op'))
    },
  ],
]

describe.each(HOSTS)('the source of a request on %s', (_, send) => {
  it('T-37 is read before the directory is asked: after its answer the connection may be gone', async () => {
    const server = createSlow()
    let source = '198.51.100.7'
    send(
      server,
      () => source,
      () => undefined,
    )
    source = 'gone'
    server.decide(true)
    await expect.poll(() => server.asked).toEqual(['198.51.100.7'])
  })

  it('does not concern the routes of the wallet, even where it cannot be read', async () => {
    const server = createSlow()
    const passed: string[] = []
    const broken = (): string => {
      throw new Error('no address')
    }
    send(server, broken, () => passed.push('passed on'))
    server.decide(false)
    await expect.poll(() => passed).toEqual(['passed on'])
    expect(server.asked).toEqual([])
  })
})
