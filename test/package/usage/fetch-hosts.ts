import type { OpenPayments } from 'open-payments-server'
import { type BunOptions, serveHandler as bunHandler } from 'open-payments-server/bun'
import { type DenoOptions, serveHandler as denoHandler } from 'open-payments-server/deno'

/** What a host of its own kind hands to a handler. */
interface Peer {
  readonly address: string
}

/** Options that are made elsewhere. */
export function servesWith(
  openPayments: OpenPayments,
): readonly ((request: Request, peer: Peer) => Promise<Response>)[] {
  const bun: BunOptions = { next: () => new Response('the wallet itself') }
  const deno: DenoOptions = { source: (_: Request, { address }: Peer) => address }
  return [bunHandler(openPayments, bun), denoHandler(openPayments, deno)]
}

/** Any Fetch host, one that ends with the response included. */
export function serves(openPayments: OpenPayments): readonly ((request: Request, peer: Peer) => Promise<Response>)[] {
  const waitUntil = (work: Promise<unknown>): void => void work.catch(() => undefined)
  return [
    (request) => openPayments.fetch(request),
    (request, { address }) => openPayments.fetch(request, { source: address, waitUntil }),
    bunHandler(openPayments),
    bunHandler(openPayments, { source: (_, { address }: Peer) => address }),
    denoHandler(openPayments, { next: () => new Response('the wallet itself') }),
    // @ts-expect-error the wallet's own routes answer with a response
    denoHandler(openPayments, { next: () => 'the wallet itself' }),
    // @ts-expect-error the source is an address
    bunHandler(openPayments, { source: (_, { address }: Peer) => address.length }),
  ]
}
