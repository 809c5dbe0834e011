import { connect, type Socket } from 'node:net'
import { expect, it } from 'vitest'
import { addressOf, grantAtOnce, type PaymentParties } from './paying-flow.ts'

const MEBIBYTE = 1024 * 1024

/**
 * What a wallet does with what no client would send, byte by byte over a connection. `drains`: whether its host takes in a
 * body to its end though it is read no further.
 */
export function describeRawRequests(partiesOf: () => PaymentParties, drains: boolean): void {
  const open = (text: string): Socket => {
    const socket = connect(partiesOf().server.port, '127.0.0.1')
    socket.on('error', () => undefined)
    socket.write(text)
    return socket
  }
  const headTo = (line: string, lines: readonly string[]): string =>
    [`${line} HTTP/1.1`, 'Host: localhost', ...lines, '', ''].join('\r\n')
  const quotes = (): string => new URL(`${partiesOf().server.resourceServer}/quotes`).pathname

  it('SIG-32 DIG-8 hides no second line of a field, and no body, behind a host that joins lines', async () => {
    const parties = partiesOf()
    const access = [{ type: 'incoming-payment', actions: ['list'] }]
    const token = (await grantAtOnce(parties, access)).access_token.value
    const owner = encodeURIComponent(addressOf(parties, 'bob'))
    const url = `${parties.server.resourceServer}/incoming-payments?wallet-address=${owner}&first=1`
    const ask = (lines: readonly string[], body = ''): Promise<number> => {
      const { headers } = parties.shop.sign('GET', url, { token })
      const signed = Object.entries(headers).map(([name, value]) => `${name}: ${value}`)
      const { pathname, search } = new URL(url)
      return statusOn(open(headTo(`GET ${pathname}${search}`, [...signed, ...lines]) + body))
    }
    expect(await ask([])).toBe(200)
    expect(await ask(['Content-Type: application/json;', 'Content-Type: text/html'])).toBe(401)
    expect(await ask(['Content-Length: 2', 'Content-Length: 2'], '{}')).toBe(400)
  })

  it('EMB-1 answers a body that is announced as too large before it comes', async () => {
    const lines = ['Content-Type: application/json', `Content-Length: ${MEBIBYTE}`]
    expect(await statusOn(open(headTo(`POST ${quotes()}`, lines)))).toBe(413)
  })

  it.each([
    ['is sent in chunks', 'Transfer-Encoding: chunked', `10000\r\n${'x'.repeat(0x10000)}\r\n`],
    ['is announced', `Content-Length: ${1024 * MEBIBYTE}`, 'x'.repeat(0x10000)],
  ])(
    `EMB-1 T-36 ${drains ? 'leaves it to a proxy to cut off' : 'does not take in'} a body without end that %s`,
    async (_, line, chunk) => {
      const socket = open(headTo(`POST ${quotes()}`, ['Content-Type: application/json', line]))
      const closed = new Promise((resolve) => socket.once('close', () => resolve(false)))
      const status = statusOn(socket)
      // Others are answered, and nothing is taken from this one.
      const stalled = async (): Promise<false> => {
        for (let others = 0; others < 100; others += 1)
          await statusOn(open(headTo(`GET ${quotes()}`, ['Connection: close'])))
        return false
      }
      const isTaken = async (): Promise<boolean> => {
        // More than a connection buffers on the way.
        for (let sent = 0; sent < 64 * MEBIBYTE; sent += chunk.length) {
          if (socket.write(chunk)) continue
          const drained = new Promise((resolve) => socket.once('drain', () => resolve(true)))
          if (!(await Promise.race(drains ? [drained, closed] : [drained, closed, stalled()]))) return false
        }
        return true
      }
      expect(await isTaken()).toBe(drains)
      socket.destroy()
      // Whoever is cut off while it sends may miss the answer.
      expect([413, 0]).toContain(await status)
    },
  )
}

/** The status of the first answer on a connection; 0 where that closes without one. */
async function statusOn(socket: Socket): Promise<number> {
  let text = ''
  return new Promise((resolve) => {
    socket.on('data', (part) => {
      text += part
      const status = /^HTTP\/1\.1 (\d{3})/.exec(text)?.[1]
      if (status !== undefined) resolve(Number(status))
    })
    socket.on('close', () => resolve(0))
  })
}
