import { answerWithin } from '../../src/deadline/answer-within.ts'
import { thrownMessage } from '../../src/errors/thrown-message.ts'
import type { HttpRequest, HttpResponse, RailServer } from '../../src/index.ts'
import { tellFault } from '../../src/records/tell-fault.ts'
import { decodeIlpPacket, encodeIlpPacket, MAX_PREPARE_OCTETS } from './packet.ts'
import type { Peer, Peers } from './peers.ts'
import { receivePacket } from './receive-packet.ts'

const OCTETS = 'application/octet-stream'
const BODY_MILLISECONDS = 10_000

/** Why a request does not contain a packet that could be answered. */
interface Refusal {
  readonly status: number
  readonly condition: string
  readonly headers?: Readonly<Record<string, string>>
}

const ANSWERED = { status: 200, headers: { 'content-type': OCTETS } } as const
const UNAUTHORIZED: Refusal = { status: 401, condition: 'unknown_peer', headers: { 'www-authenticate': 'Bearer' } }
const WRONG_TYPE: Refusal = { status: 415, condition: 'unsupported_media_type' }
const TOO_LARGE: Refusal = { status: 413, condition: 'payload_too_large', headers: { connection: 'close' } }
const TOO_SLOW: Refusal = { status: 408, condition: 'body_too_slow', headers: { connection: 'close' } }
const NO_PREPARE: Refusal = { status: 400, condition: 'no_ilp_prepare' }
const FAULT: Refusal = { status: 500, condition: 'unexpected' }

/**
 * Answers a peer by ILP over HTTP: a prepare with 200 and the fulfill or reject, in the same exchange; anything else
 * with a bare status. After a 5xx, it is unknown what became of the packet. Never rejects.
 */
export async function answerPeer(
  server: RailServer,
  address: string,
  peers: Peers,
  request: HttpRequest,
): Promise<HttpResponse> {
  const at = server.clock.now()
  const answer = await readAndReceive(server, address, peers, request).catch((cause: unknown) => {
    tellFault(server, thrownMessage(cause), cause)
    return FAULT
  })
  const { status, headers, ...told } = answer instanceof Uint8Array ? ANSWERED : answer
  server.emit({ type: 'request', at, operation: undefined, status, ...told })
  const body = answer instanceof Uint8Array ? answer : ''
  return { status, headers: { ...headers, 'cache-control': 'no-store' }, body }
}

async function readAndReceive(
  server: RailServer,
  address: string,
  peers: Peers,
  request: HttpRequest,
): Promise<Uint8Array | Refusal> {
  const peer = await findPeer(server, peers, request)
  if (peer === undefined) return UNAUTHORIZED
  const [type, ...others] = request.headerLines('content-type')
  if (others.length > 0 || type?.split(';')[0]?.trim().toLowerCase() !== OCTETS) return WRONG_TYPE
  if (request.headerLines('content-encoding').some((line) => line.trim().toLowerCase() !== 'identity'))
    return WRONG_TYPE
  const bytes = await answerWithin(server.clock, BODY_MILLISECONDS, async () => request.bytes(MAX_PREPARE_OCTETS))
  if (bytes === 'late') return TOO_SLOW
  if (bytes === undefined) return TOO_LARGE
  const packet = decodeIlpPacket(bytes)
  if (packet?.type !== 'prepare') return NO_PREPARE
  return encodeIlpPacket(await receivePacket(server, address, peer, packet))
}

async function findPeer({ cryptography }: RailServer, peers: Peers, request: HttpRequest): Promise<Peer | undefined> {
  const [line, ...others] = request.headerLines('authorization')
  const token = others.length === 0 ? /^bearer +([!-~]+)$/i.exec(line ?? '')?.[1] : undefined
  return token === undefined ? undefined : peers.peerByToken(token, cryptography)
}
