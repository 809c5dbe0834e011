import type { HttpRequest } from 'open-payments-server'
import type { DialedReply, OutboundNetwork, PinnedConnection } from '../../src/ports/outbound-network.ts'
import { jsonReply } from '../key-resolver/fake-network.ts'
import type { TestWallet } from '../support/test-wallet.ts'

/** What stands behind a host name. */
export type Host = (connection: PinnedConnection) => Promise<DialedReply> | DialedReply

/** A network that counts what it is asked. */
export interface Internet {
  readonly network: OutboundNetwork
  readonly hosts: Map<string, Host>
  /** What the name server says of a name, one answer after the other, the last one for good; without one a public address. */
  readonly addresses: Map<string, (readonly string[])[]>
  readonly lookups: string[]
  readonly connections: PinnedConnection[]
}

export const PUBLIC_ADDRESS = '93.184.216.34'

export function internet(): Internet {
  const world: Internet = {
    hosts: new Map(),
    addresses: new Map(),
    lookups: [],
    connections: [],
    network: {
      async resolveHost(hostname) {
        world.lookups.push(hostname)
        const answers = world.addresses.get(hostname) ?? []
        return (answers.length > 1 ? answers.shift() : answers[0]) ?? [PUBLIC_ADDRESS]
      },
      async dial(connection) {
        world.connections.push(connection)
        const host = world.hosts.get(connection.url.host)
        if (host === undefined) throw new Error(`nothing listens at ${connection.url.host}`)
        return host(connection)
      },
    },
  }
  return world
}

/** A request as it arrives at the other side. */
export function arrived({ url, method, headers, body = new Uint8Array() }: PinnedConnection): HttpRequest {
  const lines: Readonly<Record<string, string>> = { ...headers, host: url.host }
  return {
    method,
    target: url.pathname,
    headerLines: (name) => [lines[name] ?? []].flat(),
    bytes: async (limit) => (body.length > limit ? undefined : body),
  }
}

/** A wallet of this library as a host. */
export function hosting(wallet: TestWallet): Host {
  return async (connection) => {
    const { status, headers, body } = await wallet.sendRaw(arrived(connection))
    return jsonReply(body, { status, contentType: headers['content-type'] ?? '' })
  }
}

/** The body of a request, read. */
export function jsonOf({ body }: PinnedConnection): unknown {
  return body === undefined ? undefined : JSON.parse(new TextDecoder().decode(body))
}

/** What went over the network, one line for each request: whether it was signed, its method and URL. */
export function lines({ connections }: Internet): string[] {
  return connections.map(({ method, url, headers }) =>
    [...('signature' in headers ? ['signed'] : []), method, url.href].join(' '),
  )
}
