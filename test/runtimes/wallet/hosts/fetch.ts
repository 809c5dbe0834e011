import { Readable } from 'node:stream'
import type { Listen, Mounting } from '../mounting.ts'
import { listenWith } from './node-http.ts'

/** A handler of a host that speaks Fetch. */
export type FetchHandler = (request: Request) => Promise<Response>

/** What the wallet itself answers, in the words of Fetch. */
export function ownFetchHandler(own: NonNullable<Mounting['own']>): FetchHandler {
  return async (request) => {
    const { method, url, headers } = request
    const target = url.slice(new URL(url).origin.length)
    const answer = own({ method, target, cookie: headers.get('cookie') ?? '', body: await request.text() })
    return new Response(answer.body, { status: answer.status, headers: answer.headers.map(([...pair]) => pair) })
  }
}

/** `openPayments.fetch` alone, or beside the wallet's own routes: for a host without an adapter. */
export function plainFetch({ openPayments, own }: Mounting): FetchHandler {
  if (own === undefined) return (request) => openPayments.fetch(request)
  const next = ownFetchHandler(own)
  return async (request) => {
    const target = request.url.slice(new URL(request.url).origin.length)
    return (await openPayments.owns(request.method, target)) ? openPayments.fetch(request) : next(request)
  }
}

/** `openPayments.fetch` in Node: a bridge from `node:http`, and the smallest that keeps every line and byte. */
export const fetchOnNode: Listen = (mountingAt) =>
  listenWith((mounting) => {
    const handle = plainFetch(mounting)
    return async (request, response) => {
      const pairs = request.rawHeaders.flatMap((name, at, all): [string, string][] =>
        at % 2 === 0 ? [[name, all[at + 1] ?? '']] : [],
      )
      const { method = '', url } = request
      // In Fetch a GET has no body.
      const hasBody = method !== 'GET' && method !== 'HEAD'
      const body = hasBody ? (Readable.toWeb(request) as ReadableStream<Uint8Array<ArrayBuffer>>) : null
      const options = { method, headers: pairs, body, duplex: 'half' }
      const answer = await handle(new Request(`http://host${url}`, options))
      response.writeHead(answer.status, [...answer.headers].flat())
      response.end(Buffer.from(await answer.arrayBuffer()))
    }
  }, mountingAt)
