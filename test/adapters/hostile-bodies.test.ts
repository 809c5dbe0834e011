import { toNodeListener } from 'open-payments-server/node'
import { type InMemoryRequest, signedRequest } from 'open-payments-server/testing'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { type AuthWallet, authWallet, PLAIN_REQUEST } from '../auth-server/auth-wallet.ts'
import { gate } from '../support/gate.ts'
import { testServers } from '../support/test-servers.ts'
import { AUTH, BASE, BOB, cryptography, grantAtOnce } from '../support/test-wallet.ts'
import { turns } from '../support/turns.ts'
import { closing, receive, send } from './echo.ts'
import { headOf } from './raw-request.ts'

const { listen } = testServers()

const TEN_MEBIBYTES = 10 * 1024 * 1024
const DEPTH = 10_000

/** A wallet on a port of this machine, and whether a body of it is being waited for. */
async function listening(): Promise<{
  readonly wallet: AuthWallet
  readonly port: number
  readonly isReading: Promise<void>
}> {
  const wallet = await authWallet()
  const { open: begin, opened: isReading } = gate()
  const port = await listen(
    toNodeListener({
      owns: (...given) => wallet.openPayments.owns(...given),
      handle: (request) =>
        wallet.openPayments.handle({
          ...request,
          bytes: (limit) => {
            begin()
            return request.bytes(limit)
          },
        }),
    }),
  )
  return { wallet, port, isReading }
}

function signed(wallet: AuthWallet, url: string, body: string, token?: string): Promise<InMemoryRequest> {
  const created = Math.floor(wallet.clock.now() / 1000)
  const { key } = wallet.client
  return signedRequest({ method: 'POST', url, body, key, cryptography, created, ...(token !== undefined && { token }) })
}

const deep = (open: string, close: string): string => open.repeat(DEPTH) + close.repeat(DEPTH)

/** What is asked for, but for one member that is nested 10 000 times. */
const DEEP_BODIES = [
  ['arrays', deep('[', ']')],
  ['objects', `${'{"a":'.repeat(DEPTH)}0${'}'.repeat(DEPTH)}`],
  ['no JSON', '['.repeat(DEPTH)],
] as const

describe('a body meant to harm', () => {
  it('T-36 EMB-1 of 10 MiB is refused before it came; one that never ends is cut off', async () => {
    const { wallet, port } = await listening()
    const before = await wallet.records()
    const head = 'POST / HTTP/1.1\r\nHost: wallet.example\r\nContent-Type: application/json\r\n'
    const announced = await receive(send(port, `${head}Content-Length: ${TEN_MEBIBYTES}\r\n\r\n{`))
    expect(announced).toMatch(/^HTTP\/1\.1 413 [\s\S]*connection: close[\s\S]*"code":"invalid_request"/i)
    const socket = send(port, `${head}Transfer-Encoding: chunked\r\n\r\n`)
    const answer = receive(socket)
    const chunk = `10000\r\n${'x'.repeat(0x10000)}\r\n`
    const writeMore = (error?: Error | null): void => {
      if (error == null && !socket.destroyed) socket.write(chunk, writeMore)
    }
    writeMore()
    await answer
    expect(wallet.events).toMatchObject([
      { operation: 'post-request', status: 413 },
      { operation: 'post-request', status: 413 },
    ])
    expect(await wallet.records()).toEqual(before)
  })

  it('T-36 EMB-1 of 10 MiB is refused in memory, without being read by anything', async () => {
    const wallet = await authWallet()
    const body = new Uint8Array(TEN_MEBIBYTES).fill(0x5b)
    const started = process.cpuUsage()
    for (const url of [`${AUTH}/`, `${BASE}/incoming-payments`, `${BASE}/outgoing-payments`, `${AUTH}/continue/x`]) {
      const target = new URL(url).pathname
      const { status } = await wallet.sendRaw({
        method: 'POST',
        target,
        headerLines: () => [],
        bytes: async (limit) => (body.length > limit ? undefined : body),
      })
      expect(status).toBe(413)
    }
    expect(process.cpuUsage(started).user).toBeLessThan(1_000_000)
  })

  it.each(DEEP_BODIES)('T-36 EMB-3 nested 10000 deep and well signed is refused with 400 (%s)', async (_, nested) => {
    const { wallet, port } = await listening()
    const token = (await grantAtOnce(wallet, [{ type: 'incoming-payment', actions: ['create'] }])).body.access_token
      .value
    const grant = JSON.stringify({ ...PLAIN_REQUEST, more: 0 }).replace('"more":0', `"more":${nested}`)
    const payment = `{"walletAddress":"${BOB}","metadata":{"a":${nested}}}`
    const before = await wallet.records()
    for (const request of [
      await signed(wallet, `${AUTH}/`, grant),
      await signed(wallet, `${BASE}/incoming-payments`, payment, token),
    ]) {
      expect(request.body.length).toBeLessThanOrEqual(65_536)
      const inMemory = await wallet.sendRaw(request)
      expect([inMemory.status, inMemory.body.error.code]).toEqual([400, 'invalid_request'])
      const body = new TextDecoder().decode(request.body)
      const answer = await receive(send(port, `${headOf(request, ['connection: close'])}${body}`))
      expect(answer).toMatch(/^HTTP\/1\.1 400 [\s\S]*"code":"invalid_request"/)
    }
    expect(await wallet.records()).toEqual(before)
    expect(wallet.events.filter(({ type }) => type === 'fault')).toEqual([])
  })

  it('T-36 EMB-2 that comes with one byte a second is refused after ten, and its connection closed', async () => {
    const { wallet, port, isReading } = await listening()
    const request = await signed(wallet, `${AUTH}/`, JSON.stringify(PLAIN_REQUEST))
    const body = new TextDecoder().decode(request.body)
    const socket = send(port, headOf(request))
    const answer = receive(socket)
    const closed = closing(socket)
    await isReading
    for (let second = 1; second < 10; second++) {
      socket.write(body.charAt(second - 1))
      wallet.clock.advance(1_000)
      await turns(20)
      expect([second, wallet.events]).toEqual([second, []])
    }
    wallet.clock.advance(1_000)
    expect(await answer).toMatch(/^HTTP\/1\.1 408 [\s\S]*connection: close[\s\S]*"code":"invalid_request"/i)
    await closed
    expect(wallet.events).toMatchObject([{ type: 'request', operation: 'post-request', status: 408 }])
    expect(await wallet.records()).toEqual([])
  })

  it('EMB-2 that goes on after it was refused is read to its end, and then the connection closes', async () => {
    const { wallet, port, isReading } = await listening()
    const head = 'POST / HTTP/1.1\r\nHost: wallet.example\r\nContent-Type: application/json\r\n'
    const socket = send(port, `${head}Transfer-Encoding: chunked\r\n\r\n1\r\n{\r\n`)
    const answer = receive(socket)
    const closed = closing(socket)
    await isReading
    // The connection would be closed after a second in any case: not in this test.
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    onTestFinished(() => void vi.useRealTimers())
    wallet.clock.advance(10_000)
    await expect.poll(() => wallet.events.length).toBe(1)
    const more = 'a'.repeat(0x8000)
    for (let chunk = 0; chunk < 4; chunk++) socket.write(`8000\r\n${more}\r\n`)
    socket.write('0\r\n\r\n')
    expect(await answer).toMatch(/^HTTP\/1\.1 408 /)
    await closed
  })
})
