import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { OpenPayments } from 'open-payments-server'
import { toNodeListener } from 'open-payments-server/node'
import { afterEach, expect, it, vi } from 'vitest'
import { send } from '../adapters/echo.ts'
import { keepBusy } from '../support/busy-connection.ts'
import { gate } from '../support/gate.ts'
import { testWallet } from '../support/test-wallet.ts'
import { turn } from '../support/turns.ts'
import { endOnSignal } from './end-on-signal.ts'

afterEach(() => {
  vi.useRealTimers()
})

/** A server with that end, and when it is over. */
async function serve(openPayments: OpenPayments) {
  const server = createServer(toNodeListener(openPayments)).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const order: string[] = []
  server.on('close', () => order.push('server'))
  const ended = endOnSignal(server, openPayments, async () => void order.push('storage'))
  return { server, port: (server.address() as AddressInfo).port, ended, order }
}

it('ends while a proxy keeps its connections busy, and no request is lost', async () => {
  // Connections are cut that were idle for a moment: not because this process stood still.
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
  const CONNECTIONS = 4
  const { open, opened } = gate()
  let asked = 0
  const { openPayments } = await testWallet({
    walletAddresses: {
      find: async () => {
        asked += 1
        if (asked === CONNECTIONS) {
          process.emit('SIGTERM')
          open()
        }
        await opened
        return undefined
      },
    },
  })
  const { port, ended, order } = await serve(openPayments)
  const busy = Array.from({ length: CONNECTIONS }, () => keepBusy(`http://127.0.0.1:${port}/alice`))
  // What was asked before the signal, and what came on the connection then, which closes with its answer.
  expect(await Promise.all(busy)).toEqual(Array(CONNECTIONS).fill({ answers: 2, ended: 'ECONNREFUSED' }))
  await ended
  expect(order).toEqual(['server', 'storage'])
})

it('ends soon after the last answer, though its client keeps the connection', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval'] })
  const { open, opened } = gate()
  const { openPayments } = await testWallet({ walletAddresses: { find: () => opened.then(() => undefined) } })
  const { server, port, ended, order } = await serve(openPayments)
  server.keepAliveTimeout = 60_000 // longer than the proxy's, as it should be
  const requested = once(server, 'request')
  const socket = send(port, 'GET /alice HTTP/1.1\r\nHost: test\r\n\r\n')
  await requested
  process.emit('SIGTERM')
  await turn()
  open()
  await once(socket, 'data')
  await turn()
  vi.advanceTimersByTime(250)
  await ended
  expect(order).toEqual(['server', 'storage'])
  socket.destroy()
})

it('stays alive until the work is done that the storage is closed after', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
  const { open, opened } = gate()
  const { openPayments } = await testWallet()
  const { server, ended, order } = await serve({ ...openPayments, drain: () => opened })
  const closed = once(server, 'close')
  process.emit('SIGTERM')
  await closed
  await turn()
  expect([vi.getTimerCount(), order]).toEqual([1, ['server']])
  open()
  await ended
  expect([vi.getTimerCount(), order]).toEqual([0, ['server', 'storage']])
})

it('ends where a request never does, after 20 seconds', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  const { openPayments } = await testWallet()
  const { server, port, ended, order } = await serve(openPayments)
  const requested = once(server, 'request')
  const socket = send(port, 'POST /quotes HTTP/1.1\r\nHost: test\r\nContent-Length: 10\r\n\r\n12345')
  await requested
  process.emit('SIGTERM')
  await turn()
  vi.advanceTimersByTime(19_999)
  await turn()
  expect(order).toEqual([])
  vi.advanceTimersByTime(1)
  await ended
  expect(order).toEqual(['server', 'storage'])
  socket.destroy()
})
