import { startLines } from './line-process.ts'
import type { Call, ServerOptions, WalletProcessOptions } from './wallet/main.ts'
import { HELD_ORIGIN, type Mount, urlsAt } from './wallet/mounting.ts'

/** A server of a wallet in a process of its own. */
export interface WalletServer {
  readonly port: number
  readonly mount: Mount
  readonly isHeld: boolean
  readonly authServer: string
  readonly resourceServer: string
  /** Lets the work that goes on after answers run out. */
  drain(): Promise<void>
  /** Moves the server's time on, once its work has run out. */
  advance(milliseconds: number): Promise<void>
  /** Sets the time of a server that is held, and what is random from now on. */
  set(now: number, seed: number): Promise<void>
}

/** A process with its servers, in the order of its options. */
export interface WalletProcess {
  readonly servers: readonly WalletServer[]
  stop(): Promise<void>
}

/** Starts a process, and waits until its servers answer. `authority` is the file of a certificate that it trusts. */
export async function startWallet(
  command: readonly string[],
  options: WalletProcessOptions,
  authority: string,
): Promise<WalletProcess> {
  // What an environment says of certificates must not matter, but for who is trusted.
  const environment = { NODE_EXTRA_CA_CERTS: authority, DENO_CERT: authority, NODE_TLS_REJECT_UNAUTHORIZED: '0' }
  const child = startLines(command, options, environment)
  const ports = (await child.read()) as readonly number[]

  // Answers come in the order of the calls.
  let last: Promise<unknown> = Promise.resolve()
  const ask = async (call: Call): Promise<void> => {
    child.write(call)
    last = last.then(() => child.read())
    await last
  }
  const serverAt = ({ mount, isHeld }: ServerOptions, server: number): WalletServer => {
    const port = ports[server] ?? 0
    return {
      port,
      mount,
      isHeld,
      ...urlsAt(isHeld ? HELD_ORIGIN : `http://localhost:${port}`, mount),
      drain: () => ask({ server }),
      advance: (milliseconds) => ask({ server, advance: milliseconds }),
      set: (now, seed) => ask({ server, set: [now, seed] }),
    }
  }
  return { servers: options.servers.map(serverAt), stop: child.stop }
}
