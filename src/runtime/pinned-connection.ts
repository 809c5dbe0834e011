import type { DialedReply, OutboundNetwork, PinnedConnection } from '../ports/outbound-network.ts'

// The parts of the built-in modules that are used here, because `src` compiles without the types of any host.

interface IncomingReply extends AsyncIterable<Uint8Array> {
  readonly statusCode?: number
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>
}

interface OutgoingRequest {
  on(event: 'response', listener: (reply: IncomingReply) => void): unknown
  on(event: 'error', listener: (error: unknown) => void): unknown
  end(body?: Uint8Array): unknown
  destroy(): unknown
}

type LookupCallback = {
  (error: null, addresses: readonly { readonly address: string; readonly family: number }[]): void
  (error: null, address: string, family: number): void
}

interface RequestOptions {
  readonly method: string
  readonly protocol: string
  readonly host: string
  readonly port: string
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly agent: false
  readonly rejectUnauthorized: true
  readonly lookup: (hostname: string, options: { readonly all?: boolean }, callback: LookupCallback) => void
}

interface RequestModule {
  request(options: RequestOptions): OutgoingRequest
}

interface DnsModule {
  readonly promises: {
    readonly Resolver: new (options: {
      readonly timeout: number
      readonly tries: number
    }) => {
      resolve4(hostname: string): Promise<readonly string[]>
      resolve6(hostname: string): Promise<readonly string[]>
    }
  }
}

declare const process:
  | {
      readonly getBuiltinModule?: {
        (name: 'node:http' | 'node:https'): RequestModule | undefined
        (name: 'node:dns'): DnsModule | undefined
      }
    }
  | undefined

/** The network of this host; `undefined` if the host lacks the built-in modules for it. */
export function hostNetwork(): OutboundNetwork | undefined {
  if (typeof process === 'undefined' || process.getBuiltinModule === undefined) return undefined
  const { getBuiltinModule } = process
  const http = getBuiltinModule('node:http')
  const dns = getBuiltinModule('node:dns')
  if (http === undefined || dns === undefined) return undefined
  return {
    resolveHost: (hostname) => resolveHost(dns, hostname),
    async dial(connection) {
      // Loaded only when needed: it brings in all of TLS, which would be a quarter of this library's start-up time.
      const module = connection.url.protocol === 'http:' ? http : getBuiltinModule('node:https')
      if (module === undefined) throw new Error('this host has node:http without node:https')
      return dial(module, connection)
    },
  }
}

/**
 * Asks the name server itself. `lookup` would occupy one of the few threads that also compute signatures, for as long
 * as a hostile name server likes.
 */
async function resolveHost(dns: DnsModule, hostname: string): Promise<readonly string[]> {
  const resolver = new dns.promises.Resolver({ timeout: 1000, tries: 2 })
  const answers = await Promise.allSettled([resolver.resolve4(hostname), resolver.resolve6(hostname)])
  return answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []))
}

/**
 * `agent: false` because a pooled connection would bypass the pinned lookup, and because a request would fail on one
 * that the other side has just closed.
 * @spec T-2
 */
function dial(module: RequestModule, connection: PinnedConnection): Promise<DialedReply> {
  const { url, addresses, method, headers, body, signal } = connection
  return new Promise((resolve, reject) => {
    const request = module.request({
      method,
      protocol: url.protocol,
      host: url.hostname.replace(/^\[|\]$/g, ''),
      port: url.port,
      path: url.pathname,
      headers: { ...headers, host: url.host, 'accept-encoding': 'identity', 'user-agent': 'open-payments-server' },
      agent: false,
      rejectUnauthorized: true,
      lookup: pinnedLookup(addresses),
    })
    signal.addEventListener('abort', () => request.destroy(), { once: true })
    request.on('error', reject)
    request.on('response', (reply) =>
      resolve({
        status: reply.statusCode ?? 0,
        contentType: headerText(reply, 'content-type'),
        contentEncoding: headerText(reply, 'content-encoding'),
        body: reply,
      }),
    )
    request.end(body)
  })
}

function pinnedLookup(addresses: readonly string[]): RequestOptions['lookup'] {
  const pinned = addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }))
  return (_hostname, options, callback) => {
    const [first] = pinned
    if (options.all === true || first === undefined) callback(null, pinned)
    else callback(null, first.address, first.family)
  }
}

function headerText(reply: IncomingReply, name: string): string {
  const value = reply.headers[name]
  return typeof value === 'string' ? value : ''
}
