import process from 'node:process'
import { createInterface } from 'node:readline'
import { createOpenPayments, type JsonWebKey, type OpenPayments, systemClock } from 'open-payments-server'
import { walletAt } from './accounts.ts'
import { heldPorts } from './held-ports.ts'
import { bunServe, fetchOnBun } from './hosts/bun-serve.ts'
import { denoServe, fetchOnDeno } from './hosts/deno-serve.ts'
import { express } from './hosts/express.ts'
import { fetchOnNode } from './hosts/fetch.ts'
import { nodeHttp } from './hosts/node-http.ts'
import { HELD_ORIGIN, type Listen, type Mount } from './mounting.ts'
import { answerOwnRoute } from './own-routes.ts'
import { openPlace, type Place } from './places.ts'

// A process that serves wallets in one host of one runtime, on the built package. It is told what to do in lines of
// JSON, and ends with whoever started it.

const HOSTS = {
  'node:http': nodeHttp,
  'Express 5': express('express'),
  'Express 4': express('express4'),
  'fetch in node:http': fetchOnNode,
  'Bun.serve': bunServe,
  'fetch in Bun.serve': fetchOnBun,
  'Deno.serve': denoServe,
  'fetch in Deno.serve': fetchOnDeno,
} as const satisfies Readonly<Record<string, Listen>>

/** Where a wallet can be mounted. */
export type HostName = keyof typeof HOSTS

/** One server of a process. */
export interface ServerOptions {
  readonly mount: Mount
  readonly place: Place
  /** Whether its time and chance are set by the test. */
  readonly isHeld: boolean
  /** The keys of the client that has a wallet address on it. */
  readonly keys: readonly JsonWebKey[]
}

/** What the process is started with. */
export interface WalletProcessOptions {
  readonly host: HostName
  readonly servers: readonly ServerOptions[]
}

/** A call, to the server at an index. Each lets the work that goes on after answers run out first. */
export type Call =
  | { readonly server: number; readonly advance: number }
  | { readonly server: number; readonly set: readonly [now: number, seed: number] }
  | { readonly server: number }

interface RunningServer {
  readonly port: number
  readonly openPayments: OpenPayments
  advance(milliseconds: number): void
  set(now: number, seed: number): void
}

const { host, servers }: WalletProcessOptions = JSON.parse(process.argv[2] ?? '')
const running = await Promise.all(servers.map(start))

const reply = (value: unknown): boolean => process.stdout.write(`${JSON.stringify(value)}\n`)
reply(running.map(({ port }) => port))
for await (const line of createInterface({ input: process.stdin })) {
  const call: Call = JSON.parse(line)
  const server = running[call.server]
  await server?.openPayments.drain()
  if ('advance' in call) server?.advance(call.advance)
  if ('set' in call) server?.set(...call.set)
  reply('done')
}
process.exit()

async function start({ mount, place, isHeld, keys }: ServerOptions): Promise<RunningServer> {
  const system = systemClock()
  const held = heldPorts()
  let ahead = 0
  const { set, ...ports } = isHeld ? held : { set: held.set, clock: { ...system, now: () => system.now() + ahead } }
  const opened = await openPlace(place)
  const { port, openPayments } = await HOSTS[host]((at) => {
    const origin = isHeld ? HELD_ORIGIN : `http://localhost:${at}`
    const served = createOpenPayments({ ...walletAt(origin, mount, keys), ...opened, ...ports })
    return { openPayments: served, ...(mount === 'mounted' && { own: answerOwnRoute }) }
  })
  return {
    port,
    openPayments,
    set,
    advance: (milliseconds) => {
      ahead += milliseconds
    },
  }
}
