import {
  type Amount,
  type Asset,
  type HttpRequest,
  type HttpResponse,
  type OpenIncomingPayment,
  type RailServer,
  type RailTransfer,
  type ServiceEvent,
  type TransferOutcome,
  type TransferTerms,
  webCryptography,
} from 'open-payments-server'
import { ilp } from 'open-payments-server/ilp'
import type { Ilp, IlpOptions, IlpPeer } from '../../adapters/ilp/index.ts'
import { decodeIlpPacket, encodeIlpPacket, type IlpPrepare, type IlpReply } from '../../adapters/ilp/packet.ts'
import { conditionOf, deriveStreamKeys } from '../../adapters/ilp/stream-keys.ts'
import {
  decodeStreamPacket,
  encodeStreamPacket,
  type StreamFrame,
  type StreamPacket,
} from '../../adapters/ilp/stream-packet.ts'
import { fromBase64url } from '../../src/protocol/bytes.ts'
import { type FakeClock, fakeClock } from '../support/fake-clock.ts'

export const USD: Asset = { assetCode: 'USD', assetScale: 2 }
export const EUR: Asset = { assetCode: 'EUR', assetScale: 2 }
export const TOKEN = 'what-the-peer-shows'
export const EUR_TOKEN = 'what-it-shows-for-euros'
/** The peer's accounts, as the core knows them. */
export const ACCOUNT = 'test.peer/USD/2'
export const EUR_ACCOUNT = 'test.peer/EUR/2'

export const PEER: IlpPeer = {
  address: 'test.peer',
  url: 'https://peer.example/ilp',
  outgoingToken: 'what-we-show',
  incomingTokens: [TOKEN],
  asset: USD,
}
const EUR_PEER: IlpPeer = { ...PEER, incomingTokens: [EUR_TOKEN], asset: EUR }

export const PAYMENT: OpenIncomingPayment = {
  id: '0123456789abcdef0123456789abcdef',
  address: 'what-only_this-server-can-open',
  walletAddress: 'https://wallet.example/bob',
  sharedSecret: 'AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8',
  asset: USD,
  remainder: 1000n,
}

/** A packet as its sender makes it. */
export interface Offer {
  readonly amount?: bigint
  readonly least?: bigint
  readonly sequence?: bigint
  readonly frames?: readonly StreamFrame[]
  /** From now. */
  readonly expiresIn?: number
  readonly salt?: string
  /** The last change before it is sent. */
  readonly alter?: (prepare: IlpPrepare) => IlpPrepare
}

/** What came back. `said`: what the receiver says to the sender alone. */
export interface Reply {
  readonly response: HttpResponse
  readonly reply: IlpReply | undefined
  readonly said: StreamPacket | undefined
}

/** A server that is paid, all of it but the rail played by the test. */
export interface ReceiverWorld {
  readonly rail: Ilp
  readonly clock: FakeClock
  readonly events: ServiceEvent[]
  /** What the rail asked the server to take. */
  readonly transfers: RailTransfer[]
  /** By their ids. */
  readonly payments: Map<string, OpenIncomingPayment>
  /** What taking it comes to; by default it is taken once, and late it is refused, for good. */
  take: (transfer: RailTransfer) => Promise<TransferOutcome>
  exchange: RailServer['exchange']
  prepare(offer?: Offer): Promise<IlpPrepare>
  /** Brings a packet, as a peer does. */
  send(prepare: IlpPrepare, token?: string): Promise<Reply>
  pay(offer?: Offer, token?: string): Promise<Reply>
}

const cryptography = webCryptography()

/** A request of a peer, as a host gives it. */
export function peerRequest(
  body: Uint8Array,
  headers: Readonly<Record<string, string | readonly string[]>> = {},
): HttpRequest {
  const lines = new Map(
    Object.entries({ 'content-type': 'application/octet-stream', authorization: `Bearer ${TOKEN}`, ...headers }),
  )
  return {
    method: 'POST',
    target: '/ilp',
    headerLines: (name) => [lines.get(name) ?? []].flat(),
    bytes: async (limit) => (body.length > limit ? undefined : body),
  }
}

/** A server that is paid at `test.wallet`, and its peer's accounts in two assets. */
export function receiverWorld(options: Partial<IlpOptions> = {}, peer: Partial<IlpPeer> = {}): ReceiverWorld {
  const clock = fakeClock()
  const known = new Map<string, TransferOutcome>()
  const arrived = new Map<string, Amount>()
  const termsIn = ({ id, account, accountAmount }: TransferTerms): string => `${id} ${account} ${accountAmount.value}`
  const rail = ilp({ address: 'test.wallet', peers: [{ ...PEER, ...peer }, EUR_PEER], ...options })
  const world: ReceiverWorld = {
    rail,
    clock,
    events: [],
    transfers: [],
    payments: new Map([[PAYMENT.id, PAYMENT]]),
    async take({ id, isRefused, notAfter }) {
      const isTaken = isRefused !== true && clock.now() <= notAfter
      const outcome = known.get(id) ?? (isTaken ? 'received' : 'refused')
      known.set(id, outcome)
      return outcome
    },
    exchange: async () => undefined,
    async prepare({ amount = 100n, least = 100n, sequence = 1n, frames, expiresIn = 30_000, salt = '', alter } = {}) {
      const secret = fromBase64url(PAYMENT.sharedSecret) ?? new Uint8Array()
      const keys = await deriveStreamKeys(cryptography, secret)
      const money: StreamFrame = { type: 'stream-money', streamId: 1n, shares: 1n }
      const plain = encodeStreamPacket({ ilpPacketType: 12, sequence, amount: least, frames: frames ?? [money] })
      const data = await keys.encrypt(plain, new TextEncoder().encode(salt))
      const prepare: IlpPrepare = {
        type: 'prepare',
        amount,
        expiresAt: clock.now() + expiresIn,
        executionCondition: await conditionOf(cryptography, await keys.fulfillmentOf(data)),
        destination: `test.wallet.${PAYMENT.address}`,
        data,
      }
      return alter === undefined ? prepare : alter(prepare)
    },
    async send(prepare, token = TOKEN) {
      const request = peerRequest(encodeIlpPacket(prepare), { authorization: `Bearer ${token}` })
      const response = await rail.endpoint?.handle(request)
      if (response === undefined) throw new Error('the rail has no endpoint')
      const packet = response.body instanceof Uint8Array ? decodeIlpPacket(response.body) : undefined
      const reply = packet?.type === 'prepare' ? undefined : packet
      return { response, reply, said: reply && (await readSealed(reply)) }
    },
    pay: async (offer, token) => world.send(await world.prepare(offer), token),
  }
  rail.connect?.({
    clock,
    cryptography,
    emit: (event) => world.events.push(event),
    findPayable: async (address) => [...world.payments.values()].find((payment) => payment.address === address),
    exchange: (amount, to, walletAddress) => world.exchange(amount, to, walletAddress),
    findReceived: async (terms) => arrived.get(termsIn(terms)),
    receive: async (transfer) => {
      world.transfers.push(transfer)
      const outcome = await world.take(transfer)
      if (outcome === 'received' && !arrived.has(termsIn(transfer))) arrived.set(termsIn(transfer), transfer.amount)
      return outcome
    },
    balance: async () => ({ sent: 3n, received: 10n }),
  })
  return world
}

async function readSealed({ type, data }: IlpReply): Promise<StreamPacket | undefined> {
  const keys = await deriveStreamKeys(cryptography, fromBase64url(PAYMENT.sharedSecret) ?? new Uint8Array())
  const plain = await keys.decrypt(data)
  const packet = plain && decodeStreamPacket(plain)
  return packet?.ilpPacketType === (type === 'fulfill' ? 13 : 14) ? packet : undefined
}

/** An amount in the asset of most payments here. */
export function usd(value: bigint): Amount {
  return { value, ...USD }
}
