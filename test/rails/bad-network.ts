import { once, setMaxListeners } from 'node:events'
import {
  Agent,
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  request,
  type Server,
  type ServerResponse,
} from 'node:http'
import { setTimeout as pause } from 'node:timers/promises'
import { count } from '../crashes/count.ts'
import type { Random } from '../fuzz/random.ts'
import { drawFault, drawRefusal, type Fault, flipBit, tamperWithPacket, type Weather } from './faults.ts'
import { type LoggedPacket, openPacketLog, type PacketLog } from './packet-log.ts'
import { type OfEach, otherOf, WALLETS, type WalletName } from './wallet-process/wallets.ts'

/** What goes from one wallet to the other: packets, and the requests of Open Payments. */
export type Traffic = 'packets' | 'requests'

/** The weather of each kind of traffic. */
export type Climate = Readonly<Record<Traffic, Weather>>

/** What was carried, and what befell it. */
export type Carried = Readonly<Record<Traffic, Map<Fault | 'carried' | 'nobody there', number>>>

/** The network between two wallets: everything that one asks of the other goes through it. */
export interface BadNetwork {
  /** Where it listens in the place of each wallet: the published URLs. */
  readonly urls: OfEach<string>
  readonly log: PacketLog
  readonly carried: Carried
  /** Where the process of a wallet listens from now on; `undefined`: nowhere. */
  connect(wallet: WalletName, port: number | undefined): void
  /** Whether connections to a wallet are accepted from now on; else they are refused, as where no process listens. */
  accept(wallet: WalletName, isAccepted: boolean): Promise<void>
  /** Resolves when a packet reaches a wallet, or its answer comes back from there. */
  nextPacket(): Promise<{ readonly to: WalletName }>
  /** From now on nothing befalls anything, and nothing that was silent stays so. */
  makeGood(): void
  close(): Promise<void>
}

interface Exchange {
  readonly to: WalletName
  readonly message: IncomingMessage
  readonly body: Uint8Array
  readonly traffic: Traffic
  /** Where it is one of an account between the wallets. */
  readonly packet: LoggedPacket | undefined
}

interface Reply {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly body: Uint8Array
}

/** The longest that something is delayed, in milliseconds; one in ten of what is lost stays silent for as long as `SILENCE`. */
const DELAY = 150
const SILENCE = 5_000

/** Opens the network; the wallets are connected to it later. */
export async function openNetwork(climate: Climate, random: Random): Promise<BadNetwork> {
  const log = openPacketLog()
  const carried: Carried = { packets: new Map(), requests: new Map() }
  const ports = new Map<WalletName, number>()
  const agent = new Agent({ keepAlive: true })
  const good = new AbortController()
  // Everything that waits listens to it.
  setMaxListeners(0, good.signal)
  const watchers: ((passing: { readonly to: WalletName }) => void)[] = []

  const wait = (milliseconds: number): Promise<unknown> =>
    pause(milliseconds, undefined, { signal: good.signal }).catch(() => undefined)

  /** Brings a request to the other wallet, at once or later; `undefined` where no whole answer came back. */
  const deliver = async (
    { to, message, traffic, packet }: Exchange,
    body: Uint8Array,
    delay = 0,
  ): Promise<Reply | undefined> => {
    // Known from here on: what is refused in the name of the other wallet meanwhile would still be taken there.
    if (packet !== undefined) packet.delivered += 1
    if (delay > 0) await wait(delay)
    const port = ports.get(to)
    if (traffic === 'packets') for (const watch of watchers.splice(0)) watch({ to })
    const reply = port === undefined ? undefined : await send(agent, port, message, body)
    if (reply === undefined) count(carried[traffic], 'nobody there')
    else if (packet !== undefined) log.noteReply(packet, reply.status, reply.body)
    return reply
  }

  const lose = async (): Promise<undefined> => {
    await wait(random.oneIn(10) ? SILENCE : random.below(30))
    return undefined
  }

  /** What comes back: `undefined` where the connection breaks. */
  const carry = async (exchange: Exchange): Promise<Reply | undefined> => {
    const { traffic, body, packet } = exchange
    const isPacket = traffic === 'packets'
    const isKnown = packet !== undefined && packet.delivered > 0
    const fault = good.signal.aborted ? undefined : drawFault(climate[traffic], random)
    count(carried[traffic], fault ?? 'carried')
    switch (fault) {
      case undefined:
        return deliver(exchange, body)
      case 'request lost':
        return lose()
      case 'reply lost':
        await deliver(exchange, body)
        return lose()
      case 'delayed':
        return deliver(exchange, body, random.below(DELAY))
      case 'reply delayed': {
        const reply = await deliver(exchange, body)
        await wait(random.below(DELAY))
        return reply
      }
      case 'duplicated': {
        const first = deliver(exchange, body)
        const second = deliver(exchange, body, random.below(DELAY))
        return random.oneIn(2) ? first : second
      }
      case 'request tampered with':
        if (body.length === 0) return lose()
        return deliver(exchange, isPacket ? tamperWithPacket(body, isKnown, random) : flipBit(body, random))
      case 'reply tampered with': {
        const reply = await deliver(exchange, body)
        if (reply === undefined || reply.body.length === 0) return reply
        // A document that reads as another one would make another price: that is for TLS to prevent.
        const piece = reply.body.subarray(0, random.below(reply.body.length))
        return { ...reply, body: isPacket ? flipBit(reply.body, random) : piece }
      }
      case 'refused': {
        const { status, body: refusal = new Uint8Array() } = drawRefusal(isPacket && !isKnown, random)
        return { status, headers: { 'content-type': 'application/octet-stream' }, body: refusal }
      }
    }
  }

  const listen = async (to: WalletName): Promise<Server> => {
    const server = createServer((message, response) => {
      readAll(message)
        .then(async (body) => {
          const traffic = message.url === '/ilp' ? 'packets' : 'requests'
          const isPacket = traffic === 'packets'
          const packet = isPacket ? log.note(otherOf(to), message.headers.authorization, body) : undefined
          answer(response, await carry({ to, message, body, traffic, packet }))
        })
        .catch(() => response.destroy())
    })
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    return server
  }
  const servers = { north: await listen('north'), south: await listen('south') }
  const urls = { north: urlOf(servers.north), south: urlOf(servers.south) }
  return {
    urls,
    log,
    carried,
    connect(wallet, port) {
      if (port === undefined) ports.delete(wallet)
      else ports.set(wallet, port)
    },
    async accept(wallet, isAccepted) {
      const server = servers[wallet]
      if (server.listening === isAccepted) return
      if (isAccepted) return listenAgain(server, Number(new URL(urls[wallet]).port))
      server.close()
      server.closeIdleConnections()
    },
    nextPacket: () => new Promise((resolve) => watchers.push(resolve)),
    makeGood: () => good.abort(),
    async close() {
      good.abort()
      agent.destroy()
      for (const wallet of WALLETS) {
        const server = servers[wallet]
        server.closeAllConnections()
        if (server.listening) await once(server.close(), 'close')
      }
    },
  }
}

function urlOf(server: Server): string {
  const address = server.address()
  if (typeof address !== 'object' || address === null) throw new Error('the network does not listen')
  return `http://127.0.0.1:${address.port}`
}

/** On the port that is published: in the meantime somebody may have gone out from there. */
async function listenAgain(server: Server, port: number): Promise<void> {
  for (;;) {
    try {
      server.listen(port, '127.0.0.1')
      await once(server, 'listening')
      return
    } catch (error) {
      if (Reflect.get(Object(error), 'code') !== 'EADDRINUSE') throw error
      await pause(20)
    }
  }
}

async function readAll(message: IncomingMessage): Promise<Uint8Array> {
  const parts: Uint8Array[] = []
  for await (const part of message) parts.push(part)
  return Buffer.concat(parts)
}

/** Passes a request on as it came, with other octets where somebody altered them. */
function send(agent: Agent, port: number, message: IncomingMessage, body: Uint8Array): Promise<Reply | undefined> {
  return new Promise((resolve) => {
    const headers = { ...message.headers }
    delete headers.connection
    if (body.length > 0 || headers['content-length'] !== undefined) headers['content-length'] = String(body.length)
    const { method, url: path } = message
    const sent = request({ host: '127.0.0.1', port, method, path, headers, agent }, (reply) => {
      readAll(reply).then(
        (octets) => resolve({ status: reply.statusCode ?? 0, headers: reply.headers, body: octets }),
        () => resolve(undefined),
      )
    })
    sent.on('error', () => resolve(undefined))
    sent.end(body)
  })
}

function answer(response: ServerResponse, reply: Reply | undefined): void {
  if (reply === undefined) {
    response.destroy()
    return
  }
  const {
    connection: _connection,
    'transfer-encoding': _encoding,
    'content-length': _length,
    ...headers
  } = reply.headers
  response.writeHead(reply.status, headers)
  response.end(reply.body)
}
