import type {
  Amount,
  Delivery,
  DeliveryProgress,
  DeliveryResult,
  PaymentMethod,
  RailQuote,
  RailServer,
  RecordProgress,
} from 'open-payments-server'

/** A call of `deliver`, as the rail got it. */
export interface AskedDelivery {
  readonly delivery: Delivery
  readonly progress: DeliveryProgress
}

/** A payment method whose every answer the test chooses, and which remembers what it was asked. */
export interface FakeRail extends PaymentMethod {
  readonly quotes: Parameters<PaymentMethod['quote']>[0][]
  readonly deliveries: AskedDelivery[]
  /** Given by `createOpenPayments`. */
  server: RailServer | undefined
  answerQuote: (request: Parameters<PaymentMethod['quote']>[0]) => Promise<RailQuote>
  answerDelivery: (delivery: Delivery, progress: DeliveryProgress, record: RecordProgress) => Promise<DeliveryResult>
}

export const RAIL_ACCOUNT = 'g.peer/USD/2'

/** By default money leaves in the asset of Alice and Bob, all of it arrives one to one, and it is delivered at once. */
export function fakeRail(): FakeRail {
  const rail: FakeRail = {
    type: 'ilp',
    quotes: [],
    deliveries: [],
    server: undefined,
    createDetails: async ({ address, sharedSecret }) => ({
      type: 'ilp',
      ilpAddress: `test.wallet.${address}`,
      sharedSecret,
    }),
    answerQuote: async () => quoteAt(1n, 1n),
    answerDelivery: sendAll,
    quote: async (request) => {
      rail.quotes.push(request)
      return rail.answerQuote(request)
    },
    deliver: async (delivery, progress, record) => {
      rail.deliveries.push({ delivery, progress })
      return rail.answerDelivery(delivery, progress, record)
    },
    connect: (server) => {
      rail.server = server
    },
  }
  return rail
}

/** A quote over the account in the asset of Alice and Bob. */
export function quoteAt(sent: bigint, received: bigint): RailQuote {
  return {
    ok: true,
    account: RAIL_ACCOUNT,
    asset: { assetCode: 'USD', assetScale: 2 },
    rate: { sent, received },
  }
}

/** What has left and arrived, and nothing in flight. */
export function progress(sent: bigint, received: bigint, notes = ''): DeliveryProgress {
  return { sent, received, inFlight: { sent: 0n, received: 0n }, notes }
}

/** The same with something in flight. */
export function inFlight(before: DeliveryProgress, sent: bigint, received: bigint, notes = 'flying'): DeliveryProgress {
  return { ...before, inFlight: { sent, received }, notes }
}

/** Records all of it, and says that it arrived. */
export async function sendAll(
  { sendAmount, receiveAmount }: { readonly sendAmount: Amount; readonly receiveAmount: Amount },
  before: DeliveryProgress,
  record: RecordProgress,
): Promise<DeliveryResult> {
  await record(inFlight(before, sendAmount.value - before.sent, receiveAmount.value - before.received))
  return { outcome: 'delivered', progress: progress(sendAmount.value, receiveAmount.value) }
}
