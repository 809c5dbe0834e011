import { once } from 'node:events'
import { type ClientHttp2Session, connect, createServer, type IncomingHttpHeaders } from 'node:http2'
import type { AddressInfo } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import { toNodeListener } from '../../adapters/node.ts'
import { testWallet } from '../support/test-wallet.ts'
import { createEcho } from './echo.ts'

/** A session of HTTP/2 with a server, and a way to ask on it. */
async function openSession(listener: ReturnType<typeof toNodeListener>) {
  // The compatibility API gives the same objects under other types.
  const server = createServer(listener as never).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const session = connect(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
  opened.push(() => {
    session.destroy()
    server.close()
  })
  return session
}

const opened: (() => void)[] = []

interface Http2Answer {
  readonly headers: IncomingHttpHeaders & { readonly ':status'?: number }
  readonly text: string
}

async function askOn(session: ClientHttp2Session, headers: object, body?: string): Promise<Http2Answer> {
  const stream = session.request({ ':path': '/op', ...headers }, { endStream: body === undefined })
  stream.setEncoding('utf8').on('error', () => undefined)
  const [answer] = await once(stream.end(body), 'response')
  let text = ''
  for await (const part of stream) text += part
  return { headers: answer, text }
}

describe('HTTP/2, with the compatibility API of Node', () => {
  afterEach(() => {
    for (const close of opened.splice(0)) close()
  })

  it('keeps targets, every line of a field, and bodies that no header announces', async () => {
    const session = await openSession(toNodeListener(createEcho()))
    const read = await askOn(session, { ':path': '/op//a?b=%zz', authorization: 'GNAP a' })
    expect(JSON.parse(read.text)).toMatchObject({ target: '/op//a?b=%zz', authorization: ['GNAP a'], body: '' })
    const created = await askOn(session, { ':method': 'POST' }, '{}')
    expect(created.headers).toMatchObject({ ':status': 200, 'content-type': 'application/json' })
    expect(JSON.parse(created.text)).toMatchObject({ method: 'POST', body: '{}' })
    const head = await askOn(session, { ':method': 'HEAD' })
    expect([head.headers[':status'], head.text]).toEqual([200, ''])
  })

  it('EMB-1 ends the stream alone where a body is too large, and warns of nothing', async () => {
    const warnings: unknown[] = []
    const warned = (warning: unknown): void => void warnings.push(warning)
    process.on('warning', warned)
    const { openPayments } = await testWallet()
    const session = await openSession(toNodeListener(openPayments))
    const large = 'x'.repeat(500_000)
    for (const length of [{}, { 'content-length': large.length }]) {
      const { headers } = await askOn(session, { ':method': 'POST', ':path': '/quotes', ...length }, large)
      expect([headers[':status'], headers.connection]).toEqual([413, undefined])
    }
    const endless = session.request({ ':method': 'POST', ':path': '/quotes' }).on('error', () => undefined)
    const heard: unknown[] = []
    for (const event of ['response', 'end', 'aborted', 'close']) endless.on(event, () => heard.push(event))
    endless.resume().write('x'.repeat(70_000))
    await once(endless, 'close')
    // The answer ends before the stream does.
    expect(heard).toEqual(['response', 'end', 'aborted', 'close'])
    expect((await askOn(session, { ':path': '/alice' })).headers[':status']).toBe(200)
    process.off('warning', warned)
    expect(warnings).toEqual([])
  })

  it('has the parts of a cookie field in one line, as HTTP/1.1 has them', async () => {
    const session = await openSession(
      toNodeListener({
        owns: async () => true,
        handle: async (request) => ({ status: 200, headers: {}, body: JSON.stringify(request.headerLines('cookie')) }),
      }),
    )
    const ask = async (headers: object) => JSON.parse((await askOn(session, headers)).text)
    expect(await ask({ cookie: ['session=a', 'theme=b'] })).toEqual(['session=a; theme=b'])
    expect(await ask({ cookie: 'session=a' })).toEqual(['session=a'])
    expect(await ask({})).toEqual([])
  })

  it('waits for the end of a stream, also where all that its head announces has come', async () => {
    const session = await openSession(toNodeListener(createEcho()))
    const stream = session.request({ ':path': '/op', ':method': 'POST', 'content-length': 2 })
    const answers: unknown[] = []
    stream.on('response', (headers) => answers.push(headers[':status']))
    stream.write('{}')
    expect((await askOn(session, { ':method': 'POST' }, '[]')).headers[':status']).toBe(200)
    expect(answers).toEqual([])
    stream.end()
    await once(stream, 'response')
    expect(answers).toEqual([200])
  })

  it('DIG-7 fails loudly behind a parser, which no header gives away', async () => {
    const listener = toNodeListener(createEcho())
    const session = await openSession(async (request, response) => {
      await once(request.resume(), 'end')
      listener(request, response)
    })
    expect((await askOn(session, { ':method': 'POST' }, '{}')).text).toBe('"fault"')
    expect(JSON.parse((await askOn(session, { ':method': 'POST' })).text)).toMatchObject({ body: '' })
  })
})
