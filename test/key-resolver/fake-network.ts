import { generateKeyPairSync } from 'node:crypto'
import type { Clock } from '../../src/ports/clock.ts'
import type { KeyResolver } from '../../src/ports/key-resolver.ts'
import type { DialedReply, PinnedConnection } from '../../src/ports/outbound-network.ts'
import { fetchKeyResolver } from '../../src/runtime/fetch-key-resolver.ts'

/** What an operator reads of a URL that this server does not connect to. */
export const UNFETCHABLE =
  'this server connects only to https at a domain name without port, userinfo, query and fragment, and with loopbackHttp to loopback'

export interface HeldClock extends Clock {
  advance(milliseconds: number): void
}

/** A clock that stands until it is moved. A sleep of no length ends with the turn of the event loop. */
export function heldClock(): HeldClock {
  let now = Date.UTC(2026, 7, 1)
  const sleepers = new Set<{ readonly at: number; readonly wake: () => void }>()
  return {
    now: () => now,
    sleep: (milliseconds, signal) =>
      new Promise((resolve) => {
        if (milliseconds <= 0) return void setImmediate(resolve)
        const sleeper = { at: now + milliseconds, wake: resolve }
        sleepers.add(sleeper)
        signal?.addEventListener('abort', () => sleepers.delete(sleeper) && resolve())
      }),
    advance(milliseconds) {
      now += milliseconds
      for (const sleeper of sleepers) if (sleeper.at <= now && sleepers.delete(sleeper)) sleeper.wake()
    },
  }
}

/** A public key of a real Ed25519 pair, as a wallet address publishes it. */
export function publishedKey(kid: string): Record<string, unknown> {
  const { x } = generateKeyPairSync('ed25519').publicKey.export({ format: 'jwk' })
  return { kid, kty: 'OKP', crv: 'Ed25519', alg: 'EdDSA', use: 'sig', x }
}

/** A reply with a JSON body, in one chunk. */
export function jsonReply(document: unknown, overrides: Partial<DialedReply> = {}): DialedReply {
  return {
    status: 200,
    contentType: 'application/json; charset=utf-8',
    contentEncoding: '',
    body: chunks([JSON.stringify(document)]),
    ...overrides,
  }
}

/** A body that arrives in the given chunks. */
export async function* chunks(texts: Iterable<string>): AsyncGenerator<Uint8Array> {
  for (const text of texts) yield new TextEncoder().encode(text)
}

export interface FakeNetwork {
  readonly clock: HeldClock
  readonly resolver: KeyResolver
  readonly lookups: string[]
  readonly connections: PinnedConnection[]
  /** The documents by URL, or what answers for every URL. */
  documents: Record<string, unknown> | ((connection: PinnedConnection) => Promise<DialedReply> | DialedReply)
  /** The addresses of every name. */
  addresses: readonly string[] | Promise<readonly string[]>
}

/** A resolver on a network that holds `documents`, and counts what it is asked. */
export function fakeNetwork(
  options: { readonly loopbackHttp?: boolean; readonly clock?: HeldClock } = {},
): FakeNetwork {
  const { clock = heldClock() } = options
  const lookups: string[] = []
  const connections: PinnedConnection[] = []
  const network = {
    async resolveHost(hostname: string) {
      lookups.push(hostname)
      return fake.addresses
    },
    async dial(connection: PinnedConnection) {
      connections.push(connection)
      if (typeof fake.documents === 'function') return fake.documents(connection)
      const document = fake.documents[connection.url.href]
      return document === undefined ? jsonReply({}, { status: 404 }) : jsonReply(document)
    },
  }
  const resolver = fetchKeyResolver({ clock, loopbackHttp: options.loopbackHttp ?? false, network })
  const fake: FakeNetwork = { clock, resolver, lookups, connections, documents: {}, addresses: ['93.184.216.34'] }
  return fake
}
