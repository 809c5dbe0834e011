import type { OpenPaymentsEvent } from 'open-payments-server'
import type { RemoteReceivers } from '../../src/ports/remote-receivers.ts'
import { jsonReply } from '../key-resolver/fake-network.ts'
import { type FakeClock, fakeClock } from '../support/fake-clock.ts'
import { type Host, type Internet, internet } from './internet.ts'
import { readerOn } from './scene.ts'

export const COLLECTION = 'https://pay.example/incoming-payments'
export const RECEIVER = `${COLLECTION}/1`
export const AUTH_SERVER = 'https://auth.example/gnap'
export const MANAGE = 'https://auth.example/token/1'
export const SHARED_SECRET = 'sharedSecretOfTheReceiverTellItNobodyAtAll0'
export const TOKEN = 'token-of-the-other-side'

/** The four answers of another server. */
export interface Answers {
  view: Host
  grant: Host
  rotation: Host
  payment: Host
}

/** The document of the incoming payment at a URL. */
export const paymentDocument = (url: string = RECEIVER): Record<string, unknown> => ({
  id: url,
  walletAddress: 'https://pay.example/bob',
  completed: false,
  incomingAmount: { value: '500', assetCode: 'EUR', assetScale: 2 },
  receivedAmount: { value: '120', assetCode: 'EUR', assetScale: 2 },
  expiresAt: '2026-03-02T12:00:00Z',
  createdAt: '2026-03-01T11:00:00Z',
  methods: [{ type: 'ilp', ilpAddress: 'test.pay.1', sharedSecret: SHARED_SECRET }],
})

/** The document of a token. */
export const tokenDocument = (value: string = TOKEN): Record<string, unknown> => ({
  access_token: {
    value,
    manage: MANAGE,
    expires_in: 600,
    access: [{ type: 'incoming-payment', actions: ['read-all'] }],
  },
})

/** A server that is played by hand, and behaves until a test tells it otherwise. */
export interface StandIn {
  readonly world: Internet
  readonly clock: FakeClock
  readonly answers: Answers
  readonly receivers: RemoteReceivers
  readonly events: OpenPaymentsEvent[]
}

export function standIn({
  clock = fakeClock(),
  ...options
}: Parameters<typeof readerOn>[2] & { readonly clock?: FakeClock } = {}): StandIn {
  const world = internet()
  const events: OpenPaymentsEvent[] = []
  const answers: Answers = {
    view: () =>
      jsonReply({ authServer: AUTH_SERVER, receivedAmount: { value: '120', assetCode: 'EUR', assetScale: 2 } }),
    grant: () => jsonReply({ ...tokenDocument(), continue: { access_token: { value: 'x' }, uri: AUTH_SERVER } }),
    rotation: () => jsonReply(tokenDocument('rotated')),
    payment: ({ url }) => jsonReply(paymentDocument(url.href)),
  }
  world.hosts.set('pay.example', (connection) =>
    'authorization' in connection.headers ? answers.payment(connection) : answers.view(connection),
  )
  world.hosts.set('auth.example', (connection) =>
    connection.url.href === MANAGE ? answers.rotation(connection) : answers.grant(connection),
  )
  return { world, clock, answers, events, receivers: readerOn(world, clock, { ...options, events }) }
}
